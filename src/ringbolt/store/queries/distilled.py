"""The state that distillers derive from a task's events: for each kind, its last event and its content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...model.rules import SESSION_CONTINUES, SESSION_ENDED
from ...model.validate import dumps

if TYPE_CHECKING:
    from ..tx import Tx

NAMES = ("kind", "seq", "at", "state")
# Kinds that views show; the others hold what a distiller must remember between two runs, and may be long.
SHOWN = ("summary", "names", "inferred_plan", "work_tree", "run_commands", "lessons")
SELECT = "SELECT kind, seq, at, state FROM distilled WHERE task_id = :task_id"
SELECT_SHOWN = f"{SELECT} AND kind IN ({', '.join(repr(kind) for kind in SHOWN)})"
_PUT = (
    "INSERT INTO distilled (task_id, kind, seq, at, state) VALUES (:task_id, :kind, :seq, :at, :state)"
    " ON CONFLICT (task_id, kind) DO UPDATE SET seq = excluded.seq, at = excluded.at, state = excluded.state"
    " WHERE distilled.seq <= excluded.seq"
)

_ABOUT_SESSION = " OR ".join(
    f"substr(e.text, 1, {len(words)}) = '{words}'" for words in (SESSION_ENDED, SESSION_CONTINUES)
)


def is_distilled(tx: Tx, task_id: str) -> bool:
    """Whether distillation has read all events of a task.

    The host's messages about the start and end of sessions do not count. `names_state` is written last.
    """
    sql = (
        "SELECT count(*) FROM (SELECT 1 FROM events e JOIN origins o ON o.id = e.origin_id"
        " WHERE e.task_id = :task_id AND e.seq > coalesce("
        "(SELECT d.seq FROM distilled d WHERE d.task_id = :task_id AND d.kind = 'names_state'), 0)"
        f" AND NOT (e.event_type = 'message' AND o.channel = 'tool' AND ({_ABOUT_SESSION})) LIMIT 1) found"
    )
    return not tx.cell(sql, task_id=task_id)


def get(tx: Tx, task_id: str, kind: str) -> tuple[int, dict[str, Any]]:
    """The last event that a kind covers and its state; (0, {}) if there is none yet."""
    sql = f"{SELECT} AND kind = :kind"
    row = tx.row(NAMES, sql, task_id=task_id, kind=kind)
    return (row["seq"], json.loads(row["state"])) if row else (0, {})


def latest(tx: Tx, task_id: str, kind: str) -> tuple[str, dict[str, Any]] | None:
    """When a kind was last stored, and its state; None if there is none yet."""
    row = tx.row(NAMES, f"{SELECT} AND kind = :kind", task_id=task_id, kind=kind)
    return (row["at"], json.loads(row["state"])) if row else None


def put(tx: Tx, task_id: str, kind: str, seq: int, at: str, state: Mapping[str, Any]) -> None:
    """Store the state of a kind up to an event, unless a newer one is stored already."""
    tx.database.run(_PUT, {"task_id": task_id, "kind": kind, "seq": seq, "at": at, "state": dumps(state)})


def drop(tx: Tx, task_id: str, kind: str) -> None:
    """Delete the state of a kind, so that it is rebuilt."""
    tx.database.run(
        "DELETE FROM distilled WHERE task_id = :task_id AND kind = :kind", {"task_id": task_id, "kind": kind}
    )
