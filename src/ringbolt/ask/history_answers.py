"""Answers about the history: what happened in a time, when, how long, and the commits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..model.types import Channel, Step, is_dict
from ..model.validate import seconds_of
from ..signals.calls.commands import commits
from ..signals.calls.tools import only_looked
from . import answer_rows as show
from .answer_rows import Commit, Context
from .answer_words import say
from .evidence import NO_EVIDENCE, Evidence
from .fact_answers import dated
from .questions import Intent
from .reply import LIST, ONE, Reply, Row, cite, clock, compose, length, plain, quote
from .topic_match import FITS, fitting

# Types of events that tell more about a day than others, which are left out first.
_TELLING = frozenset(
    "decision exclusion error discovery user_instruction plan.replaced step.updated task.updated message"
    " task.registered intent outcome artifact context question wait.started wait.ended task.ended".split()
)
_PAST = re.compile(
    r"(?i)\b(?:was|were|did|has|have|had|war|wurde|hat|haben|a-t-|été|fue|foi|è stat|werd|is er)\b|了"
)


# --- what happened ----------------------------------------------------------------------------------


def history(intent: Intent, context: Context) -> Reply | None:
    """What happened in the time that the question names, newest first; everything if it names none."""
    language, period = intent.language, context.period
    if period is None:
        last = context.task.seq
        return Reply(
            text=f"What that refers to is not recorded; the last event is #{last}.",
            cites=(last,),
            recorded=False,
        )
    if context.subject and not intent.span:
        return None
    events = [one for one in period if _worded(one)]
    if context.subject:
        events = [
            one for one in events if context.subject.coverage(f"{one.text} {' '.join(one.details)}") >= FITS
        ]
    anchored = intent.span is not None and bool(intent.span.anchor)
    if not events:
        if anchored and context.since:
            return Reply(text=f"Nothing has happened after #{context.since}.", cites=(context.since,))
        return Reply(text=say(language, "empty_time"), recorded=False)
    rows = [_event_row(one, context) for one in _most_telling(events)]
    count = len(period)
    many = say(language, "event") if count == 1 else say(language, "events", count=count)
    after = f" after #{context.since}" if context.since and anchored and language == "en" else ""
    opening = f"{many}{after}, {say(language, 'newest')}: "
    cites = (context.since,) if after and anchored else ()
    reply = compose(rows, LIST, opening=opening, glue="; ", least=60, language=language)
    return reply.replace(cites=(*cites, *reply.cites))


def _worded(one: Evidence) -> bool:
    return bool(one.text) and one.kind not in show.SILENT | NO_EVIDENCE - {"question"}


def _most_telling(events: list[Evidence]) -> list[Evidence]:
    """The events newest first, at most a page of them: what says little goes first."""
    room = 22
    newest = sorted(events, key=lambda one: -one.seq)
    if len(newest) <= room:
        return newest
    telling = [one for one in newest if one.kind in _TELLING or one.status == "failed"][:room]
    rest = [one for one in newest if one not in telling and not only_looked(one.text)]
    return sorted([*telling, *rest[: room - len(telling)]], key=lambda one: -one.seq)


def _event_row(one: Evidence, context: Context) -> Row:
    status = f" {one.status}" if one.kind == "action" and one.status == "failed" else ""
    word = show.kind_word(one.kind) + status
    at = clock(one.at, context.zone)[11:16]
    return show.event(one, one.text, before=f"{at} {word} ")


# --- when, how long ---------------------------------------------------------------------------------


def when(intent: Intent, context: Context) -> Reply | None:
    """When a step began and ended, when something was recorded, or the date that a sentence names."""
    language = intent.language
    if not context.subject and intent.step is None:
        return _task_times(intent, context)
    if not _PAST.search(intent.text) and (reply := dated(intent, context)) is not None:
        return reply
    if not _PAST.search(intent.text) and intent.language == "en":
        return None  # what is still to come has no time in the history
    found = step_about(intent, context)
    if found is not None and (found[1].started_at or found[1].completed_at):
        number, item = found
        times = [("began", item.started_at), ("ended", item.completed_at)]
        dated_acts = ", ".join(f"{word} {clock(at, context.zone)}" for word, at in times if at)
        return compose([show.about_step("", number, item, f" {dated_acts}.", language)], ONE, least=40)
    report = _reported_at(context)
    if report is not None:
        row = show.event(report, report.text, before=f"{clock(report.at, context.zone)}: ", after=".")
        return compose([row], ONE, least=40)
    return dated(intent, context)


def _task_times(intent: Intent, context: Context) -> Reply | None:
    if intent.has("commit") and context.commits:
        return compose([_commit_at(commit, context) for commit in context.commits[:1]], ONE)
    if intent.soft and not intent.has("old", "last", "now", "step", "go"):
        return None
    if intent.language == "en" and not _PAST.search(intent.text) and not intent.has("old", "last", "now"):
        return None  # when something will happen is not when the task began
    stamps = context.task.timestamps
    span = (
        f"The task began {clock(stamps.created_at, context.zone)};"
        f" last change {clock(stamps.last_updated_at, context.zone)}."
    )
    ended = f" It ended {clock(stamps.completed_at, context.zone)}." if stamps.completed_at else ""
    return Reply(text=span + ended)


def _commit_at(commit: Commit, context: Context) -> Row:
    made = next((one.at for one in context.window if one.seq == commit.seq), None)
    at = f"{clock(made, context.zone)}: " if made else ""
    return show.event(commit, commit.subject, before=at, after=".")


_DONE = 0.7  # what was done with the subject has to fit too
_REPORTS = frozenset("action step.updated message intent outcome artifact".split())


def _reported_at(context: Context) -> Evidence | None:
    """The last event that is an act about the subject: a report, an action, a side effect."""
    for one in reversed(context.window):
        if one.kind in _REPORTS and not only_looked(one.text) and context.subject.coverage(one.text) >= _DONE:
            return one
    return None


def step_about(intent: Intent, context: Context) -> tuple[int, Step] | None:
    """The step that a question is about, by its number or its words."""
    steps = show.live_steps(context.task)
    if intent.step is not None and not context.subject:
        return steps[intent.step - 1] if 0 < intent.step <= len(steps) else None
    matches = fitting(context.subject, steps, lambda pair: pair[1].title)
    return matches[0] if matches else None


def duration(intent: Intent, context: Context) -> Reply | None:
    """How long a step, an action, or the task took."""
    task, language = context.task, intent.language
    rows = _action_times(context, language) if context.subject else []
    found = step_about(intent, context)
    if found is not None and (found[1].started_at or intent.step is not None):
        number, item = found
        lasting = _lasting(item, context, language)
        row = show.about_step("", number, item, lasting, language)
        rows = [*rows, row] if rows and "run" in intent.text.lower().split() else [row, *rows]
    if rows:
        return compose(rows[:2], ONE, least=40)
    if context.subject or intent.step is not None:
        return None
    timed = [pair for pair in show.live_steps(task) if pair[1].duration_seconds is not None]
    end = task.timestamps.completed_at or context.now
    took = length(seconds_of(end) - seconds_of(task.created_at))
    rows = [
        plain(f"The task has taken {took}, from {clock(task.created_at, context.zone)}"
              f" to {clock(end, context.zone)}.")
    ]  # fmt: skip
    if timed:
        slow, step = max(timed, key=lambda pair: pair[1].duration_seconds or 0.0)
        spent = length(step.duration_seconds or 0.0)
        rows.append(show.about_step("The longest: ", slow, step, f", {spent}.", language))
    return compose(rows, ONE, least=40)


def _lasting(item: Step, context: Context, language: str) -> str:
    """How long a step took: the end of a sentence about it."""
    if item.duration_seconds is not None:
        return f" {say(language, 'took', time=length(item.duration_seconds))}."
    if item.started_at is None:
        return " has not been recorded as begun."
    if item.completed_at is None:
        past = length(seconds_of(context.now) - seconds_of(item.started_at))
        return f" began {clock(item.started_at, context.zone)}, {past} ago."
    return f" ended {clock(item.completed_at, context.zone)}; how long it took is not recorded."


def _action_times(context: Context, language: str) -> list[Row]:
    """How long the last action about the subject took."""
    best: tuple[float, Evidence] | None = None
    for one in context.window:
        if not context.subject.may_fit(one.lower):
            continue
        share = context.subject.coverage(f"{one.text} {_command(one)[:200]}")
        if share >= FITS and isinstance(one.data.get("duration_ms"), (int, float)):
            best = (share, one) if best is None or share >= best[0] else best
    if best is None:
        return []
    one = best[1]
    words = say(language, "took", time=length(one.data["duration_ms"] / 1000))
    place = cite(one.seq, one.channel)
    return [Row(lambda most: f"{quote(one.text, most)} {words}{place}.", one.seq)]


def _command(one: Evidence) -> str:
    arguments = one.data.get("input")
    return str(arguments.get("command") or "") if is_dict(arguments) else ""


# --- commits ----------------------------------------------------------------------------------------


def commits_of(data: Mapping[str, Any], seq: int, channel: Channel, status: str) -> list[Commit]:
    """The commits that an action made or tried to make; git's output outweighs the exit code."""
    arguments = data.get("input")
    command = arguments.get("command") if is_dict(arguments) else arguments
    made = commits(command, str(data.get("output"))) if isinstance(command, str) else []
    return [
        Commit(subject=subject, seq=seq, channel=channel, made=bool(commit_hash) or status == "completed")
        for commit_hash, subject in made
    ]
