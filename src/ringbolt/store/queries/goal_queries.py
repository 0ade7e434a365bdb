"""The queries of goals: their criteria, linked tasks and costs."""

from __future__ import annotations

import json

from ..schema import IS_OPEN
from ..tx import Row, Tx
from . import distilled

MOST_TASKS = 1000
MOST_CRITERIA = 200
CHECKS = "checks"  # distilled kind: the checks written in this store; imported ones are never run
_LINKED = (
    " FROM links g JOIN heads h ON h.task_id = g.task_id WHERE g.target = :goal AND g.kind = 'goal'"
    " AND g.status = 'active'"
)
_TASK = ("task_id", "name", "status", "reason", "done", "total", "blockers", "updated_at", "last_seq")


def tasks(tx: Tx, goal: str) -> list[Row]:
    """The tasks linked to a goal, the most recently changed first."""
    return tx.rows(
        _TASK,
        f"SELECT {', '.join(f'h.{name}' for name in _TASK)}{_LINKED} ORDER BY h.position DESC LIMIT :most",
        goal=goal,
        most=MOST_TASKS,
    )


def counts(tx: Tx, goal: str) -> dict[str, int]:
    """The number of tasks linked to a goal, by status."""
    return dict(tx.database.query(f"SELECT h.status, count(*){_LINKED} GROUP BY h.status", {"goal": goal}))


def goals_of(tx: Tx, task_id: str, lock: bool = False) -> list[Row]:
    """The goals that a task is linked to; links to plain text are left out."""
    ids = tx.column(
        "SELECT h.task_id FROM links g JOIN heads h ON h.task_id = g.target AND h.kind = 'goal'"
        " WHERE g.task_id = :task_id AND g.kind = 'goal' AND g.status = 'active' ORDER BY h.task_id",
        task_id=task_id,
    )
    return [head for goal_id in ids if (head := tx.head(goal_id, lock)) is not None]


def open_goals(tx: Tx, workspace: str | None, limit: int) -> list[str]:
    """The open goals of a workspace, or of all."""
    where = "" if workspace is None else " AND workspace_path = :workspace"
    return tx.column(
        f"SELECT task_id FROM heads WHERE {IS_OPEN} AND kind = 'goal'"
        f" AND archived_at IS NULL{where} ORDER BY position DESC LIMIT :limit",
        workspace=workspace,
        limit=limit,
    )


def criteria(tx: Tx, goal: str) -> list[Row]:
    """The criteria of a goal in order, each with its last evidence."""
    names = ("seq", "status", "text", "data", "channel", "ended_at", "evidence", "evidence_seq", "judge")
    return tx.rows(
        names,
        "SELECT r.seq, r.status, e.text, e.data, o.channel, r.ended_at, f.text, f.seq, p.channel"
        " FROM records r JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq AND e.forgotten IS NULL"
        " JOIN origins o ON o.id = e.origin_id"
        " LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq"
        " LEFT JOIN origins p ON p.id = f.origin_id"
        " WHERE r.task_id = :goal AND r.type = 'criterion' AND r.status <> 'invalidated'"
        " ORDER BY r.seq LIMIT :most",
        goal=goal,
        most=MOST_CRITERIA,
    )


def spent(tx: Tx, goal: str) -> tuple[int, float]:
    """The tokens and cost of model calls for a goal and its linked tasks."""
    ((tokens, cost),) = tx.database.query(
        "SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(cost), 0) FROM spending"
        " WHERE task_id = :goal OR task_id IN (SELECT task_id FROM links WHERE target = :goal"
        " AND kind = 'goal' AND status = 'active')",
        {"goal": goal},
    )
    return int(tokens), float(cost)


def blockers(tx: Tx, goal: str, fingerprint: str | None = None) -> list[Row]:
    """The blockers of a goal's tasks since the last reset, the newest first."""
    rows = tx.records(goal, "blocker", ("active",), 1000, key=fingerprint)
    return [{"seq": row["seq"], "key": row["key"], **json.loads(row["data"])} for row in rows]


def own_checks(tx: Tx, goal: str) -> set[int]:
    """The criteria whose checks were written or approved in this store."""
    return set(distilled.get(tx, goal, CHECKS)[1].get("seqs", []))


def keep_checks(tx: Tx, goal: str, seqs: set[int], now: str) -> None:
    """Record which checks were written or approved in this store."""
    distilled.put(tx, goal, CHECKS, 0, now, {"seqs": sorted(seqs)})


def first_position(tx: Tx, goal: str) -> int:
    """The position of a goal's first event in the store."""
    return tx.cell("SELECT id FROM events WHERE task_id = :goal AND seq = 1", goal=goal) or 0
