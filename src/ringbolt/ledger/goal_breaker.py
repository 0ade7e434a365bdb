"""The circuit breaker of goals: a goal stops when its tasks report the same blocker too often.

Blockers are counted in the transaction that reports them. For each, a goal stores only the event that
reported it and a fingerprint; the text stays with the task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..model import rules, validate
from ..model.results import GoalBudget
from ..model.types import is_dict, is_list
from ..store.queries import distilled
from ..store.queries import goal_queries as queries
from ..store.tx import Row, Tx
from .access import append_event, seconds_now, time_now
from .drafts import Draft
from .goal_limits import BLOCKED, SPENT, STOPPED, blocker_limit, budget_used, fingerprint
from .observed_time import KIND, Observation, observe

if TYPE_CHECKING:
    from .base import Base


def added_blockers(draft: Draft, before: Any) -> list[str]:
    """The blockers that an event adds to its task, and the error that ends the task."""
    heads: Any = draft.sets.get("heads", {})
    reported: Any = heads.get("blockers") or []
    listed: list[str] = json.loads(before) if before else []
    old = {fingerprint(text) for text in listed}
    new = [text for text in reported if isinstance(text, str) and fingerprint(text) not in old]
    if heads.get("status") == "failed" and is_dict(error := draft.data.get("error")):
        new += [error["message"]] if isinstance(error.get("message"), str) else []
    return new


def count_blockers(memory: Base, tx: Tx, task: Row, seq: int, blockers: list[str], now: str) -> None:
    """Count a task's new blockers for each goal it is linked to, and stop goals that reached a limit.

    Also called without blockers: a task that ended may have been the last attempt in the budget.
    """
    for goal in queries.goals_of(tx, task["task_id"], lock=True):
        if goal["status"] in rules.OPEN:
            for text in blockers:
                _count(memory, tx, goal, task["task_id"], seq, fingerprint(text), now)
            stop_if_spent(memory, tx, goal)


def _count(memory: Base, tx: Tx, goal: Row, task_id: str, seq: int, mark: str, now: str) -> None:
    times = len(queries.blockers(tx, goal["task_id"], mark)) + 1
    limit = blocker_limit(tx.extras(goal["task_id"])["metadata"])
    sets: dict[str, Any] = {}
    if times >= limit and goal["reason"] not in STOPPED:
        attention = (
            f"The same blocker occurred {times} times, last in {task_id}#{seq}; reset the goal to continue."
        )
        sets["heads"] = {"status": "waiting", "reason": BLOCKED, "attention": attention}
    draft = Draft(
        "goal.blocker",
        data={"task": task_id, "at": seq, "times": times},
        sets=sets,
        record={"type": "blocker", "status": "active", "key": mark},
    )
    append_event(memory.acting_as(channel="system"), tx, goal, draft, now, "goal")


def budget_of(memory: Base, tx: Tx, goal: Row, metadata: Mapping[str, Any]) -> GoalBudget:
    """The budget of a goal and what it has used."""
    return budget_used(
        metadata,
        queries.counts(tx, goal["task_id"]),
        queries.spent(tx, goal["task_id"]),
        _seconds(memory, tx, goal),
    )


def _seconds(memory: Base, tx: Tx, goal: Row) -> float:
    """How long a goal has taken, corrected for jumps of the clock that upkeep has observed."""
    begun = validate.seconds_of(goal["created_at"])
    if goal["completed_at"]:
        return validate.seconds_of(goal["completed_at"]) - begun
    now = seconds_now(memory)
    _, state = distilled.get(tx, "", KIND)
    machine: Any = getattr(memory, "_machine", None)
    if not state or machine is None:
        return now - begun
    boot, steady = machine()
    new = Observation(boot=boot, steady=steady, wall=now, position=tx.last_position())
    return now - begun - observe(state, new)[1].set_since(queries.first_position(tx, goal["task_id"]))


def stop_if_spent(
    memory: Base, tx: Tx, goal: Row, draft: Draft | None = None, metadata: Mapping[str, Any] | None = None
) -> None:
    """Stop a goal whose budget is used up, with a separate event or as part of `draft`."""
    stopped = draft is None and goal["reason"] in STOPPED
    if goal["status"] in rules.ENDED or stopped:
        return
    budget = budget_of(memory, tx, goal, metadata or tx.extras(goal["task_id"])["metadata"])
    if not budget.exhausted:
        return
    used = ", ".join(f"{name} {budget.used[name]:g} of {budget.limits[name]:g}" for name in budget.exhausted)
    heads = {"status": "waiting", "reason": SPENT, "attention": f"The budget is used up: {used}."}
    if draft is not None:
        draft.sets["heads"] = {**draft.sets.get("heads", {}), **heads}
        return
    stop = Draft("goal.stopped", data={"exhausted": list(budget.exhausted)}, sets={"heads": heads})
    append_event(memory.acting_as(channel="system"), tx, goal, stop, time_now(memory), "goal")


def blocker_text(tx: Tx, row: Mapping[str, Any]) -> str:
    """The text of a blocker, read from the event that reported it; a placeholder if it was forgotten."""
    event = tx.event(str(row["task"]), int(row["at"]))
    if event is None or event["forgotten"] is not None:
        return "[forgotten]"
    sets: Any = json.loads(event["sets"]) if event["sets"] else {}
    reported: Any = sets.get("heads", {}).get("blockers") or []
    reported = json.loads(reported) if isinstance(reported, str) else reported
    error: Any = json.loads(event["data"]).get("error")
    texts = [*(reported if is_list(reported) else []), error.get("message") if is_dict(error) else None]
    return next((text for text in texts if isinstance(text, str) and fingerprint(text) == row["key"]), "")
