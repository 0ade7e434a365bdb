"""Settings: one frozen value, read once. Defaults < TOML file < environment < arguments."""

from __future__ import annotations

import os

from .model.errors import RingboltError, InvalidInput, shown
from .model.rules import parse_duration
from .model.types import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# name: (default, least, most, what it is for). A text setting has no bounds.
SETTINGS: dict[str, tuple[Any, Any, Any, str]] = {
    "store": ("", None, None, "Path of the SQLite file, or a URL. Empty: the user's data folder."),
    "lock_timeout": (30.0, 0.01, 3600, "Seconds to wait for another process's write."),
    "synchronous": ("full", None, None, "full: a write survives a power cut. off: only tests."),
    "max_text_bytes": (4 << 20, 1024, 1 << 30, "Most bytes of one text."),
    "max_json_bytes": (4 << 20, 1024, 1 << 30, "Most bytes of one JSON value."),
    "max_json_depth": (64, 4, 500, "Most levels of one JSON value."),
    "max_plan_items": (20_000, 10, 1_000_000, "Most steps of one task, dropped ones included."),
    "lease_seconds": (300.0, 1, 604_800, "How long a claim lives without a heartbeat."),
    "wal_limit_bytes": (
        16 << 20,
        1 << 16,
        1 << 30,
        "Size from which a writer waits to cut the log.",
    ),
    "tenant": ("default", None, None, "PostgreSQL: whose rows these are."),
    "pool_size": (32, 1, 1000, "PostgreSQL: most connections of one process."),
    "prepared_statements": ("on", None, None, "PostgreSQL: off behind a pooler that cannot keep them."),
    "superuser": ("refuse", None, None, "PostgreSQL: allow a role that sees every tenant."),
    "reserve_bytes": (1 << 20, 0, 1 << 30, "Size of the file that is given up on a full disk."),
    "tokens": (
        "exact",
        None,
        None,
        "exact: counted with splintr, where installed. estimate: never.",
    ),
    "mirrors": ("", None, None, "Views that are kept as files, separated by commas; none: no files."),
    "mirror_folder": ("", None, None, "Folder for these files. Empty: the folder of the task's workspace."),
    "mirror_gitignore": ("on", None, None, "on: git is told to overlook these files."),
    "active_tasks_ledger": ("facts", None, None, "The truth: the store (facts) or the file (markdown)."),
    "active_tasks_file": ("ACTIVE-TASKS.md", None, None, "The file; relative to the workspace."),
    "stale_threshold": ("24h", None, None, "A task without an update for longer than this is stale."),
    "pause_after": ("24h", None, None, "An active task without activity for longer than this is paused."),
    "archive_after": ("7d", None, None, "A task that ended longer ago than this is archived."),
    "stuck_after": ("5m", None, None, "An active task that waits for nothing and is idle longer is stuck."),
    "stuck_cooldown": ("5m", None, None, "Least time between two alerts about one task."),
    "session_grace": ("1h", None, None, "How long after the end of its session a task is left alone."),
    "session_silence": ("3d", None, None, "A session that has written nothing for longer than this is gone."),
    "upkeep_every": ("1m", None, None, "How often a worker looks after the tasks."),
    "injection_budget": (500, 0, 100_000, "Most tokens of all active-task blocks of one prompt."),
    "injection_max_tasks": (0, 0, 10_000, "Most tasks in a prompt. 0: projection_max_rows."),
    "projection_mode": ("readable", None, None, "full: no row is filtered out."),
    "projection_exclude_generic_title": ("on", None, None, "Leave out rows titled only “Project task”."),
    "projection_title_min_chars": (0, 0, 500, "Leave out rows with a shorter title."),
    "projection_dedupe_by": ("none", None, None, "Rows that are alike in this are shown once."),
    "projection_max_rows": (0, 0, 100_000, "Most rows of each section. 0: all."),
    "projection_sectioned": ("on", None, None, "off: one flat list."),
    "embedder": ("none", None, None, "Finding by meaning: none, static (word vectors, offline) or endpoint."),
    "embedding_url": ("", None, None, "endpoint: base address of the server, like http://localhost:8080/v1."),
    "embedding_model": ("", None, None, "endpoint: name of the model."),
    "embedding_key_env": (
        "RINGBOLT_EMBEDDING_KEY",
        None,
        None,
        "endpoint: name of the variable that holds the key, if one is needed.",
    ),
    "model_local_url": (
        "",
        None,
        None,
        "Base address of a model server of your own, like http://localhost:11434/v1. Empty: none.",
    ),
    "model_local_name": ("", None, None, "Name that this server knows the model by."),
    "model_local_key_env": (
        "RINGBOLT_MODEL_LOCAL_KEY",
        None,
        None,
        "Name of the variable that holds its key, if one is needed.",
    ),
    "model_remote_url": (
        "",
        None,
        None,
        "Base address of a server for questions that are too hard for the local model. Empty: none.",
    ),
    "model_remote_name": ("", None, None, "Name that this server knows the model by."),
    "model_remote_key_env": (
        "RINGBOLT_MODEL_REMOTE_KEY",
        None,
        None,
        "Name of the variable that holds its key, if one is needed.",
    ),
    "model_timeout": (20.0, 0.05, 600, "Seconds for one answer of a model, all attempts together."),
    "model_task_tokens": (200_000, 0, 10**12, "Most tokens that models may use for one task. 0: no call."),
    "model_day_tokens": (1_000_000, 0, 10**12, "Most tokens that models may use in one day. 0: no call."),
    "model_day_cost": (1.0, 0, 10**9, "Most that a day may cost, in the money of the prices."),
    "model_price_in": (0.0, 0, 10**6, "Price of a million tokens that the remote model reads."),
    "model_price_out": (0.0, 0, 10**6, "Price of a million tokens that the remote model writes."),
    "progress": ("on", None, None, "on: what an agent says moves the steps of its plan, marked as inferred."),
    "extraction": ("on", None, None, "on: when a step is over, what it brought to light is remembered."),
    "summary_every": (5, 0, 100_000, "A new summary is due after so many messages. 0: never."),
    "http_hosts": ("", None, None, "Server: further names that it may be called by, separated by commas."),
    "http_origins": (
        "",
        None,
        None,
        "Server: origins of web pages that may call it, like https://tools.example, separated by commas.",
    ),
    "http_max_body_bytes": (8 << 20, 1024, 1 << 30, "Server: most bytes of one request."),
    "http_request_seconds": (
        10.0,
        0.1,
        600,
        "Server: seconds for the head of a request, and for its body.",
    ),
    "http_threads": (32, 1, 1000, "Server: calls that are worked on at once."),
    "http_requests": (512, 1, 100_000, "Server: requests at once, streams of events included."),
    "callbacks": (
        "on",
        None,
        None,
        "on: a task's callback_url is called when the task or a wait of it ends.",
    ),
    "callback_private": ("off", None, None, "on: also where it is on this machine or a private network."),
    "callback_seconds": (10.0, 0.1, 50, "How long one call of a callback_url may take."),
    "hook_deadline_ms": (300, 10, 60_000, "Milliseconds that a host's hook may take to write an event."),
    "hook_compact_ms": (
        2000,
        10,
        60_000,
        "The same before and after a compaction, where more is to be done.",
    ),
    "wait_private": ("off", None, None, "on: waits may call URLs on this machine or a private network."),
    "wait_commands": ("off", None, None, "on: waits may run commands, to look or when they are over."),
    "wait_folders": (
        "workspace",
        None,
        None,
        "Folders whose files waits may look into, separated by commas; workspace: that of the wait.",
    ),
}
WORDS = {
    "synchronous": ("full", "off"),
    "prepared_statements": ("on", "off"),
    "superuser": ("refuse", "allow"),
    "tokens": ("exact", "estimate"),
    "mirror_gitignore": ("on", "off"),
    "active_tasks_ledger": ("facts", "markdown"),
    "projection_mode": ("readable", "full"),
    "projection_exclude_generic_title": ("on", "off"),
    "projection_dedupe_by": ("none", "label", "normalizedTitle"),
    "projection_sectioned": ("on", "off"),
    "embedder": ("none", "static", "endpoint"),
    "progress": ("on", "off"),
    "extraction": ("on", "off"),
    "callbacks": ("on", "off"),
    "callback_private": ("off", "on"),
    "wait_private": ("off", "on"),
    "wait_commands": ("off", "on"),
}
DURATIONS = (
    "stale_threshold", "pause_after", "archive_after", "stuck_after", "stuck_cooldown", "session_grace",
    "session_silence", "upkeep_every",
)  # fmt: skip
# Durations that may also be `off`: then it is not done.
SWITCHED = ("pause_after", "archive_after", "stuck_after", "upkeep_every")
# Settings that are lists of words, separated by commas.
LISTS = {"mirrors": ("state", "resume", "active-tasks", "bank", "states")}


