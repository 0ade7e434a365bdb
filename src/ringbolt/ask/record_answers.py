"""Answers from records: requests, decisions, failures, values, files, blockers."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.types import Entry, Snapshot
from ..packet import encode
from . import answer_rows as show
from .answer_rows import Context
from .history_answers import commit_rows
from .questions import Intent
from .reply import LIST, ONE, PARAGRAPH, SHORT_LIST, Reply, Row, cite, clock, compose, plain, quote
from .status_answers import named
from .topic_match import fitting

# --- requests ---------------------------------------------------------------------------------------


def request(intent: Intent, context: Context) -> Reply:
    """The original request as it was written."""
    task = context.task
    if not task.request:
        asked = _asked(task)
        if not asked:
            return compose([plain("No request is recorded."), named(task)], PARAGRAPH)
        return compose([plain("The first recorded instruction:"), show.instruction(asked[0])], PARAGRAPH)
    source = task.sources.get("request")
    channel = source.channel if source else None
    word = "The user asked" if channel == "user" else "The request, as recorded"
    seq = source.seq if source else 1
    rows = [Row(lambda most: f"{word}{cite(seq, channel)}: {quote(task.request, most)}", 1)]
    if not _is_request(task.request):
        rows += [show.instruction(entry) for entry in _asked(task)[:1]]
    return compose(rows, PARAGRAPH)


def _asked(task: Snapshot) -> list[Entry]:
    """The user's requests, oldest first, without tool output and bare approvals."""
    return [entry for entry in _said(task) if _is_request(entry.summary)]


def _said(task: Snapshot) -> list[Entry]:
    """What the user said, and what the agent recorded as said by the user, oldest first."""
    reported = (entry for entry in task.reported if entry.origin.channel == "agent")
    return sorted((*task.instructions, *reported), key=lambda entry: entry.seq)


def _is_request(text: str) -> bool:
    """Whether a text is a request, and not a greeting, a bare yes or an interruption."""
    return len(text.strip()) > 15 and not text.startswith("[Request interrupted")


def last_request(intent: Intent, context: Context) -> Reply:
    """The user's last request."""
    asked = _asked(context.task)
    if not asked:
        return request(intent, context)
    last = asked[-1]
    later = [
        entry
        for entry in context.task.instructions
        if entry.seq > last.seq and not entry.summary.startswith("[")
    ]
    rows = [show.instruction(entry) for entry in (last, *later[-1:])]
    return compose(rows, PARAGRAPH)


def instructions(intent: Intent, context: Context) -> Reply | None:
    """The user's instructions, newest first."""
    task = context.task
    entries = _said(task)
    found = fitting(intent.topic, entries, lambda entry: f"{entry.summary} {entry.detail or ''}")
    if intent.topic and not found:
        return None
    rows = [show.instruction(entry) for entry in reversed(found or entries)]
    if not rows:
        return request(intent, context)
    return _some(intent, rows, "Instructions, newest first: ", task.left_out.get("user_instruction", 0))


def goal(intent: Intent, context: Context) -> Reply:
    """The goal and its acceptance criteria."""
    task = context.task
    rows = [show.stated("Goal", task.goal or task.name, task.sources.get("goal"))]
    rows += [
        Row(lambda most, part=part: f"Accepted when: {quote(part, most)}.") for part in task.acceptance[:8]
    ]
    return compose(rows, PARAGRAPH, least=60)


def rejected(intent: Intent, context: Context) -> Reply:
    """The approaches that the user rejected, and why."""
    entries = [entry for entry in context.task.exclusions if show.user_rejected(entry)]
    found = fitting(intent.topic, entries, _text) or entries
    if not found:
        return Reply(text="Nothing is recorded as rejected by the user.")
    rows = [show.exclusion(entry) for entry in reversed(found)]
    by_user = all(entry.origin.channel == "user" for entry in found)
    opening = "The user rejected: " if by_user else "Recorded as rejected by the user: "
    return compose(rows, LIST, opening=opening, glue="; ")


