"""Answers about the state of a task: done, current, next, open, status, phase, plan."""

from __future__ import annotations

from collections.abc import Sequence

from ..ledger.inferred_plan import DERIVED
from ..model.types import Entry, Item, Snapshot
from ..signals.phrases import DONE
from ..signals.step_numbers import number_ranges
from . import answer_rows as show
from .answer_rows import Context
from .questions import Intent
from .reply import LIST, ONE, PARAGRAPH, SHORT_LIST, Reply, Row, cite, cite_entry, compose, plain, quote


def where(intent: Intent, context: Context) -> Reply:
    """The state of the work and its blockers, in a paragraph."""
    task = context.task
    rows = [*progress_rows(context), *show.blockers(task)[:3]]
    if not task.items:
        rows += show.moments(task, 2)
    return compose(rows, PARAGRAPH, least=50)


def progress_rows(context: Context) -> list[Row]:
    """The progress of a task, in sentences: done, current, next."""
    task, steps = context.task, show.plan_steps(context)
    done = [number for number, item in steps if item.status == "completed"]
    rows: list[Row] = []
    if status := _variable(task, "status"):
        rows.append(_stated("Status", status))
    if task.status not in ("active",):
        rows.append(plain(f"The task is {task.status}."))
    if done:
        inferred = [number for number, item in steps if item.basis == "inferred"]
        rows.append(plain(_count(done, inferred, len(steps), _in_all(context))))
    elif steps:
        rows.append(plain(f"None of {len(steps)} steps is completed{_in_all(context)}."))
    else:
        rows.append(named(task))
    rows += [show.about_step("Current: ", *pair, ".") for pair in _active(task)]
    rows += _next_rows(task)
    if task.answer is not None:
        rows.append(show.stated("Answer", task.answer, task.sources.get("answer")))
    if task.error is not None:
        rows.append(show.stated("Failed", task.error.message, task.sources.get("answer")))
    return rows


def _count(done: list[int], inferred: list[int], total: int, in_all: str) -> str:
    """The completed steps, and which of them were inferred."""
    which = "all" if len(done) == total else f"{'steps' if len(done) > 1 else 'step'} {number_ranges(done)}"
    guessed = number_ranges([number for number in done if number in inferred])
    return f"Completed {which} of {total}{f' ({guessed} inferred)' if guessed else ''}{in_all}."


def _in_all(context: Context) -> str:
    """The count including earlier plans, as in a packet, if it differs."""
    task, steps = context.task, show.plan_steps(context)
    same = (task.done, task.total) == (sum(item.status == "completed" for _, item in steps), len(steps))
    return "" if same else f" ({task.done} of {task.total} with earlier plans)"


def named(task: Snapshot) -> Row:
    """The name of the task."""
    return show.stated("Task", task.name, task.sources.get("name"))


def _active(task: Snapshot) -> list[tuple[int, Item]]:
    return [pair for pair in show.live_steps(task) if pair[1].status == "active"]


def _next_rows(task: Snapshot) -> list[Row]:
    live = show.live_steps(task)
    rows = [show.about_step("Next: ", number, item, ".") for number, item in live if item.id == task.next]
    if task.next_step:
        rows.append(
            show.stated("To do next" if rows else "Next", task.next_step, task.sources.get("next_step"))
        )
    return rows


def following(intent: Intent, context: Context) -> Reply:
    """The next step of the plan, and the recorded `next`."""
    task = context.task
    rows = _next_rows(task)
    if rows:
        return compose(rows, ONE, least=40)
    current = _active(task)
    if current:
        rows = [show.about_step("No step follows the current one: ", *current[0], ".")]
    elif task.items and task.done == task.total:
        rows = [plain("Nothing is next."), *progress_rows(context)[:1]]
    else:
        rows = [plain("Nothing is recorded as next."), *show.moments(task, 1)]
    return compose(rows, ONE, least=40)


def current(intent: Intent, context: Context) -> Reply:
    """The step in progress."""
    task = context.task
    rows = [show.about_step("Current: ", *pair, ".") for pair in _active(task)]
    if not rows:
        rows = [plain("No step is marked as in progress."), *_next_rows(task)]
        if len(rows) == 1:
            rows += show.moments(task, 1)
    return compose(rows, ONE, least=40)


def completed(intent: Intent, context: Context) -> Reply:
    """The completed, verified or only reported steps of the plan, the last first."""
    task = context.task
    steps = show.plan_steps(context)
    done = [(number, item) for number, item in steps if item.status == "completed"]
    word = intent.about
    if word != "completed":
        many = len(done)
        done = [pair for pair in done if (pair[1].evidence == "verified") == (word == "verified")]
        others = f"{many - len(done)} completed steps are only reported."
        if steps and not done and word == "verified" and many:
            return Reply(text=f"None of {len(steps)} steps is verified; {others}")
    if not steps:
        reported = _reported(task) if word == "completed" else []
        return compose([plain("No plan is recorded."), *reported], SHORT_LIST)
    if not done:
        more = _in_all(context) if word == "completed" else ""
        return Reply(text=f"None of {len(steps)} steps is {word}{more}.")
    more = _in_all(context) if word == "completed" else ""
    named = "Reported and not verified" if word == "reported" else word.capitalize()
    opening = f"{named} {len(done)} of {len(steps)} steps{more}: "
    glue = _between(task)
    return compose([show.step(*pair) for pair in reversed(done)], LIST, opening=opening, glue=glue, least=50)


