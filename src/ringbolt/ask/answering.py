# pyright: reportPrivateUsage=false
"""Answer a question: parse it, read the records it needs, and answer from the ledger or by a search."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..ledger.base import Base
from ..ledger.trust import least_trusted
from ..ledger.values import read_event
from ..llm.prompts import Fact
from ..model.lazy_regex import lazy_regex
from ..model.results import Hit
from ..model.types import Answer, Event, Snapshot
from ..packet.encode import clip, one_line
from ..packet.operations import read_whole_task
from ..recall import search
from ..store.tx import Tx
from . import queries
from .answer_rows import Commit, Context, live_steps, step_seq
from .answer_table import answer, facts
from .history_answers import close_to, commits_of, recalled
from .questions import Intent, understand
from .reply import moment

QUESTION = 500  # characters of the question that an answer repeats
HITS = 8
COMMITS = 100
# The types of entries that are searched first, by kind of question.
_TYPES: dict[str, list[str]] = {
    "why": ["decision", "exclusion"],
    "decisions": ["decision"],
    "failed": ["error", "exclusion"],
    "duration": ["action"],
}
_OF_THE_TASK = ("did", "when")  # other tasks cannot answer these


def ask(memory: Base, task_id: str | None, question: str) -> Answer:
    """Answer a question about a task: with a model's wording if one is configured and it agrees with the
    facts, otherwise with our own."""
    draft, task, list_facts = drafted(memory, task_id, question)
    settings = memory.settings
    if not question.strip() or not (settings.model_local_url or settings.model_remote_url):
        return draft
    asker: Any = memory  # every memory that can ask is a `Modelling`
    better, _ = asker._model_answer(task, question, list_facts(), draft)
    return better or draft


def drafted(
    memory: Base, task_id: str | None, question: str
) -> tuple[Answer, Snapshot, Callable[[], list[Fact]]]:
    """The answer of the rules, the task, and a function that lists the facts for a model's answer."""
    intent = understand(question)
    now = memory._now()
    context = memory.store.read(lambda tx: _known(memory, tx, task_id, intent, now))
    reply = answer(intent, context)
    if reply is None:
        context = _searched(memory, context, intent, question)
        reply = answer(intent, context) or recalled(intent, context)
    task = context.task
    draft = Answer(
        task_id=task.id,
        seq=task.seq,
        question=clip(one_line(question[: 4 * QUESTION]), QUESTION),
        text=reply.text,
        source=reply.source,
        about=intent.about,
        cites=reply.cites,
    )
    return draft, task, lambda: _facts(facts(intent, context, reply), task)


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


def _known(memory: Base, tx: Tx, task_id: str | None, intent: Intent, now: str) -> Context:
    """The task and the other records that the question needs, from one consistent read."""
    task = read_whole_task(memory, tx, task_id)
    about_commits = "commit" in f"{intent.topic} {intent.when}".lower()
    wants_commits = intent.about in ("commits", "needs") or about_commits
    context = Context(
        task=task,
        now=now,
        earlier=_earlier(tx, task),
        commits=_commits(memory, tx, task.id) if wants_commits else (),
    )
    if intent.about == "since":
        context = context.replace(since=_beginning(tx, context, intent))
    return context


def _earlier(tx: Tx, task: Snapshot) -> frozenset[str]:
    """The finished steps of older plans that the current plan no longer lists."""
    for row in tx.thread(task.id, 1, None, types=("plan.replaced",)) if task.plan_version > 1 else ():
        if row["forgotten"] is not None:
            break
        data = json.loads(row["data"])
        return frozenset(
            item.id
            for item in task.items
            if item.dropped_in is None and item.plan_version < data["version"] and item.id not in data["plan"]
        )
    return frozenset()


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


def _beginning(tx: Tx, context: Context, intent: Intent) -> int | None:
    """The event after which the question asks what happened; None if there is no such event."""
    task, when = context.task, intent.when
    if when is None and intent.step is not None:
        steps = live_steps(task)
        return step_seq(steps[intent.step - 1][1]) if 0 < intent.step <= len(steps) else None
    if when is None or when == "start":
        return 0
    if when.startswith("#"):
        return min(int(when[1:]), task.seq)
    if when == "compaction":
        return queries.last_compaction(tx, task.id)
    if when == "commit":
        return next((commit.seq for commit in context.commits if commit.made), None)
    if when == "request":
        return max((entry.seq for entry in task.instructions if entry.origin.channel == "user"), default=1)
    at = moment(when, context.now)
    return None if at is None else queries.seq_before(tx, task.id, at, task.seq)


def _searched(memory: Base, context: Context, intent: Intent, question: str) -> Context:
    """Add search results: from the task and, if they do not fit, from the workspace."""
    task, words, types = context.task, intent.topic or question, _TYPES.get(intent.about)
    hits = _recall(memory, words, task.id, types)
    if types is not None and not close_to(intent.topic, hits):
        hits = _recall(memory, words, task.id, None)
    context = context.replace(hits=hits)
    if intent.about == "duration":
        return context.replace(events=memory.store.read(lambda tx: _actions(tx, task.id, hits)))
    if intent.about not in _OF_THE_TASK and not close_to(intent.topic, hits):
        others = _recall(memory, words, None, None)
        context = context.replace(elsewhere=tuple(hit for hit in others if hit.task_id != task.id))
    return context


def _recall(memory: Base, words: str, task_id: str | None, types: list[str] | None) -> tuple[Hit, ...]:
    return search.recall(memory, words, task_id=task_id, types=types, limit=HITS).hits


def _actions(tx: Tx, task_id: str, hits: tuple[Hit, ...]) -> tuple[Event, ...]:
    """The actions among the hits, with the data of the events that ended them."""
    events: list[Event] = []
    for hit in hits[:4]:
        row = tx.event(task_id, hit.seq) if hit.type == "action" else None
        if row is None:
            continue
        event = read_event(row)
        for end in tx.thread(task_id, 1, None, types=("action.ended",), refs=(hit.seq,)):
            event = event.replace(data={**event.data, **json.loads(end["data"])})
        events.append(event)
    return tuple(events)
