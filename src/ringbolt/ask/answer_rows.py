"""Rows of answers: the wording of a step, a decision, a failure, a value or a file, with its citation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from ..model.results import Hit
from ..model.trust import is_users
from ..model.types import Channel, Effect, Entry, Moment, Snapshot, Source, Step, Value, Wait, is_list
from ..model.validate import dumps
from ..packet import encode
from ..packet.effect_checks import check_of
from ..signals.calls.failures import from_first_error
from .answer_words import say
from .evidence import Evidence
from .reply import Row, cite, cite_entry, cite_source, quote

# Events of these types have no text worth quoting.
SILENT = frozenset(
    "task.focused claim.taken claim.released claim.reclaimed entry.closed log snapshot task.registered"
    " task.stuck".split()
)


_RECORDERS: dict[Channel, str] = {
    "user": "the user",
    "agent": "the agent",
    "tool": "a tool",
    "web": "a web page",
    "import": "an import",
    "system": "Ringbolt",
}


class Commit(Value, frozen=True, kw_only=True):
    """A commit that was made or tried: its subject, and its event."""

    subject: str
    seq: int
    channel: Channel
    made: bool = True


class Replan(Value, frozen=True, kw_only=True):
    """An event that replaced the plan: the new version, and why."""

    seq: int
    version: int
    reason: str
    channel: Channel


class Context(Value, frozen=True, kw_only=True):
    """The input of an answer: the task, and the records that were read for this question.

    `subject` is what the question is about; `earlier` are finished steps of older plans that the current plan
    no longer lists; `window` are the newest events, with older ones that a search found; `period` are the
    events of the time that the question names (None: it names an event that is not recorded), `since` the
    last event before them; `elsewhere` are search results in other tasks of the workspace.
    """

    task: Snapshot
    now: str
    subject: Any
    zone: Any = UTC
    earlier: frozenset[str] = frozenset()
    commits: tuple[Commit, ...] = ()
    replans: tuple[Replan, ...] = ()
    window: tuple[Evidence, ...] = ()
    period: tuple[Evidence, ...] | None = ()
    since: int = 0
    elsewhere: tuple[Hit, ...] = ()


# --- steps ------------------------------------------------------------------------------------------


def live_steps(task: Snapshot) -> list[tuple[int, Step]]:
    """The steps that were not dropped, numbered from 1."""
    return list(enumerate((item for item in task.steps if item.dropped_in is None), 1))


def plan_steps(context: Context) -> list[tuple[int, Step]]:
    """The steps of the current plan, without those completed under an older one."""
    return [pair for pair in live_steps(context.task) if pair[1].id not in context.earlier]


def step_seq(item: Step) -> int | None:
    """The event that set a step's status, otherwise the event that added it."""
    source = item.sources.get("title")
    return item.cause if item.cause is not None else source.seq if source else None


def step_words(number: int, item: Step, most: int, language: str = "en") -> str:
    """A step within a sentence: `step 4 — "pull the image" #17`, with its issue and whether it is
    inferred."""
    title = item.sources.get("title")
    foreign = title.channel if title else None
    inferred = " (inferred)" if item.basis == "inferred" and item.status == "completed" else ""
    issue = f", held up by {quote(item.active_issue, most)}" if item.active_issue else ""
    place = f"{say(language, 'step')} {number}" if number else say(language, "step")
    return f"{place} — {quote(item.title, most)}{inferred}{issue}{cite(step_seq(item), foreign)}"


def about_step(before: str, number: int, item: Step, after: str, language: str = "en") -> Row:
    """A sentence about a step; a dropped one has no number (0)."""
    return Row(lambda most: f"{before}{step_words(number, item, most, language)}{after}", step_seq(item))


_MARKS = {
    "active": " (in progress)",
    "failed": " (failed)",
    "skipped": " (skipped)",
    "cancelled": " (cancelled)",
}


def step(number: int, item: Step) -> Row:
    """A step in a list."""
    title = item.sources.get("title")
    inferred = " (inferred)" if item.basis == "inferred" and item.status == "completed" else ""
    mark = f"{_MARKS.get(item.status, '')}{inferred}{cite(step_seq(item), title.channel if title else None)}"
    return Row(lambda most: f"{number} {quote(item.title, most)}{mark}", step_seq(item))


# --- entries ----------------------------------------------------------------------------------------


