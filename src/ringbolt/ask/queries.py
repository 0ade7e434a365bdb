"""Queries for answers beyond the state of a task; their cost does not grow with the task."""

from __future__ import annotations

from collections.abc import Sequence

from ..store.tx import Row, Tx

ACTIONS = 1000  # newest actions that are searched


def seq_before(tx: Tx, task_id: str, moment: str, last: int) -> int:
    """The last event not later than a moment, or 0; a binary search, since times grow with seqs.

    If a clock was set back, several events fit, and any of them may be returned.
    """
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        (event,) = tx.rows(
            ("at",),
            "SELECT timestamp FROM events WHERE task_id = :task_id AND seq = :seq",
            task_id=task_id,
            seq=middle,
        ) or ({"at": ""},)
        low, high = (middle, high) if event["at"] <= moment else (low, middle - 1)
    return low


_EVENT_COLUMNS = ("seq", "type", "at", "text", "data", "channel", "status", "item_id", "sets", "ref", "agent")
_EVENT_ROWS = (
    "SELECT e.seq, e.event_type, e.timestamp, e.text, substr(e.data, 1, :size), o.channel, r.status,"
    " e.item_id, substr(e.sets, 1, 2000), e.ref_seq, o.agent"
    " FROM events e JOIN origins o ON o.id = e.origin_id"
    " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq"
    " WHERE e.task_id = :task_id AND e.forgotten IS NULL"
)


def newest_events(tx: Tx, task_id: str, limit: int, size: int) -> list[Row]:
    """The newest events with up to `size` characters of their data, the newest first."""
    return tx.rows(
        _EVENT_COLUMNS,
        f"{_EVENT_ROWS} ORDER BY e.seq DESC LIMIT :limit",
        task_id=task_id,
        limit=limit,
        size=size,
    )


def events_of(tx: Tx, task_id: str, seqs: Sequence[int], size: int) -> list[Row]:
    """Some events, likewise."""
    found: list[Row] = []
    for seq in seqs:
        found += tx.rows(
            _EVENT_COLUMNS, f"{_EVENT_ROWS} AND e.seq = :seq", task_id=task_id, seq=seq, size=size
        )
    return found


def events_between(tx: Tx, task_id: str, after: int, until: int, limit: int, size: int) -> list[Row]:
    """The events after one and up to another, likewise, the newest first."""
    return tx.rows(
        _EVENT_COLUMNS,
        f"{_EVENT_ROWS} AND e.seq > :after AND e.seq <= :until ORDER BY e.seq DESC LIMIT :limit",
        task_id=task_id,
        after=after,
        until=until,
        limit=limit,
        size=size,
    )


def commit_actions(tx: Tx, task_id: str, status: str, limit: int) -> list[Row]:
    """Actions with a status that mention `git commit` in their data, newest first."""
    # Select the newest actions by their records first: a join might start with every event of the task.
    newest = (
        "SELECT seq FROM (SELECT seq FROM records WHERE task_id = :task_id AND type = 'action'"
        " AND status = :status ORDER BY seq DESC LIMIT :actions) a"
    )
    return tx.rows(
        ("seq", "data", "channel"),
        "SELECT e.seq, e.data, o.channel FROM events e JOIN origins o ON o.id = e.origin_id"
        f" WHERE e.task_id = :task_id AND e.seq {tx.database.one_of.format(newest)}"
        " AND e.data LIKE :pattern ORDER BY e.seq DESC LIMIT :limit",
        task_id=task_id,
        status=status,
        actions=ACTIONS,
        pattern="%git commit%",
        limit=limit,
    )


def last_compaction(tx: Tx, task_id: str) -> int | None:
    """The event of the newest snapshot that was taken for a compaction, otherwise of the newest snapshot."""
    rows = tx.rows(
        ("seq", "key"),
        "SELECT seq, key FROM records WHERE task_id = :task_id AND type = 'snapshot' AND status = 'active'"
        " ORDER BY seq DESC LIMIT 50",
        task_id=task_id,
    )
    named = [row["seq"] for row in rows if "compact" in (row["key"] or "").lower()]
    return next(iter(named or [row["seq"] for row in rows]), None)
