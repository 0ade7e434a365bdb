"""Results of recovery drills, stored in the ledgers of their tasks: scores, and what was lost."""

from __future__ import annotations

import json
from typing import Any

from ..ledger.base import Base, Draft
from ..model import validate
from ..model.operation import operation
from ..model.results import DrillLoss, DrillResult, DrillResults, DrillRow
from ..model.types import Written
from ..store.tx import Row, Tx

SCORED = "drill.scored"
_FIND = (
    "SELECT h.task_id, h.name, e.seq, e.timestamp, e.data FROM heads h"
    " JOIN events e ON e.task_id = h.task_id AND e.event_type = :kind"
)
_COLUMNS = ("task_id", "name", "seq", "timestamp", "data")
_STORED = ("cut", "last", "because", "ok", "missed", "truth")


class Drilling(Base):
    """Operations on the results of drills."""

    @operation(scope="read")
    def drill_results(
        self, task_id: str | None = None, *, workspace: str | None = "", limit: int = 100
    ) -> DrillResults:
        """Results of recovery drills, newest first, for one task or all tasks of a workspace.

        `ringbolt drill` produces them: how much of a task's record a fresh context would recover after a
        compaction.

        Args:
            task_id: Only this task; default: every task of the workspace.
        """
        limit = validate.whole("limit", limit, 1, 1000)
        here = self.workspace if workspace == "" else validate.optional("workspace", workspace, 2000)

        def work(tx: Tx) -> DrillResults:
            if task_id is not None:
                rows = _scores(tx, "h.task_id = :task_id", task_id=self._find(tx, task_id)["task_id"])
            elif here is not None:
                rows = _scores(tx, "h.workspace_path = :workspace", workspace=here)
            else:
                rows = _scores(tx, "1 = 1")
            rows.sort(key=lambda row: (row["timestamp"], row["task_id"], row["seq"]), reverse=True)
            return DrillResults(results=tuple(map(_result, rows[:limit])), left_out=max(0, len(rows) - limit))

        return self.store.read(work)

    def _keep_drill(self, result: DrillResult) -> bool:
        """Store the result of a drill; False if the last drill with the same cut had the same result."""
        if result.task_id is None:
            return False
        # Texts stay in the events only, so that forgetting an event removes every copy.
        bare = tuple(
            row.replace(
                lost=tuple(loss.replace(text=None) for loss in row.lost if loss.seq is not None), kept=()
            )
            for row in result.rows
        )
        data = {name: getattr(result, name) for name in _STORED}
        data["rows"] = [
            {name: value for name, value in row.to_dict().items() if name != "kept"} for row in bare
        ]
        scribe = self.acting_as(agent="ringbolt", channel="system")

        def work(tx: Tx) -> Written | None:
            head = scribe._find(tx, result.task_id, lock=True)
            rows = _scores(tx, "h.task_id = :task_id", task_id=head["task_id"])
            known = [earlier for earlier in map(_result, rows) if earlier.cut == result.cut]
            if known and (known[-1].rows, known[-1].because) == (bare, result.because):
                return None
            return scribe._append(tx, head, Draft(SCORED, data=data), scribe._now(), "drill")

        return scribe._commit(work, tasks=lambda written: (written.task_id,) if written else ()) is not None


def _scores(tx: Tx, where: str, **values: str) -> list[Row]:
    return tx.rows(_COLUMNS, f"{_FIND} WHERE {where} ORDER BY e.task_id, e.seq", kind=SCORED, **values)


def _result(row: Row) -> DrillResult:
    data = json.loads(row["data"])
    return DrillResult(
        **{name: row[name] for name in ("task_id", "name", "seq")},
        **{name: data[name] for name in ("cut", "last", "because", "ok")},
        missed=tuple(data.get("missed", ())),
        truth=data.get("truth", ""),
        rows=tuple(_row(fields) for fields in data["rows"]),
        at=row["timestamp"],
    )


def _row(data: dict[str, Any]) -> DrillRow:
    scores = {name: value for name, value in data.items() if name != "lost"}
    return DrillRow(**scores, lost=tuple(DrillLoss(**loss) for loss in data.get("lost", ())))
