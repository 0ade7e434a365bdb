"""Texts: what of an event can be found, and by which filters."""

from __future__ import annotations

import json

from ..types import is_dict, is_list
from .terms import scope_term, searched, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# Of one event so many characters are searched: more than anyone reads, and no single dump fills the index.
MOST_CHARACTERS = 200_000
MOST_VALUE = 50_000
# Events that only move things: nobody looks for their words.
SILENT = frozenset(("task.focused", "claim.taken", "claim.released", "entry.closed", "undone"))
_NAMING = ("task.registered", "plan.replaced", "plan.appended", "item.updated", "task.updated")
# What the words of other events stand in, besides their text.
_SAID = (
    "title choice options reasoning risks if_wrong context what why symptom detail value tool input output"
    " error answer label verify stage anchors"
).split()


def full_text(event: Mapping[str, Any]) -> str:
    """All words of an event: its text, and what its data say, in the order of their importance."""
    parts = [event["text"] or ""]
    data: dict[str, Any] = json.loads(event["data"]) if event["data"] != "{}" else {}
    said = set(parts)
    for name in _SAID:
        for text in _strings(data.get(name)):
            if text not in said:
                said.add(text)
                parts.append(text[:MOST_VALUE])
    if event["sets"] and event["event_type"] in (
        "task.registered",
        "plan.replaced",
        "plan.appended",
        "item.updated",
    ):
        parts += _named(json.loads(event["sets"]))
    return "\n".join(filter(None, parts))[:MOST_CHARACTERS]


def _strings(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys left out; numbers as they are written."""
    if isinstance(value, str):
        yield value
    elif is_list(value):
        for inner in value:
            yield from _strings(inner)
    elif is_dict(value):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def _named(sets: dict[str, Any]) -> list[str]:
    """The name and goal of a task, and the titles and notes of its steps, as an event sets them."""
    names = [str(sets.get("heads", {}).get("name") or ""), str(sets.get("+extras", {}).get("goal") or "")]
    for part in ("+steps", "steps"):
        for row in sets.get(part, {}).values():
            names += [str(row[cell]) for cell in ("title", "note", "active_issue") if row.get(cell)]
    return names


def is_silent(event: Mapping[str, Any]) -> bool:
    """Whether an event has nothing that could be found."""
    return event["event_type"] in SILENT or event["forgotten"] is not None


def scopes(event: Mapping[str, Any]) -> list[str]:
    """The terms of the filters that an event passes; `event` comes with the workspace of its task."""
    found = [scope_term("t", event["task_id"]), scope_term("k", event["event_type"])]
    if event["workspace_path"]:
        found.append(scope_term("w", event["workspace_path"]))
    if event["item_id"]:
        found.append(scope_term("i", event["item_id"]))
    if event["sets"] and '"+labels"' in event["sets"]:
        for _, kind, value in json.loads(event["sets"]).get("+labels", ()):
            if kind == "tag":
                found.append(scope_term("g", value))
    return found


def index_words(event: Mapping[str, Any]) -> str:
    """An event as words for an engine that splits and stems them by itself."""
    return " ".join((searched(f"{full_text(event)} {_speaker(event)}"), *scopes(event)))


def index_terms(event: Mapping[str, Any]) -> list[str]:
    """An event as terms, for an engine that takes them as they are."""
    return [*terms_of(f"{full_text(event)} {_speaker(event)}"), *scopes(event)]


def _speaker(event: Mapping[str, Any]) -> str:
    return event["agent"] or ""
