"""The steps of a plan."""

from __future__ import annotations

import json

from .database import Queries, Row
from .schema import STEPS

SELECT_STEPS = f"SELECT {', '.join(STEPS)} FROM steps WHERE task_id = :task_id ORDER BY ordinal, item_id"


class Steps(Queries):
    """Reading steps."""

    def steps(self, task_id: str) -> list[Row]:
        """All steps of a task in order, dropped ones included."""
        return decode_steps(self.rows(STEPS, SELECT_STEPS, task_id=task_id))


def decode_steps(rows: list[Row]) -> list[Row]:
    """Step rows with their JSON columns decoded."""
    for row in rows:
        row["depends_on"] = json.loads(row["depends_on"]) if row["depends_on"] != "[]" else []
        row["detail"] = json.loads(row["detail"]) if row["detail"] != "{}" else {}
    return rows
