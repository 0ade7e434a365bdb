"""Errors, each with a stable code and a hint that says what to do next.

    RingboltError
    ├── InvalidInput    the call is wrong and will stay wrong: change the arguments
    ├── NotFound        the task, step or record that the call names does not exist
    ├── Conflict        the call contradicts the current state: read again, then decide
    ├── NotAllowed      the caller may not do this: someone else can, or can allow it
    └── StoreError      the store cannot serve the call now: the code says whether a retry helps

After an error nothing was written, with one exception: `outcome_unknown`.
"""

from __future__ import annotations

CODES = {
    # InvalidInput
    "invalid_argument": "An argument has the wrong type, is empty or is out of range.",
    "invalid_text": "A text contains characters that cannot be stored (NUL, lone surrogates).",
    "invalid_json": "A value is not plain JSON (NaN, an object, a cycle).",
    "too_large": "A text, JSON value or list exceeds its limit; the limits are settings.",
    "invalid_time": "A time or duration cannot be read.",
    "unknown_word": "A status, phase or type is unknown.",
    "invalid_plan": "A plan cannot be read, or uses a step id twice.",
    "dependency_cycle": "Steps depend on one another in a cycle, or a task would be its own ancestor.",
    "import_invalid": "A line or file of an import is not valid.",
    "sync_remote": "The remote of a sync is missing, or is not one.",
    "sync_key": "The key of an encrypted remote is missing, too short, readable by others or wrong.",
    "sink_setup": "What is needed to publish tasks is missing or wrong: a package, an account or an address.",
    "otel_missing": "The setting `otel` is on, and opentelemetry-api is not installed.",
    # NotFound
    "task_not_found": "No task has this id or prefix.",
    "no_current_task": "No task was named, and this workspace and session have no open task.",
    "step_not_found": "The task has no such step.",
    "record_not_found": "The task has no such action, entry or effect.",
    "job_not_found": "No dead job has this id.",
    # Conflict
    "ambiguous_task": "Several tasks match.",
    "ambiguous_step": "Several steps match.",
    "illegal_transition": "This status cannot follow the current one.",
    "stale_version": "The task or step has changed since the caller last read it.",
    "stale_token": "The claim was lost: another agent holds it, or it was released.",
    "already_claimed": "Another agent holds a live claim.",
    "key_reused": "The idempotency key was used for another call.",
    "undo_conflict": "Later events build on the event to undo.",
    "not_undoable": "This event cannot be undone.",
    "needs_user": "Only the user, or the channel that wrote it, may change or end this.",
    "not_ours": "A host's settings contain an entry with our name that is not ours.",
    "not_installed": "Ringbolt could not be installed permanently.",
    # NotAllowed
    "wrong_scope": "The caller's token or connection does not have the access that this needs.",
    "wrong_workspace": "The caller's token is for other workspaces.",
    "look_refused": "The caller may not look at this file, display, command or address.",
    "too_many_looks": "The caller was refused too many looks in a short time; nothing is looked at for now.",
    "too_many_waits": "The caller has too many unresolved waits.",
    # StoreError
    "store_busy": "Another process held the store's lock, or all connections were in use, for too long.",
    "store_full": "The disk is full: nothing was written, reading still works.",
    "store_readonly": "The store's file, folder or database cannot be written.",
    "store_corrupt": "The database file is damaged.",
    "store_unavailable": "The store cannot be opened or reached.",
    "store_not_found": "There is no store, and this call does not create one.",
    "store_closed": "The store was closed.",
    "not_a_store": "The file is a database of another program.",
    "schema_newer": "The store was written by a newer version.",
    "migration_changed": "This store was made by a different version of a migration.",
    "owner_needed": "The tables must be made or changed by the owner of the database.",
    "unsafe_role": "The database role bypasses row-level security.",
    "not_supported": "This engine does not support the operation.",
    "engine_too_old": "This SQLite version can lose committed data, or this PostgreSQL version is too old.",
    "embedder_unavailable": "The embedder is not installed, or its server does not answer properly.",
    "sync_failed": "A remote cannot be reached or refuses the call; what was synced before is kept.",
    "outcome_unknown": "The disk or the connection failed during the commit: it may or may not be written.",
}


def shown(value: object, most: int = 60) -> str:
    """A caller's value for use in a message: short, on one line, without control characters."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    try:
        text = value if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"
    plain = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:most])
    return f"'{plain}…'" if len(text) > most else f"'{plain}'"


class RingboltError(Exception):
    """Base of all errors: `code` is stable, `hint` names the next step, `details` holds facts."""

    def __init__(self, code: str, message: str, hint: str = "", **details: object) -> None:
        if code not in CODES:
            raise ValueError(f"undocumented error code {code}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def to_dict(self) -> dict[str, object]:
        """The error as all surfaces return it."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}

    def __reduce__(self):
        return rebuild, (type(self), self.code, self.message, self.hint, self.details)


def rebuild(
    kind: type[RingboltError], code: str, message: str, hint: str, details: dict[str, object]
) -> RingboltError:
    """An error from its parts, as it comes out of another process."""
    return kind(code, message, hint, **details)


class InvalidInput(RingboltError):
    """The call is wrong; repeating it unchanged fails again."""


class NotFound(RingboltError):
    """The task, step or record that the call names does not exist."""


class Conflict(RingboltError):
    """The call contradicts the current state."""


class NotAllowed(RingboltError):
    """The caller may not do this."""


class StoreError(RingboltError):
    """The store cannot serve the call now."""
