"""Answers about the history: whether, when, how long and since when; and answers from a search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model.results import Hit
from ..model.types import Channel, Effect, Event, FileTouch, Item, Moment, Snapshot, is_dict
from ..model.validate import seconds_of
from ..packet import encode
from ..signals.commands import commits
from ..signals.text_layout import clauses
from ..signals.tools import only_looked
from . import answer_rows as show
from .answer_rows import Commit, Context
from .questions import Intent
from .reply import LIST, ONE, PARAGRAPH, Reply, Row, cite, clock, compose, length, plain, quote
from .topic_match import FITS, fitting, likeness

_SURE = 0.75


# --- did it happen ----------------------------------------------------------------------------------


def did(intent: Intent, context: Context) -> Reply | None:
    """Yes, no or unknown, with the record that proves it; never yes without a record."""
    task = context.task
    number, item = _step(intent, task) or (0, None)
    proven = item is not None and item.evidence == "verified"
    if not proven and (effect := _effect(intent, task)) is not None:
        return _verdict(_HAPPENED[effect.status], show.effect(effect))
    if item is not None and item.status == "completed":
        word = "Probably" if item.basis == "inferred" else "Yes"
        verb = "seems to be completed" if item.basis == "inferred" else _completed(item)
        return _verdict(word, show.about_step("", number, item, f" {verb}."))
    for entry in reversed(fitting(intent.topic, task.exclusions, lambda entry: entry.summary)):
        return _verdict("It was tried and ruled out", show.exclusion(entry))
    if (file := _file(intent, task)) is not None:
        words = f"{encode.name(encode.clip(file.path, 150))} was {file.change}{cite(file.seq, file.channel)}."
        return _verdict("Yes", Row(lambda most: words, file.seq))
    if item is not None:
        status = {"pending": "still open", "active": "in progress"}.get(item.status, item.status)
        return _verdict("No", show.about_step("", number, item, f" is {status}."))
    about_commits = re.search(r"\bcommit", intent.topic, re.I) or "commit" in (intent.when or "")
    if about_commits and (made := [commit for commit in context.commits if commit.made]):
        return _verdict("The last commit", *commit_rows(made[:1]))
    if context.hits is None:
        return None
    return _from_hits(intent, context.hits)


def _completed(item: Item) -> str:
    at = f" at {clock(item.completed_at)}" if item.completed_at else ""
    if item.evidence == "contradicted":
        return f"was called completed{at}, but its last check failed"
    return f"is completed and verified{at}" if item.evidence == "verified" else f"is completed{at} (reported)"


def _verdict(word: str, *rows: Row) -> Reply:
    return compose(rows, ONE, opening=f"{word}: ", least=40)


def _step(intent: Intent, task: Snapshot) -> tuple[int, Item] | None:
    """The step that a question is about, by its number or its words."""
    steps = show.live_steps(task)
    if intent.step is not None and not intent.topic:
        return steps[intent.step - 1] if 0 < intent.step <= len(steps) else None
    matches = fitting(intent.topic, steps, lambda pair: pair[1].title)
    return matches[0] if matches else None


_HAPPENED = {"intended": "Unknown", "unknown": "Unknown", "did": "Yes", "did_not": "No"}


def _effect(intent: Intent, task: Snapshot) -> Effect | None:
    """The side effect that a question is about; the latest of several."""
    matches = fitting(intent.topic, (*task.effects, *task.settled), lambda effect: effect.what)
    return max(matches, key=lambda effect: effect.seq, default=None)


def _file(intent: Intent, task: Snapshot) -> FileTouch | None:
    """A changed file that the question names."""
    named = [word for word in intent.topic.split() if "." in word or "/" in word]
    for file in task.files:
        name = file.path.rpartition("/")[2]
        if any(word == name or file.path == word or file.path.endswith(f"/{word}") for word in named):
            return file
    return None


def _from_hits(intent: Intent, hits: Sequence[Hit]) -> Reply:
    """A verdict from search results: a completed action means yes, a mere mention does not."""
    close = close_to(intent.topic, hits, _SURE)
    several = len(intent.topic.split()) > 1
    for hit in close:
        if hit.type == "intent" and hit.status in _HAPPENED:
            return _verdict(_HAPPENED[hit.status], *hit_rows((hit,), topic=intent.topic))
    for hit in close:
        if hit.type != "action" or only_looked(hit.title) or likeness(intent.topic, hit.title) < FITS:
            continue
        if hit.status == "completed":
            return _verdict("Yes" if several else "Perhaps", *hit_rows((hit,), topic=intent.topic))
        word = {"failed": "It was tried and failed", "started": "Unknown, it was begun"}.get(hit.status or "")
        if word:
            return _verdict(word, *hit_rows((hit,), topic=intent.topic))
    if close:
        return _verdict("Unknown, it is only mentioned", *hit_rows(close[:1], topic=intent.topic))
    return Reply(text="Unknown: nothing recorded says so.")


# --- when, how long ---------------------------------------------------------------------------------


def duration(intent: Intent, context: Context) -> Reply | None:
    """How long a step, an action, or the task took."""
    task = context.task
    found = _step(intent, task)
    if found is not None:
        number, item = found
        return compose([show.about_step("", number, item, _lasting(item, context.now))], ONE, least=40)
    if intent.topic:
        return _action_time(intent, context)
    timed = [pair for pair in show.live_steps(task) if pair[1].duration_seconds is not None]
    end = task.timestamps.completed_at or context.now
    took = length(seconds_of(end) - seconds_of(task.created_at))
    rows = [plain(f"The task has taken {took}, from {clock(task.created_at)} to {clock(end)}.")]
    if timed:
        slow, step = max(timed, key=lambda pair: pair[1].duration_seconds or 0.0)
        spent = length(step.duration_seconds or 0.0)
        rows.append(show.about_step("The longest: ", slow, step, f", {spent}."))
    return compose(rows, ONE, least=40)


def _lasting(item: Item, now: str) -> str:
    """How long a step took: the end of a sentence about it."""
    if item.duration_seconds is not None:
        return f" took {length(item.duration_seconds)}."
    if item.started_at is None:
        return " has not been recorded as begun."
    if item.completed_at is None:
        past = length(seconds_of(now) - seconds_of(item.started_at))
        return f" began {clock(item.started_at)}, {past} ago."
    return f" ended {clock(item.completed_at)}; how long it took is not recorded."


def _action_time(intent: Intent, context: Context) -> Reply | None:
    """How long an action took, from the actions among the search results."""
    if context.hits is None:
        return None
    for event in context.events:
        took = event.data.get("duration_ms")
        if isinstance(took, (int, float)) and likeness(intent.topic, event.text or "") >= FITS:
            return compose([_timed(event, length(took / 1000))], ONE, least=40)
    return Reply(text="How long that took is not recorded.")


def _timed(event: Event, took: str) -> Row:
    place = cite(event.seq, event.origin.channel)
    return Row(lambda most: f"{quote(event.text or '', most)} took {took}{place}.", event.seq)


def when(intent: Intent, context: Context) -> Reply | None:
    """When a step began and ended, or when something was recorded."""
    found = _step(intent, context.task)
    if found is not None:
        number, item = found
        times = [("began", item.started_at), ("ended", item.completed_at)]
        times_text = ", ".join(f"{word} {clock(at)}" for word, at in times if at) or "has no recorded time"
        return compose([show.about_step("", number, item, f" {times_text}.")], ONE, least=40)
    if not intent.topic:
        stamps = context.task.timestamps
        span = f"The task began {clock(stamps.created_at)}; last change {clock(stamps.last_updated_at)}."
        ended = f" It ended {clock(stamps.completed_at)}." if stamps.completed_at else ""
        return Reply(text=span + ended)
    if context.hits is None:
        return None
    close = close_to(intent.topic, context.hits, FITS)
    if not close:
        return Reply(text="When that was is not recorded.")
    return compose([_dated(hit) for hit in close[:2]], ONE, least=40)


def _dated(hit: Hit) -> Row:
    return Row(
        lambda most: f"{clock(hit.at)}: {quote(hit.title, most)}{cite(hit.seq, hit.origin.channel)}.", hit.seq
    )


# --- since ------------------------------------------------------------------------------------------


def since(intent: Intent, context: Context) -> Reply:
    """What happened after an event or a time, newest first."""
    task, begin = context.task, context.since
    if begin is None:
        return Reply(
            text=f"What that refers to is not recorded; the last event is #{task.seq}.", cites=(task.seq,)
        )
    count = task.seq - begin
    after = f" after #{begin}" if begin else ""
    cites = (begin,) if begin else ()
    if not count:
        return Reply(text=f"Nothing has happened{after}.", cites=cites)
    rows = [
        _moment_row(moment)
        for moment in task.recent
        if moment.seq > begin and moment.text and moment.type not in show.SILENT
    ]
    many = f"{count} event{'s' if count > 1 else ''}{after}"
    if not rows:
        return Reply(text=f"{many}, none with words.", cites=cites)
    reply = compose(rows, LIST, opening=f"{many}, newest first: ", glue="; ", least=100)
    return reply.replace(cites=(*cites, *reply.cites))


def _moment_row(moment: Moment) -> Row:
    status = f" {moment.status}" if moment.type == "action" and moment.status else ""
    word = show.kind_word(moment.type) + status
    return Row(
        lambda most: f"{word} {quote(moment.text, most)}{cite(moment.seq, moment.channel)}", moment.seq
    )


# --- search results ---------------------------------------------------------------------------------


def recalled(intent: Intent, context: Context) -> Reply:
    """The best sentences of the search results, quoted; says so if nothing fits."""
    topic = intent.topic
    for hits, here in ((context.hits or (), True), (context.elsewhere, False)):
        close = close_to(topic, hits)
        if close:
            where = "" if here else "In other tasks: "
            rows = hit_rows(close[:3], context.task.id, topic)
            return compose(rows, PARAGRAPH, opening=where, glue="; ", source="recall")
    near = [hit for hit in (context.hits or ()) if hit.why.startswith("has ")][:1]
    rows = [plain("Nothing recorded answers that."), *_nearest(near, context.task.id, topic)]
    return compose(rows, PARAGRAPH, source="recall")


def close_to(topic: str, hits: Sequence[Hit], least: float = 0.5) -> list[Hit]:
    """The hits with enough of a topic, and about as much as the best hit; in their order."""
    scores = [likeness(topic, f"{hit.title} {hit.snippet or ''}") for hit in hits]
    enough = max(least, 0.8 * max(scores, default=0.0))
    return [hit for hit, score in zip(hits, scores, strict=True) if score >= enough]


def _nearest(hits: Sequence[Hit], task_id: str, topic: str) -> list[Row]:
    return [Row(lambda most, row=row: f"Nearest: {row.show(most)}", *row.seqs)
            for row in hit_rows(hits, task_id, topic)]  # fmt: skip


def hit_rows(hits: Sequence[Hit], task_id: str | None = None, topic: str = "") -> list[Row]:
    """Hits as rows; a hit in another task is cited with that task's id, and not listed in `cites`."""
    rows: list[Row] = []
    for hit in hits:
        own = task_id is None or hit.task_id == task_id
        place = cite(hit.seq, hit.origin.channel) if own else f" {hit.task_id}#{hit.seq}"
        over = (
            f" ({hit.status})" if hit.status in ("superseded", "invalidated", "failed", "retracted") else ""
        )
        fits = hit.type == "action" and likeness(topic, hit.title) >= FITS
        text = hit.title if fits else _sentences(hit.snippet or hit.title, topic)
        rows.append(
            Row(
                lambda most, text=text, kind=hit.type, place=place, over=over: (
                    f"{show.kind_word(kind)} {quote(text, most)}{over}{place}"
                ),
                hit.seq if own else None,
            )
        )
    return rows