# --- decisions, failures ----------------------------------------------------------------------------


def _text(entry: Entry) -> str:
    fields = (entry.data.get(name) for name in ("title", "choice", "options", "reasoning", "why", "symptom"))
    return " ".join([entry.summary, entry.detail or "", *(str(field)[:500] for field in fields if field)])


def why(intent: Intent, context: Context) -> Reply | None:
    """The decision that fits the topic, with its reason; otherwise an exclusion."""
    task = context.task
    decisions = fitting(intent.topic, task.decisions, _text)
    ruled_out = fitting(intent.topic, task.exclusions, _text)
    # A decision is the better answer; an exclusion counts only if no decision fits.
    rows = [show.decision(entry) for entry in decisions[-2:][::-1]]
    rows = rows or [show.exclusion(entry) for entry in ruled_out[-2:][::-1]]
    return compose(rows, PARAGRAPH) if rows else None


def decisions(intent: Intent, context: Context) -> Reply | None:
    """Decisions with their reasons, newest first; recorded ones before inferred ones."""
    task = context.task
    found = fitting(intent.topic, task.decisions, _text)
    if intent.topic and not found:
        return None
    entries = found or task.decisions
    if not entries:
        return Reply(text="No decision is recorded.")
    newest = sorted(entries, key=lambda entry: (bool(entry.data.get("inferred")), -entry.seq))
    rows = [show.decision(entry) for entry in newest]
    return _some(intent, rows, "", 0 if found else task.left_out.get("decision", 0))


def _some(intent: Intent, rows: Sequence[Row], opening: str, left_out: int) -> Reply:
    """A list, newest first, with as many rows as the question asks for."""
    if intent.most is not None:
        return compose(rows[: intent.most], SHORT_LIST, glue="; ", least=60)
    return compose(rows, LIST, opening=opening, glue="; ", left_out=left_out)


def failed(intent: Intent, context: Context) -> Reply | None:
    """Errors and exclusions, newest first."""
    task = context.task
    entries = [
        *(entry for entry in task.exclusions if not show.user_rejected(entry)),
        *task.errors,
        *task.resolved,
    ]
    found = fitting(intent.topic, entries, _text)
    if intent.topic and not found:
        return None
    entries = sorted(found or entries, key=lambda entry: -entry.seq)
    rows = [
        show.exclusion(entry) if entry.type == "exclusion" else show.error(entry)
        for entry in _unlike(entries)
    ]
    if not found:
        rows += [
            _by_user(show.exclusion(entry))
            for entry in reversed(task.exclusions)
            if show.user_rejected(entry)
        ]
    if not rows:
        return Reply(text="No failure is recorded.")
    more = 0 if found else task.left_out.get("exclusion", 0) + task.left_out.get("error", 0)
    return _some(intent, rows, "Failed, newest first: ", more)


def _by_user(row: Row) -> Row:
    return Row(lambda most: f"rejected by the user: {row.show(most)}", *row.seqs)


