"""Answers about the state of a task: done, current, next, open, status, plan."""

from __future__ import annotations

from collections.abc import Sequence

from ..ledger.inferred_plan import DERIVED
from ..model.types import Entry, Snapshot, Step, Summary
from ..signals.phrases import DONE
from ..signals.step_numbers import number_ranges
from . import answer_rows as show
from .answer_rows import Context
from .answer_words import say
from .questions import Intent
from .reply import LIST, ONE, PARAGRAPH, SHORT_LIST, Reply, Row, cite, cite_entry, compose, plain, quote
from .topic_match import fitting


def where(intent: Intent, context: Context) -> Reply | None:
    """The state of the work and its blockers, in a paragraph; the summary if that is asked for."""
    task = context.task
    if intent.has("recap") and task.summary is not None and not intent.has("where"):
        return _summary(context, task.summary)
    rows = [*progress_rows(context, intent.language), *show.blockers(task, intent.language)[:3]]
    if not task.steps:
        rows += show.moments(task, 2)
    return compose(rows, PARAGRAPH, least=50)


def _summary(context: Context, summary: Summary) -> Reply:
    """The running summary, and the events after it."""
    task = context.task
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


def progress_rows(context: Context, language: str = "en") -> list[Row]:
    """The progress of a task, in sentences: done, current, next."""
    task, steps = context.task, show.plan_steps(context)
    done = [number for number, item in steps if item.status == "completed"]
    rows: list[Row] = []
    if status := _variable(task, "status"):
        rows.append(_stated("Status", status))
    if task.status not in ("active",):
        rows.append(plain(f"The task is {task.status}."))
    if done:
        rows.append(plain(f"{_count(context, language)}."))
    elif steps:
        rows.append(plain(f"{say(language, 'none_done', total=len(steps))}{_in_all(context)}."))
    else:
        rows.append(named(task))
    rows += [show.about_step(f"{say(language, 'current')}: ", *pair, ".", language) for pair in _active(task)]
    rows += _next_rows(task, language)
    if task.answer is not None:
        rows.append(show.stated("Answer", task.answer, task.sources.get("answer")))
    if task.error is not None:
        rows.append(show.stated("Failed", task.error.message, task.sources.get("answer")))
    return rows


def _count(context: Context, language: str) -> str:
    """The completed steps, and which of them were inferred."""
    steps = show.plan_steps(context)
    done = [number for number, item in steps if item.status == "completed"]
    guessed = number_ranges(
        [number for number, item in steps if item.status == "completed" and item.basis == "inferred"]
    )
    inferred = f" ({guessed} inferred)" if guessed else ""
    if language != "en":
        return f"{say(language, 'done_of', done=len(done), total=len(steps))}{inferred}{_in_all(context)}"
    which = (
        "all" if len(done) == len(steps) else f"{'steps' if len(done) > 1 else 'step'} {number_ranges(done)}"
    )
    return f"Completed {which} of {len(steps)}{inferred}{_in_all(context)}"


def _in_all(context: Context) -> str:
    """The count including earlier plans, as in a packet, if it differs."""
    task, steps = context.task, show.plan_steps(context)
    same = (task.done, task.total) == (sum(item.status == "completed" for _, item in steps), len(steps))
    return "" if same else f" ({task.done} of {task.total} with earlier plans)"


def named(task: Snapshot) -> Row:
    """The name of the task."""
    return show.stated("Task", task.name, task.sources.get("name"))


def _active(task: Snapshot) -> list[tuple[int, Step]]:
    return [pair for pair in show.live_steps(task) if pair[1].status == "active"]


def _next_rows(task: Snapshot, language: str) -> list[Row]:
    live = show.live_steps(task)
    rows = [
        show.about_step(f"{say(language, 'next')}: ", number, item, ".", language)
        for number, item in live
        if item.id == task.next
    ]
    if task.next_step:
        word = say(language, "to_do" if rows else "next")
        rows.append(show.stated(word, task.next_step, task.sources.get("next_step")))
    return rows


