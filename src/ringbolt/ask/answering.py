# pyright: reportPrivateUsage=false
"""Answer a question: parse it, read the records it needs, and answer from the ledger or by a search."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from ..ledger.base import Base
from ..ledger.inferred_plan import EARLIER
from ..ledger.trust import least_trusted
from ..llm.prompts import Fact
from ..model.lazy_regex import lazy_regex
from ..model.results import Hit
from ..model.types import Answer, Snapshot
from ..model.validate import seconds_of, stamp
from ..packet.encode import clip, one_line
from ..packet.operations import read_whole_task
from ..recall import search
from ..recall.spelling import spelt_as_recorded
from ..store.tx import Tx
from . import queries
from .answer_rows import Commit, Context, Replan, live_steps, step_seq
from .answer_table import answer, facts
from .evidence import Evidence, read_period, read_window
from .fact_answers import nothing
from .history_answers import commits_of
from .questions import Intent, understand
from .reply import Reply
from .topic_match import Subject, translations, untranslated

QUESTION = 500  # characters of the question that an answer repeats
HITS = 8
COMMITS = 100
# Answers that need no more than the state of the task, if the question has no subject.
_FROM_THE_STATE = frozenset(
    "where status completed open next current plan replan decision rejected rules permission request"
    " goal needs files commits blocking questions effects last result notes".split()
)
_OF_THE_TASK = frozenset(
    "did when permission people effects history duration".split()
)  # others cannot answer


# Words that questions about such things are made of; in other questions they are a part of the subject.
_COMMITS, _FILES = frozenset(("commit", "commits")), frozenset(("file", "files"))
_THING_WORDS = _COMMITS | _FILES | {"request", "requests", "permission"}
_THINGS = {
    "commits": frozenset[str](), "files": frozenset[str](), "request": _COMMITS, "needs": frozenset[str](),
    "rules": _COMMITS, "rejected": _COMMITS, "history": frozenset[str](), "last": frozenset[str](),
    "did": _FILES, "when": _FILES, "goal": frozenset[str](), "questions": frozenset[str](),
}  # fmt: skip


def ask(memory: Base, task_id: str | None, question: str) -> Answer:
    """Answer a question about a task: with a model's wording if one is configured and it agrees with the
    facts, otherwise with our own."""
    draft, task, list_facts, language = drafted(memory, task_id, question)
    settings = memory.settings
    if not question.strip() or not (settings.model_local_url or settings.model_remote_url):
        return draft
    asker: Any = memory  # every memory that can ask is a `Modelling`
    better, _ = asker._model_answer(task, question, list_facts(), draft, language)
    return better or draft


def drafted(
    memory: Base, task_id: str | None, question: str
) -> tuple[Answer, Snapshot, Callable[[], list[Fact]], str]:
    """The answer of the rules, the task, a function that lists the facts for a model's answer, and the
    language of the question."""
    now = memory._now()
    context = memory.store.read(lambda tx: _state(memory, tx, task_id, now))
    parts = understand(question, "\n".join(item.title for item in context.task.steps))
    answered = [_answered(memory, context, part) for part in parts]
    task = context.task
    reply = _together(parts, [reply for _, reply in answered])
    draft = Answer(
        task_id=task.id,
        seq=task.seq,
        question=clip(one_line(question[: 4 * QUESTION]), QUESTION),
        text=reply.text,
        source=reply.source,
        about=parts[0].about,
        cites=reply.cites,
        items=reply.items,
        recorded=reply.recorded,
    )
    used = _with_evidence(memory, answered[0][0])
    return draft, task, lambda: _facts(facts(parts[0], used(), reply), task), parts[0].language


def _with_evidence(memory: Base, context: Context) -> Callable[[], Context]:
    """The context with the events that a model is shown, read when they are needed."""

    def read() -> Context:
        if context.window:
            return context
        return context.replace(window=memory.store.read(lambda tx: read_window(tx, context.task.id)))

    return read


def _answered(memory: Base, context: Context, part: Intent) -> tuple[Context, Reply]:
    """The answer to one part of a question, and what was read for it."""
    context = _with_subject(memory, context, part)
    reply = answer(part, context)
    if reply is None and part.about not in _OF_THE_TASK:
        others = _recall(memory, part, None)
        context = context.replace(elsewhere=tuple(hit for hit in others if hit.task_id != context.task.id))
    return context, reply or nothing(part, context)


def _together(parts: Sequence[Intent], replies: Sequence[Reply]) -> Reply:
    """The answers to all parts, in order; what is not recorded of one intent is left out if another is."""
    kept = [
        reply
        for part, reply in zip(parts, replies, strict=True)
        if reply.recorded
        or not any(
            other.recorded and one.about == part.about for one, other in zip(parts, replies, strict=True)
        )
    ]
    if len(kept) == 1:
        return kept[0]
    return Reply(
        text="\n".join(reply.text for reply in kept),
        cites=tuple(dict.fromkeys(seq for reply in kept for seq in reply.cites)),
        source=kept[0].source,
        items=tuple(item for reply in kept for item in reply.items),
        recorded=any(reply.recorded for reply in kept),
    )


_CITED = lazy_regex(r"#(\d+)(?: \((tool|web|import)\))?")


def _facts(lines: Sequence[str], task: Snapshot) -> list[Fact]:
    """Lines with citations as facts; a line is trusted as much as the least trusted event it cites."""
    facts: list[Fact] = []
    for line in lines:
        cited = _CITED.findall(line)
        channel = least_trusted([word or "agent" for _, word in cited] or ["agent"])
        facts.append(Fact(seq=int(cited[0][0]) if cited else task.seq, text=line, channel=channel))
    return facts


# --- reading ----------------------------------------------------------------------------------------


def _state(memory: Base, tx: Tx, task_id: str | None, now: str) -> Context:
    """The task and what every part of a question may need of it, from one consistent read."""
    task = read_whole_task(memory, tx, task_id)
    return Context(
        task=task,
        now=now,
        subject=Subject(()),
        zone=time_zone(memory.settings.time_zone),
        earlier=_earlier(tx, task),
        replans=_replans(tx, task),
    )


def time_zone(name: str) -> tzinfo:
    """The time zone of a setting; without one, this machine's."""
    if name:
        from zoneinfo import ZoneInfo  # slow to load, and few ask for a zone

        return ZoneInfo(name)
    return datetime.now().astimezone().tzinfo or UTC


