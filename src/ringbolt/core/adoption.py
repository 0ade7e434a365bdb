# pyright: reportPrivateUsage=false
"""Adopt an inferred plan: its steps become steps of the task when a caller names one of them."""

from __future__ import annotations

from typing import Any

from ..ledger.base import Base, Draft, find_item
from ..ledger.inferred_plan import INFERRED_PLAN
from ..ledger.step_changes import begin_work
from ..model import rules
from ..model.errors import Conflict, NotFound
from ..store.queries import distilled
from ..store.tx import Row, Tx
from .plans import plan_heads

ADOPTED = "taken over from the agent's messages"


def adopt_inferred_plan(
    memory: Base, task_id: str | None, step: Any, token: int | None, expect: int | None
) -> int | None:
    """Write the inferred plan of a task as its steps if `step` is one of them and it has no others.

    They keep the ids under which a packet shows them (`p1`, `p2`, …). Returns the version to `expect` next.
    """
    if not memory.store.read(lambda tx: _named(tx, memory._find(tx, task_id), step)):
        return expect

    def decide(tx: Tx, head: Row, now: str) -> Draft | None:
        rows = _named(tx, head, step)
        if not rows:
            return None  # another caller was faster
        heads = {**plan_heads(head, now), **begin_work(head, now)}
        return Draft("plan.appended", text=ADOPTED, sets={"+steps": rows, "heads": heads}, steps=tuple(rows))

    done = memory._write("adopt_inferred_plan", task_id, decide, token=token, expect=expect)
    if expect is None:
        return None
    return memory.store.read(lambda tx: memory._find(tx, done.task_id)["version"])


def _named(tx: Tx, head: Row, step: Any) -> dict[str, dict[str, Any]]:
    """The inferred steps as an event sets them; none if the task has its own, or `step` is not among them."""
    if head["plan_version"] or head["status"] not in rules.OPEN or tx.steps(head["task_id"]):
        return {}
    _, state = distilled.get(tx, head["task_id"], INFERRED_PLAN)
    rows: dict[str, dict[str, Any]] = {}
    for place, one in enumerate(state.get("steps", ())):
        rows[f"p{place + 1}"] = {
            "ordinal": place,
            "title": one["title"],
            "plan_version": 1,
            **({} if one["status"] == "pending" else {"status": one["status"], "basis": "inferred"}),
        }
    known = [{"item_id": name, "dropped_in": None, **row} for name, row in rows.items()]
    try:
        return rows if find_item(known, step) else {}
    except (NotFound, Conflict):
        return {}