def decision(entry: Entry, language: str = "en", *parts: str) -> Row:
    """A decision: the choice and the reason, or the parts of it that are asked for (`risks`, `if_wrong`)."""
    data = entry.data
    more = [
        (say(language, phrase), data[name])
        for name, phrase in (("risks", "risk"), ("if_wrong", "if_wrong"), ("options", "options"))
        if name in parts and data.get(name)
    ]
    choice = str(data.get("choice") or entry.summary)
    title = data.get("title")
    by_user = " (by the user)" if entry.origin.channel == "user" else ""
    inferred = " (inferred)" if data.get("inferred") else ""

    def show(most: int) -> str:
        named = f"{quote(title, most)}: " if title and title != choice else ""
        why = data.get("reasoning") if not more else None
        because = f" {say(language, 'because')} {quote(why, most)}" if why else ""
        added = "".join(f". {word}: {_joined(value, most)}" for word, value in more)
        return f"{named}{quote(choice, most)}{because}{added}{by_user}{inferred}{cite_entry(entry)}"

    return Row(show, entry.seq)


def _joined(value: Any, most: int) -> str:
    return ", ".join(quote(part, most) for part in value) if is_list(value) else quote(value, most)


def user_rejected(entry: Entry) -> bool:
    """Whether the user ruled it out."""
    return entry.origin.channel == "user" or bool(entry.data.get("rejected"))


