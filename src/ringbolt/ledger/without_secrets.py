"""Redaction on the path of every write: the one place through which an operation's arguments become an event.

Hooks redact before they write to the journal, because the journal is on disk too. What the library, MCP,
HTTP, the command line, imports and models write is redacted here.
"""

from __future__ import annotations

import json
from typing import Any

from ..model import validate
from ..model.redaction import Redactor
from ..store.tx import Row
from .drafts import Draft

_REDACTOR = Redactor()


def redact_draft(draft: Draft, data: str, sets: str | None) -> bool:
    """Replace the secrets in what an event will store; returns whether there were any.

    `data` and `sets` are those of the draft as JSON. Reading them as one text finds whatever there is to
    find, and most events have nothing; only then are their values taken apart.
    """
    whole = f"{draft.text}\n{data}\n{sets}"
    if _REDACTOR.text(whole) == whole:
        return False
    draft.text = draft.text and _REDACTOR.text(draft.text)
    records: dict[str, Any] = draft.sets.get("+records", {})
    variable = next((row["key"] for row in records.values() if row.get("key")), "")
    draft.data = {
        name: _REDACTOR.whole(value, variable if name == "value" else name)
        for name, value in draft.data.items()
    }
    draft.sets = {table: _redacted_rows(table, rows) for table, rows in draft.sets.items()}
    return True


def callback_of(draft: Draft) -> str | None:
    """The callback_url that an event sets."""
    extras: dict[str, Any] = draft.sets.get("+extras") or draft.sets.get("extras") or {}
    return extras.get("callback_url")


def redacted_event(event: Row) -> Row:
    """An event of a foreign file with its secrets replaced, always in the same way."""
    whole = f"{event['text']}\n{event['data']}\n{event['sets']}"
    if _REDACTOR.text(whole) == whole:
        return event
    data: dict[str, Any] = json.loads(event["data"])
    sets: dict[str, Any] = json.loads(event["sets"]) if event["sets"] else {}
    rows = {table: _redacted_rows(table, rows) for table, rows in sets.items()}
    return {
        **event,
        "text": event["text"] and _REDACTOR.text(event["text"]),
        "data": validate.dumps(_REDACTOR.whole(data)),
        "sets": validate.dumps(rows) if rows else None,
    }


def _redacted_rows(table: str, rows: Any) -> Any:
    if table == "+keys":  # the key itself is an identity
        return {**rows, "result": _REDACTOR.text(rows["result"])}
    return _REDACTOR.whole(rows)
