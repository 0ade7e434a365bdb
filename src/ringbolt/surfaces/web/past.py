"""The past of a task, event by event: whoever looks at a long history goes back and forth in it.

To fold many events takes a while, so the ledger in memory into which they were folded is kept for the next
question, with marks to which it can be taken back. One is kept, of a long history, and only as long as
nothing was written to its task: whatever is forgotten is gone from here, too.
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
MARK_EVERY = 2000
LONG = 5000  # events; fewer are folded at once


class Past:
    """A ledger in memory that stands after one event of a task, and can be taken to any other."""

    def __init__(self, memory: TaskMemory, head: Row) -> None:
        self._store = memory.store
        self._last = head["last_seq"]
        self._tx = scratch()
        self._row: Row = {"task_id": head["task_id"], "root_id": head["root_id"], "last_seq": 0}
        self._marks: list[Row] = []  # the row of the task at each mark

    def walk(self, first: int, until: int) -> Iterator[tuple[Tx, Row]]:
        """The ledger after each event from one to another, and that event."""
        self._back_to(first - 1)
        while (after := self._row["last_seq"]) < until:
            rows = self._store.read(lambda tx, a=after: tx.events(self._row["task_id"], a, PAGE, until))
            for event in rows:
                self._tx.append(self._row, event, read_origin(event))
                if event["seq"] >= first:
                    yield self._tx, event
                if event["seq"] % MARK_EVERY == 0 and self._last > LONG:
                    self._tx.database.run(f"SAVEPOINT mark{len(self._marks):d}", {})
                    self._marks.append(dict(self._row))

    def _back_to(self, seq: int) -> None:
        """Go back to a mark, if this is later than an event; before the first mark all begins anew."""
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


class Pasts:
    """Keeps the past that was looked at last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: object = None
        self._past: Past | None = None

    def walk(
        self, memory: TaskMemory, head: Row, first: int, until: int, visit: Callable[[Tx, Row], None]
    ) -> None:
        """Call `visit` after each event of a task from one to another, with the ledger and the event."""
        # Whoever comes while another one looks does not wait for that.
        if head["last_seq"] <= LONG or not self._lock.acquire(blocking=False):
            for tx, event in Past(memory, head).walk(first, until):
                visit(tx, event)
            return
        try:
            key = (memory.store.url, head["task_id"], head["last_seq"], head["last_hash"])
            past = self._past if self._past is not None and self._key == key else Past(memory, head)
            self._past = None  # if this fails, nobody goes on with it
            for tx, event in past.walk(first, until):
                visit(tx, event)
            self._key, self._past = key, past
        finally:
            self._lock.release()
