"""A transaction for many writes: rows that all of them need are read once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from ..model.types import Origin
from .database import Row
from .tx import Tx

Result = TypeVar("Result")


class BatchTx(Tx):
    """A transaction that keeps the rows of the tasks it has locked, and knows which keys are unused.

    No other transaction can change a locked task or use a key on it, and our own writes go through `fold`.
    The `position` of a locked row is the one it had when it was locked: only the engine knows the new one.
    An error that undoes some of them must pass through `nested`.
    """

    def __init__(self, tx: Tx) -> None:
        super().__init__(tx.database)
        self._heads: dict[str, Row] = {}
        self._unused_keys: set[str] = set()
        self._origins: set[int] = set()
        self._kept: dict[Hashable, Any] = {}

    def nested(self, work: Callable[[], None]) -> Exception | None:
        """Run `work` so that an error undoes only what it wrote; returns the error."""
        error = self.database.nested(work)
        if error is not None:
            for known in (self._heads, self._unused_keys, self._origins, self._kept):
                known.clear()
        return error

    def until_heads_change(self, name: Hashable, read: Callable[[], Result]) -> Result:
        if name not in self._kept:
            self._kept[name] = read()
        return self._kept[name]

    def head(self, task_id: str, lock: bool = False) -> Row | None:
        if not lock:
            return super().head(task_id)
        if task_id not in self._heads:
            head = super().head(task_id, lock)
            if head is None:
                return None
            self._heads[task_id] = head
            self._unused_keys.clear()  # another writer may have used one before we had the lock
        return dict(self._heads[task_id])

    def key(self, task_id: str, key: str) -> Row | None:
        return None if key in self._unused_keys and task_id in self._heads else super().key(task_id, key)

    def own_key(self, key: str, operation: str, origin: int, workspace: str | None) -> Row | None:
        if self.cell("SELECT 1 FROM keys WHERE key = :key LIMIT 1", key=key):
            return super().own_key(key, operation, origin, workspace)
        self._unused_keys.add(key)
        return None

    def fold(self, head: Row, event: Row, origin: Origin, sets: Mapping[str, Any] | None = None) -> Row:
        changes = super().fold(head, event, origin, sets)
        self._unused_keys.clear()
        if (known := self._heads.get(event["task_id"])) is not None:
            known.update(changes)
        if "version" in changes:  # more than counters changed
            self._kept.clear()
        return changes

    def _insert_origin(self, origin_id: int, origin: Origin) -> None:
        if origin_id not in self._origins:
            super()._insert_origin(origin_id, origin)
            self._origins.add(origin_id)