def _unlike(entries: Sequence[Entry]) -> list[Entry]:
    """Entries without those that repeat a newer one."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        why = str(entry.data.get("symptom") or entry.data.get("why") or "")
        seen.setdefault(" ".join(f"{entry.summary[:60]} {why[:120]}".lower().split()), entry)
    return list(seen.values())


def questions(intent: Intent, context: Context) -> Reply:
    """The open questions."""
    entries = context.task.questions
    if not entries:
        return Reply(text="No open question is recorded.")
    rows = [show.question(entry) for entry in reversed(entries)]
    return compose(rows, LIST, opening="Open questions: ", glue="; ")


def notes(intent: Intent, context: Context) -> Reply | None:
    """Findings, artifacts and context."""
    task = context.task
    found = fitting(intent.topic, task.notes, _text)
    if intent.topic and not found:
        return None
    rows = [show.note(entry) for entry in reversed(found or task.notes)]
    if not rows:
        return Reply(text="No finding is recorded.")
    return compose(rows, LIST, glue="; ")


# --- values, files, commits -------------------------------------------------------------------------


def value(intent: Intent, context: Context) -> Reply | None:
    """The value of a variable that the question names, in full or by its words."""
    task = context.task
    wanted = intent.topic.lower().replace(" ", "_").replace("-", "_")
    exact = [entry for entry in task.values if (entry.key or "").lower().replace("-", "_") == wanted]
    found = exact or fitting(intent.topic, task.values, lambda entry: entry.key or "")
    if not found:
        return None
    return compose([show.value(entry) for entry in reversed(found[-6:])], ONE, glue="; ", least=40)


def needs(intent: Intent, context: Context) -> Reply:
    """The latest values and the names in use; without names, files and commits."""
    task = context.task
    values = [
        Row(lambda most, entry=entry: show.value(entry).show(min(most, 120)), entry.seq)
        for entry in reversed(task.values)
    ]
    named = [plain(encode.name(encode.clip(name.name, 120))) for name in task.names]
    named = named or [*show.files(task), *commit_rows(context.commits[:8])]
    rows = [*values[:12], *named, *values[12:]]
    if not rows:
        return Reply(text="No value, name or file is recorded.")
    return compose(rows, LIST, glue=", " if task.names else "; ", least=40)


def files(intent: Intent, context: Context) -> Reply:
    """The files that were changed."""
    rows = show.files(context.task)
    if not rows:
        return Reply(text="No changed file is recorded.")
    return compose(rows, LIST, glue="; ", left_out=context.task.left_out.get("file", 0))


def commits(intent: Intent, context: Context) -> Reply:
    """The commits that were made."""
    if not context.commits:
        return Reply(text="No commit is recorded.")
    return _some(intent, commit_rows(context.commits), "Commits, newest first: ", 0)


# --- blockers ---------------------------------------------------------------------------------------


def blocking(intent: Intent, context: Context) -> Reply:
    """The blockers and open waits."""
    task = context.task
    rows = [*show.blockers(task), *map(show.wait, task.waits)]
    if not rows:
        rows = [plain("Nothing is recorded as blocking.")]
        rows += [show.error(entry) for entry in task.errors[:-3:-1]]
    return compose(rows, LIST, least=60)


def waiting(intent: Intent, context: Context) -> Reply:
    """The open waits."""
    task = context.task
    rows = [show.wait(wait) for wait in task.waits]
    if task.status == "waiting":
        reason = f" for {quote(task.reason, 200)}" if task.reason else ""
        rows.insert(0, plain(f"The task is waiting{reason}."))
    if not rows:
        rows = [plain("The task is not waiting for anything on record."), *show.blockers(task)]
    return compose(rows, PARAGRAPH, least=60)


def effects(intent: Intent, context: Context) -> Reply:
    """Side effects with an unknown outcome, otherwise those whose outcome is known."""
    rows = [show.effect(effect) for effect in context.task.effects]
    if not rows:
        settled = [show.effect(effect) for effect in context.task.settled[::-1]]
        return compose([plain("No side effect has an unknown outcome."), *settled], LIST, least=60)
    return compose(rows, LIST, glue="; ")


def who(intent: Intent, context: Context) -> Reply:
    """Who holds the task or its steps."""
    task = context.task
    if not task.claims:
        session = f"; the last session is {quote(task.session, 80)}" if task.session else ""
        return Reply(text=f"Nobody has claimed it{session}.")
    rows = [
        Row(
            lambda most, claim=claim: (
                f"{quote(claim.holder, most)} holds {f'step {claim.item}' if claim.item else 'the task'}"
                f" until {clock(claim.expires_at)}"
            )
        )
        for claim in task.claims
    ]
    return compose(rows, PARAGRAPH, glue="; ", least=40)
