"""Read the rows of a damaged SQLite store from its pages, whatever became of its indexes.

SQLite follows pointers from the first page of a file to all others, so one damaged page can hide thousands of
intact ones. This reads every page by itself: a page of a table says where its rows are, and a row says what
its cells are. The rows of a table are recognized by their number of cells and the types of some. Nothing here
is proof that a row is right; the caller compares hashes. The files are only read.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

from .database import Row
from .schema import EVENTS, HEADS, ORIGINS

_HEADER = b"SQLite format 3\0"
_TABLE_LEAF, _INDEX_INTERIOR, _INDEX_LEAF = 0x0D, 0x02, 0x0A
_WAL_HEADER, _FRAME_HEADER = 32, 24
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer, by its type
_DEFAULT_PAGE = 4096
_MOST_BYTES = 1 << 30  # of a row; more is damage
_ORIGIN_CELLS = 1 + len(ORIGINS)
_EVENT_CELLS = 1 + len(EVENTS)


class Salvage:
    """What can be read from a store's file and its WAL."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed by close
        self._bytes = os.fstat(self._file.fileno()).st_size
        self.page_size = self._read_page_size()
        self._wal = _committed_frames(f"{path}-wal", self.page_size)
        self.has_wal = bool(self._wal)
        pages = -(-self._bytes // self.page_size)
        self._count = max([pages, *self._wal])
        self.events: list[Row] = []
        self.origins: dict[int, dict[str, str]] = {}
        # The task's own rows: where each ended, and its root.
        self.heads: dict[str, Row] = {}
        for cells in self._rows():
            self._sort_in(cells)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read_page_size(self) -> int:
        header = self._file.read(100)
        size = int.from_bytes(header[16:18], "big") if header.startswith(_HEADER) else 0
        size = 65_536 if size == 1 else size
        return size if 512 <= size <= 65_536 and size & (size - 1) == 0 else _DEFAULT_PAGE

    # --- rows -------------------------------------------------------------------------------------

    def _sort_in(self, cells: list[Any]) -> None:
        rowid, *rest = cells
        if len(rest) == _EVENT_CELLS and _is_event(rest):
            self.events.append({"id": rowid, **dict(zip(EVENTS, rest[1:], strict=True))})
        elif len(rest) == _ORIGIN_CELLS and all(isinstance(cell, str) for cell in rest[1:]):
            self.origins[rowid] = dict(zip(ORIGINS, rest[1:], strict=True))
        elif rowid is None and len(rest) == len(HEADS) and _is_head(rest):
            head = dict(zip(HEADS, rest, strict=True))
            known = self.heads.get(head["task_id"])
            if known is None or known["last_seq"] < head["last_seq"]:
                self.heads[head["task_id"]] = head

    def _rows(self) -> Iterator[list[Any]]:
        """The cells of every row that can be read, after its rowid; that is None in a table without."""
        for number in range(1, self._count + 1):
            page = self._page(number)
            start = 100 if number == 1 else 0  # the file's own header
            kind = page[start] if len(page) > start + 8 else 0
            if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
                continue
            first = start + (12 if kind == _INDEX_INTERIOR else 8)
            count = int.from_bytes(page[start + 3 : start + 5], "big")
            for place in range(min(count, (len(page) - first) // 2)):
                at = int.from_bytes(page[first + 2 * place : first + 2 * place + 2], "big")
                try:
                    yield self._row(page, at, kind)
                except (IndexError, ValueError):
                    continue  # UnicodeDecodeError is a ValueError

    def _row(self, page: bytes, at: int, kind: int) -> list[Any]:
        if kind == _INDEX_INTERIOR:
            at += 4  # the pointer to the page on its left
        size, at = _varint(page, at)
        rowid = None
        if kind == _TABLE_LEAF:
            rowid, at = _varint(page, at)
        return [rowid, *_cells(self._payload(page, at, size, kind == _TABLE_LEAF))]

    def _payload(self, page: bytes, at: int, size: int, in_table: bool) -> bytes:
        """The bytes of a row; a long one continues on other pages."""
        usable = self.page_size
        most = usable - 35 if in_table else (usable - 12) * 64 // 255 - 23
        if not 0 < size < _MOST_BYTES:
            raise ValueError("not the size of a row")
        if size <= most:
            return page[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= most else least
        payload = bytearray(page[at : at + here])
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        seen: set[int] = set()
        while len(payload) < size:
            if following in seen or not 0 < following <= self._count:
                raise ValueError("a row that does not end")
            seen.add(following)
            more = self._page(following)
            payload += more[4 : 4 + size - len(payload)]
            following = int.from_bytes(more[:4], "big")
        return bytes(payload)

    def _page(self, number: int) -> bytes:
        if (page := self._wal.get(number)) is not None:
            return page
        self._file.seek((number - 1) * self.page_size)
        return self._file.read(self.page_size)


def _is_event(cells: list[Any]) -> bool:
    row = dict(zip(EVENTS, cells[1:], strict=True))
    return (
        cells[0] is None
        and all(isinstance(row[name], str) for name in ("task_id", "event_type", "timestamp", "data"))
        and all(isinstance(row[name], int) for name in ("seq", "origin_id"))
        and isinstance(row["hash"], bytes)
        and row["seq"] > 0
    )


def _is_head(cells: list[Any]) -> bool:
    row = dict(zip(HEADS, cells, strict=True))
    return (
        all(isinstance(row[name], str) for name in ("task_id", "root_id", "kind", "name", "status"))
        and isinstance(row["last_seq"], int)
        and isinstance(row["last_hash"], bytes)
    )


def _committed_frames(path: str, page_size: int) -> dict[int, bytes]:
    """The newest committed content of each page in a WAL, by number; the checksums are not needed, because
    the caller compares the hashes of events."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return {}
    if int.from_bytes(content[:4], "big") not in _WAL_MAGIC:
        return {}
    salts = content[16:24]
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    at, step = _WAL_HEADER, _FRAME_HEADER + page_size
    while at + step <= len(content) and content[at + 8 : at + 16] == salts:
        pending[int.from_bytes(content[at : at + 4], "big")] = content[at + _FRAME_HEADER : at + step]
        if content[at + 4 : at + 8] != b"\0\0\0\0":  # the last frame of a transaction
            committed |= pending
            pending = {}
        at += step
    return committed


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(9):
        byte = page[at + place]
        if place == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, at + place + 1
    raise AssertionError  # the ninth byte ends it


def _cells(payload: bytes) -> list[Any]:
    """The cells of a row in SQLite's record format."""
    size, at = _varint(payload, 0)
    types: list[int] = []
    while at < size:
        kind, at = _varint(payload, at)
        types.append(kind)
    cells: list[Any] = []
    at = size
    for kind in types:
        cell, at = _cell(payload, at, kind)
        cells.append(cell)
    return cells


def _cell(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind == 7:
        end = _within(payload, at + 8)
        return struct.unpack(">d", payload[at:end])[0], end
    if kind in _SIZES:
        end = at + _SIZES[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), _within(payload, end)
    if kind < 12:
        raise ValueError("a type that SQLite reserves")
    end = _within(payload, at + (kind - 12) // 2)
    content = payload[at:end]
    return content if kind % 2 == 0 else content.decode(), end


def _within(payload: bytes, end: int) -> int:
    if end > len(payload):
        raise ValueError("a cell beyond the end of its row")
    return end
