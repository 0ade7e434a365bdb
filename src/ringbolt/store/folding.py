"""Fold events in memory for the state alone: the events themselves are not stored again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ..model.types import Origin
from .database import Row
from .schema import HEADS
from .sqlite_database import scratch_database
from .tx import Tx

_HEAD = f"UPDATE heads SET {', '.join(f'{name} = :{name}' for name in HEADS[1:])} WHERE task_id = :task_id"


class Folder(Tx):
    """A ledger in memory into which the events of tasks are folded; it has their state, but no events.

    An event keeps the hash that it has: a caller who does not trust the events compares it.
    """

    def __init__(self) -> None:
        super().__init__(scratch_database())
        self._pending: dict[str, Row] = {}  # rows of tasks that are not written yet
        self._channels: dict[str, dict[int, str]] = {}

    def fold(self, head: Row, event: Row, origin: Origin, sets: Any = None) -> Row:
        changes = super().fold(head, event, origin, sets)
        self._pending[event["task_id"]] = head
        return changes

    def _hash(self, previous: bytes, event: Row) -> bytes:
        return event["hash"]

    def _store_event(self, head: Row, event: Row, origin: Origin) -> None:
        self._channels.setdefault(event["task_id"], {})[event["seq"]] = origin.channel

    def _update_head(self, task_id: str, changes: Row) -> None:
        """Nothing yet: nearly every event changes the row, and nothing reads it until the end."""

    def channels_of(self, task_id: str, seqs: Iterable[int]) -> dict[int, str]:
        known = self._channels.get(task_id, {})
        return {seq: known[seq] for seq in seqs if seq in known}

    def head(self, task_id: str, lock: bool = False) -> Row | None:
        self._write_head(task_id)
        return super().head(task_id, lock)

    def state_rows(self, table: str, task_id: str, keys: Collection[str] | None = None) -> list[Row]:
        self._write_head(task_id)
        return super().state_rows(table, task_id, keys)

    def _write_head(self, task_id: str) -> None:
        if (head := self._pending.pop(task_id, None)) is not None:
            self._run(_HEAD, {**{name: head.get(name) for name in HEADS}, "position": 0})

    def drop(self, task_id: str) -> None:
        """Drop what is only needed while a task is folded."""
        self._channels.pop(task_id, None)
