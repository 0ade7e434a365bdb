"""Tombstones: events whose content was forgotten.

A tombstone has no text and no data. It keeps a digest of the content, so that the hash chain still holds, and
the structure of its `sets` (statuses, numbers, ids, times), so that later events still fold onto the state
that they expect. Every written text is removed or replaced by a placeholder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.rules import ID_LENGTH, normal_id
from ..model.types import is_dict, is_list
from ..model.validate import dumps
from .hashes import content_digest
from .tx import Row

FORGOTTEN = "[forgotten]"  # the placeholder for a text that must not be null
# Columns that hold written text, with their replacement.
_WRITTEN: dict[str, dict[str, Any]] = {
    "heads": {
        "name": FORGOTTEN, "reason": None, "attention": None, "next_step": None, "blockers": None,
    },
    "extras": {
        "goal": None, "context": None, "acceptance": None, "callback_url": None, "metadata": {},
    },
    "steps": {
        "title": FORGOTTEN, "note": None, "active_issue": None, "stage": None, "detail": {},
    },
    "records": {"key": None},
    "claims": {"reason": None},
}  # fmt: skip
# Reasons that Ringbolt itself sets, and by which a stopped task is resumed. They are not content.
OWN_REASONS = frozenset(("wait", "idle", "session gone", "duplicate", "stale", "blocked", "budget"))
# Labels that are structure: the steps an entry matters for, and the home of facts.
_KEPT_LABELS = ("item", "facts")
# The status of a record whose event was forgotten, so that no view shows it as valid.
_ENDED = "invalidated"
# Metadata that waits maintain: states and ids, not content.
WAIT_STATE = ("active_wait_ids", "last_wait_state", "last_wait_event_at", "last_stuck_alert_at")


def tombstone(event: Mapping[str, Any]) -> Row:
    """The cells of an event's row after forgetting."""
    sets = redacted(json.loads(event["sets"])) if event["sets"] else None
    return {
        "text": None,
        "data": "{}",
        "sets": dumps(sets) if sets else None,
        "forgotten": event["forgotten"] or content_digest(event),
    }


def has_content(event: Mapping[str, Any]) -> bool:
    """Whether forgetting would remove anything from an event."""
    return event["forgotten"] is None and carries_content(event)


def carries_content(event: Mapping[str, Any]) -> bool:
    """Whether an event has content that a tombstone must not have."""
    if event["text"] or event["data"] != "{}":
        return True
    sets: dict[str, Any] = json.loads(event["sets"]) if event["sets"] else {}
    return redacted(sets) != sets


def redacted(sets: Mapping[str, Any]) -> dict[str, Any]:
    """The `sets` of an event without written texts. Redacting twice changes nothing more."""
    result: dict[str, Any] = {}
    for name, rows in sets.items():
        table = name.lstrip("+")
        if table in ("steps", "records"):
            kept: Any = {key: _row(name, table, row) for key, row in rows.items()}
        elif table == "labels":
            kept = [row for row in rows if row[1] in _KEPT_LABELS]
        elif table == "files":  # the path is the content
            continue
        elif table == "links":
            kept = [row for row in rows if is_id(row["target"])]
        elif table == "claims":
            kept = [_row(name, table, row) for row in rows]
        elif table == "keys":
            kept = {**rows, "result": _result(rows["result"])}
        else:
            kept = _row(name, table, rows)
        if kept or name == "+extras":
            result[name] = kept
    return result


def _row(name: str, table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    replacements = _WRITTEN.get(table, {})
    cells = {
        column: replacements[column] if column in replacements and value is not None else value
        for column, value in row.items()
    }
    if row.get("reason") in OWN_REASONS:
        cells["reason"] = row["reason"]
    if name == "extras":  # an update replaces all metadata, even if other events set it
        cells.pop("metadata", None)
    if name == "+records":
        cells["status"] = "cancelled" if row.get("type") == "wait" else _ENDED
        cells.pop("key", None)
    return cells


def _result(result: Any) -> str:
    """The result of a keyed call without its texts; a repeated call must still be recognised."""
    fields = json.loads(result) if isinstance(result, str) else result
    if not is_dict(fields):
        return "{}"
    emptied: dict[str, Any] = {name: [] for name in ("warnings", "patterns") if name in fields}
    return dumps({**fields, **emptied})


def is_id(text: object) -> bool:
    """Whether a text is a task id, which we generate and which reveals nothing."""
    return isinstance(text, str) and len(text) == ID_LENGTH and normal_id(text) == text


# --- the texts of an event ----------------------------------------------------------------------------


def all_texts(event: Mapping[str, Any], keys: bool = True) -> list[str]:
    """Every written text of an event: its text, and those in its data and its `sets`.

    `keys` includes the names of fields, which a caller may have chosen.
    """
    texts = [event["text"]] if event["text"] else []
    texts += strings(json.loads(event["data"]), keys)
    texts += set_texts(json.loads(event["sets"]) if event["sets"] else {}, keys)
    return texts


def set_texts(sets: Mapping[str, Any], keys: bool = False) -> list[str]:
    """The texts that an event sets and a tombstone would not have."""
    kept = set(strings(redacted(sets)))
    return [text for text in strings(sets, keys) if text not in kept]


def strings(value: Any, keys: bool = True) -> Iterator[str]:
    """All texts in a JSON value, including those inside texts that are JSON themselves."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from strings(json.loads(value), keys)
            except ValueError:
                return
    elif is_list(value):
        for inner in value:
            yield from strings(inner, keys)
    elif is_dict(value):
        for name, inner in value.items():
            if keys:
                yield name
            yield from strings(inner, keys)
