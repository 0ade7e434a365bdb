"""Distillation: bring everything derived from a task's events up to date."""

from __future__ import annotations

from typing import Any

from ..ledger.values import read_event
from ..model.operation import operation
from ..model.results import Distilled
from ..model.types import Event
from ..store import distilled
from ..store.tx import Tx
from .extraction import Extracting
from .names import Names
from .progress_updates import catch_up

# Events that are read at once, so that no snapshot is held for long.
PAGE = 500


class Distilling(Extracting):
    """The operation that updates what is derived from events."""

    @operation(scope="write", repeatable=True)
    def task_distill(self, task_id: str | None = None) -> Distilled:
        """Bring the derived parts of a task up to date: progress of the plan, entries worth remembering,
        names in use.

        Only events since the last run are read, and no model is called. Running it twice, concurrently or
        after a crash changes nothing. A worker does the same continuously; before a compaction it runs at
        once.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
        """
        found = self.store.read(lambda tx: self._find(tx, task_id)["task_id"])
        self._catch_up(found)
        entries = self.task_extract(found).entries if self.settings.extraction == "on" else ()
        return Distilled(task_id=found, seq=self._find_names(found), entries=entries)

    def _catch_up(self, task_id: str) -> None:
        """Update the plan from what the agent said and did, page by page."""
        if self.settings.progress == "off":
            return

        def work(tx: Tx) -> int:
            return catch_up(self, tx, self._find(tx, task_id, lock=True), self._now())

        while self._commit(work, tasks=lambda _: (task_id,)):
            pass

    def _find_names(self, task_id: str) -> int:
        """Rank the names in use, page by page; returns the last event that was read."""

        def read(tx: Tx) -> tuple[int, dict[str, Any], list[Event]]:
            mark, state = distilled.get(tx, task_id, "names")
            return mark, state, [read_event(row) for row in tx.events(task_id, mark, PAGE)]

        while True:
            mark, state, events = self.store.read(read)
            if not events:
                return mark
            names = Names(state)
            for event in events:
                names.observe(event)
            found, last, now = names.state(), events[-1].seq, self._now()

            def write(tx: Tx, state: Any = found, mark: int = mark, last: int = last, at: str = now) -> None:
                # Another process that was faster has read the same events and stored the same state.
                if distilled.get(tx, task_id, "names")[0] == mark:
                    distilled.put(tx, task_id, "names", last, at, state)

            self.store.write(write, settles=True)