def _with_subject(memory: Base, context: Context, part: Intent) -> Context:
    """The context of one part of a question: its subject, and the events that may be about it."""
    task = context.task
    soft = part.soft
    words = (*part.subject, *(word for word in soft if word in _THINGS.get(part.about, _THING_WORDS)))
    if not words and part.step is None and part.about in ("value", "none", "notes", "when", "people"):
        own = {"people": "own", "notes": "learn", "when": "commit"}.get(part.about, "")
        words = () if part.has(own) else soft  # who owns it, what was learned, when we committed: all of it
    known = f"{task.name} {task.goal or ''}"
    subject = Subject(words, () if words is soft else soft, part.language, known, head=part.head)
    context = context.replace(subject=subject)
    hits: tuple[Hit, ...] = ()
    if subject and task.seq > 300:
        hits = _recall(memory, part, task.id)
    seqs = [hit.seq for hit in hits]
    if part.about in ("commits", "needs") or "commit" in part.marks:
        context = context.replace(commits=memory.store.read(lambda tx: _commits(memory, tx, task.id)))
    if subject or part.about not in _FROM_THE_STATE or part.has("many"):
        context = context.replace(window=memory.store.read(lambda tx: read_window(tx, task.id, seqs)))
    if part.language == "en":
        spelt = [_as_recorded(word, context) for word in subject.words]
        if spelt != subject.words:
            subject = Subject(spelt, soft, part.language, known, head=part.head)
            context = context.replace(subject=subject)
    if foreign := untranslated(subject.words, part.language):
        texts = [one.lower for one in context.window] + [item.title.lower() for item in task.steps]
        absent = [word for word in foreign if not any(word.lower()[:5] in text for text in texts)]
        context = context.replace(
            subject=Subject(subject.words, soft, part.language, known, absent, part.head)
        )
    if part.span is not None or part.about == "history":
        period, since = memory.store.read(lambda tx: _period(tx, context, part))
        context = context.replace(period=period, since=since)
    return context


_LEAST_SPELT = 6  # letters of a word that may be misspelt


