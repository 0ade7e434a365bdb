"""Every setting: its default, its bounds and what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .types import Value

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


class Settings(Value, frozen=True, kw_only=True):
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
