"""The queries of syncing."""

from __future__ import annotations

from ..store.tx import Tx


def hashes_between(tx: Tx, task_id: str, first: int, last: int) -> dict[int, bytes]:
    """The hashes of some events of a task by seq."""
    sql = "SELECT seq, hash FROM events WHERE task_id = :task_id AND seq BETWEEN :first AND :last"
    rows = tx.rows(("seq", "hash"), sql, task_id=task_id, first=first, last=last)
    return {row["seq"]: row["hash"] for row in rows}
