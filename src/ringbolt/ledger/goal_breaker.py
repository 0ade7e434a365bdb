"""The circuit breaker of goals: the same blocker, met by their tasks again and again, stops a goal.

It looks at what a task says when that is written, in the same transaction. A goal keeps only where a blocker
was met and a digest of its words; the words stay with the task that said them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..model import rules, validate
from ..model.results import GoalBudget
from ..model.types import is_dict, is_list
from ..store import distilled
from ..store import goal_queries as queries
from ..store.tx import Row, Tx
from .drafts import Draft
from .goal_limits import BLOCKED, SPENT, STOPPED, blocker_limit, budget_used, fingerprint
from .observed_time import KIND, Look, observe

if TYPE_CHECKING:
    from .base import Base


def blockers_in(draft: Draft, before: Any) -> list[str]:
    """The blockers that an event adds to those of its task, and the error that ends it."""
    heads: Any = draft.sets.get("heads", {})
    said: Any = heads.get("blockers") or []
    listed: list[str] = json.loads(before) if before else []
    old = {fingerprint(text) for text in listed}
    new = [text for text in said if isinstance(text, str) and fingerprint(text) not in old]
    if heads.get("status") == "failed" and is_dict(error := draft.data.get("error")):
        new += [error["message"]] if isinstance(error.get("message"), str) else []
    return new


def note(memory: Base, tx: Tx, task: Row, seq: int, said: list[str], now: str) -> None:
    """Count what blocks a task for each goal that it is tied to; a goal that met the same too often stops.

    Also without a blocker: a task that has ended may have been the last attempt.
    """
    for goal in queries.goals_of(tx, task["task_id"], lock=True):
        if goal["status"] in rules.OPEN:
            for text in said:
                _count(memory, tx, goal, task["task_id"], seq, fingerprint(text), now)
            stop_if_spent(memory, tx, goal)


def _count(memory: Base, tx: Tx, goal: Row, task_id: str, seq: int, mark: str, now: str) -> None:
    times = len(queries.blockers(tx, goal["task_id"], mark)) + 1
    limit = blocker_limit(tx.extras(goal["task_id"])["metadata"])
    sets: dict[str, Any] = {}
    if times >= limit and goal["reason"] not in STOPPED:
        told = f"The same blocker came {times} times, last in {task_id}#{seq}; it needs a reset."
        sets["heads"] = {"status": "waiting", "reason": BLOCKED, "attention": told}
    draft = Draft(
        "goal.blocker",
        data={"task": task_id, "at": seq, "times": times},
        sets=sets,
        record={"type": "blocker", "status": "active", "key": mark},
    )
    memory.acting_as(channel="system")._append(tx, goal, draft, now, "goal")  # pyright: ignore[reportPrivateUsage]


def budget_of(memory: Base, tx: Tx, goal: Row, metadata: Mapping[str, Any]) -> GoalBudget:
    """What a goal may use and has used."""
    return budget_used(
        metadata,
        queries.counts(tx, goal["task_id"]),
        queries.spent(tx, goal["task_id"]),
        _seconds(memory, tx, goal),
    )


def _seconds(memory: Base, tx: Tx, goal: Row) -> float:
    """How long a goal has taken; setting the clock does not count, where the upkeep looks at it."""
    begun = validate.seconds_of(goal["created_at"])
    if goal["completed_at"]:
        return validate.seconds_of(goal["completed_at"]) - begun
    now = memory._clock()  # pyright: ignore[reportPrivateUsage]
    _, state = distilled.get(tx, "", KIND)
    machine: Any = getattr(memory, "_machine", None)
    if not state or machine is None:
        return now - begun
    boot, steady = machine()
    look = Look(boot=boot, steady=steady, wall=now, position=tx.last_position())
    return now - begun - observe(state, look)[1].set_since(queries.first_position(tx, goal["task_id"]))


def stop_if_spent(
    memory: Base, tx: Tx, goal: Row, draft: Draft | None = None, metadata: Mapping[str, Any] | None = None
) -> None:
    """Let a goal stand still whose budget is used up: by an event, or by the one that is being drafted."""
    stands = draft is None and goal["reason"] in STOPPED
    if goal["status"] in rules.ENDED or stands:
        return
    found = budget_of(memory, tx, goal, metadata or tx.extras(goal["task_id"])["metadata"])
    if not found.exhausted:
        return
    told = ", ".join(f"{name} {found.used[name]:g} of {found.limits[name]:g}" for name in found.exhausted)
    heads = {"status": "waiting", "reason": SPENT, "attention": f"The budget is used up: {told}."}
    if draft is not None:
        draft.sets["heads"] = {**draft.sets.get("heads", {}), **heads}
        return
    stop = Draft("goal.stopped", data={"exhausted": list(found.exhausted)}, sets={"heads": heads})
    scribe = memory.acting_as(channel="system")
    scribe._append(tx, goal, stop, scribe._now(), "goal")  # pyright: ignore[reportPrivateUsage]


def blocker_text(tx: Tx, row: Mapping[str, Any]) -> str:
    """The words of a blocker, from the event that said it; of one that is gone, that it is."""
    event = tx.event(str(row["task"]), int(row["at"]))
    if event is None or event["forgotten"] is not None:
        return "[forgotten]"
    sets: Any = json.loads(event["sets"]) if event["sets"] else {}
    said: Any = sets.get("heads", {}).get("blockers") or []
    said = json.loads(said) if isinstance(said, str) else said
    error: Any = json.loads(event["data"]).get("error")
    texts = [*(said if is_list(said) else []), error.get("message") if is_dict(error) else None]
    return next((text for text in texts if isinstance(text, str) and fingerprint(text) == row["key"]), "")
