"""Every setting: its type, bounds, default and meaning, declared once as a field of Settings."""

# Annotations are evaluated here (no `from __future__ import annotations`): they hold the bounds.

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Meta

from .types import Value

Switch = Literal["on", "off"]


def means(meaning: str) -> Meta:
    """A text, or one of the words of a Literal."""
    return Meta(description=meaning)


def within(least: float, most: float, meaning: str) -> Meta:
    """A number within these bounds."""
    return Meta(ge=least, le=most, description=meaning)


def duration(meaning: str) -> Meta:
    """A duration such as 24h or 1d12h30m."""
    return Meta(description=meaning, extra={"kind": "duration"})


def duration_or_off(meaning: str) -> Meta:
    """A duration; `off` turns the feature off."""
    return Meta(description=meaning, extra={"kind": "duration", "off": True})


def some_of(words: tuple[str, ...], meaning: str) -> Meta:
    """Some of these words, separated by commas."""
    return Meta(description=meaning, extra={"kind": "list", "words": words})


def folder(meaning: str) -> Meta:
    """An absolute path."""
    return Meta(description=meaning, extra={"kind": "folder"})


class Settings(Value, frozen=True, kw_only=True):
    """Every setting; `sources` says where each one that is not a default came from."""

    store: Annotated[str, means("Path of the SQLite file, or a URL. Empty: the user's data folder.")] = ""
    lock_timeout: Annotated[float, within(0.01, 3600, "Seconds to wait while another process writes.")] = 30.0
    synchronous: Annotated[
        Literal["full", "off"], means("full: a write survives a power cut. off: for tests only.")
    ] = "full"
    max_text_bytes: Annotated[int, within(1024, 1 << 30, "Maximum size of one text.")] = 4 << 20
    max_json_bytes: Annotated[int, within(1024, 1 << 30, "Maximum size of one JSON value.")] = 4 << 20
    max_json_depth: Annotated[int, within(4, 500, "Maximum depth of one JSON value.")] = 64
    max_plan_steps: Annotated[
        int, within(10, 1_000_000, "Maximum number of steps of a task, including dropped ones.")
    ] = 20_000
    lease_seconds: Annotated[float, within(1, 604_800, "How long a claim lasts without a heartbeat.")] = 300.0
    wal_limit_bytes: Annotated[
        int, within(1 << 16, 1 << 30, "Size of the write-ahead log from which a writer truncates it.")
    ] = 16 << 20
    tenant: Annotated[str, means("PostgreSQL: the tenant that the rows belong to.")] = "default"
    pool_size: Annotated[
        int, within(1, 1000, "PostgreSQL: maximum number of connections of one process.")
    ] = 32
    prepared_statements: Annotated[
        Switch, means("PostgreSQL: off behind a pooler that does not support them.")
    ] = "on"
    superuser: Annotated[
        Literal["refuse", "allow"], means("PostgreSQL: whether to accept a role that can see every tenant.")
    ] = "refuse"
    reserve_bytes: Annotated[
        int, within(0, 1 << 30, "Size of the reserve file that is released on a full disk.")
    ] = 1 << 20
    signing_key: Annotated[
        str,
        means(
            "File of the key that signs exports, so that importing them keeps their origins. Empty: one that"
            " is made beside the store. Stores with the same key trust each other's exports."
        ),
    ] = ""
    sync_remote: Annotated[
        str,
        means(
            "Remote of `ringbolt sync`: a git repository, a folder, or the address of a server. Empty: none."
        ),
    ] = ""
    sync_key: Annotated[
        str,
        means(
            "File with the key or passphrase that encrypts a git repository or folder. Empty: not encrypted."
        ),
    ] = ""
    sync_token_env: Annotated[
        str, means("Environment variable that holds the token for a server to sync with.")
    ] = "RINGBOLT_SYNC_TOKEN"  # noqa: S105
    time_zone: Annotated[
        str,
        means("Time zone of times in questions and answers, such as Europe/Berlin. Empty: this machine's."),
    ] = ""
    tokens: Annotated[
        Literal["exact", "estimate"],
        means("exact: count tokens with splintr if it is installed. estimate: always estimate."),
    ] = "exact"
    mirrors: Annotated[
        str,
        some_of(
            ("state", "resume", "active-tasks", "bank", "states"),
            "Views that are kept as files, separated by commas. Empty: none.",
        ),
    ] = ""
    mirror_folder: Annotated[
        str, folder("Folder for these files. Empty: the folder of the task's workspace.")
    ] = ""
    mirror_gitignore: Annotated[Switch, means("on: keep these files out of git.")] = "on"
    active_tasks_ledger: Annotated[
        Literal["facts", "markdown"],
        means("Source of truth for active tasks: the store (facts) or the file (markdown)."),
    ] = "facts"
    active_tasks_file: Annotated[str, means("The file of active tasks, relative to the workspace.")] = (
        "ACTIVE-TASKS.md"
    )
    stale_threshold: Annotated[str, duration("A task without an update for longer than this is stale.")] = (
        "24h"
    )
    pause_after: Annotated[
        str, duration_or_off("An active task without activity for longer than this is paused.")
    ] = "24h"
    archive_after: Annotated[str, duration_or_off("A task that ended longer ago than this is archived.")] = (
        "7d"
    )
    stuck_after: Annotated[
        str, duration_or_off("An active task that is idle for longer than this, and not waiting, is stuck.")
    ] = "5m"
    stuck_cooldown: Annotated[str, duration("Minimum time between two alerts about one task.")] = "5m"
    session_grace: Annotated[str, duration("How long to leave a task alone after its session has ended.")] = (
        "1h"
    )
    session_silence: Annotated[
        str, duration("A session that has written nothing for longer than this is gone.")
    ] = "3d"
    upkeep_every: Annotated[str, duration_or_off("How often a worker runs upkeep.")] = "1m"
    injection_budget: Annotated[
        int, within(0, 100_000, "Maximum tokens of all active-task blocks in one prompt.")
    ] = 500
    injection_max_tasks: Annotated[
        int, within(0, 10_000, "Maximum number of tasks in a prompt. 0: projection_max_rows.")
    ] = 0
    projection_mode: Annotated[Literal["readable", "full"], means("full: no row is filtered out.")] = (
        "readable"
    )
    projection_exclude_generic_title: Annotated[
        Switch, means("Leave out rows titled only “Project task”.")
    ] = "on"
    projection_title_min_chars: Annotated[int, within(0, 500, "Leave out rows with a shorter title.")] = 0
    projection_dedupe_by: Annotated[
        Literal["none", "label", "normalizedTitle"],
        means("Show rows with the same value of this field once."),
    ] = "none"
    projection_max_rows: Annotated[int, within(0, 100_000, "Maximum number of rows per section. 0: all.")] = 0
    projection_sectioned: Annotated[Switch, means("off: one flat list.")] = "on"
    embedder: Annotated[
        Literal["none", "static", "endpoint"],
        means("Search by meaning: none, static (word vectors, offline) or endpoint."),
    ] = "none"
    embedding_url: Annotated[
        str, means("endpoint: base URL of the server, such as http://localhost:8080/v1.")
    ] = ""
    embedding_model: Annotated[str, means("endpoint: name of the model.")] = ""
    embedding_key_env: Annotated[
        str, means("endpoint: environment variable that holds the API key, if one is needed.")
    ] = "RINGBOLT_EMBEDDING_KEY"
    model_local_url: Annotated[
        str, means("Base URL of your own model server, such as http://localhost:11434/v1. Empty: none.")
    ] = ""
    model_local_name: Annotated[str, means("Name of the model on this server.")] = ""
    model_local_key_env: Annotated[
        str, means("Environment variable that holds its API key, if one is needed.")
    ] = "RINGBOLT_MODEL_LOCAL_KEY"
    model_remote_url: Annotated[
        str, means("Base URL of a server for questions too hard for the local model. Empty: none.")
    ] = ""
    model_remote_name: Annotated[str, means("Name of the model on this server.")] = ""
    model_remote_key_env: Annotated[
        str, means("Environment variable that holds its API key, if one is needed.")
    ] = "RINGBOLT_MODEL_REMOTE_KEY"
    model_timeout: Annotated[float, within(0.05, 600, "Seconds for one model answer, including retries.")] = (
        20.0
    )
    model_answer_timeout: Annotated[
        float,
        within(0.05, 600, "Seconds that a question waits for the local model; then the ledger answers."),
    ] = 2.0
    model_task_tokens: Annotated[int, within(0, 10**12, "Maximum model tokens per task. 0: no calls.")] = (
        200_000
    )
    model_day_tokens: Annotated[int, within(0, 10**12, "Maximum model tokens per day. 0: no calls.")] = (
        1_000_000
    )
    model_day_cost: Annotated[
        float, within(0, 10**9, "Maximum model cost per day, in the currency of the prices.")
    ] = 1.0
    model_price_in: Annotated[
        float, within(0, 10**6, "Price of a million input tokens of the remote model.")
    ] = 0.0
    model_price_out: Annotated[
        float, within(0, 10**6, "Price of a million output tokens of the remote model.")
    ] = 0.0
    progress: Annotated[
        Switch, means("on: infer the progress of steps from what the agent says; such changes are marked.")
    ] = "on"
    extraction: Annotated[
        Switch, means("on: when a step ends, extract decisions, errors and values from its events.")
    ] = "on"
    summary_every: Annotated[
        int, within(0, 100_000, "Renew the summary after this many messages. 0: never.")
    ] = 5
    otel: Annotated[Switch, means("on: report spans and durations of operations to OpenTelemetry.")] = "off"
    http_hosts: Annotated[
        str, means("Server: additional host names that it answers to, separated by commas.")
    ] = ""
    http_origins: Annotated[
        str,
        means("Server: web origins that may call it, such as https://tools.example, separated by commas."),
    ] = ""
    http_tls_cert: Annotated[
        str, means("Server: path of its certificate, with the chain, for TLS without a proxy (PEM).")
    ] = ""
    http_tls_key: Annotated[str, means("Server: path of the certificate's private key (PEM).")] = ""
    http_tls_proxy: Annotated[
        Switch, means("Server: on if a proxy in front of it does TLS, so that it may listen for others.")
    ] = "off"
    http_url: Annotated[str, means("Server: its address as clients know it, for tokens of http_issuer.")] = ""
    http_issuer: Annotated[
        str, means("Server: issuer URL of an OAuth authorization server whose tokens (JWT) it accepts.")
    ] = ""
    http_max_body_bytes: Annotated[int, within(1024, 1 << 30, "Server: maximum size of a request body.")] = (
        8 << 20
    )
    http_request_seconds: Annotated[
        float, within(0.1, 600, "Server: seconds for the head of a request, and for its body.")
    ] = 10.0
    http_threads: Annotated[int, within(1, 1000, "Server: number of calls that run at once.")] = 32
    http_requests: Annotated[
        int, within(1, 100_000, "Server: number of open requests, including event streams.")
    ] = 512
    http_token_requests: Annotated[
        int, within(1, 100_000, "Server: number of open requests of one token, including event streams.")
    ] = 128
    http_token_threads: Annotated[
        int, within(1, 1000, "Server: number of calls of one token that run at once; others queue.")
    ] = 24
    http_token_streams: Annotated[
        int, within(1, 100_000, "Server: number of event streams of one token.")
    ] = 32
    caller_waits: Annotated[
        int, within(1, 1_000_000, "Open waits, blocking or not, of one token or of the agents of a server.")
    ] = 500
    http_token_waits: Annotated[int, within(1, 100_000, "Server: number of blocking waits of one token.")] = (
        64
    )
    callbacks: Annotated[
        Switch, means("on: call a task's callback_url when the task or one of its waits ends.")
    ] = "on"
    callback_private: Annotated[Switch, means("on: also call URLs on this machine or a private network.")] = (
        "off"
    )
    callback_seconds: Annotated[float, within(0.1, 50, "Seconds that a call to a callback_url may take.")] = (
        10.0
    )
    publish: Annotated[
        str,
        some_of(
            ("lark", "redis"), "Where workers publish copies of tasks, separated by commas. Empty: nowhere."
        ),
    ] = ""
    publish_workspaces: Annotated[
        str, means("Workspaces whose tasks are published, separated by commas. Empty: all.")
    ] = ""
    lark_domain: Annotated[
        str, means("Lark: https://open.feishu.cn, or https://open.larksuite.com outside China.")
    ] = "https://open.feishu.cn"
    lark_app_id: Annotated[str, means("Lark: id of the app that writes.")] = ""
    lark_secret_env: Annotated[str, means("Lark: environment variable that holds the app's secret.")] = (
        "RINGBOLT_LARK_SECRET"  # noqa: S105
    )
    lark_folder: Annotated[
        str, means("Lark: token of the folder for documents. Empty: the app's own, which only it can open.")
    ] = ""
    lark_table: Annotated[
        str, means("Lark: APP_TOKEN/TABLE_ID of a Bitable for one row per task, instead of documents.")
    ] = ""
    lark_replies: Annotated[
        str, duration_or_off("Lark: how often to read comments and ticked boxes of open tasks.")
    ] = "off"
    lark_accounts: Annotated[
        str,
        means(
            "Lark: open ids (ou_…) whose comments are the user's instructions, separated by commas. *: all"
            " who can edit a document; only then are ticked boxes the user's too."
        ),
    ] = ""
    redis_url: Annotated[str, means("Redis: address of the server.")] = "redis://localhost:6379/0"
    redis_password_env: Annotated[
        str, means("Redis: environment variable that holds the password, if one is needed.")
    ] = "RINGBOLT_REDIS_PASSWORD"  # noqa: S105
    redis_prefix: Annotated[str, means("Redis: what the names of all keys begin with.")] = "ringbolt"
    redis_events: Annotated[
        int, within(1, 1_000_000, "Redis: maximum number of events in the stream of a task.")
    ] = 1000
    keep_secrets: Annotated[
        Switch,
        means("on: store passwords, tokens and keys as they come; off: replace them by a marker."),
    ] = "off"
    guard: Annotated[
        Literal["advise", "ask", "off"],
        means(
            "Before a call that was forbidden, or that would repeat a side effect: advise only the agent,"
            " or ask the user, if the host can. off: no warnings."
        ),
    ] = "advise"
    stop_gate: Annotated[
        Switch,
        means(
            "on: at the end of a turn, ask the agent once about each step that it called done although its"
            " last check failed or no check has passed since, if the host allows it."
        ),
    ] = "off"
    hook_deadline_ms: Annotated[int, within(10, 60_000, "Milliseconds that a host's hook may take.")] = 300
    hook_turn_block: Annotated[
        Switch,
        means(
            "on: add a few lines with the state of the task to each prompt, if it has changed and the host"
            " allows it."
        ),
    ] = "off"
    hook_compact_ms: Annotated[
        int, within(10, 60_000, "Milliseconds that a hook before or after a compaction may take.")
    ] = 2000
    wait_private: Annotated[
        Switch, means("on: waits may call URLs on this machine or a private network.")
    ] = "off"
    wait_commands: Annotated[Switch, means("on: waits may run commands, as a check or when they end.")] = (
        "off"
    )
    wait_displays: Annotated[
        Switch, means("on: waits may look at terminals, screens, windows and processes.")
    ] = "on"
    wait_urls: Annotated[Switch, means("on: waits may connect to ports and URLs.")] = "on"
    wait_folders: Annotated[
        str,
        means("Folders whose files may be looked at, separated by commas; workspace: that of the caller."),
    ] = "workspace"
    sources: Mapping[str, str] = {}


class Setting(Value, frozen=True, kw_only=True):
    """The declaration of a setting. `kind` is text, number, choice, list, duration or folder."""

    name: str
    annotation: Any
    default: Any
    kind: str
    least: float | None
    most: float | None
    words: tuple[str, ...]
    off: bool
    meaning: str


def _declared(name: str, annotation: Any) -> Setting:
    kind, meta = get_args(annotation)
    extra: dict[str, Any] = meta.extra or {}
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    return Setting(
        name=name,
        annotation=annotation,
        default=getattr(_DEFAULTS, name),
        kind=extra.get("kind") or ("choice" if choices else "text" if kind is str else "number"),
        least=meta.ge,
        most=meta.le,
        words=choices or extra.get("words", ()),
        off=extra.get("off", False),
        meaning=meta.description,
    )


_DEFAULTS = Settings()
SETTINGS: dict[str, Setting] = {
    name: _declared(name, annotation)
    for name, annotation in Settings.__annotations__.items()
    if name != "sources"
}
