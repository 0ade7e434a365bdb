"""Questions to the person at the client: what waits for a person is shown to them at once, as a form.

Only over stdio, where the host that started the server shows the form to its own user; over HTTP, a client
with an agent's token would only claim that a person answered. Until 2025-11-25 a question is a request of the
server; since 2026-07-28 the result of the call asks, and the client repeats the call with the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ... import operations
from ...ledger import approvals, proposals
from ...ledger.base import Base
from ...model.types import Value, as_json, is_dict
from ...packet import encode
from ...store.tx import Tx
from .protocol import INVALID_PARAMS, Json, ProtocolError

WAIT, APPROVAL, PROPOSAL = "wait", "approval", "proposal"
_OPEN = {APPROVAL: (approvals.KIND, approvals.PENDING), PROPOSAL: (proposals.KIND, proposals.PROPOSED)}
_MOST = 5  # questions after one call
_MOST_TEXT = 500
_ANSWER: Json = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "minLength": 1}},
    "required": ["answer"],
}
_YES_OR_NO: Json = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Approve"},
        "note": {"type": "string", "title": "Note for the agent"},
    },
    "required": ["approve"],
}


class Question(Value, frozen=True, kw_only=True):
    """What waits for a person: a wait, an approval or a proposal, by its number in a task."""

    about: str
    task: str
    seq: int
    text: str = ""

    @property
    def name(self) -> str:
        """Its key among the questions of a result."""
        return f"{self.about}:{self.task}#{self.seq}"

    def form(self) -> Json:
        """The form that the client shows."""
        schema = _ANSWER if self.about == WAIT else _YES_OR_NO
        message = encode.clip(encode.one_line(self.text), _MOST_TEXT)
        return {"mode": "form", "message": message, "requestedSchema": schema}


def questions_after(memory: Base, data: Any) -> list[Question]:
    """What a call that wrote something left for a person to decide."""
    if not is_dict(data) or not data.keys() >= {"task_id", "seq", "warnings"} or not data["warnings"]:
        return []
    task, seq = data["task_id"], data["seq"]

    def work(tx: Tx) -> list[Question]:
        return [
            Question(about=about, task=task, seq=row["seq"], text=row["text"] or "")
            for about, (kind, status) in _OPEN.items()
            for row in reversed(tx.records(task, kind, (status,), _MOST))
            if row["seq"] >= seq
        ]

    return memory.store.read(work)[:_MOST]


def asks(questions: Sequence[Question], answer: Json) -> Json:
    """The result that asks them. `answer` is that of the call, for `asked` to find again."""
    about = [[each.about, each.task, each.seq] for each in questions]
    return {
        "resultType": "input_required",
        "inputRequests": {
            each.name: {"method": "elicitation/create", "params": each.form()} for each in questions
        },
        "requestState": msgspec.json.encode({"about": about, "answer": answer}).decode(),
    }


def asked(state: Any) -> tuple[list[Question], Json]:
    """The questions of a call that is repeated, and what it answered the first time.

    The client could have changed them; deciding checks them as any call of its user is checked.
    """
    try:
        read = msgspec.json.decode(state, type=_State)
    except (msgspec.DecodeError, TypeError):
        raise ProtocolError(INVALID_PARAMS, "`requestState` is not what this server sent.") from None
    return [Question(about=about, task=task, seq=seq) for about, task, seq in read.about], read.answer


class _State(msgspec.Struct):
    about: list[tuple[Literal["wait", "approval", "proposal"], str, int]]
    answer: dict[str, Any]


def decide(memory: Base, question: Question, answer: Any) -> str:
    """Record a person's answer as the user's; what the model hears of it, empty if there was no answer."""
    content = answer.get("content") if is_dict(answer) and answer.get("action") == "accept" else None
    if not is_dict(content):
        return ""
    user = memory.acting_as(channel="user")
    if question.about == WAIT:
        if not (words := str(content.get("answer") or "").strip()):
            return ""
        operations.bound(user, "wait_update")(wait_id=f"{question.task}#{question.seq}", message=words)
        return f"The user answered: {encode.prompt(words)}"
    yes, note = content.get("approve"), content.get("note") or None
    if not isinstance(yes, bool) or not isinstance(note, str | None):
        return ""
    if question.about == APPROVAL:
        given: dict[str, Any] = {"what": f"#{question.seq}", "approve": yes, "note": note}
        done = operations.bound(user, "task_approve")(question.task, **given)
    else:
        name = "task_accept" if yes else "task_reject"
        done = operations.bound(user, name)(question.task, proposal=question.seq, reason=note)
    lines = [f"The user {'approved' if yes else 'rejected'} #{question.seq}."]
    if note:
        lines.append(f"The user's note: {encode.prompt(note)}")
    return "\n".join([*lines, *map(encode.prompt, as_json(done)["warnings"])])
