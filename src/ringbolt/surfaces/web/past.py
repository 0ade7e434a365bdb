"""Time travel: the state of a task after any of its events.

A past state is built by replaying the task's events into an in-memory ledger. Replaying a long history takes
a while and people step back and forth in it, so the last ledger is cached, with savepoints to roll back to.
It is dropped as soon as the task gets another event, so forgotten data disappears from it too.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ...ledger.values import read_origin
from ...memory import TaskMemory
from ...store import scratch
from ...store.tx import Row, Tx

PAGE = 1000
MARK_EVERY = 2000  # events between two savepoints
LONG = 5000  # events; a shorter history is replayed from its start each time


class Past:
    """An in-memory ledger that holds a task as it was after one event, and can move to any other event."""

    def __init__(self, memory: TaskMemory, head: Row) -> None:
        self._store = memory.store
        self._last = head["last_seq"]
        self._tx = scratch()
        self._row: Row = {"task_id": head["task_id"], "root_id": head["root_id"], "last_seq": 0}
        self._marks: list[Row] = []  # the task's row at each savepoint

    def walk(self, first: int, until: int) -> Iterator[tuple[Tx, Row]]:
        """Yield the ledger after each event from `first` to `until`, with that event."""
        self._back_to(first - 1)
        while (after := self._row["last_seq"]) < until:
            rows = self._store.read(lambda tx, a=after: tx.events(self._row["task_id"], a, PAGE, until))
            for event in rows:
                self._tx.fold(self._row, event, read_origin(event))
                if event["seq"] >= first:
                    yield self._tx, event
                if event["seq"] % MARK_EVERY == 0 and self._last > LONG:
                    self._tx.database.run(f"SAVEPOINT mark{len(self._marks):d}", {})
                    self._marks.append(dict(self._row))

    def _back_to(self, seq: int) -> None:
        """Roll back to the last savepoint at or before an event, or start over if there is none."""
        if self._row["last_seq"] <= seq:
            return
        while self._marks and self._marks[-1]["last_seq"] > seq:
            self._marks.pop()
        if self._marks:
            self._tx.database.run(f"ROLLBACK TO mark{len(self._marks) - 1:d}", {})
            self._row = dict(self._marks[-1])
        else:
            self._tx = scratch()
            self._row = {name: self._row[name] for name in ("task_id", "root_id")} | {"last_seq": 0}


class PastCache:
    """Keeps the ledger of the long history that was viewed last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: object = None
        self._past: Past | None = None

    def walk(
        self, memory: TaskMemory, head: Row, first: int, until: int, visit: Callable[[Tx, Row], None]
    ) -> None:
        """Call `visit` with the ledger and the event after each event from `first` to `until`."""
        # If another request is using the cached ledger, replay from the start instead of waiting for it.
        if head["last_seq"] <= LONG or not self._lock.acquire(blocking=False):
            for tx, event in Past(memory, head).walk(first, until):
                visit(tx, event)
            return
        try:
            key = (memory.store.url, head["task_id"], head["last_seq"], head["last_hash"])
            past = self._past if self._past is not None and self._key == key else Past(memory, head)
            self._past = None  # if the walk fails, its ledger must not be reused
            for tx, event in past.walk(first, until):
                visit(tx, event)
            self._key, self._past = key, past
        finally:
            self._lock.release()
