"""Distillation: bring everything derived from a task's events up to date."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.operation import operation
from ..model.results import Distilled
from ..progress.plan_inference import infer_plan
from ..progress.progress_updates import catch_up
from ..store.tx import Tx
from . import names, run_commands, work_tree
from .extraction import Extracting
from .folds import MakeFold, update_folds
from .names import Names
from .run_commands import RunCommandsFold
from .work_tree import WorkTreeFold

_FOLDS: Mapping[str, MakeFold] = {
    names.KIND: Names,
    work_tree.KIND: WorkTreeFold,
    run_commands.KIND: RunCommandsFold,
}


class Distilling(Extracting):
    """The operation that updates what is derived from events."""

    @operation(scope="write", repeatable=True)
    def task_distill(self, task_id: str | None = None) -> Distilled:
        """Bring the derived parts of a task up to date: progress of the plan, entries worth remembering,
        the working tree, how to run things, names in use.

        Only events since the last run are read, and no model is called. Running it twice, concurrently or
        after a crash changes nothing. A worker does the same continuously; before a compaction it runs at
        once.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
        """
        found = self.store.read(lambda tx: self._find(tx, task_id)["task_id"])
        self._catch_up(found)
        self._infer_plan(found)
        entries = self.task_extract(found).entries if self.settings.extraction == "on" else ()
        return Distilled(task_id=found, seq=self._fold(found), entries=entries)

    def _catch_up(self, task_id: str) -> None:
        """Update the plan from what the agent said and did, page by page."""
        if self.settings.progress == "off":
            return

        def work(tx: Tx) -> int:
            return catch_up(self, tx, self._find(tx, task_id, lock=True), self._now())

        while self._commit(work, tasks=lambda _: (task_id,)):
            pass

    def _infer_plan(self, task_id: str) -> None:
        """Update the plan that follows from what was said, for a task without a written one."""
        if self.settings.progress != "off":
            infer_plan(self, task_id)

    def _fold(self, task_id: str) -> int:
        """Update the names, the working tree and how to run things; returns the last event that was read."""
        return update_folds(self, task_id, _FOLDS)
