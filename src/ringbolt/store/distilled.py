"""What was distilled from a task's events: per kind, the last event covered and the state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..model.validate import dumps

if TYPE_CHECKING:
    from .tx import Tx

NAMES = ("kind", "seq", "at", "state")
SELECT = "SELECT kind, seq, at, state FROM distilled WHERE task_id = :task_id"
_PUT = (
    "INSERT INTO distilled (task_id, kind, seq, at, state) VALUES (:task_id, :kind, :seq, :at, :state)"
    " ON CONFLICT (task_id, kind) DO UPDATE SET seq = excluded.seq, at = excluded.at, state = excluded.state"
    " WHERE distilled.seq <= excluded.seq"
)


def get(tx: Tx, task_id: str, kind: str) -> tuple[int, dict[str, Any]]:
    """The last event that a kind covers and its state; (0, {}) if there is none yet."""
    sql = f"{SELECT} AND kind = :kind"
    found = tx.row(NAMES, sql, task_id=task_id, kind=kind)
    return (found["seq"], json.loads(found["state"])) if found else (0, {})


def put(tx: Tx, task_id: str, kind: str, seq: int, at: str, state: Mapping[str, Any]) -> None:
    """Store the state of a kind up to an event, unless a newer one is stored already."""
    tx.database.run(_PUT, {"task_id": task_id, "kind": kind, "seq": seq, "at": at, "state": dumps(state)})


def drop(tx: Tx, task_id: str, kind: str) -> None:
    """Delete the state of a kind, so that it is rebuilt."""
    tx.database.run(
        "DELETE FROM distilled WHERE task_id = :task_id AND kind = :kind", {"task_id": task_id, "kind": kind}
    )
