"""The status words of other projects, mapped to ours and back by one table.

A row is (their word, our status, our phase, our reason); None means that the word does not say. `SYNONYMS`
are understood but never written. `FALLBACK` has the word for a state that a project has no word for.
"""

from __future__ import annotations

from collections.abc import Sequence

from .errors import InvalidInput, shown
from .rules import ITEM_STATUSES, PHASES, TASK_STATUSES

Row = tuple[str, str, str | None, str | None]

TASK_WORDS: dict[str, Sequence[Row]] = {
    "bank": (
        ("RECEIVED", "active", "received", None),
        ("PLANNING", "active", "planning", None),
        ("PLANNING_COMPLETED", "active", "planned", None),
        ("EXECUTING_PLAN", "active", "executing", None),
        ("EXECUTING_REPLAN", "active", "recovering", None),
        ("SYNTHESIZING_ANSWER", "active", "synthesizing", None),
        ("COMPLETED_SUCCESS", "completed", None, None),
        ("FAILED_PLANNING", "failed", "planning", None),
        ("FAILED_EXECUTION", "failed", "executing", None),
        ("FAILED_SYNTHESIS", "failed", "synthesizing", None),
        ("FAILED_REPLANNING_NO_RECOVERY_PLAN", "failed", "replanning", None),
        ("FAILED_RECOVERY_EXECUTION", "failed", "recovering", None),
    ),
    "loom": (
        ("pending", "active", "received", None),
        ("planning", "active", "planning", None),
        ("executing", "active", "executing", None),
        ("paused", "paused", None, None),
        ("waiting_approval", "waiting", None, "approval"),
        ("completed", "completed", None, None),
        ("failed", "failed", None, None),
        ("cancelled", "cancelled", None, None),
    ),
    "active-tasks": (
        ("In progress", "active", None, None),
        ("Waiting", "waiting", None, None),
        ("Stalled", "paused", None, None),
        ("Failed", "failed", None, None),
        ("Done", "completed", None, None),
    ),
    "a2a": (
        ("submitted", "active", "received", None),
        ("working", "active", "executing", None),
        ("input-required", "waiting", None, "input"),
        ("auth-required", "waiting", None, "auth"),
        ("completed", "completed", None, None),
        ("canceled", "cancelled", None, None),
        ("failed", "failed", None, None),
        ("rejected", "failed", None, "rejected"),
        ("unknown", "abandoned", None, None),
    ),
}
FALLBACK: dict[str, dict[str, str]] = {
    "bank": {
        **dict.fromkeys(("active", "waiting", "paused"), "EXECUTING_PLAN"),
        **dict.fromkeys(("failed", "cancelled", "abandoned", "superseded"), "FAILED_EXECUTION"),
    },
    "loom": {
        "active": "executing",
        "waiting": "waiting_approval",
        "abandoned": "cancelled",
        "superseded": "cancelled",
    },
    "active-tasks": dict.fromkeys(("cancelled", "abandoned", "superseded"), "Done"),
    "a2a": {
        "active": "working",
        "waiting": "input-required",
        "paused": "input-required",
        "superseded": "canceled",
    },
}
SYNONYMS: dict[str, tuple[str, str | None, str | None]] = {
    **dict.fromkeys(
        ("open", "in_progress", "running", "started", "resumed", "reopened"), ("active", None, None)
    ),
    **dict.fromkeys(("stalled", "on_hold"), ("paused", None, None)),
    **dict.fromkeys(("done", "complete", "finished", "closed", "success"), ("completed", None, None)),
    "blocked": ("waiting", None, "blocked"),
    "error": ("failed", None, None),
    "canceled": ("cancelled", None, None),
}
ITEM_SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("todo", "open"), "pending"),
    **dict.fromkeys(("in_progress", "running", "started", "blocked"), "active"),
    **dict.fromkeys(("done", "complete", "finished"), "completed"),
    **dict.fromkeys(("scrapped", "canceled", "dropped", "superseded"), "cancelled"),
    "error": "failed",
}
ITEM_WORDS_LOOM: dict[str, str] = {
    **{status: status for status in ITEM_STATUSES},
    "active": "in_progress",
    "cancelled": "skipped",
}


def _plain(word: str) -> str:
    return word.strip().lower().replace(" ", "_").replace("-", "_")


def _merged() -> dict[str, tuple[str, str | None, str | None]]:
    words = {
        _plain(word): (status, phase, reason)
        for source in reversed(TASK_WORDS)
        for word, status, phase, reason in TASK_WORDS[source]
    }
    words.update(SYNONYMS)
    words.update((status, (status, None, None)) for status in TASK_STATUSES)
    return words


_ANY_SOURCE = _merged()


def read_task_status(word: str, source: str | None = None) -> tuple[str, str | None, str | None]:
    """Our status, phase and reason for a word of any project, or of a named one."""
    if source is not None:
        for theirs, status, phase, reason in TASK_WORDS[source]:
            if _plain(theirs) == _plain(word):
                return status, phase, reason
    if (found := _ANY_SOURCE.get(_plain(word))) is not None:
        return found
    raise _unknown("task status", word, TASK_STATUSES)


def _unknown(what: str, word: str, allowed: Sequence[str]) -> InvalidInput:
    hint = f"Use one of: {', '.join(allowed)}."
    return InvalidInput("unknown_word", f"{shown(word)} is not a {what}.", hint, allowed=list(allowed))


def means(word: str, source: str | None = None) -> str | None:
    """Our status for a word, or None if it is not a status."""
    try:
        return read_task_status(word, source)[0]
    except InvalidInput:
        return None


def write_task_status(source: str, status: str, phase: str | None = None, reason: str | None = None) -> str:
    """The most specific word of a project for our status, phase and reason."""
    best, best_score = "", -1
    for word, their_status, their_phase, their_reason in TASK_WORDS[source]:
        if their_status != status or their_phase not in (None, phase) or their_reason not in (None, reason):
            continue
        score = 2 * (their_phase is not None) + (their_reason is not None)
        if score > best_score:
            best, best_score = word, score
    return best or FALLBACK[source][status]


def read_item_status(word: str) -> str:
    """Our step status for a word of any project."""
    plain = _plain(word)
    found = plain if plain in ITEM_STATUSES else ITEM_SYNONYMS.get(plain)
    if found is None:
        raise _unknown("step status", word, ITEM_STATUSES)
    return found


def write_item_status(status: str) -> str:
    """Loom's word for our step status; what is in the way of a step is its `active_issue`."""
    return ITEM_WORDS_LOOM[status]


def read_phase(word: str) -> str:
    """Our phase for a word."""
    plain = _plain(word)
    if plain in PHASES:
        return plain
    raise _unknown("phase", word, PHASES)
