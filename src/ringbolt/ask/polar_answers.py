"""Whether something happened or passed: yes, no or unknown, with the record that says so."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.lazy_regex import lazy_regex
from ..model.types import Effect, FileTouch, Step, is_dict
from ..packet import encode
from ..signals.calls.run_kinds import PROVES, passed, runs
from ..signals.calls.tools import only_looked
from ..signals.reports.clauses import read_clauses
from . import answer_rows as show
from .answer_rows import Context
from .answer_words import say
from .evidence import Evidence
from .plan_answers import why_dropped
from .questions import Intent
from .reply import ONE, PARAGRAPH, Reply, Row, cite, clock, compose, quote
from .topic_match import FITS, Subject, fitting, text_words

_HAPPENED = {"intended": "unknown", "unknown": "unknown", "did": "yes", "did_not": "no"}
_CHECKS = {
    "test": "test tests suite spec specs testsuite pytest jest", "lint": "lint linter linting",
    "typecheck": "typecheck types typing typechecker mypy pyright tsc", "build": "build compile compilation",
    "check": "check checks ci",
}  # fmt: skip
_RUNS = frozenset("time run full whole complete entire".split())  # say which run, not of what
_OUTPUT = 160  # characters of an output that an answer shows


def did(intent: Intent, context: Context) -> Reply | None:
    """Yes, no or unknown: from side effects, steps, the last run of a check, files, values, then actions."""
    task, subject = context.task, context.subject
    if intent.step is not None and not subject:
        steps = show.live_steps(task)
        return _step(intent, *steps[intent.step - 1], context) if 0 < intent.step <= len(steps) else None
    if not subject:
        return _by_soft_words(intent, context)
    found = _step_about(intent, context)
    effect = _effect(subject, context)
    if effect is not None and intent.has("ask", "say") and not subject.beside(effect.what):
        effect = None  # what somebody asked or said is not what was done about the same thing
    if (reply := _last_check(intent, context)) is not None:
        return reply
    if found is not None and any(
        _closeness(subject, entry.summary) > _closeness(subject, found[1].title)
        for entry in fitting(subject, context.task.exclusions, lambda entry: entry.summary)
    ):
        return _excluded(intent, context)
    if found is not None and found[1].evidence == "verified":
        return _step(intent, *found, context)
    if (
        effect is not None
        and not (found is not None and intent.has("done", "open"))
        and (found is None or _closeness(subject, effect.what) >= _closeness(subject, found[1].title))
    ):
        return _verdict(intent, _HAPPENED[effect.status], show.effect(effect, intent.language))
    outcome = intent.has("pass", "fail", "result")
    if outcome and (reply := _last_run(intent, context) or _reported(intent, context)) is not None:
        return reply
    if found is not None:
        return _step(intent, *found, context)
    for candidate in (_value, _file, _last_run, _excluded, _acted, _unfinished):
        if (reply := candidate(intent, context)) is not None:
            return reply
    return None


def _closeness(subject: Subject, text: str) -> tuple[float, int]:
    """How close a text is to a question: by the words of its subject, then by those beside it."""
    return round(subject.coverage(text), 2), subject.beside(text)


def _by_soft_words(intent: Intent, context: Context) -> Reply | None:
    """`did we commit?` has no other words than those that questions are made of."""
    if intent.has("commit"):
        made = [commit for commit in context.commits if commit.made]
        return _verdict(intent, "yes", *show.commit_rows(made[:1])) if made else None
    if intent.has("done", "open"):
        steps = show.plan_steps(context)
        left = [pair for pair in steps if pair[1].status in ("pending", "active", "failed")]
        if steps and not intent.has("open"):
            word = "no" if left else "yes"
            pair = left[0] if left else steps[-1]
            return _verdict(intent, word, _step_row(intent, *pair, context))
    return None


def _verdict(intent: Intent, word: str, *rows: Row) -> Reply:
    text = say(intent.language, word)
    return compose(rows, PARAGRAPH, opening=f"{text}: ", least=40, language=intent.language)


# --- steps and side effects -------------------------------------------------------------------------


def _step_about(intent: Intent, context: Context) -> tuple[int, Step] | None:
    """The step that the question is about; a dropped one (0) only if no live one is."""
    live = fitting(context.subject, show.live_steps(context.task), lambda pair: pair[1].title)
    if live:
        return max(live, key=lambda pair: _closeness(context.subject, pair[1].title))
    gone = [item for item in context.task.steps if item.dropped_in is not None]
    dropped = fitting(context.subject, gone, lambda item: item.title)
    return (0, dropped[-1]) if dropped else None


def _step(intent: Intent, number: int, item: Step, context: Context) -> Reply:
    if not number:
        reply = why_dropped(item, context, intent.language)
        return reply.replace(text=f"{say(intent.language, 'no')}: {reply.text}", items=())
    inferred = item.basis == "inferred"
    word = ("probably" if inferred else "yes") if item.status == "completed" else "no"
    return _verdict(intent, word, _step_row(intent, number, item, context))


def _step_row(intent: Intent, number: int, item: Step, context: Context) -> Row:
    return show.about_step("", number, item, f" {_state(item, intent.language, context)}.", intent.language)


def _state(item: Step, language: str, context: Context) -> str:
    """The state of a step as the end of a sentence."""
    if item.status != "completed":
        names = {"pending": "is_open", "active": "is_active", "failed": "is_failed"}
        return say(language, names.get(item.status, "is_skipped"))
    if item.basis == "inferred":
        return say(language, "seems_done")
    at = f" {say(language, 'at', at=clock(item.completed_at, context.zone))}" if item.completed_at else ""
    if item.evidence == "contradicted":
        return f"was called completed{at}, but its last check failed"
    if item.evidence == "verified" and language == "en":
        return f"is completed and verified{at}"
    word = say(language, "verified" if item.evidence == "verified" else "reported")
    return f"{say(language, 'is_done')}{at} ({word})"


def _effect(subject: Subject, context: Context) -> Effect | None:
    """The side effect that a question is about; the latest of several."""
    effects = (*context.task.effects, *context.task.settled)
    matches = fitting(subject, effects, lambda effect: f"{effect.what} {effect.kind or ''}")
    return max(matches, key=lambda effect: effect.seq, default=None)


# --- checks -----------------------------------------------------------------------------------------


def check_result(intent: Intent, context: Context) -> Reply | None:
    """What the last run of a check that the question names said, without a verdict."""
    reply = _last_check(intent, context)
    return reply.replace(text=reply.text.partition(": ")[2]) if reply is not None else None


def _last_check(intent: Intent, context: Context) -> Reply | None:
    """The last run of the tests, the linter, the build or another check that the question names."""
    wanted = {
        kind for kind, words in _CHECKS.items() for word in words.split() if word in _plain(context.subject)
    }
    rest = [
        word
        for word in context.subject.words
        if word.lower() not in _RUNS and not any(word.lower() in w.split() for w in _CHECKS.values())
    ]
    if not wanted:
        return None
    narrower = Subject(rest, language=intent.language)
    for one in context.window if intent.has("old") else reversed(context.window):
        kinds = _check_kinds(one)
        if not kinds & wanted or (narrower and narrower.coverage(_run_text(one)) < FITS):
            continue
        if (ok := _passed(one)) is not None:
            return _run_verdict(intent, one, ok)
    return None


def _plain(subject: Subject) -> set[str]:
    """The words of a subject and their English stems, for the names of checks."""
    words = {word.lower() for word in subject.words}
    return words | {name for name in ("test", "build") if name in text_words(" ".join(subject.words)).stems}


def _check_kinds(one: Evidence) -> set[str]:
    """What a command that was run checks."""
    return {run.kind for command in _commands(one) for run in runs(command)} & set(PROVES)


def _commands(one: Evidence) -> Iterator[str]:
    if one.kind != "action":
        return
    arguments = one.data.get("input")
    command = arguments.get("command") if is_dict(arguments) else arguments
    if isinstance(command, str):
        yield command


def _run_text(one: Evidence) -> str:
    return " ".join((one.text, *_commands(one)))


def _passed(one: Evidence) -> bool | None:
    """Whether a run passed, by its status and its output."""
    if one.status not in ("completed", "failed"):
        return None
    output = str(one.data.get("output") or one.data.get("error") or "")
    for command in _commands(one):
        for run in runs(command):
            verdict = passed(run, output, failed=one.status == "failed")
            if verdict is not None:
                return verdict
    return one.status == "completed"


def _run_verdict(intent: Intent, one: Evidence, ok: bool) -> Reply:
    wanted = ok != intent.has("fail")
    said = say(intent.language, "passed" if ok else "not_passed")
    lines = [line for line in str(one.data.get("output") or "").splitlines() if line.strip()]
    shown = f": {quote(lines[-1], _OUTPUT)}" if lines else ""
    place = cite(one.seq, one.channel)
    row = Row(lambda most: f"{said}, {quote(one.text, min(most, 100))}{shown}{place}.", one.seq)
    return _verdict(intent, "yes" if wanted else "no", row)


def _run_about(context: Context) -> Evidence | None:
    """The last action whose summary or command is about the subject and that ended."""
    for one in reversed(context.window):
        if one.kind != "action" or not context.subject.may_fit(one.lower):
            continue
        if not any(_commands(one)) or one.status not in ("completed", "failed") or only_looked(one.text):
            continue
        output = str(one.data.get("output") or "")[-400:]
        if context.subject.coverage(f"{_run_text(one)} {output}") >= FITS and (
            context.subject.coverage(_run_text(one)) >= FITS / 2
        ):
            return one
    return None


def _last_run(intent: Intent, context: Context) -> Reply | None:
    """The last run of what the question is about."""
    one = _run_about(context)
    if one is None or not _does_what_is_asked(intent, context, one):
        return None
    return _run_verdict(intent, one, one.status == "completed")


def _does_what_is_asked(intent: Intent, context: Context, one: Evidence) -> bool:
    """That the invitation was sent does not say whether it was accepted."""
    asks_how_it_went = intent.has("pass", "fail", "result", "last", "fix", "verify", "done", "happen", "go")
    return asks_how_it_went or not intent.has("goal") or context.subject.beside(_run_text(one)) > 0


# --- values, files, exclusions, actions -------------------------------------------------------------


def _value(intent: Intent, context: Context) -> Reply | None:
    """A variable that the question names exactly."""
    names = {word.lower() for word in context.subject.words}
    for entry in reversed(context.task.values):
        key = (entry.key or "").lower()
        if key in names and context.subject.coverage(f"{key} {entry.data.get('value')}") >= 0.9:
            return compose([show.value(entry)], ONE, least=40)
    return None


def _file(intent: Intent, context: Context) -> Reply | None:
    """A changed file that the question names; a name of a file that was not changed is not recorded."""
    file = changed_file(context)
    if file is None:
        return None
    path = encode.name(encode.clip(file.path, 150))
    words = f"{path} was {file.change}{cite(file.seq, file.channel)}."
    return _verdict(intent, "yes", Row(lambda most: words, file.seq))


def changed_file(context: Context) -> FileTouch | None:
    """The changed file that a question names."""
    words = [word for word in context.subject.words if "." in word or "/" in word or word[:1].isupper()]
    for file in context.task.files:
        name = file.path.rpartition("/")[2]
        if any(word == name or file.path == word or file.path.endswith(f"/{word}") for word in words):
            return file
    return None


def _excluded(intent: Intent, context: Context) -> Reply | None:
    for entry in reversed(fitting(context.subject, context.task.exclusions, lambda entry: entry.summary)):
        word = "no" if show.user_rejected(entry) else "tried"
        return _verdict(intent, word, show.exclusion(entry))
    return None


_REPORTS = frozenset("step.updated task.updated message discovery error".split())


# What was left out, or does not do what others do, did not work.
_LACKS = lazy_regex(
    r"(?i)\b(?:left out|does not|doesn['’]t|did not|didn['’]t|do not|don['’]t|(?:is|was) missing)\b"
)


def _reported(intent: Intent, context: Context) -> Reply | None:
    """Whether the newest report about it says that it passed or failed."""
    titles = {item.id: item.title for item in context.task.steps}
    for one in reversed(context.window):
        if one.kind not in _REPORTS or not one.text:
            continue
        said = f"{titles.get(one.item or '', '')}. {one.text}"
        if context.subject.coverage(said) < FITS or context.subject.coverage(one.text) < FITS / 2:
            continue
        parts = read_clauses(one.text)
        about = [clause for clause in parts if context.subject.coverage(clause.text) >= FITS / 2]
        acts = {clause.act for clause in about or parts}
        if _LACKS.search(" ".join(clause.text for clause in about)):
            acts = {"failed"}
        if one.kind == "error" or "failed" in acts or "finished" in acts:
            ok = one.kind != "error" and "failed" not in acts
            row = show.event(one, one.text, after=".")
            return _verdict(intent, "yes" if ok != intent.has("fail") else "no", row)
    return None


def _unfinished(intent: Intent, context: Context) -> Reply | None:
    """A step that is not finished, if a report about the subject belongs to it: it is not there yet."""
    subject = context.subject
    steps = {item.id: (number, item) for number, item in show.live_steps(context.task)}
    for one in reversed(context.window):
        number, item = steps.get(one.item or "", (0, None))
        if item is None or one.kind != "step.updated" or subject.coverage(one.text) < FITS:
            continue
        if item.status == "completed" or len(subject.missing(item.title)) == len(subject.words):
            return None
        report = show.event(one, one.text, after=".")
        return _verdict(intent, "no", _step_row(intent, number, item, context), report)
    return None


def _acted(intent: Intent, context: Context) -> Reply | None:
    """A completed action or a report of the agent; a mere mention proves nothing."""
    subject = context.subject
    for one in reversed(context.window):
        if one.kind != "action" or not subject.may_fit(one.lower) or only_looked(one.text):
            continue
        if subject.coverage(_run_text(one)) < 0.75 or not _does_what_is_asked(intent, context, one):
            continue
        row = show.event(one, " ".join(dict.fromkeys((one.text, *_commands(one)))), after=".")
        if one.status == "completed":
            return _verdict(intent, "yes" if len(subject.words) > 1 else "probably", row)
        if one.status == "failed":
            return _verdict(intent, "no", row)
        return _verdict(intent, "unknown", row)
    return None