def following(intent: Intent, context: Context) -> Reply:
    """The next step of the plan, and the recorded `next`."""
    task = context.task
    rows = _next_rows(task, intent.language)
    if rows:
        return compose(rows, ONE, least=40)
    current = _active(task)
    if current and intent.language == "en":
        rows = [show.about_step("No step follows the current one: ", *current[0], ".")]
    elif current:
        rows = [show.about_step(f"{say(intent.language, 'current')}: ", *current[0], ".", intent.language)]
    elif task.steps and task.done == task.total:
        over = "Nothing is next." if intent.language == "en" else say(intent.language, "no_next")
        rows = [plain(over), *progress_rows(context, intent.language)[:1]]
    else:
        rows = [plain(say(intent.language, "no_next")), *show.moments(task, 1)]
    return compose(rows, ONE, least=40)


def current(intent: Intent, context: Context) -> Reply:
    """The step in progress."""
    task = context.task
    word = say(intent.language, "current")
    rows = [show.about_step(f"{word}: ", *pair, ".", intent.language) for pair in _active(task)]
    if not rows:
        rows = [plain(say(intent.language, "no_current")), *_next_rows(task, intent.language)]
        if len(rows) == 1:
            rows += show.moments(task, 1)
    return compose(rows, ONE, least=40)


def completed(intent: Intent, context: Context) -> Reply:
    """The completed, verified or only reported steps of the plan, the last first."""
    task, language = context.task, intent.language
    steps = show.plan_steps(context)
    done = [(number, item) for number, item in steps if item.status == "completed"]
    word = "reported" if _only_reported(intent) else "verified" if intent.has("verify") else "completed"
    if word != "completed":
        many = len(done)
        done = [pair for pair in done if (pair[1].evidence == "verified") == (word == "verified")]
        others = f"{many - len(done)} completed steps are only reported."
        if steps and not done and word == "verified" and many:
            return Reply(text=f"None of {len(steps)} steps is verified; {others}")
    if not steps:
        reported = _reported(task) if word == "completed" else []
        return compose([plain(say(language, "no_plan")), *reported], SHORT_LIST)
    more = _in_all(context) if word == "completed" else ""
    if not done:
        none = say(language, "none_done", total=len(steps)) if word == "completed" else ""
        return Reply(text=f"{none or f'None of {len(steps)} steps is {word}'}{more}.")
    counted = say(language, "done_of", done=len(done), total=len(steps))
    if word != "completed":
        name = "Reported and not verified" if word == "reported" else "Verified"
        counted = f"{name} {len(done)} of {len(steps)} steps"
    rows = [show.step(*pair) for pair in reversed(done)]
    return compose(rows, LIST, opening=f"{counted}{more}: ", glue=_between(task), least=50, language=language)


def _only_reported(intent: Intent) -> bool:
    return intent.has("report") or (intent.has("verify") and intent.has("not"))


def _reported(task: Snapshot) -> list[Row]:
    """The agent's recent reports of finished work, in its own words."""
    reports = [
        moment
        for moment in task.recent
        if moment.channel == "agent"
        and moment.type in ("message", "task.updated", "step.updated")
        and DONE.search(moment.text[:400])
    ]
    return show.moments(task.replace(recent=tuple(reports)), 4)


def remaining(intent: Intent, context: Context) -> Reply:
    """The open steps."""
    task, language = context.task, intent.language
    steps = show.plan_steps(context)
    rest = [pair for pair in steps if pair[1].status in ("pending", "active", "failed")]
    if task.plan_inferred:
        rest = _surely_open(rest, steps)
    if not steps:
        rows = [*_next_rows(task, language), *show.blockers(task, language)]
        return compose(rows or [plain("No plan and nothing open is recorded.")], PARAGRAPH)
    if not rest:
        done = show.step_seq(steps[-1][1])
        return Reply(
            text=f"{say(language, 'none_open', total=len(steps))}{cite(done)}.", cites=(done,) if done else ()
        )
    opening = f"{say(language, 'open_of', open=len(rest), total=len(steps))}: "
    rows = [show.step(*pair) for pair in rest]
    return compose(rows, LIST, opening=opening, glue=_between(task), least=50, language=language)