class Settings(Record):
    """Every setting; `sources` says where each one that is not a default came from."""

    store: str = ""
    lock_timeout: float = 30.0
    synchronous: str = "full"
    max_text_bytes: int = 4 << 20
    max_json_bytes: int = 4 << 20
    max_json_depth: int = 64
    max_plan_items: int = 20_000
    lease_seconds: float = 300.0
    wal_limit_bytes: int = 16 << 20
    tenant: str = "default"
    pool_size: int = 32
    prepared_statements: str = "on"
    superuser: str = "refuse"
    reserve_bytes: int = 1 << 20
    tokens: str = "exact"
    mirrors: str = ""
    mirror_folder: str = ""
    mirror_gitignore: str = "on"
    active_tasks_ledger: str = "facts"
    active_tasks_file: str = "ACTIVE-TASKS.md"
    stale_threshold: str = "24h"
    pause_after: str = "24h"
    archive_after: str = "7d"
    stuck_after: str = "5m"
    stuck_cooldown: str = "5m"
    session_grace: str = "1h"
    session_silence: str = "3d"
    upkeep_every: str = "1m"
    injection_budget: int = 500
    injection_max_tasks: int = 0
    projection_mode: str = "readable"
    projection_exclude_generic_title: str = "on"
    projection_title_min_chars: int = 0
    projection_dedupe_by: str = "none"
    projection_max_rows: int = 0
    projection_sectioned: str = "on"
    embedder: str = "none"
    embedding_url: str = ""
    embedding_model: str = ""
    embedding_key_env: str = "RINGBOLT_EMBEDDING_KEY"
    model_local_url: str = ""
    model_local_name: str = ""
    model_local_key_env: str = "RINGBOLT_MODEL_LOCAL_KEY"
    model_remote_url: str = ""
    model_remote_name: str = ""
    model_remote_key_env: str = "RINGBOLT_MODEL_REMOTE_KEY"
    model_timeout: float = 20.0
    model_task_tokens: int = 200_000
    model_day_tokens: int = 1_000_000
    model_day_cost: float = 1.0
    model_price_in: float = 0.0
    model_price_out: float = 0.0
    progress: str = "on"
    extraction: str = "on"
    summary_every: int = 5
    http_hosts: str = ""
    http_origins: str = ""
    http_max_body_bytes: int = 8 << 20
    http_request_seconds: float = 10.0
    http_threads: int = 32
    http_requests: int = 512
    callbacks: str = "on"
    callback_private: str = "off"
    callback_seconds: float = 10.0
    hook_deadline_ms: int = 300
    hook_compact_ms: int = 2000
    wait_private: str = "off"
    wait_commands: str = "off"
    wait_folders: str = "workspace"
    sources: Mapping[str, str] = {}