def _reported(task: Snapshot) -> list[Row]:
    """The agent's recent reports of finished work, in its own words."""
    reports = [
        moment
        for moment in task.recent
        if moment.channel == "agent"
        and moment.type in ("message", "task.updated", "item.updated")
        and DONE.search(moment.text[:400])
    ]
    return show.moments(task.replace(recent=tuple(reports)), 4)


def remaining(intent: Intent, context: Context) -> Reply:
    """The open steps."""
    task = context.task
    steps = show.plan_steps(context)
    rest = [pair for pair in steps if pair[1].status in ("pending", "active", "failed")]
    if task.plan_inferred:
        rest = _surely_open(rest, steps)
    if not steps:
        rows = [*_next_rows(task), *show.blockers(task)]
        return compose(rows or [plain("No plan and nothing open is recorded.")], PARAGRAPH)
    if not rest:
        return Reply(text=f"No step of {len(steps)} is open.")
    opening = f"Open {len(rest)} of {len(steps)} steps: "
    return compose([show.step(*pair) for pair in rest], LIST, opening=opening, glue=_between(task), least=50)


def _surely_open(
    rest: Sequence[tuple[int, Item]], steps: Sequence[tuple[int, Item]]
) -> list[tuple[int, Item]]:
    """The steps of an inferred plan that are open for sure. A step before one that was begun may well be done
    without a word about it, and a check that nobody announced is no step of anybody's plan."""
    begun = max(
        (place for place, item in steps if item.status != "pending" and DERIVED not in item.detail), default=0
    )
    return [
        (place, item)
        for place, item in rest
        if DERIVED not in item.detail and (item.status != "pending" or place > begun)
    ]


def _between(task: Snapshot) -> str:
    """What stands between two steps: those of an inferred plan are phrases of speech, a line for each."""
    return "\n" if task.plan_inferred else "; "


def plan(intent: Intent, context: Context) -> Reply:
    """The plan: the agent's own variable `plan`, or the steps."""
    task = context.task
    steps = show.plan_steps(context)
    variable = _variable(task, "plan")
    if variable is not None:
        return compose([_stated("Plan", variable)], ONE, least=40)
    if not steps:
        return Reply(text="No plan is recorded.")
    version = "Plan, inferred from what was said" if task.plan_inferred else f"Plan v{task.plan_version}"
    opening = f"{version}, {len(steps)} steps: "
    return compose([show.step(*pair) for pair in steps], LIST, opening=opening, glue="; ", least=50)


def status(intent: Intent, context: Context) -> Reply:
    """The status, in the agent's words or the ledger's."""
    variable = _variable(context.task, "status")
    if variable is not None:
        return compose([_stated("Status", variable)], ONE, least=40)
    task = context.task
    reason = f" ({quote(task.reason, 60)})" if task.reason else ""
    stated = _variable(task, "phase")
    stage = f"{task.phase}; phase {quote(stated.data.get('value'), 60)}" if stated else task.phase
    rows = [plain(f"Status {task.status}{reason}, {stage}."), *progress_rows(context)]
    return compose(rows, ONE, least=40)


def phase(intent: Intent, context: Context) -> Reply:
    """The phase, in the agent's words or the ledger's."""
    task = context.task
    called = [entry for name in ("phase", "stage", "milestone") if (entry := _variable(task, name))]
    stated = [entry for entry in called if not entry.data.get("inferred")]
    if stated:
        return compose([_stated("Phase", stated[0])], ONE, least=40)
    rows = [plain(f"Phase {task.phase}."), *(_stated("In its words", entry) for entry in called[:1])]
    stages = [
        (number, item) for number, item in show.live_steps(task) if item.id == task.current and item.stage
    ]
    rows += [Row(lambda most, item=item: f"Stage {quote(item.stage, most)}.") for _, item in stages]
    return compose(rows, ONE, least=40)


def _variable(task: Snapshot, name: str) -> Entry | None:
    """The variable of this name, ignoring case; a recorded one before an inferred one."""
    matches = [entry for entry in reversed(task.values) if (entry.key or "").lower() == name]
    stated = [entry for entry in matches if not entry.data.get("inferred")]
    return next(iter(stated or matches), None)


def _stated(word: str, entry: Entry) -> Row:
    return Row(lambda most: f"{word}: {quote(entry.data.get('value'), most)}{cite_entry(entry)}.", entry.seq)


def summary(intent: Intent, context: Context) -> Reply:
    """The running summary, and the events after it."""
    task = context.task
    if task.summary is None:
        return where(intent, context)
    summary = task.summary
    rows = [
        Row(
            lambda most: (
                f"Summary up to{cite(summary.seq, summary.channel)}: {quote(summary.text, 2 * most)}"
            ),
            summary.seq,
        ),
        *show.moments(task, 3, after=summary.seq),
    ]
    return compose(rows, SHORT_LIST)


def result(intent: Intent, context: Context) -> Reply:
    """How the task ended."""
    task = context.task
    rows = [row for row in progress_rows(context) if task.answer is not None or task.error is not None]
    return compose(rows[::-1] or [plain(f"The task is {task.status}; no answer is recorded.")], PARAGRAPH)


def last(intent: Intent, context: Context) -> Reply:
    """The last events."""
    rows = show.moments(context.task, 2)
    return compose(rows or [plain("Nothing has happened yet.")], ONE, least=40)
