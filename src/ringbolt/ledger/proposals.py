"""Proposals: what a caller may not do itself, recorded for the user to accept or reject.

A proposal is an event of type `proposal` with a record of that type. Its `data.call` is the operation with
its arguments. Accepting it makes that call with the origin of the proposal and the rights of the user, so
that what an agent wrote remains an agent's words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..model.trust import Overruled
from ..model.types import Proposal, Value, is_dict, is_list
from ..store.schema import SOURCES
from ..store.tx import Row, Tx
from .drafts import Draft

KIND = "proposal"  # the type of the event and of its record
PROPOSED, ACCEPTED, REJECTED = "proposed", "accepted", "rejected"
MOST = 50  # open proposals of a task that are read
_MOST_TEXT = 400
# The argument that sets each text of a task or step.
_ARGUMENTS = {
    "name": "name",
    "next_step": "next",
    "blockers": "blockers",
    "attention": "attention",
    "goal": "goal",
    "title": "title",
    "note": "note",
    "active_issue": "active_issue",
}
# The arguments that say what a call is about, the best first.
_TELLING = (
    "choice what summary text value message outcome answer status next name goal title note active_issue"
    " criteria blockers until reason other at"
).split()


class Call(Value, frozen=True, kw_only=True):
    """An operation with its arguments."""

    operation: str
    arguments: Mapping[str, Any]


def withhold(draft: Draft, over: Overruled) -> list[Call]:
    """Take the texts that a draft may not replace out of it; returns the calls that would set them."""
    calls: list[Call] = []
    own: dict[str, Any] = {}
    for table, column in over.texts:
        value = draft.sets[table].pop(column, None)
        draft.sets[table].pop(SOURCES[table][column], None)
        if column not in draft.tidies:
            own[_ARGUMENTS[column]] = value if value is not None else [] if column == "blockers" else ""
    if own:
        calls.append(Call(operation="task_update", arguments=own))
    by_step: dict[str, dict[str, Any]] = {}
    for item, column in over.steps:
        row: dict[str, Any] = draft.sets["steps"][item]
        row.pop(SOURCES["steps"].get(column, ""), None)
        if column in _ARGUMENTS:
            by_step.setdefault(item, {})[_ARGUMENTS[column]] = row.pop(column) or ""
            continue
        by_step.setdefault(item, {})["status"] = "cancelled"
        # The step stays on the plan as it was; only its place may change.
        for name in ("dropped_in", "status", "basis", "completed_at", "cause_seq", "evidence"):
            row.pop(name, None)
    calls += [
        Call(operation="task_step_update", arguments={"step": item, **changes})
        for item, changes in by_step.items()
    ]
    if "plan" in draft.data:  # the list of the plan's steps
        listed: list[str] = draft.data["plan"]
        draft.data["plan"] = [*listed, *(item for item in by_step if item not in listed)]
    steps = draft.sets.get("steps")
    if steps is not None:
        draft.sets["steps"] = {item: row for item, row in steps.items() if row}
    for table in [name for name, rows in draft.sets.items() if not rows and name != "+extras"]:
        del draft.sets[table]
    return calls


def says_something(draft: Draft) -> bool:
    """Whether anything worth writing is left of a draft."""
    return bool(draft.text or [name for name in draft.sets if name != "+keys"])


def proposal(tx: Tx, head: Row, call: Call, what: str) -> Draft | int:
    """The event that records a call as a proposal; the number of the open proposal that says the same."""
    arguments = {
        name: value
        for name, value in call.arguments.items()
        if value is not None and name not in ("key", "token", "expect", "task_id")
    }
    data: dict[str, Any] = {"call": {"operation": call.operation, "arguments": arguments}, "about": what}
    for row in open_rows(tx, head["task_id"]):
        known = json.loads(row["data"])
        if known.get("call") == json.loads(json.dumps(data["call"])):
            return row["seq"]
    text = f"{call.operation}, which would change {what}: {_in_a_line(arguments)}"
    return Draft(KIND, text=text, data=data, record={"type": KIND, "status": PROPOSED})


def _in_a_line(arguments: Mapping[str, Any]) -> str:
    """The content of a call in one line."""
    texts = [
        str(arguments[name]) if not is_list(arguments[name]) else ", ".join(map(str, arguments[name]))
        for name in _TELLING
        if name in arguments
    ]
    return " ".join(" · ".join(text for text in texts if text).split())[:_MOST_TEXT] or "no further words"


def open_rows(tx: Tx, task_id: str) -> list[Row]:
    """The open proposals of a task with their events, the oldest first."""
    return tx.records(task_id, KIND, (PROPOSED,), MOST)[::-1]


def read_proposal(row: Row) -> Proposal:
    """An open proposal."""
    data: dict[str, Any] = json.loads(row["data"])
    call: Any = data.get("call")
    call = call if is_dict(call) else {}
    return Proposal(
        seq=row["seq"],
        at=row["timestamp"],
        text=row["text"] or "",
        operation=str(call.get("operation") or ""),
        about=str(data.get("about") or ""),
        channel=row["channel"],
    )
