"""Build the status of a goal from its rows."""

from __future__ import annotations

import json

from ..ledger import goal_limits
from ..ledger.base import Base
from ..ledger.goal_breaker import blocker_text, budget_of
from ..ledger.values import read_criterion
from ..model.errors import NotFound, shown
from ..model.results import GoalStatus, GoalTask, Repeated
from ..store.queries import goal_queries as queries
from ..store.tx import Row, Tx


def goal_status(memory: Base, tx: Tx, goal: str) -> GoalStatus:
    """The status of a goal; NotFound if there is none."""
    head = tx.head(goal)
    if head is None:
        raise NotFound("task_not_found", f"There is no goal {shown(goal)}.", "task_list(kind='goal').")
    extras = tx.extras(goal)
    rows = queries.criteria(tx, goal)
    tasks = queries.tasks(tx, goal)
    statuses = queries.counts(tx, goal)
    met = sum(row["status"] in goal_limits.SETTLED for row in rows)
    return GoalStatus(
        goal_id=goal,
        name=head["name"],
        status=head["status"],
        reason=head["reason"],
        description=extras["goal"],
        seq=head["last_seq"],
        ready=bool(rows) and met == len(rows),
        met=met,
        criteria=tuple(read_criterion(row) for row in rows),
        tasks_done=statuses.get("completed", 0),
        tasks_total=sum(statuses.values()) - statuses.get("superseded", 0),
        steps_done=sum(row["done"] for row in tasks),
        steps_total=sum(row["total"] for row in tasks),
        tasks=tuple(_task(row) for row in tasks),
        budget=budget_of(memory, tx, head, extras["metadata"]),
        blocked=head["attention"] if head["reason"] in goal_limits.STOPPED else None,
        blocker_limit=goal_limits.blocker_limit(extras["metadata"]),
        repeated=_repeated(tx, goal),
    )


def _task(row: Row) -> GoalTask:
    return GoalTask(
        id=row["task_id"],
        blockers=tuple(json.loads(row["blockers"])) if row["blockers"] else (),
        seq=row["last_seq"],
        **{name: row[name] for name in ("name", "status", "reason", "done", "total", "updated_at")},
    )


def _repeated(tx: Tx, goal: str) -> tuple[Repeated, ...]:
    """The blockers of a goal's tasks, grouped; their texts are read from the events that reported them."""
    groups: dict[str, list[Row]] = {}
    for row in queries.blockers(tx, goal):
        groups.setdefault(row["key"], []).append(row)
    return tuple(
        Repeated(text=blocker_text(tx, rows[0]), task_id=rows[0]["task"], seq=rows[0]["at"], times=len(rows))
        for rows in groups.values()
    )
