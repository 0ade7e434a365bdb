"""A plan inferred from messages, shown as the steps of a task without a written plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import rules
from ..model.types import Source, Step
from ..store.tx import Row
from .step_changes import begun_phase

# The distilled kind that holds the steps, and what the agent said it would do next.
INFERRED_PLAN = "inferred_plan"
# The detail of a step that names the message it was inferred from.
FROM_PROSE = "inferred from"
# Set if no message mentions the step: it is usual practice, such as testing a change.
DERIVED = "derived"
# Set if the step was done for a request before the present one; it does not count as a step of the plan.
EARLIER = "earlier request"


def inferred_fields(head: Row, steps: Sequence[Row], kept: Sequence[Row]) -> dict[str, Any]:
    """The fields of a task that an inferred plan changes; none if the task has, or had, a written plan.

    `kept` are the distilled rows of the task.
    """
    if steps or head["status"] not in rules.OPEN:
        return {}
    found = next((row for row in kept if row["kind"] == INFERRED_PLAN), None)
    if found is None:
        return {}
    state: dict[str, Any] = json.loads(found["state"])
    fields: dict[str, Any] = {}
    following = state.get("next_step")
    if following and head["next_step"] is None:
        fields["next_step"] = following["text"]
    items = tuple(_item(place, step) for place, step in enumerate(state["steps"]))
    if items:
        active = [item for item in items if item.status == "active"]
        pending = [item for item in items if item.status == "pending"]
        own = [item for item in items if EARLIER not in item.detail]
        fields |= {
            "plan_inferred": True,
            "steps": items,
            "done": sum(item.status == "completed" for item in own),
            "total": len(own),
            "current": active[-1].id if active else None,
            "current_title": active[-1].title if active else None,
            "next": pending[0].id if pending else None,
            "next_title": pending[0].title if pending else None,
        }
        if len(pending) < len(own) and (phase := begun_phase(head)):
            fields["phase"] = phase  # work has begun, as with a plan that was written
    return fields


def next_step_source(kept: Sequence[Row]) -> Source | None:
    """The event in which the agent said what it would do next."""
    found = next((row for row in kept if row["kind"] == INFERRED_PLAN), None)
    following = json.loads(found["state"]).get("next_step") if found else None
    return Source(seq=following["seq"], channel="agent") if following else None


def _item(place: int, step: Mapping[str, Any]) -> Step:
    source = Source(seq=step["seq"], channel=step["channel"])
    return Step(
        id=f"p{place + 1}",
        ordinal=place,
        title=step["title"],
        status=step["status"],
        basis="inferred",
        evidence="reported" if step["status"] == "completed" else None,
        cause=step["cause"],
        note=step["note"],
        ready=step["status"] == "pending",
        detail={
            FROM_PROSE: step["seq"],
            **({DERIVED: True} if step.get("derived") else {}),
            **({EARLIER: True} if step.get("earlier") else {}),
        },
        plan_version=0,
        sources={"title": source, "note": Source(seq=step["seq"], channel="agent")},
    )
