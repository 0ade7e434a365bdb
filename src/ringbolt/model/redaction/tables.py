"""The cells of tables below the name of a secret."""

from __future__ import annotations

import re

from . import rules
from .markers import marker
from .matching import pattern, replaced
from .names import secret_kind
from .storable_text import folded
from .values import is_cell, is_template

_MOST_ROWS = 20


def manifest_values(text: str) -> str:
    """Redact the values of a manifest of Kubernetes that holds secrets, whatever their names are."""

    def redact(match: re.Match[str]) -> str:
        begin = match.start(2) - match.start()
        return match[0][:begin] + replaced(rules.MANIFEST_VALUE, match[2], "secret", is_template)

    return (
        pattern(rules.MANIFEST_VALUES).sub(redact, text)
        if pattern(rules.MANIFEST_KIND).search(text)
        else text
    )


def table_cells(text: str) -> str:
    """Redact the cells of tables below a name: `| user | password |`, CSV, `(user, password) VALUES (…)`."""
    parts: list[str] = []
    done = rows = count = 0
    edge = ""
    wanted: list[tuple[int, str, str]] = []
    for line in pattern(rules.SQL_ROW if "values" in folded(text) else rules.ROW).finditer(text):
        row = line[0].rstrip(" \t\r,;")
        cells = _cells(row, edge) if edge and rows < _MOST_ROWS else []
        if cells and len(cells) in (count, 1):
            rows += 1
            for column, name, kind in wanted if len(cells) > 1 else ():
                begin, cell = cells[column]
                value = cell.rpartition("(")[2].strip(" \t\"')") if edge in ",;" else cell.strip()
                if is_cell(kind, name, value):
                    begin += line.start() + cell.rindex(value)
                    parts += text[done:begin], marker(kind)
                    done = begin + len(value)
            continue
        edge = next((sign for sign in rules.ROW_EDGES if sign in row.strip()), "")
        if edge == rules.ALIGNED and not pattern(rules.ALIGNED_HEADER).match(row):
            edge = ""
        header = _cells(row, edge) if edge else []
        names = [cell.rpartition("(")[2].strip(" \t\"'`") for _, cell in header]
        kinds = [secret_kind(name) if pattern(rules.COLUMN).match(name) else "" for name in names]
        wanted = [(at, names[at], kind) for at, kind in enumerate(kinds) if kind]
        edge, count, rows = edge if wanted else "", len(header), 0
    return "".join(parts) + text[done:] if parts else text


def _cells(row: str, edge: str) -> list[tuple[int, str]]:
    """The cells of a row, each with its place."""
    if edge == rules.ALIGNED:
        return [(cell.start(), cell[0]) for cell in pattern(rules.ALIGNED_CELL).finditer(row)]
    cells: list[tuple[int, str]] = []
    place = 0
    for cell in row.split(edge):
        cells.append((place, cell))
        place += len(cell) + len(edge)
    return cells
