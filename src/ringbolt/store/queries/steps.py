"""The steps of a plan."""

from __future__ import annotations

import json

from ...model.rules import plan_position
from ..database import Queries, Row
from ..schema import STEPS

_IN_ORDER = "FROM steps WHERE task_id = :task_id ORDER BY ordinal, item_id"
SELECT_STEPS = f"SELECT {', '.join(STEPS)} {_IN_ORDER}"


class Steps(Queries):
    """Reading steps."""

    def steps(self, task_id: str) -> list[Row]:
        """All steps of a task in order, including dropped ones."""
        return decode_steps(self.rows(STEPS, SELECT_STEPS, task_id=task_id))

    def plan_position(self, task_id: str) -> Row:
        """Where the plan of a task stands, as columns of its row."""
        sql = f"SELECT item_id, status, depends_on, version {_IN_ORDER}"
        return plan_position(
            [
                {"item_id": item, "status": status, "depends_on": _decoded(depends_on), "version": version}
                for item, status, depends_on, version in self._query(sql, {"task_id": task_id})
            ]
        )


def decode_steps(rows: list[Row]) -> list[Row]:
    """Step rows with their JSON columns decoded."""
    for row in rows:
        row["depends_on"] = _decoded(row["depends_on"])
        row["detail"] = json.loads(row["detail"]) if row["detail"] != "{}" else {}
    return rows


def _decoded(depends_on: str) -> list[str]:
    return json.loads(depends_on) if depends_on != "[]" else []
