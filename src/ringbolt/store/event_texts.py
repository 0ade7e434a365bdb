"""Texts: what of an event can be found, and by which filters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.types import is_dict, is_list
from ..signals.terms import scope_term, searched, terms_of

# Of one event so many characters are searched: more than anyone reads, and no single dump fills the index.
MOST_CHARACTERS = 200_000
MOST_VALUE = 50_000
# Events that only move things: what they say, if anything, is in their text.
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
    "item.inferred",
)
# Events of which there are many: see `QUIET`.
_CHATTY = ("action", "action.ended", "log")
# The words of an event besides its text, the most important first; then come all others that it has.
_SAID = (
    "title choice options reasoning risks if_wrong context what why symptom detail value entity text tool"
    " input output error answer label verify stage anchors"
).split()
# What is no words: states, and what only programs read.
_UNSAID = frozenset("status type digest duration_ms summarized version plan until hash".split())
# What an event may set that someone has written.
_SET = {
    "heads": ("name", "reason", "attention", "next_step", "blockers"),
    "extras": ("goal", "context", "acceptance", "metadata"),
    "steps": ("title", "note", "active_issue", "stage", "detail"),
}
_SETTING = ("task.registered", "task.updated", "plan.replaced", "plan.appended", "item.updated")


def full_text(event: Mapping[str, Any]) -> str:
    """All words of an event: its text, and what its data say, in the order of their importance."""
    parts: dict[str, None] = {event["text"] or "": None}
    if event["event_type"] not in SILENT:
        if event["data"] != "{}":
            _add_words(parts, json.loads(event["data"]))
        if event["sets"] and event["event_type"] in _SETTING:
            _add_set(parts, json.loads(event["sets"]))
    return "\n".join(filter(None, parts))[:MOST_CHARACTERS]


def _add_words(parts: dict[str, None], data: Any) -> None:
    """Add what the data of an event say."""
    if not is_dict(data):
        return
    said = [name for name in _SAID if name in data]
    said += [name for name in data if name not in said and name not in _UNSAID]
    for name in said:
        for text in _strings(data[name]):
            parts[text[:MOST_VALUE]] = None


def _add_set(parts: dict[str, None], sets: Any) -> None:
    """Add what an event sets that someone has written: names, goals, titles, notes, blockers, …"""
    if not is_dict(sets):
        return
    for table, cells in _SET.items():
        for rows in (sets.get(f"+{table}"), sets.get(table)):
            for row in rows.values() if is_dict(rows) and table == "steps" else (rows,):
                said = [row.get(cell) for cell in cells] if is_dict(row) else []
                for text in _strings(said):
                    parts[text[:MOST_VALUE]] = None


def _strings(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys and digests left out; numbers as they are written."""
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
    """Whether an event has nothing that could be found."""
    return event["forgotten"] is not None or (event["event_type"] in SILENT and not event["text"])


# The term of events that are not of a kind of which there are very many.
QUIET = scope_term("q", "")


def scopes(event: Mapping[str, Any]) -> list[str]:
    """The terms of the filters that an event passes; `event` comes with the workspace of its task."""
    found = [scope_term("t", event["task_id"]), scope_term("k", event["event_type"])]
    if event["event_type"] not in _CHATTY:
        found.append(QUIET)
    if event["workspace_path"]:
        found.append(scope_term("w", event["workspace_path"]))
    if event["item_id"]:
        found.append(scope_term("i", event["item_id"]))
    if event["sets"] and '"+labels"' in event["sets"]:
        labels = json.loads(event["sets"]).get("+labels")
        found += [scope_term("g", value) for _, kind, value in labels if kind == "tag"]
    return found


def index_words(event: Mapping[str, Any]) -> str:
    """An event as words for an engine that splits and stems them by itself."""
    return " ".join((searched(f"{full_text(event)} {_speaker(event)}"), *scopes(event)))


def index_terms(event: Mapping[str, Any]) -> list[str]:
    """An event as terms, for an engine that takes them as they are."""
    return [*terms_of(f"{full_text(event)} {_speaker(event)}"), *scopes(event)]


def _speaker(event: Mapping[str, Any]) -> str:
    return event["agent"] or ""