def exclusion(entry: Entry) -> Row:
    """An exclusion and the reason; an output is shown from its first error on."""
    data = entry.data
    why = str(data.get("why") or "")
    symptom = str(data.get("symptom") or "")
    reason = why if user_rejected(entry) else from_first_error(symptom or why)
    root = why if symptom and why and not user_rejected(entry) else ""
    until = f" until {data['until'][:16]}Z" if data.get("until") else ""

    def show(most: int) -> str:
        what = quote(entry.summary, min(most, max(60, most // 2)))
        cause = f", because {quote(root, most)}" if root and most > 100 else ""
        return f"{what}{f': {quote(reason, most)}' if reason else ''}{cause}{until}{cite_entry(entry)}"

    return Row(show, entry.seq)


def error(entry: Entry) -> Row:
    """An error, and how it was resolved."""
    detail = from_first_error(entry.detail) if entry.detail else ""
    what, symptom = entry.data.get("what"), entry.data.get("symptom")
    resolution = entry.data.get("resolution") if entry.status == "resolved" else None

    def show(most: int) -> str:
        more = f": {quote(detail, most)}" if detail else ""
        settled = f" (resolved: {quote(resolution, most)})" if resolution else ""
        settled = settled or (" (resolved)" if entry.status == "resolved" else "")
        if what and symptom:  # the symptom is more informative than the attempt
            return f"{quote(what, min(most, 60))}: {quote(symptom, most)}{settled}{cite_entry(entry)}"
        return f"{quote(entry.summary, most)}{more}{settled}{cite_entry(entry)}"

    return Row(show, entry.seq)


def instruction(entry: Entry) -> Row:
    """An instruction of the user, marked if somebody else recorded it."""
    channel = entry.origin.channel
    word = "The user" if is_users(channel) else f"The user, as {_RECORDERS[channel]} recorded"
    text = f"{entry.summary} — {entry.detail}" if entry.detail else entry.summary
    return Row(lambda most: f"{word}{cite_entry(entry)}: {quote(text, most)}", entry.seq)


def note(entry: Entry) -> Row:
    """A finding, an artifact, or context."""
    text = f"{entry.summary} — {entry.detail}" if entry.detail else entry.summary
    return Row(lambda most: f"{entry.type} {quote(text, most)}{cite_entry(entry)}", entry.seq)


def question(entry: Entry) -> Row:
    """An open question."""
    return Row(lambda most: f"{quote(entry.summary, most)}{cite_entry(entry)}", entry.seq)


def value(entry: Entry) -> Row:
    """A variable and its value."""
    name = encode.name(encode.clip(entry.key or "", 80))
    value = entry.data.get("value")

    def show(most: int) -> str:
        is_text = isinstance(value, str)
        shown = quote(value, most) if is_text else encode.prompt(encode.clip(dumps(value), most))
        return f"{name} = {shown}{cite_entry(entry)}"

    return Row(show, entry.seq)


# --- blockers and events ----------------------------------------------------------------------------


def stated(word: str, text: str, source: Source | None) -> Row:
    """A text of the task's state, with the event that set it."""
    seq = source.seq if source else None
    return Row(lambda most: f"{word}: {quote(text, most)}{cite_source(source)}.", seq)


def blockers(task: Snapshot, language: str = "en") -> list[Row]:
    """Blockers, steps with an issue, and the request for attention."""
    rows = [stated(say(language, "blocked"), text, task.sources.get("blockers")) for text in task.blockers]
    for number, item in live_steps(task):
        if item.active_issue and item.status in ("pending", "active", "failed"):
            issue = item.sources.get("active_issue")
            rows.append(stated(f"Step {number} is held up", item.active_issue, issue))
    if task.attention:
        rows.append(stated("Needs attention", task.attention, task.sources.get("attention")))
    return rows


def wait(wait: Wait, language: str = "en") -> Row:
    """An open wait."""
    until = f" until {quote(wait.until, 120)}" if wait.until else ""
    return Row(
        lambda most: (
            f"{say(language, 'waiting')} {quote(wait.target, most)}{until}{cite(wait.seq, wait.channel)}."
        ),
        wait.seq,
    )


def effect(effect: Effect, language: str = "en") -> Row:
    """A side effect: whether it happened or, if that is unknown, how to verify it."""
    check, recorded = check_of(effect)
    place = cite(effect.seq, effect.channel)

    def show(most: int) -> str:
        noted = ""
        if effect.outcome:
            noted = f"; {quote(effect.outcome, most)}{cite(effect.outcome_seq, effect.outcome_channel)}"
        if effect.status in ("did", "did_not"):
            return f"{quote(effect.what, most)}: {say(language, effect.status)}{place}{noted}"
        how = quote(check, most) if recorded else check
        unknown, verify = say(language, "unknown_outcome"), say(language, "verify")
        return f"{quote(effect.what, most)}: {unknown} — {verify} {how}{place}{noted}"

    return Row(show, effect.seq, *([effect.outcome_seq] if effect.outcome and effect.outcome_seq else []))


def moments(task: Snapshot, most: int, after: int = 0) -> list[Row]:
    """The latest events, newest first."""
    worded = [
        moment for moment in task.recent if moment.text and moment.type not in SILENT and moment.seq > after
    ]
    return [_moment_row(moment) for moment in worded[:most]]


def _moment_row(moment: Moment) -> Row:
    status = f" {moment.status}" if moment.type == "action" and moment.status else ""
    word = kind_word(moment.type) + status
    return Row(
        lambda most: f"Last {word}: {quote(moment.text, most)}{cite(moment.seq, moment.channel)}.", moment.seq
    )


def event(one: Evidence | Commit, text: str, before: str = "", after: str = "") -> Row:
    """A text of an event in quotation marks, with its citation, between words of our own."""
    place = cite(one.seq, one.channel)
    return Row(lambda most: f"{before}{quote(text, most)}{place}{after}", one.seq)


def kind_word(kind: str) -> str:
    """The word for a type of event in an answer."""
    return {"task.updated": "update", "step.updated": "update", "plan.replaced": "new plan"}.get(kind, kind)


# --- files ------------------------------------------------------------------------------------------


def files(task: Snapshot) -> list[Row]:
    """Files grouped by change and folder, the most recently changed first; each folder is named once."""
    inside = f"{task.workspace}/" if task.workspace else ""
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for file in task.files:
        folder, slash, name = file.path.removeprefix(inside).rpartition("/")
        groups.setdefault((file.change, folder + slash), []).append((name, file.seq))
    rows: list[Row] = []
    for (change, folder), files in groups.items():
        names = ", ".join(encode.name(encode.clip(name, 200)) for name, _ in files)
        place = f"in {encode.name(encode.clip(folder, 300))}: " if folder else ""
        last = max(seq for _, seq in files)
        rows.append(Row(lambda most, text=f"{change} {place}{names} #{last}": text, last))
    return rows


# --- commits ----------------------------------------------------------------------------------------


def commit_rows(commits: Sequence[Commit]) -> list[Row]:
    """Commits by their subjects; a failed one is marked."""

    def row(commit: Commit) -> Row:
        tail = f"{'' if commit.made else ' (tried, not made)'}{cite(commit.seq, commit.channel)}"
        return Row(lambda most: f"{quote(commit.subject, most)}{tail}", commit.seq)

    return [row(commit) for commit in commits]
