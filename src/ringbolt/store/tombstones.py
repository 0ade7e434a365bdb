"""What is left of an event whose content was removed on purpose: that it was, and what it changed, no words.

The digest of the content stays in its place, so that the chain of hashes holds; what the event sets stays as
far as it is structure (statuses, numbers, ids, times), so that the state can still be folded.
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

FORGOTTEN = "[forgotten]"  # stands for a text that must be there
# Columns with what somebody has written, and what stands there instead: None is nothing.
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
# Reasons in our own words, by which a task that was stopped goes on again: no content.
OWN_REASONS = frozenset(("wait", "idle", "session gone", "duplicate", "stale", "blocked", "budget"))
# Of labels these are structure: the steps that an entry matters for, and the home of facts.
_KEPT_LABELS = ("item", "facts")
# Of a record that an event adds, its status: nothing that has no content is shown as if it held.
_OVER = "invalidated"
# Columns of the metadata that waits keep there: states and ids, no content.
WAIT_STATE = ("active_wait_ids", "last_wait_state", "last_wait_event_at", "last_stuck_alert_at")


def tombstone(event: Mapping[str, Any]) -> Row:
    """The cells of an event's row once its content is gone."""
    sets = redacted(json.loads(event["sets"])) if event["sets"] else None
    return {
        "text": None,
        "data": "{}",
        "sets": dumps(sets) if sets else None,
        "forgotten": event["forgotten"] or content_digest(event),
    }


def has_content(event: Mapping[str, Any]) -> bool:
    """Whether there is anything in an event that forgetting would remove."""
    return event["forgotten"] is None and has_words(event)


def has_words(event: Mapping[str, Any]) -> bool:
    """Whether an event has anything that no tombstone has."""
    if event["text"] or event["data"] != "{}":
        return True
    sets: dict[str, Any] = json.loads(event["sets"]) if event["sets"] else {}
    return redacted(sets) != sets


def redacted(sets: Mapping[str, Any]) -> dict[str, Any]:
    """What an event sets, without what anybody has written. Doing it again changes nothing more."""
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
    instead = _WRITTEN.get(table, {})
    cells = {
        column: instead[column] if column in instead and value is not None else value
        for column, value in row.items()
    }
    if row.get("reason") in OWN_REASONS:
        cells["reason"] = row["reason"]
    if name == "extras":  # it would take away what others have set
        cells.pop("metadata", None)
    if name == "+records":
        cells["status"] = "cancelled" if row.get("type") == "wait" else _OVER
        cells.pop("key", None)
    return cells


def _read(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _result(result: Any) -> str:
    """What a keyed call answered, so that its repetition is still known, without its words."""
    fields = _read(result)
    if not is_dict(fields):
        return "{}"
    emptied: dict[str, Any] = {name: [] for name in ("warnings", "patterns") if name in fields}
    return dumps({**fields, **emptied})


def is_id(text: object) -> bool:
    """Whether a text is a task's id, which we have made and says nothing."""
    return isinstance(text, str) and len(text) == ID_LENGTH and normal_id(text) == text


# --- what was written in an event -------------------------------------------------------------------


def written(event: Mapping[str, Any], keys: bool = True) -> list[str]:
    """Every text that somebody has written in an event: its words, its data, and what it sets.

    `keys`: with the names of the fields, which may be somebody's own.
    """
    found = [event["text"]] if event["text"] else []
    found += strings(json.loads(event["data"]), keys)
    found += set_texts(json.loads(event["sets"]) if event["sets"] else {}, keys)
    return found


def set_texts(sets: Mapping[str, Any], keys: bool = False) -> list[str]:
    """The texts that an event sets and that a tombstone would not have."""
    kept = set(strings(redacted(sets)))
    return [text for text in strings(sets, keys) if text not in kept]


def strings(value: Any, keys: bool = True) -> Iterator[str]:
    """All texts in a JSON value; a text that is JSON itself is looked into."""
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
