"""Draft tasks: tasks that hooks began for a prompt.

A registration turns the draft of its session into the registered task. When a session turns to another task,
a draft that holds only messages is merged into that task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ledger.access import append_event, commit, find_task, seconds_now, time_now, with_rights
from ..ledger.base import Base, Draft
from ..ledger.current_task import DRAFT, REQUEST, session_task
from ..ledger.drafts import link_row
from ..model import rules
from ..model.types import Written
from ..store import sessions
from ..store.tx import Row, Tx
from .plans import plan_replacement

_MOST_EVENTS = 100  # of a draft that may be folded away
# Events that only hold messages, or the host's own bookkeeping.
_MESSAGES = ("task.registered", "task.updated", "message", "snapshot")


def own_draft(memory: Base, tx: Tx) -> Row | None:
    """The task of this session, locked, if it was not registered yet."""
    task_id = session_task(memory, tx)
    if task_id is None or DRAFT not in tx.extras(task_id)["metadata"]:
        return None
    head = tx.head(task_id, lock=True)
    return head if head and head["status"] in rules.OPEN else None


def turn_to(memory: Base, task_id: str | None) -> None:
    """Make a task the session's current one, as when a session resumes it by id; needs a session.

    The session that had it before gets a note, if it is still live. A task that was explicitly ended is only
    read: the session keeps its own task.
    """
    session = memory.origin.session
    if not session or task_id is None:
        return

    def work(tx: Tx) -> Written | None:
        head = find_task(memory, tx, task_id)
        is_over = head["status"] in rules.ENDED and head["reason"] != rules.INFERRED
        if is_over or session_task(memory, tx) == head["task_id"]:
            return None
        head = tx.head(head["task_id"], lock=True) or head
        return append_event(memory, tx, head, focus_event(memory, tx, head), time_now(memory), "task_focus")

    commit(memory, work, tasks=lambda written: (written.task_id,) if written else ())


def focus_event(memory: Base, tx: Tx, head: Row) -> Draft:
    """The event by which this session turns to a task."""
    session = memory.origin.session
    _notify_former_session(memory, tx, head)
    empty = _empty_draft(memory, tx, head["task_id"])
    draft = Draft(
        "task.focused",
        data={"from": head["session_id"]},
        sets={"heads": {"session_id": session, "focus": tx.last_focus(session) + 1}},
    )
    draft.then = None if empty is None else _FoldedDraft(empty)
    return draft


def _notify_former_session(memory: Base, tx: Tx, head: Row) -> None:
    """Note for the session that had a task, if it is live, that this session takes it over."""
    session, former = memory.origin.session or "", head["session_id"]
    own = sessions.taken_from(tx, session)
    if own is not None and own.task == head["task_id"]:
        sessions.note_taken(tx, session, None)  # it takes the task back
    row = sessions.get(tx, former) if former and former != session else None
    if row is not None and row.is_live(seconds_now(memory)):
        taken = sessions.TakenTask(
            task=head["task_id"], name=head["name"], by=memory.origin.agent, at=time_now(memory)
        )
        sessions.note_taken(tx, former, taken)


def _empty_draft(memory: Base, tx: Tx, besides: str) -> str | None:
    """The draft of this session, if it holds only messages of the user and the agent."""
    head = own_draft(memory, tx)
    if head is None or head["task_id"] == besides or head["actions"] or head["total"]:
        return None
    if head["last_seq"] > _MOST_EVENTS:
        return None
    events = tx.events(head["task_id"], 0, _MOST_EVENTS)
    is_empty = all(event["channel"] == "user" or event["event_type"] in _MESSAGES for event in events)
    return head["task_id"] if is_empty else None


class _FoldedDraft:
    """An empty draft, superseded by the task that its session turns to; its messages move to that task."""

    def __init__(self, task_id: str) -> None:
        self.position: dict[str, Any] = {}
        self._draft = task_id

    def write(self, memory: Base, tx: Tx, head: Row, now: str) -> None:
        """Copy the messages, and end the draft."""
        draft = tx.head(self._draft, lock=True)
        if draft is None:
            return
        for event in tx.events(self._draft, 0, _MOST_EVENTS):
            if event["text"] and event["channel"] in ("user", "agent"):
                by_user = event["channel"] == "user"
                message = Draft(
                    "user_instruction" if by_user else "message",
                    text=event["text"],
                    data={"from": f"{self._draft}#{event['seq']}"},
                    record={"type": "user_instruction", "status": "active"} if by_user else None,
                )
                author = memory.acting_as(channel=event["channel"])
                append_event(author, tx, head, message, now, "task_focus")
        link = link_row("supersedes", self._draft, head["last_seq"] + 1)
        data = {"kind": "supersedes", "target": self._draft}
        linked = Draft("task.linked", data=data, sets={"links": [link]})
        append_event(memory, tx, head, linked, now, "task_focus")
        ended = {"status": "superseded", "reason": None, "completed_at": now}
        replaced = Draft("task.updated", data={"superseded_by": head["task_id"]}, sets={"heads": ended})
        # The user's words are on the other task now.
        append_event(with_rights(memory, "user"), tx, draft, replaced, now, "task_focus")


def adoption(
    memory: Base,
    tx: Tx,
    head: Row,
    now: str,
    *,
    heads: Mapping[str, Any],
    extras: Mapping[str, Any],
    labels: list[Any],
    links: list[dict[str, Any]],
    request: str | None,
    plan: Any,
) -> list[Draft]:
    """The events that give a draft the name and plan of a registration; everything recorded in it stays.

    The user's own words stay its request. The agent's `request` counts only if there is none.
    """
    task_id = head["task_id"]
    known = tx.extras(task_id)
    metadata = {**known["metadata"], **extras["metadata"]}
    metadata.pop(DRAFT, None)
    changed = {name: value for name, value in extras.items() if value is not None and value != known[name]}
    sets: dict[str, Any] = {"heads": dict(heads), "extras": {**changed, "metadata": metadata}}
    if labels:
        sets["+labels"] = labels
    if links:
        sets["links"] = links
    events = [Draft("task.updated", text=f"Registered as “{heads['name']}”.", sets=sets)]
    first = tx.event(task_id, 1)
    if request and not (first and first["text"]):
        record = {"type": "user_instruction", "status": "active"}
        events.append(Draft("user_instruction", text=request, record=record, labels=[("tag", REQUEST)]))
    if plan:
        events.append(plan_replacement(memory, tx, head, now, plan))
    return events
