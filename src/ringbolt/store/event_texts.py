"""The searchable text of an event, and the filter terms it matches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.types import is_dict, is_list
from ..signals.terms import scope_term, searched, terms_of
from .schema import MESSAGE_TYPES

# At most this much of an event is searchable, so that a single dump does not fill the index.
MOST_CHARACTERS = 200_000
MOST_VALUE = 50_000
# Events that only change structure: only their text, if any, is searchable.
SILENT = (
    "task.focused",
    "claim.taken",
    "claim.released",
    "entry.closed",
    "undone",
    "model.used",
    "drill.scored",
    "task.upkeep",
    "task.stuck",
    "claim.reclaimed",
    "step.inferred",
)
# Frequent events, see `QUIET`.
_CHATTY = ("action", "action.ended", "log")
# Fields of an event's data in the order of their importance; all other fields follow.
_FIRST_FIELDS = (
    "title choice options reasoning risks if_wrong context what why symptom detail value entity text tool"
    " input output error answer label verify stage anchors"
).split()
# Fields that are not texts: states, and values for programs.
_NO_TEXTS = frozenset("status type digest duration_ms summarized version plan until hash".split())
# Fields of a message that repeat its text and what it sets.
_REPEATED = _NO_TEXTS | frozenset("message step step_status name phase reason next blockers".split())
# Columns of the state that hold written text.
_TEXT_COLUMNS = {
    "heads": ("name", "reason", "attention", "next_step", "blockers"),
    "extras": ("goal", "context", "acceptance", "metadata"),
    "steps": ("title", "note", "active_issue", "stage", "detail"),
}
_SETTING = ("task.registered", "task.updated", "plan.replaced", "plan.appended", "step.updated")


def full_text(event: Mapping[str, Any]) -> str:
    """The searchable text of an event: its text, its data and the texts it sets, most important first."""
    parts: dict[str, None] = {event["text"] or "": None}
    if event["event_type"] not in SILENT:
        if event["data"] != "{}":
            is_message = event["event_type"] in MESSAGE_TYPES or event["event_type"] == "task.registered"
            _add_data(parts, json.loads(event["data"]), _REPEATED if is_message else _NO_TEXTS)
        if event["sets"] and event["event_type"] in _SETTING:
            _add_sets(parts, json.loads(event["sets"]))
    return "\n".join(filter(None, parts))[:MOST_CHARACTERS]


def _add_data(parts: dict[str, None], data: Any, left_out: frozenset[str]) -> None:
    """Add the texts of an event's data."""
    if not is_dict(data):
        return
    fields = [name for name in _FIRST_FIELDS if name in data]
    fields += [name for name in data if name not in fields and name not in left_out]
    for name in fields:
        for text in _strings(data[name]):
            parts[text[:MOST_VALUE]] = None


def _add_sets(parts: dict[str, None], sets: Any) -> None:
    """Add the texts that an event sets: names, goals, titles, notes, blockers."""
    if not is_dict(sets):
        return
    for table, cells in _TEXT_COLUMNS.items():
        for rows in (sets.get(f"+{table}"), sets.get(table)):
            for row in rows.values() if is_dict(rows) and table == "steps" else (rows,):
                texts = [row.get(cell) for cell in cells] if is_dict(row) else []
                for text in _strings(texts):
                    parts[text[:MOST_VALUE]] = None


def _strings(value: Any) -> Iterator[str]:
    """The texts and numbers in a JSON value, without keys and digests."""
    if isinstance(value, str):
        yield value
    elif is_list(value):
        for inner in value:
            yield from _strings(inner)
    elif is_dict(value):
        for name, inner in value.items():
            if name != "digest":
                yield from _strings(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def is_silent(event: Mapping[str, Any]) -> bool:
    """Whether an event has no searchable text."""
    return event["forgotten"] is not None or (event["event_type"] in SILENT and not event["text"])


# The term of all events except the frequent ones, so that a search can leave those out.
QUIET = scope_term("q", "")


def scopes(event: Mapping[str, Any]) -> list[str]:
    """The filter terms of an event; `event` has the workspace of its task too."""
    terms = [scope_term("t", event["task_id"]), scope_term("k", event["event_type"])]
    if event["event_type"] not in _CHATTY:
        terms.append(QUIET)
    if event["workspace_path"]:
        terms.append(scope_term("w", event["workspace_path"]))
    if event["item_id"]:
        terms.append(scope_term("i", event["item_id"]))
    if event["sets"] and '"+labels"' in event["sets"]:
        labels = json.loads(event["sets"]).get("+labels")
        terms += [scope_term("g", value.casefold()) for _, kind, value in labels if kind == "tag"]
    return terms


def index_words(event: Mapping[str, Any]) -> str:
    """An event as text, for an engine that splits and stems it itself."""
    return " ".join((searched(_words(event)), *scopes(event)))


def index_terms(event: Mapping[str, Any]) -> list[str]:
    """An event as terms, for an engine that stores them as they are."""
    return [*terms_of(_words(event)), *scopes(event)]


def _words(event: Mapping[str, Any]) -> str:
    return f"{full_text(event)} {event['agent'] or ''}"
