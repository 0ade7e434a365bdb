"""Keeping the plan that was only spoken: a fold over a task's events that feeds `ProsePlan`.

The result is stored beside the task (`INFERRED_PLAN`), not as steps of the ledger: it changes with every
announcement, nobody has agreed to it, and a plan that somebody wrote takes its place by itself. Reading a
task shows it as steps while the task has none (`ledger/inferred_plan`).
"""

from __future__ import annotations

import json
from typing import Any

from ..ledger.access import time_now
from ..ledger.base import Base
from ..ledger.current_task import REQUEST
from ..ledger.inferred_plan import INFERRED_PLAN
from ..ledger.trust import AGENT
from ..store.queries import distilled
from ..store.tx import Row, Tx
from .observations import observation, sets_of
from .prose_plan import ProsePlan

KIND = "prose_plan"
PAGE = 500
_SAID = ("message", "task.updated", "step.updated")
_APPROVED = "approved the plan"


def infer_plan(memory: Base, task_id: str) -> None:
    """Read the events since the last time, page by page, and store the plan that follows from them."""

    def read(tx: Tx) -> tuple[int, dict[str, Any], list[Row]]:
        mark, state = distilled.get(tx, task_id, KIND)
        return mark, state, tx.events(task_id, mark, PAGE)

    while True:
        mark, state, rows = memory.store.read(read)
        if not rows:
            return
        plan = ProsePlan(state)
        for row in rows:
            read_event(plan, row)
        last = rows[-1]["seq"]
        found, shown, now = plan.state(), _shown(plan), time_now(memory)

        def write(
            tx: Tx, mark: int = mark, last: int = last, state: Any = found, shown: Any = shown, at: str = now
        ) -> None:
            # Another process that was faster has read the same events and stored the same state.
            if distilled.get(tx, task_id, KIND)[0] == mark:
                distilled.put(tx, task_id, KIND, last, at, state)
                distilled.put(tx, task_id, INFERRED_PLAN, last, at, shown)

        memory.store.write(write, settles=True)


def _shown(plan: ProsePlan) -> dict[str, Any]:
    """What views show of it."""
    following = plan.next_step
    return {
        "steps": [step.to_dict() for step in plan.steps()],
        "next_step": {"text": following[0], "seq": following[1]} if following else None,
    }


def read_event(plan: ProsePlan, row: Row) -> None:
    """Let a plan read an event of the ledger."""
    kind, seq, text, channel = row["event_type"], row["seq"], row["text"] or "", row["channel"]
    if row["agent"] == AGENT:
        return
    if kind in _SAID:
        if text and channel == "agent":
            plan.hear(seq, text)
    elif kind in ("action", "action.ended"):
        if (seen := observation(row, sets_of(row))) is not None:
            plan.act(seen)
    elif kind == "task.registered":
        if text:
            plan.hear_user(seq, text, new_request=True)
    elif kind == "user_instruction":
        if channel == "user":
            plan.hear_user(seq, text, new_request=_begins_request(row))
    elif kind == "decision" and channel == "user":
        data: dict[str, Any] = json.loads(row["data"])
        if str(data.get("choice") or "").startswith(_APPROVED) and isinstance(data.get("context"), str):
            plan.hear_approved(seq, data["context"])


def _begins_request(row: Row) -> bool:
    return any(label[1:] == ["tag", REQUEST] for label in sets_of(row).get("+labels", ()))
