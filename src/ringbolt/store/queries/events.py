"""The events of a task, with their origins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..database import Row, placeholders
from ..schema import EVENT_FROM, EVENT_NAMES, EVENT_ROW, STEPS
from .steps import SELECT_STEPS, Steps, decode_steps

_SELECT = f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id"


class Events(Steps):
    """Reading the events of a task."""

    def event(self, task_id: str, seq: int) -> Row | None:
        """One event with its origin."""
        return self.row(EVENT_NAMES, f"{_SELECT} AND e.seq = :seq", task_id=task_id, seq=seq)

    def events(self, task_id: str, after: int, limit: int, until: int | None = None) -> list[Row]:
        """Events of a task in order."""
        where = "" if until is None else " AND e.seq <= :until"
        sql = f"{_SELECT} AND e.seq > :after{where} ORDER BY e.seq LIMIT :limit"
        return self.rows(EVENT_NAMES, sql, task_id=task_id, after=after, limit=limit, until=until)

    def thread(
        self,
        task_id: str,
        limit: int,
        before: int | None,
        types: Sequence[str] = (),
        refs: Sequence[int] = (),
    ) -> list[Row]:
        """Events of a task, the newest first: of some types, or about some other events."""
        params: dict[str, Any] = {"task_id": task_id, "limit": limit, "before": before}
        where = "" if before is None else " AND e.seq < :before"
        for column, values in (("event_type", types), ("ref_seq", refs)):
            if values:
                places, named = placeholders(column, values)
                where += f" AND e.{column} IN ({places})"
                params |= named
        return self.rows(EVENT_NAMES, f"{_SELECT}{where} ORDER BY e.seq DESC LIMIT :limit", **params)

    def events_since_distilled(
        self, task_id: str, kind: str, start: int, limit: int
    ) -> tuple[int, dict[str, Any], list[Row], list[Row]]:
        """The last event and the state of a distilled kind, the later events after `start`, and the steps.

        All in one batch. Without a kind: the events after `start`, and the steps.
        """
        mark = "SELECT seq, state FROM distilled WHERE task_id = :task_id AND kind = :kind"
        events = (
            f"{_SELECT} AND e.seq > :start AND e.seq > coalesce((SELECT seq FROM ({mark}) d), 0)"
            " ORDER BY e.seq LIMIT :limit"
        )
        params = {"task_id": task_id, "kind": kind, "start": start, "limit": limit}
        kept, rows, steps = self._query_all([(mark, params), (events, params), (SELECT_STEPS, params)])
        state: dict[str, Any] = json.loads(kept[0][1]) if kept else {}
        return (
            kept[0][0] if kept else 0,
            state,
            [dict(zip(EVENT_NAMES, row, strict=True)) for row in rows],
            decode_steps([dict(zip(STEPS, row, strict=True)) for row in steps]),
        )

    def seq_at(self, task_id: str, moment: str) -> int:
        """The last event of a task that is not later than a moment; 0 if there is none."""
        sql = "SELECT max(seq) FROM events WHERE task_id = :task_id AND timestamp <= :moment"
        return self.cell(sql, task_id=task_id, moment=moment) or 0

    def last_position(self) -> int:
        """The id of the newest event of the store."""
        return self.cell("SELECT max(id) FROM events") or 0