def _sentences(text: str, topic: str) -> str:
    """The sentence of a text with most of the topic, and the one after it."""
    parts = clauses(text)
    if len(parts) < 3 or not topic:
        return text
    scores = [likeness(topic, part) for part in parts]
    best = scores.index(max(scores))
    return " ".join(parts[best : best + 2])


# --- commits ----------------------------------------------------------------------------------------


def commit_rows(commits: Sequence[Commit]) -> list[Row]:
    """Commits by their subjects; a failed one is marked."""

    def row(commit: Commit) -> Row:
        tail = f"{'' if commit.made else ' (tried, not made)'}{cite(commit.seq, commit.channel)}"
        return Row(lambda most: f"{quote(commit.subject, most)}{tail}", commit.seq)

    return [row(commit) for commit in commits]


def commits_of(data: Mapping[str, Any], seq: int, channel: Channel, status: str) -> list[Commit]:
    """The commits that an action made or tried to make; git's output outweighs the exit code."""
    arguments = data.get("input")
    command = arguments.get("command") if is_dict(arguments) else arguments
    made = commits(command, str(data.get("output"))) if isinstance(command, str) else []
    return [
        Commit(subject=subject, seq=seq, channel=channel, made=bool(commit_hash) or status == "completed")
        for commit_hash, subject in made
    ]
