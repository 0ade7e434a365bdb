"""The events of a whole store in the order of their positions, and totals for the metrics."""

from __future__ import annotations

from ..schema import EVENT_FROM, EVENT_NAMES, EVENT_ROW
from ..tx import Row, Tx


class Horizon:
    """The position up to which no event can be missing: a reader continues from there.

    An engine with many writers assigns positions before it commits, so events can appear behind one that was
    already read. A position is safe once every transaction that was writing when it was assigned has ended.
    A long transaction delays only the positions after its start.
    """

    def __init__(self) -> None:
        self.position = 0
        self.newest = 0  # assigned, maybe not safe yet
        self._next: tuple[int, frozenset[str]] | None = None

    def advance(self, tx: Tx) -> int:
        """Update and return the position. Every later transaction sees all events up to it."""
        newest, writing = tx.database.horizon()
        self.newest = newest
        if newest < self.position:  # the store was restored from a backup
            self.position, self._next = 0, None
        if not writing:
            self.position, self._next = newest, None
            return newest
        if self._next is not None and not (self._next[1] & writing):
            self.position, self._next = self._next[0], None
        if self._next is None:
            self._next = newest, writing
        return self.position


def after(tx: Tx, position: int, until: int, limit: int) -> list[Row]:
    """Events of every task between two positions, in order, each with its `position`."""
    sql = (
        f"SELECT e.id, {EVENT_ROW.removeprefix('SELECT ')}{EVENT_FROM}"
        " WHERE e.id > :after AND e.id <= :until ORDER BY e.id LIMIT :limit"
    )
    return tx.rows(["position", *EVENT_NAMES], sql, after=position, until=until, limit=limit)


def task_counts(tx: Tx) -> dict[str, int]:
    """The number of tasks by status, without archived ones."""
    return dict(
        tx.database.query("SELECT status, count(*) FROM heads WHERE archived_at IS NULL GROUP BY status", {})
    )


def model_totals(tx: Tx) -> list[Row]:
    """The total usage of each model in this store."""
    return tx.rows(
        ("model", "calls", "tokens_in", "tokens_out", "cost"),
        "SELECT model, sum(calls), sum(tokens_in), sum(tokens_out), sum(cost) FROM spending GROUP BY model"
        " ORDER BY model",
    )


def touched(tx: Tx, position: int, until: int, limit: int) -> list[tuple[str, int | None]]:
    """The tasks with events between two positions, at most `limit`; each with the wait that an event
    changed or ended, or None for other events."""
    rows = tx.database.query(
        "SELECT DISTINCT task_id, CASE WHEN event_type IN ('wait.updated', 'wait.ended') THEN ref_seq END"
        " FROM events WHERE id > :after AND id <= :until LIMIT :limit",
        {"after": position, "until": until, "limit": limit},
    )
    return [(row[0], row[1]) for row in rows]