def _as_recorded(word: str, context: Context) -> str:
    """A word of a subject, or, if no record has it, the recorded one that it misspells."""
    if len(word) < _LEAST_SPELT or not (word.isascii() and word.isalpha()) or not context.window:
        return word
    alone = Subject((word,))
    texts = [item.title for item in context.task.steps]
    texts += [f"{one.text} {' '.join(one.details)}" for one in context.window]
    if any(alone.may_fit(text.lower()) and alone.coverage(text) for text in texts):
        return word
    spelt = spelt_as_recorded(word, texts)
    return spelt if spelt is not None and " " not in spelt else word


def _recall(memory: Base, part: Intent, task_id: str | None) -> tuple[Hit, ...]:
    words = [*part.subject, *(one for word in part.subject for one in translations(word, part.language))]
    query = " ".join((*words, *part.soft)) or part.text
    return search.recall(memory, query, task_id=task_id, limit=HITS).hits


def _earlier(tx: Tx, task: Snapshot) -> frozenset[str]:
    """The finished steps of older plans that the current plan no longer lists, or of earlier requests."""
    if task.plan_inferred:
        return frozenset(item.id for item in task.steps if EARLIER in item.detail)
    for row in tx.thread(task.id, 1, None, types=("plan.replaced",)) if task.plan_version > 1 else ():
        if row["forgotten"] is not None:
            break
        data = json.loads(row["data"])
        return frozenset(
            item.id
            for item in task.steps
            if item.dropped_in is None and item.plan_version < data["version"] and item.id not in data["plan"]
        )
    return frozenset()


def _replans(tx: Tx, task: Snapshot) -> tuple[Replan, ...]:
    """The events that replaced the plan, in order."""
    if task.plan_version < 2:
        return ()
    rows = tx.thread(task.id, 20, None, types=("plan.replaced",))
    return tuple(
        Replan(
            seq=row["seq"],
            version=json.loads(row["data"]).get("version", 0) if row["forgotten"] is None else 0,
            reason=row["text"] or "",
            channel=row["channel"],
        )
        for row in reversed(rows)
    )


def _commits(memory: Base, tx: Tx, task_id: str) -> tuple[Commit, ...]:
    """The commits, newest first: those recorded as artifacts, otherwise those that commands made."""
    entries = memory._entries(tx, task_id, "artifact", ("active",), COMMITS)
    noted = tuple(
        Commit(
            subject=entry.summary.removeprefix("commit").lstrip(": "),
            seq=entry.seq,
            channel=entry.origin.channel,
        )
        for entry in reversed(entries)
        if "commit" in entry.tags or entry.summary.lower().startswith("commit:")
    )
    if noted:
        return noted
    commits: list[Commit] = []
    for status in ("completed", "failed"):
        for row in queries.commit_actions(tx, task_id, status, COMMITS):
            commits += commits_of(json.loads(row["data"]), row["seq"], row["channel"], status)
    # If several have the same subject, keep the one that was made, otherwise the last attempt.
    best = {
        commit.subject: commit for commit in sorted(commits, key=lambda commit: (commit.made, commit.seq))
    }
    return tuple(sorted(best.values(), key=lambda commit: -commit.seq))


def _period(tx: Tx, context: Context, part: Intent) -> tuple[tuple[Evidence, ...] | None, int]:
    """The events of the time that a question names, and the last event before it; None if it names an event
    that is not recorded."""
    task, span = context.task, part.span
    start, end = 0, task.seq
    if span is None:
        if part.step is not None:
            steps = live_steps(task)
            known = step_seq(steps[part.step - 1][1]) if 0 < part.step <= len(steps) else None
            if known is None:
                return None, 0
            start = known
    elif span.anchor:
        anchor = _anchor(tx, context, span.anchor)
        if anchor is None:
            return None, 0
        start = anchor
    else:
        first, last = span.limits(seconds_of(context.now), context.zone)
        if first is not None:
            start = queries.seq_before(tx, task.id, stamp(max(0.0, first)), task.seq)
        if last is not None:
            end = queries.seq_before(tx, task.id, stamp(max(0.0, last)), task.seq)
    return read_period(tx, task.id, start, end), start


def _anchor(tx: Tx, context: Context, name: str) -> int | None:
    """The event that a question names."""
    task = context.task
    if name.startswith("#"):
        return min(int(name[1:]), task.seq)
    if name == "compaction":
        return queries.last_compaction(tx, task.id)
    if name == "commit":
        return next((commit.seq for commit in context.commits if commit.made), None)
    if name == "request":
        return max((entry.seq for entry in task.instructions if entry.origin.channel == "user"), default=1)
    return 0