def user_folder(kind: str, environ: Mapping[str, str] = os.environ) -> str:
    """The user's folder for our data or configuration, as the platform has it."""
    variable, below = {
        "data": ("XDG_DATA_HOME", ".local/share"),
        "config": ("XDG_CONFIG_HOME", ".config"),
    }[kind]
    base = environ.get(variable) or os.path.join(os.path.expanduser("~"), below)
    return os.path.join(base, "ringbolt")


def settings_path(environ: Mapping[str, str] = os.environ) -> str:
    """Where the settings file is, or would be."""
    given = environ.get("RINGBOLT_CONFIG")
    return os.path.abspath(given) if given else os.path.join(user_folder("config", environ), "config.toml")


def load_settings(environ: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
    """Read the settings; an unknown name or a bad value is an error that says where it stands."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}

    def take(name: str, value: Any, source: str) -> None:
        values[name] = _checked(name, value, source)
        sources[name] = source

    path = settings_path(environ)
    if os.path.exists(path) or environ.get("RINGBOLT_CONFIG"):
        for name, value in _read_toml(path).items():
            try:
                take(name, value, path)
            except InvalidInput:
                take(name, value, f"{path}, line {line_of(path, name)}")
    for name in SETTINGS:
        if (text := environ.get(f"RINGBOLT_{name.upper()}")) not in (None, ""):
            take(name, text, f"RINGBOLT_{name.upper()}")
    for name, value in arguments.items():
        if value is not None:
            take(name, value, "argument")
    return Settings(**values, sources=sources)


def changed(settings: Settings, **arguments: Any) -> Settings:
    """The settings with some of them given as arguments."""
    given = {name: value for name, value in arguments.items() if value is not None}
    values = {name: _checked(name, value, "argument") for name, value in given.items()}
    return settings.replace(**values, sources={**settings.sources, **dict.fromkeys(given, "argument")})


def store_location(settings: Settings) -> str:
    """The store's path or URL."""
    return settings.store or os.path.join(user_folder("data"), "ringbolt.db")


def _read_toml(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            "invalid_argument",
            f"The settings file {path} cannot be read: {error}.",
            "Mend the file.",
        ) from None


def line_of(path: str, name: str) -> int:
    """The line of a settings file that a name stands in; 0 if it cannot be found.

    Looked for only where someone is told of it: the parser does not say.
    """
    import re
    import tomllib

    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    begins = re.compile(rf"""\s*\[*\s*["']?{re.escape(name)}["']?\s*[].=]""")
    for number, line in enumerate(lines):
        if begins.match(line):
            try:
                tomllib.loads("".join(lines[:number]))
            except ValueError:
                continue  # inside a text of several lines
            return number + 1
    return 0


def check_name(name: str, source: str) -> None:
    """Raise unless there is a setting of this name."""
    if name not in SETTINGS:
        from difflib import get_close_matches

        near = get_close_matches(name, SETTINGS, 1)
        raise InvalidInput(
            "invalid_argument",
            f"There is no setting {shown(name)} ({source}).",
            (f"Did you mean {near[0]}? " if near else "") + f"The settings are: {', '.join(SETTINGS)}.",
        )


def _checked(name: str, value: Any, source: str) -> Any:
    check_name(name, source)
    default, least, most, _ = SETTINGS[name]
    if name in DURATIONS:
        if name in SWITCHED and value == "off":
            return value
        try:
            parse_duration(name, value)
            return str(value)
        except RingboltError:
            pass
    elif isinstance(default, str):
        read = _read_text(name, value) if isinstance(value, str) else None
        if read is not None:
            return read
    else:
        try:
            number = type(default)(value)
            if not isinstance(value, str) and number != value:
                number = None  # 2048.5 is no number of bytes
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is not None and not isinstance(value, bool) and least <= number <= most:
            return number
    raise InvalidInput(
        "invalid_argument",
        f"The setting {name} is {shown(value)} ({source}); it must be {allowed(name)}.",
        "Correct it there.",
    )


def allowed(name: str) -> str:
    """What a setting may be, in words."""
    default, least, most, _ = SETTINGS[name]
    if name in DURATIONS:
        off = ", or off" if name in SWITCHED else ""
        return f"a duration like 24h or 1d12h30m, or a number of minutes{off}"
    return _text_bounds(name) if isinstance(default, str) else f"a number from {least:,} to {most:,}"


def _read_text(name: str, value: str) -> str | None:
    """What a text setting means; None if it cannot be that."""
    if name in LISTS:
        words = dict.fromkeys(word.strip() for word in value.split(",") if word.strip() not in ("", "none"))
        return ",".join(words) if set(words) <= set(LISTS[name]) else None
    if name == "mirror_folder" and value:
        folder = os.path.expanduser(value)
        return folder if os.path.isabs(folder) and "\0" not in folder else None
    return value if name not in WORDS or value in WORDS[name] else None


def _text_bounds(name: str) -> str:
    if name in LISTS:
        return f"none, or some of {', '.join(LISTS[name])}, separated by commas"
    if name == "mirror_folder":
        return "the whole path of a folder"
    return f"one of {', '.join(WORDS[name])}" if name in WORDS else "a text"
