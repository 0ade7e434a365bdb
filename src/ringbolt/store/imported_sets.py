"""Validate the `sets` of imported events before they are folded into a store."""

from __future__ import annotations

import json
from typing import Any

from ..model.errors import shown
from ..model.validate import check_storable, text
from .schema import MAINTAINED, NUMBERS, STATE

# Columns that hold JSON, with its types; apart from `NUMBERS`, all others hold texts.
_JSON: dict[str, tuple[type, ...]] = {
    "blockers": (list,),
    "depends_on": (list,),
    "acceptance": (list,),
    "detail": (dict,),
    "metadata": (dict,),
    "context": (dict, list, str, int, float, bool),
    "result": (dict,),
}
# Columns that must not be null.
_REQUIRED = {
    "heads": "kind name status phase focus plan_version",
    "extras": "approval_mode metadata",
    "steps": "ordinal title status depends_on detail plan_version",
    "records": "type status",
    "labels": "seq kind value",
    "files": "path change seq at",
    "links": "kind target seq status",
    "claims": "item_id holder token status expires_at",
    "keys": "key operation arguments result",
}
# Columns that a new row must have.
_NEEDED = {
    "+steps": "ordinal title plan_version",
    "+records": "type status",
    **{name: _REQUIRED[name.lstrip("+")] for name in ("files", "links", "claims", "+keys")},
}


def check_sets(sets: Any, seq: int) -> None:
    """Raise unless the `sets` of an imported event name only tables and columns that events may set, with
    values of the right types."""
    if seq == 1 and not ("+extras" in sets and {"kind", "name", "status", "phase"} <= set(sets["heads"])):
        raise ValueError("a first event must register a task")
    for name, rows in sets.items():
        table = name.lstrip("+")
        if table not in STATE or name not in (table, f"+{table}"):
            raise ValueError(f"it sets the unknown table {shown(name)}")
        for body in _bodies(name, table, rows, seq):
            unknown = set(body) - set(STATE[table][0])
            if table == "heads":
                unknown |= set(body) & MAINTAINED
            if table == "records":  # it follows from the event
                unknown |= set(body) & {"channel"}
            if unknown:
                raise ValueError(f"it sets unknown columns of {table}: {shown(sorted(unknown))}")
            if missing := set(_NEEDED.get(name, "").split()) - set(body):
                raise ValueError(f"a row of {table} lacks {shown(sorted(missing))}")
            for column, value in body.items():
                _check_cell(table, column, value)


def _bodies(name: str, table: str, rows: Any, seq: int) -> list[dict[str, Any]]:
    """The rows that an event sets in a table, as dicts of their columns."""
    if name == "+labels":
        return [dict(zip(("seq", "kind", "value"), row, strict=True)) for row in rows]
    if table in ("heads", "extras", "keys"):
        return [rows]
    if table in ("files", "links", "claims"):
        return list(rows)
    for key in rows:
        if table == "records" and not (key.isdecimal() and key.isascii() and int(key[:19]) <= seq):
            raise ValueError(f"{shown(key)} is not the number of an earlier event")
        _check_cell("steps", "item_id", key)
    return list(rows.values())


def _check_cell(table: str, column: str, value: Any) -> None:
    if value is None:
        fits = column not in _REQUIRED[table].split()
    elif column in NUMBERS:
        fits = type(value) is int and 0 <= value < 1 << 62
    elif column == "duration_seconds":
        fits = type(value) in (int, float) and abs(value) < 1e15
    elif column in _JSON:
        value = json.loads(value) if isinstance(value, str) else value
        fits = isinstance(value, _JSON[column])
        check_storable(value)
    else:
        fits = isinstance(value, str)
        if fits:
            text(column, value, 1 << 30)
    if not fits:
        raise ValueError(f"{column} of {table} cannot be {shown(value)}")
