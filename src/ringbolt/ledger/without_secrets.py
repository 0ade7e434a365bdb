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
_ONLY_PRIVATE = Redactor(keep=True)


def redact_draft(draft: Draft, data: str, sets: str | None, *, keep_secrets: bool) -> bool:
    """Replace secrets and private parts in what an event will store; returns whether there were any.

    `data` and `sets` are those of the draft as JSON. Reading them as one text finds whatever there is to
    find, and most events have nothing; only then are their values taken apart.
    """
    redactor = _ONLY_PRIVATE if keep_secrets else _REDACTOR
    whole = f"{draft.text}\n{data}\n{sets}"
    if redactor.text(whole) == whole:
        return False
    draft.text = draft.text and redactor.text(draft.text)
    records: dict[str, Any] = draft.sets.get("+records", {})
    variable = next((row["key"] for row in records.values() if row.get("key")), "")
    draft.data = {
        name: redactor.whole(value, variable if name == "value" else name)
        for name, value in draft.data.items()
    }
    draft.sets = {table: _redacted_rows(redactor, table, rows) for table, rows in draft.sets.items()}
    return True


def callback_of(draft: Draft) -> str | None:
    """The callback_url that an event sets."""
    extras: dict[str, Any] = draft.sets.get("+extras") or draft.sets.get("extras") or {}
    return extras.get("callback_url")


def redacted_event(event: Row, *, keep_secrets: bool) -> Row:
    """An event of a foreign file with secrets and private parts replaced, always in the same way."""
    redactor = _ONLY_PRIVATE if keep_secrets else _REDACTOR
    whole = f"{event['text']}\n{event['data']}\n{event['sets']}"
    if redactor.text(whole) == whole:
        return event
    data: dict[str, Any] = json.loads(event["data"])
    sets: dict[str, Any] = json.loads(event["sets"]) if event["sets"] else {}
    rows = {table: _redacted_rows(redactor, table, rows) for table, rows in sets.items()}
    return {
        **event,
        "text": event["text"] and redactor.text(event["text"]),
        "data": validate.dumps(redactor.whole(data)),
        "sets": validate.dumps(rows) if rows else None,
    }


def _redacted_rows(redactor: Redactor, table: str, rows: Any) -> Any:
    if table == "+keys":  # the key itself is an identity
        return {**rows, "result": redactor.text(rows["result"])}
    return redactor.whole(rows)
