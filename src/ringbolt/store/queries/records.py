"""Records: the parts of an event that can change, such as the status of an action, entry or side effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...model.errors import StoreError
from ..database import Queries, Row, placeholders
from ..schema import EVENT_FROM, EVENT_NAMES, EVENT_ROW, RECORDS

SELECT_RECORDS = f"SELECT {', '.join(RECORDS)} FROM records"


class Records(Queries):
    """Reading records, with the events they are about."""

    def record(self, task_id: str, seq: int) -> Row | None:
        """The record of an event, if it has one."""
        return self.row(
            RECORDS, f"{SELECT_RECORDS} WHERE task_id = :task_id AND seq = :seq", task_id=task_id, seq=seq
        )

    def record_with_key(self, task_id: str, kind: str, key: str) -> Row | None:
        """The newest active record of a type with a key."""
        return self.row(
            RECORDS,
            f"{SELECT_RECORDS} WHERE task_id = :task_id AND type = :type AND key = :key AND status = 'active'"
            " ORDER BY seq DESC LIMIT 1",
            task_id=task_id,
            type=kind,
            key=key,
        )

    def records(
        self,
        task_id: str,
        kind: str,
        statuses: Sequence[str],
        limit: int,
        item: str | None = None,
        seq: int | None = None,
        key: str | None = None,
    ) -> list[Row]:
        """Records of a type with their events, the newest first: of one step or key, or a single one."""
        where = " AND item_id = :item" if item is not None else ""
        where += " AND seq = :seq" if seq is not None else ""
        where += " AND key = :key" if key is not None else ""
        branches = " UNION ALL ".join(
            f"SELECT * FROM ({SELECT_RECORDS}"
            f" WHERE task_id = :task_id AND type = :type AND status = :status{number}{where}"
            f" ORDER BY seq DESC LIMIT :limit) b{number}"
            for number in range(len(statuses))
        )
        params = {"task_id": task_id, "type": kind, "limit": limit, "item": item, "seq": seq, "key": key}
        return self.records_with_events(
            f"(SELECT * FROM ({branches}) u ORDER BY seq DESC LIMIT :limit) r",
            params | placeholders("status", statuses)[1],
        )

    def records_with_events(self, source: str, params: Mapping[str, object]) -> list[Row]:
        """The records of a subquery with their events, the newest first.

        These are two queries: an engine that does not know how long a task is may begin a SQL join by reading
        every event of the task.
        """
        asked = self._one_of(f"SELECT seq FROM {source}")
        queries = (
            f"SELECT {', '.join(RECORDS)} FROM {source} ORDER BY seq",
            f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq {asked}",
        )
        rows, events = self._query_all([(sql, params) for sql in queries])
        named = (dict(zip(EVENT_NAMES, row, strict=True)) for row in events)
        records = [dict(zip(RECORDS, row, strict=True)) for row in rows]
        return join_events(records, {event["seq"]: event for event in named})[::-1]

    def record_count(self, task_id: str, kind: str, status: str, most: int = 1_000) -> int:
        """How many records of a type have a status, counting no further than `most`."""
        return self.cell(
            "SELECT count(*) FROM (SELECT 1 FROM records WHERE task_id = :task_id"
            " AND type = :type AND status = :status LIMIT :most) r",
            task_id=task_id, type=kind, status=status, most=most,
        )  # fmt: skip

    def item_actions(self, task_id: str, item_id: str) -> int:
        """The number of actions of a step."""
        sql = (
            "SELECT count(*) FROM records WHERE task_id = :task_id AND item_id = :item_id AND type = 'action'"
        )
        return self.cell(sql, task_id=task_id, item_id=item_id)

    def labels(self, task_id: str, seqs: Iterable[int]) -> dict[int, dict[str, list[str]]]:
        """The tags and steps that label these events; seq 0 is the task itself."""
        places, wanted = placeholders("seq", seqs)
        if not wanted:
            return {}
        rows = self._query(
            f"SELECT seq, kind, value FROM labels WHERE task_id = :task_id AND seq IN ({places})"
            " ORDER BY seq, kind, value",
            {"task_id": task_id, **wanted},
        )
        return group_labels(rows)


def group_labels(rows: Iterable[Sequence[Any]]) -> dict[int, dict[str, list[str]]]:
    """Group labels, as (seq, kind, value), by seq and kind."""
    labels: dict[int, dict[str, list[str]]] = {}
    for seq, kind, value in rows:
        labels.setdefault(seq, {}).setdefault(kind, []).append(value)
    return labels


def join_events(records: list[Row], events: Mapping[int, Row]) -> list[Row]:
    """Join records with their events, and with the text of the event that settled each, if `events` has it.

    Records of forgotten events are left out.
    """
    if missing := [row["seq"] for row in records if row["seq"] not in events]:
        raise missing_events(missing)
    return [
        {
            **events[row["seq"]],
            "type": row["type"],
            "status": row["status"],
            "replaced_by": row["ref_seq"],
            "ended_at": row["ended_at"],
            "key": row["key"],
            "outcome": events[row["ref_seq"]]["text"] if row["ref_seq"] in events else None,
            "outcome_channel": events[row["ref_seq"]]["channel"] if row["ref_seq"] in events else None,
        }
        for row in records
        if events[row["seq"]]["forgotten"] is None
    ]


def missing_events(seqs: Sequence[int]) -> StoreError:
    """The error for state rows whose events are gone."""
    named = ", ".join(f"#{seq}" for seq in seqs[:10])
    return StoreError(
        "store_corrupt",
        f"The store is missing events that its state depends on: {named}.",
        "Run `ringbolt verify` to see which tasks are affected; the others can still be exported.",
    )
