"""Answers from the recorded state: one question in, one or two sentences or a short list out, with citations.

`answer` gives the reply that follows from the ledger alone, or None where only a search can help; `facts`
gives the lines that a model may word an answer from. Recorded text is quoted data in both.
"""

from __future__ import annotations

from collections.abc import Callable

from . import evidence, recorded, standing
from .questions import Intent
from .render import Reply
from .rows import (
    Known,
    blocker_rows,
    decision_row,
    effect_row,
    error_row,
    exclusion_row,
    instruction_row,
    plan_steps,
    step_row,
    value_row,
)


def answer(intent: Intent, known: Known) -> Reply | None:
    """The answer that the recorded state gives; None if it has none."""
    return _ANSWERS[intent.about](intent, known)


def facts(intent: Intent, known: Known, reply: Reply) -> tuple[str, ...]:
    """What is recorded, as lines with citations: the reply, then the state, then what was found."""
    task = known.task
    rows = [
        *standing.standing_rows(known),
        *(step_row(number, item) for number, item in plan_steps(known)[:60]),
        *blocker_rows(task),
        *map(decision_row, task.decisions[:-9:-1]),
        *map(exclusion_row, task.exclusions[:-9:-1]),
        *map(error_row, task.errors[:-4:-1]),
        *map(value_row, task.values[:-21:-1]),
        *map(instruction_row, task.instructions[:-4:-1]),
        *map(effect_row, task.effects),
        *evidence.hit_rows(known.hits or (), task.id),
    ]
    return tuple(dict.fromkeys((reply.text, *(row.show(200) for row in rows))))


_ANSWERS: dict[str, Callable[[Intent, Known], Reply | None]] = {
    "where": standing.where,
    "status": standing.status,
    "summary": standing.summary,
    "phase": standing.phase,
    "plan": standing.plan,
    "completed": standing.completed,
    "verified": standing.completed,
    "reported": standing.completed,
    "open": standing.remaining,
    "next": standing.following,
    "current": standing.current,
    "last": standing.last,
    "request": recorded.request,
    "last_request": recorded.last_request,
    "instructions": recorded.instructions,
    "goal": recorded.goal,
    "rejected": recorded.rejected,
    "why": recorded.why,
    "decisions": recorded.decisions,
    "failed": recorded.failed,
    "questions": recorded.questions,
    "notes": recorded.notes,
    "value": recorded.value,
    "anything": recorded.value,
    "needs": recorded.needs,
    "files": recorded.files,
    "commits": recorded.commits,
    "blocking": recorded.blocking,
    "waiting": recorded.waiting,
    "effects": recorded.effects,
    "who": recorded.who,
    "result": standing.result,
    "since": evidence.since,
    "did": evidence.did,
    "duration": evidence.duration,
    "when": evidence.when,
}
ABOUT = tuple(_ANSWERS)
