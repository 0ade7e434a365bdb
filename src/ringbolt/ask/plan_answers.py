"""Answers that compare plans: what was dropped or added, what the plan was before, and why it changed."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.types import Step
from . import answer_rows as show
from .answer_rows import Context, Replan
from .answer_words import say
from .questions import Intent
from .reply import LIST, PARAGRAPH, Reply, Row, cite, compose, quote
from .topic_match import fitting


def replan(intent: Intent, context: Context) -> Reply | None:
    """What changed in the plan, and why."""
    task, language = context.task, intent.language
    replans = context.replans
    dropped = [item for item in task.steps if item.dropped_in is not None]
    if intent.has("drop") or (not intent.has("old", "new", "compare", "why", "reason") and context.subject):
        found = fitting(context.subject, dropped, lambda item: item.title) if context.subject else dropped
        if context.subject and not found:
            return None
        return _dropped(found, replans, language)
    if not replans:
        seq = task.sources["name"].seq if "name" in task.sources else 1
        return Reply(text=f"{say(language, 'one_plan')[:-1]}{cite(seq)}.", cites=(seq,))
    if intent.has("why", "reason"):
        return _why(intent, context, dropped)
    if intent.has("new", "compare") and not (intent.has("old") and not intent.has("new", "compare")):
        return _difference(context, dropped, language)
    if intent.has("old"):
        return _old_plan(context, first=_wants_first(intent), language=language)
    return _difference(context, dropped, language)


def why_dropped(item: Step, context: Context, language: str) -> Reply:
    """That a step was dropped from the plan, with the reason for the new plan."""
    return _dropped([item], context.replans, language)


def _dropped(items: Sequence[Step], replans: Sequence[Replan], language: str) -> Reply:
    if not items:
        return Reply(text=say(language, "none_dropped"))
    rows: list[Row] = [
        Row(
            lambda most, item=item: f"{quote(item.title, most)}{cite(_made(item, replans))}",
            _made(item, replans),
        )
        for item in items
    ]
    versions = {item.dropped_in for item in items}
    reasons = [_reason(one, language) for one in replans if one.version in versions]
    listed = compose(rows, LIST, opening=f"{say(language, 'dropped')}: ", glue="; ", language=language)
    ending = compose(reasons, PARAGRAPH)
    return listed.replace(
        text=f"{listed.text}. {ending.text}".strip(),
        cites=tuple(dict.fromkeys((*listed.cites, *ending.cites))),
    )


def _made(item: Step, replans: Sequence[Replan]) -> int | None:
    """The event that dropped a step."""
    return next((one.seq for one in replans if one.version == item.dropped_in), show.step_seq(item))


def _reason(one: Replan, language: str) -> Row:
    word = say(language, "changed")
    if not one.reason:
        return Row(lambda most: f"{word}{cite(one.seq, one.channel)}.", one.seq)
    return Row(
        lambda most: (
            f"{word}{cite(one.seq, one.channel)} {say(language, 'because')} {quote(one.reason, most)}."
        ),
        one.seq,
    )


def _why(intent: Intent, context: Context, dropped: Sequence[Step]) -> Reply | None:
    """Why the plan was changed: the reasons of the changes that the question is about."""
    found = fitting(context.subject, dropped, lambda item: item.title)
    versions = {item.dropped_in for item in found}
    if not found:  # a step that a later plan added
        later = [item for _, item in show.live_steps(context.task) if item.plan_version > 1]
        found = fitting(context.subject, later, lambda item: item.title, 0.9)
        versions = {item.plan_version for item in found}
    replans = [one for one in context.replans if one.version in versions] if found else list(context.replans)
    if context.subject and not found:
        replans = [one for one in replans if context.subject.coverage(one.reason) >= 0.6]
        if not replans:
            return None
    return compose([_reason(one, intent.language) for one in replans[-3:]], PARAGRAPH)


def _difference(context: Context, dropped: Sequence[Step], language: str) -> Reply:
    """What the newest plan added and dropped."""
    last = context.replans[-1]
    added = [
        (number, item) for number, item in show.live_steps(context.task) if item.plan_version == last.version
    ]
    gone = [item for item in dropped if item.dropped_in == last.version]
    rows: list[Row] = []
    for word, items in (("added", [item for _, item in added]), ("dropped", gone)):
        if items:
            rows.append(
                Row(
                    lambda most, word=word, items=items: (
                        f"{say(language, word)}: {', '.join(quote(item.title, most) for item in items)}"
                        f"{cite(last.seq, last.channel)}."
                    ),
                    last.seq,
                )
            )
    return compose([*rows, _reason(last, language)], LIST, least=60)


def _wants_first(intent: Intent) -> bool:
    return any(word in intent.text.lower() for word in ("first", "original", "initial", "start", "plan a"))


def _old_plan(context: Context, *, first: bool, language: str) -> Reply:
    """The plan before the newest one, or the very first one."""
    task = context.task
    version = 1 if first else task.plan_version - 1
    items = [
        item
        for item in task.steps
        if item.plan_version <= version and (item.dropped_in is None or item.dropped_in > version)
    ]
    made = next((one.seq for one in context.replans if one.version == version), None)
    seq = made or next((item.sources["title"].seq for item in items if "title" in item.sources), 1)
    rows = [
        Row(
            lambda most, item=item: (
                f"{quote(item.title, most)}{'' if item.dropped_in is None else f' ({_later(language)})'}"
            )
        )
        for item in items
    ]
    if not rows:
        return Reply(text=say(language, "one_plan"))
    opening = f"{say(language, 'old_plan', version=version)}{cite(seq)}: "
    reply = compose(rows, LIST, opening=opening, glue="; ", least=50, language=language)
    return reply.replace(cites=(seq,))


def _later(language: str) -> str:
    return say(language, "is_dropped")
