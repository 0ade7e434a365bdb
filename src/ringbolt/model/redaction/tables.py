"""The cells of tables below the name of a secret."""

from __future__ import annotations

import re

from . import rules
from .markers import marker
from .matching import pattern, replaced
from .names import secret_kind
from .storable_text import folded
from .values import is_cell, is_placeholder

_MOST_ROWS = 20


def manifest_values(text: str) -> str:
    """Redact the values of a manifest of Kubernetes that holds secrets, whatever their names are."""

    def redact(match: re.Match[str]) -> str:
        begin = match.start(2) - match.start()
        return match[0][:begin] + replaced(rules.MANIFEST_VALUE, match[2], "secret", is_placeholder)

    return pattern(rules.MANIFEST_VALUES).sub(redact, text)


def table_cells(text: str) -> str:
    """Redact the cells of tables below a name: `| user | password |`, CSV, `(user, password) VALUES (…)`."""
    parts: list[str] = []
    done = rows = count = 0
    edge = ""
    wanted: list[tuple[int, str, str]] = []
    for line in pattern(rules.SQL_ROW if "values" in folded(text) else rules.ROW).finditer(text):
        row = line[0].rstrip(" \t\r,;")
        if edge and rows < _MOST_ROWS and row.count(edge) in (count, 0):
            rows += 1
            cells = row.split(edge)
            for column, name, kind in wanted if len(cells) > 1 else ():
                value = (
                    cells[column].rpartition("(")[2].strip(" \t\"')")
                    if edge == ","
                    else cells[column].strip()
                )
                if is_cell(kind, name, value):
                    begin = (
                        line.start()
                        + sum(len(cell) + 1 for cell in cells[:column])
                        + cells[column].rindex(value)
                    )
                    parts += text[done:begin], marker(kind)
                    done = begin + len(value)
            continue
        edge = next((sign for sign in rules.ROW_EDGES if sign in row), "")
        names = [cell.rpartition("(")[2].strip(" \t\"'`") for cell in row.split(edge)] if edge else []
        kinds = [secret_kind(name) if pattern(rules.COLUMN).match(name) else "" for name in names]
        wanted = [(at, names[at], kind) for at, kind in enumerate(kinds) if kind]
        edge, count, rows = edge if wanted else "", row.count(edge), 0
    return "".join(parts) + text[done:] if parts else text
