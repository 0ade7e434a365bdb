# pyright: reportPrivateUsage=false
"""A model's verdict on reports that the rules could not place.

A report that may have finished a step leaves a job; the worker asks the model later, outside any transaction.
The model may only say which of the steps in question the report finished, and must quote the report. A step
that somebody set, claimed or ended meanwhile is left alone; what the model completes is inferred, and undone
with `task_undo` like anything inferred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ledger.access import append_event
from ..ledger.base import Draft
from ..ledger.step_changes import item_changes
from ..ledger.trust import AGENT, least_trusted
from ..ledger.values import read_event, read_task
from ..llm.calls import Modelling
from ..llm.prompts import fact_of
from ..model import rules
from ..store.tx import Row, Tx


class ReportJudging(Modelling):
    """Asks a model about reports. For the worker, never for a hook."""

    def _judge_report(
        self, task_id: str, seq: int, steps: Sequence[str], settle: Callable[[Tx], None]
    ) -> None:
        """Complete the steps among these that a model says the message finished, and settle the job."""
        finished, model = self._finished_steps(task_id, seq, steps)

        def work(tx: Tx) -> None:
            head = self._find(tx, task_id, lock=True)
            if finished and head["status"] in rules.OPEN:
                self._complete_steps(tx, head, seq, finished, model)
            settle(tx)

        self._commit(work, tasks=lambda _: (task_id,))

    def _finished_steps(self, task_id: str, seq: int, steps: Sequence[str]) -> tuple[list[str], str]:
        """The steps that the message finished according to a model, and the model's name."""
        task = self.store.read(lambda tx: read_task(tx, task_id))
        row = self.store.read(lambda tx: tx.event(task_id, seq))
        if task is None or row is None or not row["text"]:
            return [], ""
        live = [item for item in task.steps if item.dropped_in is None]
        asked = {
            number: item
            for number, item in enumerate(live, 1)
            if item.id in steps and item.status in rules.ITEM_OPEN and item.basis != "explicit"
        }
        if not asked:
            return [], ""
        verdict, _ = self._model_report(task, fact_of(read_event(row)), row["text"], list(asked))
        return ([asked[number].id for number in verdict[0]], verdict[1]) if verdict else ([], "")

    def _complete_steps(self, tx: Tx, head: Row, seq: int, items: Sequence[str], model: str) -> None:
        steps = tx.steps(head["task_id"])
        claimed = {row["item_id"] for row in tx.claims(head["task_id"]) if row["status"] == "held"}
        now = self._now()
        changes: dict[str, dict[str, object]] = {}
        for row in steps:
            is_open = row["status"] in rules.ITEM_OPEN and row["dropped_in"] is None
            if (
                row["item_id"] not in items
                or not is_open
                or row["basis"] == "explicit"
                or row["item_id"] in claimed
            ):
                continue
            changed, _ = item_changes(tx, head, steps, row, now, status="completed", basis="inferred")
            changed[row["item_id"]]["cause_seq"] = seq
            for name, columns in changed.items():
                changes.setdefault(name, {}).update(columns)
        if not changes:
            return
        cause = tx.event(head["task_id"], seq)
        itself = self.acting_as(agent=AGENT, channel=least_trusted([cause["channel"] if cause else None]))
        draft = Draft(
            "step.inferred",
            data={"inferred": True, "from": [seq], "by": model},
            sets={"steps": changes},
            item=next(iter(changes)) if len(changes) == 1 else None,
        )
        append_event(itself, tx, head, draft, now, "infer")
