"""The table of answers: the function that answers each kind of question.

`answer` returns the reply from the ledger alone, or None if only a search can help; `facts` returns the lines
that a model may use for an answer. In both, recorded text is quoted data.
"""

from __future__ import annotations

from collections.abc import Callable

from . import answer_rows as show
from . import history_answers, record_answers, status_answers
from .answer_rows import Context
from .questions import Intent
from .reply import Reply


def answer(intent: Intent, context: Context) -> Reply | None:
    """The answer from the recorded state; None if that has no answer."""
    return _ANSWERS[intent.about](intent, context)


def facts(intent: Intent, context: Context, reply: Reply) -> tuple[str, ...]:
    """Facts for a model, as lines with citations: the reply, then the state, then the search results."""
    task = context.task
    rows = [
        *status_answers.progress_rows(context),
        *(show.step(number, item) for number, item in show.plan_steps(context)[:60]),
        *show.blockers(task),
        *map(show.decision, task.decisions[:-9:-1]),
        *map(show.exclusion, task.exclusions[:-9:-1]),
        *map(show.error, task.errors[:-4:-1]),
        *map(show.value, task.values[:-21:-1]),
        *map(show.instruction, task.instructions[:-4:-1]),
        *map(show.instruction, task.reported[:-4:-1]),
        *map(show.effect, task.effects),
        *history_answers.hit_rows(context.hits or (), task.id),
    ]
    return tuple(dict.fromkeys((reply.text, *(row.show(200) for row in rows))))


_ANSWERS: dict[str, Callable[[Intent, Context], Reply | None]] = {
    "where": status_answers.where,
    "status": status_answers.status,
    "summary": status_answers.summary,
    "phase": status_answers.phase,
    "plan": status_answers.plan,
    "completed": status_answers.completed,
    "verified": status_answers.completed,
    "reported": status_answers.completed,
    "open": status_answers.remaining,
    "next": status_answers.following,
    "current": status_answers.current,
    "last": status_answers.last,
    "request": record_answers.request,
    "last_request": record_answers.last_request,
    "instructions": record_answers.instructions,
    "goal": record_answers.goal,
    "rejected": record_answers.rejected,
    "why": record_answers.why,
    "decisions": record_answers.decisions,
    "failed": record_answers.failed,
    "questions": record_answers.questions,
    "notes": record_answers.notes,
    "value": record_answers.value,
    "anything": record_answers.value,
    "needs": record_answers.needs,
    "files": record_answers.files,
    "commits": record_answers.commits,
    "blocking": record_answers.blocking,
    "waiting": record_answers.waiting,
    "effects": record_answers.effects,
    "who": record_answers.who,
    "result": status_answers.result,
    "since": history_answers.since,
    "did": history_answers.did,
    "duration": history_answers.duration,
    "when": history_answers.when,
}
ABOUT = tuple(_ANSWERS)
