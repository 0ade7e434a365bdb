"""The table of answers: the function that answers each intent.

`answer` returns the reply from the ledger, or says that nothing is recorded; `facts` returns the lines that a
model may use for an answer. In both, recorded text is quoted data.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.types import Source
from . import answer_rows as show
from . import (
    fact_answers,
    history_answers,
    permission_answers,
    plan_answers,
    polar_answers,
    record_answers,
    status_answers,
)
from .answer_rows import Context
from .questions import Intent
from .reply import Reply
from .topic_match import FITS

Answerer = Callable[[Intent, Context], Reply | None]

# Answers about the state as a whole; they speak of a subject only if it is one of the task's own words.
_OF_THE_WHOLE = frozenset(
    "where status completed open next current questions needs goal last result effects".split()
)


_OF_STEPS = frozenset("where status current".split())  # a step can have these too


def answer(intent: Intent, context: Context) -> Reply | None:
    """The answer from the records to one part of a question; None if nothing recorded answers it."""
    about = _settled(intent, context)
    if about in ("request", "rules") and intent.has("user") and context.subject:
        return _ANSWERS[about](intent, context)  # only the user's words show what the user said
    listed = about in ("files", "commits", "plan")
    if listed and intent.has("many") and (context.subject or intent.soft):
        reply = fact_answers.counted(intent, context)
        if reply is not None:
            return reply
    if intent.has("fix") and intent.has("how", "what") and context.subject:
        return record_answers.fixed(intent, context)  # the trouble itself does not say how it ended
    if intent.has("file") and about in ("value", "none", "notes") and context.subject:
        about = "files"
    first: tuple[str, ...] = ()
    if intent.polar and about in ("notes", "value", "none"):
        first = ("permission", "did") if intent.marks[0] == "may" else ("did",)
    tried: set[str] = set()
    for name in (*first, about, *_THEN.get(about, ("none",))):
        if name == "none" and intent.polar and "did" not in tried:
            name = "did"
        if name not in tried and (reply := _ANSWERS[name](intent, context)) is not None:
            return reply
        tried.add(name)
    return None


def _settled(intent: Intent, context: Context) -> str:
    """The intent of a question, after a look at what the task knows of its subject."""
    about = intent.about
    unclear = about in ("did", "none", "value") and not intent.has("be", "may", "must")
    if unclear and fact_answers.named_values(intent, context):
        return "value"
    if about in _OF_THE_WHOLE and context.subject and not _is_about_the_task(intent, context):
        about = "plan" if about in _OF_STEPS and _names_step(context) else "none"
    if about in ("current", "next") and intent.step is not None:
        return "plan"  # "what's step 6 now?"
    if about == "failed" and intent.has("why") and not context.subject and not intent.has("fail"):
        return "blocking"  # "why not today?"
    if about == "decision" and intent.has("step") and intent.has("drop", "new"):
        about = "replan"
    if about == "decision" and intent.has("why") and intent.has("not") and intent.has("done"):
        about = "blocking"
    if intent.has("plan") and intent.has("change", "drop", "new", "old") and about in ("decision", "plan"):
        about = "replan"
    asks_why = intent.has("why", "reason") and about in ("notes", "none", "value")
    if asks_why or (intent.has("risk", "fallback", "option") and context.subject):
        return "decision"
    why = intent.has("why") and about in ("failed", "blocking", "request")
    return "decision" if why and record_answers.decided(intent, context) else about


def _is_about_the_task(intent: Intent, context: Context) -> bool:
    """Whether a question about the whole names nothing that the task knows nothing of.

    A word that is not among the task's own is what the question is about, unless it looks like a verb.
    """
    task = context.task
    titles = [item.title for item in task.steps] if intent.about in ("completed", "open", "next") else []
    own = " ".join((task.name, task.goal or "", *titles))
    missing = context.subject.missing(own)
    if not missing:
        return True
    # A word with the ending of a verb or an adverb is hardly what the question is about.
    return all(word.isalpha() and word.endswith(("ing", "ed", "ly")) for word in missing)


def _names_step(context: Context) -> bool:
    return any(context.subject.coverage(item.title) >= FITS for _, item in show.plan_steps(context))


def facts(intent: Intent, context: Context, reply: Reply) -> tuple[str, ...]:
    """Facts for a model, as lines with citations: the reply, the task and its request, the sentences about
    the subject, the summary, what came since, and the state."""
    task = context.task
    known = task.summary
    rows = [
        show.stated("Task", task.name, task.sources.get("name")),
        *([show.stated("The user asked", task.request, task.sources.get("request"))] if task.request else []),
        *fact_answers.found_rows(context),
        *(
            [show.stated("Summary", known.text, Source(seq=known.seq, channel=known.channel))]
            if known
            else []
        ),
        *fact_answers.event_rows(context, after=known.seq if known else 0),
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
    ]
    answered = (reply.text,) if reply.recorded else ()
    return tuple(dict.fromkeys((*answered, *(row.show(300) for row in rows))))


def _why_not(intent: Intent, context: Context) -> Reply | None:
    """Why something is no longer planned, if a question asks why and a dropped step is about it."""
    return plan_answers.replan(intent, context) if context.replans and intent.has("why", "reason") else None


def _why_decided(intent: Intent, context: Context) -> Reply | None:
    """The decision that a question of why is about: "why X and not Y?" names no failure."""
    return record_answers.decision(intent, context) if intent.has("why") and context.subject else None


def _user_words(intent: Intent, context: Context) -> Reply | None:
    """What the user said about it, without a verdict: "do refunds need approval?"."""
    if not intent.has("must", "may", "go") or not context.subject:
        return None
    return permission_answers.permission(intent.replace(polar=False), context)


_ANSWERS: dict[str, Answerer] = {
    "where": status_answers.where,
    "status": status_answers.status,
    "completed": status_answers.completed,
    "open": status_answers.remaining,
    "next": status_answers.following,
    "current": status_answers.current,
    "plan": status_answers.plan,
    "replan": plan_answers.replan,
    "decision": record_answers.decision,
    "failed": record_answers.failed,
    "rejected": record_answers.rejected,
    "rules": record_answers.rules,
    "permission": permission_answers.permission,
    "request": record_answers.request,
    "goal": record_answers.goal,
    "value": fact_answers.value,
    "needs": record_answers.needs,
    "files": record_answers.files,
    "commits": record_answers.commits,
    "blocking": record_answers.blocking,
    "questions": record_answers.questions,
    "effects": record_answers.effects,
    "did": polar_answers.did,
    "when": history_answers.when,
    "duration": history_answers.duration,
    "history": history_answers.history,
    "last": status_answers.last,
    "people": fact_answers.people,
    "result": status_answers.result,
    "notes": fact_answers.notes,
    "none": fact_answers.anything,
    # These follow others (`_THEN`); no question asks for them by itself.
    "replan_why": _why_not,
    "user_words": _user_words,
    "why_decided": _why_decided,
    "stated": fact_answers.stated,
    "reason": fact_answers.reason,
}
# What else may answer, if the records of an intent do not; a fact about the subject last.
_THEN: dict[str, tuple[str, ...]] = {
    "permission": (),
    "blocking": (),
    "history": ("none",),
    "people": (),
    "when": (),
    "duration": ("value",),
    "did": ("user_words", "stated"),
    "effects": (),
    "replan": ("decision", "none"),
    "decision": ("replan_why", "reason"),
    "plan": ("none",),
    "failed": ("why_decided", "none"),
    "request": ("none",),
    "goal": ("none",),
}
