"""The events of a whole store in the order of their positions, and figures about it, portable as in tx.py."""

from __future__ import annotations

from .schema import EVENT_FROM, EVENT_NAMES, EVENT_ROW
from .tx import Row, Tx


class Horizon:
    """Up to which position nothing can be missing any more: who has read so far can go on from there.

    An engine with many writers gives positions out before they are committed. A position is safe once all who
    were writing when it was given out have ended. Whoever goes on writing holds up only what came after that.
    """

    def __init__(self) -> None:
        self.position = 0
        self.newest = 0  # given out, and perhaps not safe yet
        self._next: tuple[int, frozenset[str]] | None = None

    def look(self, tx: Tx) -> int:
        """The position as it is now. A transaction that begins later sees every event up to it."""
        newest, writing = tx.database.horizon()
        self.newest = newest
        if newest < self.position:  # the store was put back to an earlier time
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
    """Events of every task after a position and up to another, in order; each with its `position`."""
    return tx.rows(
        ["position", *EVENT_NAMES],
        f"SELECT e.id, {EVENT_ROW.removeprefix('SELECT ')}{EVENT_FROM}"
        " WHERE e.id > :after AND e.id <= :until ORDER BY e.id LIMIT :limit",
        after=position,
        until=until,
        limit=limit,
    )


def task_counts(tx: Tx) -> dict[str, int]:
    """How many tasks have each status, archived ones left out."""
    rows = tx.database.query(
        "SELECT status, count(*) FROM heads WHERE archived_at IS NULL GROUP BY status", {}
    )
    return {str(status): int(count) for status, count in rows}


def model_totals(tx: Tx) -> list[Row]:
    """What each model was used for in this store, in all."""
    return tx.rows(
        ("model", "calls", "tokens_in", "tokens_out", "cost"),
        "SELECT model, sum(calls), sum(tokens_in), sum(tokens_out), sum(cost) FROM spending GROUP BY model"
        " ORDER BY model",
    )


def touched(tx: Tx, position: int, until: int, limit: int) -> list[tuple[str, int | None]]:
    """The tasks that have events after a position and up to another, with the wait that an event has changed
    or ended; None for events about something else. No more than so many."""
    rows = tx.database.query(
        "SELECT DISTINCT task_id, CASE WHEN event_type IN ('wait.updated', 'wait.ended') THEN ref_seq END"
        " FROM events WHERE id > :after AND id <= :until LIMIT :limit",
        {"after": position, "until": until, "limit": limit},
    )
    return [(row[0], row[1]) for row in rows]