def _surely_open(
    rest: Sequence[tuple[int, Step]], steps: Sequence[tuple[int, Step]]
) -> list[tuple[int, Step]]:
    """The steps of an inferred plan that are open for sure. A step before one that was begun may well be done
    without a word about it, and a check that nobody announced is not a step of the plan."""
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


def plan(intent: Intent, context: Context) -> Reply | None:
    """The plan, or the steps that the question is about: the agent's own variable `plan`, or the steps."""
    task, language = context.task, intent.language
    steps = show.plan_steps(context)
    if intent.step is not None:
        named_steps = [pair for pair in steps if pair[0] == intent.step]
    else:
        named_steps = fitting(context.subject, steps, lambda pair: pair[1].title)
    if named_steps:
        rows = [_step_state(number, item, language) for number, item in named_steps[:4]]
        return compose(rows, PARAGRAPH, least=50)
    if context.subject or intent.step is not None:
        return None
    variable = _variable(task, "plan")
    if variable is not None:
        return compose([_stated(say(language, "plan"), variable)], ONE, least=40)
    if not steps:
        return Reply(text=say(language, "no_plan"))
    word = say(language, "plan")
    version = f"{word}, inferred from what was said" if task.plan_inferred else f"{word} v{task.plan_version}"
    opening = f"{version}, {len(steps)} {'steps' if language == 'en' else say(language, 'step')}: "
    rows = [show.step(*pair) for pair in steps]
    return compose(rows, LIST, opening=opening, glue="; ", least=50, language=language)


def _step_state(number: int, item: Step, language: str) -> Row:
    """A step and its state, as a sentence."""
    state = {"pending": "is_open", "active": "is_active", "completed": "is_done", "failed": "is_failed"}
    words = say(language, state.get(item.status, "is_skipped"))
    row = show.about_step("", number, item, f" {words}.", language)
    return Row(lambda most: _capital(row.show(most)), *row.seqs)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def status(intent: Intent, context: Context) -> Reply:
    """The status or the phase, in the agent's words or the ledger's; percent and totals."""
    task, language = context.task, intent.language
    if intent.has("phase"):
        return _phase(context)
    steps = show.plan_steps(context)
    if intent.has("percent", "many") and steps:
        done = sum(item.status == "completed" for _, item in steps)
        share = f"{round(100 * done / len(steps))} %"
        counted = say(language, "done_of", done=done, total=len(steps))
        last = [show.step_seq(item) for _, item in steps if item.status == "completed"][-1:]
        return Reply(
            text=f"{counted} ({share}){''.join(map(cite, last))}.",
            cites=tuple(seq for seq in last if seq),
        )
    variable = _variable(task, "status")
    if variable is not None:
        return compose([_stated("Status", variable)], ONE, least=40)
    reason = f" ({quote(task.reason, 60)})" if task.reason else ""
    stated = _variable(task, "phase")
    stage = f"{task.phase}; phase {quote(stated.data.get('value'), 60)}" if stated else task.phase
    rows = [plain(f"Status {task.status}{reason}, {stage}."), *progress_rows(context, language)]
    return compose(rows, ONE, least=40)


def _phase(context: Context) -> Reply:
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


_ACTS = frozenset(
    "action message task.updated step.updated plan.replaced intent outcome wait.started".split()
)


def result(intent: Intent, context: Context) -> Reply:
    """How the task ended."""
    task = context.task
    rows = [row for row in progress_rows(context, intent.language) if task.answer or task.error]
    return compose(rows[::-1] or [plain(f"The task is {task.status}; no answer is recorded.")], PARAGRAPH)


def last(intent: Intent, context: Context) -> Reply:
    """The last events."""
    task = context.task
    acts = tuple(moment for moment in task.recent if moment.type in _ACTS)
    rows = show.moments(task.replace(recent=acts), 2) or show.moments(task, 2)
    return compose(rows or [plain("Nothing has happened yet.")], ONE, least=40)
