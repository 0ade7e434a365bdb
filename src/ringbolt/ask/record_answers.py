"""Answers from records: requests, decisions, failures, files, blockers."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.types import Entry, Snapshot
from ..packet import encode
from . import answer_rows as show
from .answer_rows import Context
from .answer_words import say
from .evidence import Evidence
from .permission_answers import permission, prohibitions
from .polar_answers import changed_file, did
from .questions import Intent
from .reply import LIST, PARAGRAPH, SHORT_LIST, Reply, Row, cite, compose, plain, quote
from .status_answers import named
from .topic_match import FITS, Subject, fitting

# --- requests ---------------------------------------------------------------------------------------


def request(intent: Intent, context: Context) -> Reply | None:
    """What the user asked for: at the start, last, or about the subject of the question."""
    task = context.task
    if context.subject and not intent.has("old"):
        return _asked_about(intent, context)
    if intent.has("last", "now") and not intent.has("old"):
        return _last_request(intent, context)
    if not task.request:
        asked = _asked(task)
        if not asked:
            return compose([plain("No request is recorded."), named(task)], PARAGRAPH)
        return compose([plain("The first recorded instruction:"), show.instruction(asked[0])], PARAGRAPH)
    source = task.sources.get("request")
    channel = source.channel if source else None
    word = say(intent.language, "asked") if channel == "user" else "The request, as recorded"
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


def _asked_about(intent: Intent, context: Context) -> Reply | None:
    """What the user said about the subject of a question."""
    entries = [entry for entry in context.task.instructions if entry.origin.channel in ("user", "agent")]
    found = fitting(context.subject, entries, lambda entry: f"{entry.summary} {entry.detail or ''}")
    if found:
        return compose([show.instruction(entry) for entry in reversed(found)], PARAGRAPH)
    return permission(intent.replace(polar=False), context)


def _last_request(intent: Intent, context: Context) -> Reply | None:
    """The user's last request."""
    asked = _asked(context.task)
    said = [entry for entry in context.task.instructions if entry.origin.channel == "user"]
    if intent.has("say") and said:
        return compose([show.instruction(said[-1])], PARAGRAPH)
    if not asked:
        return request(intent.replace(marks=()), context)
    last = asked[-1]
    later = [
        entry
        for entry in context.task.instructions
        if entry.seq > last.seq and not entry.summary.startswith("[")
    ]
    rows = [show.instruction(entry) for entry in (last, *later[-1:])]
    return compose(rows, PARAGRAPH)


def rules(intent: Intent, context: Context) -> Reply | None:
    """The user's instructions, newest first, or those about the subject."""
    task = context.task
    if context.subject:
        return _asked_about(intent, context)
    entries = _said(task)
    rows = [show.instruction(entry) for entry in reversed(entries)]
    if not rows:
        return request(intent.replace(marks=()), context)
    return _some(intent, rows, "Instructions, newest first: ", task.left_out.get("user_instruction", 0))


def goal(intent: Intent, context: Context) -> Reply | None:
    """The goal and its acceptance criteria."""
    task, language = context.task, intent.language
    rows = [
        show.stated(
            say(language, "goal"),
            task.goal or task.name,
            task.sources.get("goal") or task.sources.get("name"),
        )
    ]
    rows += [
        Row(lambda most, part=part: f"{say(language, 'accepted')}: {quote(part, most)}.")
        for part in task.acceptance[:8]
    ]
    return compose(rows, PARAGRAPH, least=60)


def rejected(intent: Intent, context: Context) -> Reply | None:
    """The approaches that the user rejected, and why."""
    entries = [entry for entry in context.task.exclusions if show.user_rejected(entry)]
    found = fitting(context.subject, entries, _text) if context.subject else entries
    if context.subject and not found:
        return None
    if not found:
        return prohibitions(intent, context) or Reply(text="Nothing is recorded as rejected by the user.")
    rows = [show.exclusion(entry) for entry in reversed(found)]
    by_user = all(entry.origin.channel == "user" for entry in found)
    opening = "The user rejected: " if by_user else "Recorded as rejected by the user: "
    return compose(rows, LIST, opening=opening, glue="; ")


# --- decisions, failures ----------------------------------------------------------------------------


def _text(entry: Entry) -> str:
    names = ("title", "choice", "options", "reasoning", "risks", "if_wrong", "why", "symptom")
    fields = (entry.data.get(name) for name in names)
    return " ".join([entry.summary, entry.detail or "", *(str(field)[:500] for field in fields if field)])


def decision(intent: Intent, context: Context) -> Reply | None:
    """Decisions with their reasons, or the risks and fall-backs that were recorded with them.

    With a subject: the decision about it, otherwise what was ruled out. Without one: all, newest first.
    """
    task, language = context.task, intent.language
    parts = [
        name
        for name, mark in (("risks", "risk"), ("if_wrong", "fallback"), ("options", "option"))
        if intent.has(mark)
    ]
    entries = [entry for entry in task.decisions if not parts or any(entry.data.get(name) for name in parts)]
    if context.subject:
        least = 0.45 if parts else FITS  # "if Smith cancels": the name is enough
        found = fitting(context.subject, entries, _title, least) or fitting(context.subject, entries, _text)
        ruled_out = fitting(context.subject, task.exclusions, _text)
        if ruled_out and not parts:
            best = max(context.subject.coverage(entry.summary) for entry in ruled_out)
            # "Why not X?" asks for what speaks against X; "why is X out?" does too, if X was not chosen.
            chosen = max((context.subject.coverage(_title(entry)) for entry in found), default=0.0)
            if (best >= 0.9 and (intent.has("not") or best > chosen)) or (intent.has("not") and not found):
                return compose([show.exclusion(entry) for entry in ruled_out[-2:][::-1]], PARAGRAPH)
        rows = [show.decision(entry, language, *parts) for entry in found[-2:][::-1]]
        if found and intent.has("not") and not parts:  # "why X and not Y?" asks for both
            rows += [show.exclusion(entry) for entry in ruled_out_by_name(context)]
        rows = rows or ([] if parts else [show.exclusion(entry) for entry in ruled_out[-2:][::-1]])
        return compose(rows, PARAGRAPH) if rows else None
    if not entries:
        return Reply(text="No decision is recorded.", recorded=False)
    newest = sorted(entries, key=lambda entry: (bool(entry.data.get("inferred")), -entry.seq))
    rows = [show.decision(entry, language, *parts) for entry in newest]
    return _some(intent, rows, "", task.left_out.get("decision", 0))


def ruled_out_by_name(context: Context) -> list[Entry]:
    """What was ruled out and has a word of the question for its name."""
    names = [Subject((word,)) for word in context.subject.words if word[:1].isupper() or not word.isalpha()]
    return [
        entry
        for entry in context.task.exclusions
        if any(name.coverage(entry.summary) >= FITS for name in names)
    ]


def decided(intent: Intent, context: Context) -> bool:
    """Whether a decision is about all that a question says."""
    subject = Subject((*context.subject.words, *intent.soft), language=intent.language)
    return any(subject.coverage(_title(entry)) >= 0.9 for entry in context.task.decisions)


def _title(entry: Entry) -> str:
    return f"{entry.data.get('title') or entry.summary} {entry.data.get('choice') or ''}"


def _some(intent: Intent, rows: Sequence[Row], opening: str, left_out: int) -> Reply:
    """A list, newest first, with as many rows as the question asks for."""
    if intent.most is not None:
        return compose(rows[: intent.most], SHORT_LIST, glue="; ", least=60)
    return compose(rows, LIST, opening=opening, glue="; ", left_out=left_out, language=intent.language)


def failed(intent: Intent, context: Context) -> Reply | None:
    """Errors and exclusions, newest first; with a subject, those about it, or failed actions about it."""
    task, language = context.task, intent.language
    entries = [
        *(entry for entry in task.exclusions if not show.user_rejected(entry)),
        *task.errors,
        *task.resolved,
    ]
    if context.subject:
        found = fitting(context.subject, entries, _text)
        rows = [_failure(entry) for entry in _unlike(sorted(found, key=lambda entry: -entry.seq))]
        if all(entry.type == "exclusion" for entry in found) and (run := _failed_run(context)) is not None:
            rows = [_run_row(run), *rows]  # what was ruled out is not all that went wrong
        if rows:
            return compose(rows[:4], LIST, glue="; ", language=language)
        return _past_trouble(intent, context) if intent.has("why") else None
    rows = [_failure(entry) for entry in _unlike(sorted(entries, key=lambda entry: -entry.seq))]
    if len(rows) < _FEW:
        rows += _failed_runs(context)
    rows += [
        _by_user(show.exclusion(entry)) for entry in reversed(task.exclusions) if show.user_rejected(entry)
    ]
    if not rows:
        none = "No failure is recorded." if language == "en" else say(language, "nothing")
        return Reply(text=none)
    more = task.left_out.get("exclusion", 0) + task.left_out.get("error", 0)
    return _some(intent, rows, f"{say(language, 'failed_list')}: ", more)


def _failure(entry: Entry) -> Row:
    return show.exclusion(entry) if entry.type == "exclusion" else show.error(entry)


_FEW = 3


def _failed_runs(context: Context) -> list[Row]:
    """The last commands that failed."""
    failed = [one for one in context.window if one.kind == "action" and one.status == "failed"]
    return [_run_row(one) for one in failed[::-1][:_FEW]]


def _run_row(one: Evidence) -> Row:
    """A command that failed, with the end of its output."""
    output = str(one.data.get("error") or one.data.get("output") or "")
    lines = [line for line in output.splitlines() if line.strip()]
    shown = f": {quote(lines[-1], 300)}" if lines else ""
    return Row(lambda most: f"{quote(one.text, most)}{shown}{cite(one.seq, one.channel)}", one.seq)


def _failed_run(context: Context) -> Evidence | None:
    """The last action about the subject that failed."""
    for one in reversed(context.window):
        if one.kind != "action" or one.status != "failed" or not context.subject.may_fit(one.lower):
            continue
        if context.subject.coverage(f"{one.text} {' '.join(one.details)}") >= FITS:
            return one
    return None


def _by_user(row: Row) -> Row:
    return Row(lambda most: f"rejected by the user: {row.show(most)}", *row.seqs)


def _unlike(entries: Sequence[Entry]) -> list[Entry]:
    """Entries without those that repeat a newer one."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        why = str(entry.data.get("symptom") or entry.data.get("why") or "")
        seen.setdefault(" ".join(f"{entry.summary[:60]} {why[:120]}".lower().split()), entry)
    return list(seen.values())


_REPORTS = frozenset("discovery context message task.updated step.updated decision outcome action".split())
_BEFORE = 3  # events before a trouble among which the run that had it is looked for
_SAME_RUN = 0.9
_FOLLOWING = 20  # events after a trouble among which the one that ended it is looked for


def fixed(intent: Intent, context: Context) -> Reply | None:
    """How a trouble ended: its resolution, the event that cleared its blocker, or the next report."""
    subject = context.subject
    for entry in sorted(fitting(subject, context.task.resolved, _text), key=lambda entry: -entry.seq):
        if entry.data.get("resolution"):
            return compose([show.error(entry)], PARAGRAPH)
    window = context.window
    for at in range(len(window) - 1, -1, -1):
        one = window[at]
        if not (one.kind in ("error", "exclusion") or one.troubles or one.status == "failed"):
            continue
        said = " ".join((one.text, *one.details, _step_at(one, context.task)))
        if subject.coverage(said) < (0.5 if one.kind == "error" or one.troubles else FITS):
            continue  # of an error, a word may be the error itself: "the oxygen leak"
        later = window[at + 1 : at + 1 + _FOLLOWING]
        end = _ending(one, subject, later, context.task)
        if end is None and (again := _run_again(one, window[max(0, at - _BEFORE) : at + 1], later)):
            rows = [_report(one), *map(_report, again)]
            return compose(rows, PARAGRAPH, glue=" → ").replace(items=())
        if end is not None:
            rows = [_report(one), _report(end)]
            return compose(rows, PARAGRAPH, glue=" → ").replace(items=())
    return None


def _run_again(
    trouble: Evidence, before: Sequence[Evidence], later: Sequence[Evidence]
) -> list[Evidence] | None:
    """The run that passed after a trouble in a run of the same thing, and what was found between them."""
    failed = next((one for one in reversed(before) if one.kind == "action" and one.status == "failed"), None)
    if failed is None or failed.item != (trouble.item or failed.item):
        return None
    same = Subject(failed.text.split())
    for place, after in enumerate(later):
        if after.kind == "action" and after.status == "completed" and same.coverage(after.text) >= _SAME_RUN:
            found = [one for one in later[:place] if one.kind == "discovery"]
            return [*found[:1], after]
    return None


def _ending(one: Evidence, subject: Subject, later: Sequence[Evidence], task: Snapshot) -> Evidence | None:
    """The event that ended a trouble."""
    if one.troubles:
        return next((after for after in later if after.clears_blockers), None)
    trouble = Subject(one.text.split())
    for after in later:
        if after.kind == "action" and after.status == "failed":
            continue
        if after.kind not in _REPORTS or after.troubles or trouble.coverage(after.text) < 0.25:
            continue
        if len(subject.missing(f"{_step_at(after, task)}. {after.text}")) < len(subject.words):
            return after
    return None


def _report(one: Evidence) -> Row:
    return show.event(one, ", ".join(one.troubles) or one.text)


def questions(intent: Intent, context: Context) -> Reply | None:
    """The open questions."""
    entries = context.task.questions
    if not entries:
        return Reply(text="No open question is recorded.")
    rows = [show.question(entry) for entry in reversed(entries)]
    return compose(
        rows, LIST, opening=f"{say(intent.language, 'questions')}: ", glue="; ", language=intent.language
    )


# --- values, files, commits -------------------------------------------------------------------------


def needs(intent: Intent, context: Context) -> Reply:
    """The latest values and the names in use; without names, files and commits."""
    task = context.task
    values = [
        Row(lambda most, entry=entry: show.value(entry).show(min(most, 120)), entry.seq)
        for entry in reversed(task.values)
    ]
    named = [plain(encode.name(encode.clip(name.name, 120))) for name in task.names]
    named = named or [*show.files(task), *show.commit_rows(context.commits[:8])]
    rows = [*values[:12], *named, *values[12:]]
    if not rows:
        return Reply(text="No value, name or file is recorded.")
    return compose(rows, LIST, glue=", " if task.names else "; ", least=40)


def files(intent: Intent, context: Context) -> Reply | None:
    """The files that were changed; one of them, if the question names it."""
    if context.subject:
        named_file = any("." in word.strip(".") or "/" in word for word in context.subject.words)
        if changed_file(context) is not None or intent.polar:
            return did(intent, context)
        texts = {one.seq: one.text for one in context.window}
        found = [
            file
            for file in context.task.files
            if context.subject.coverage(f"{file.path} {texts.get(file.seq, '')}") >= FITS
        ]
        if found:
            return compose(show.files(context.task.replace(files=tuple(found))), LIST, glue="; ")
        general = all(
            word.lower() in ("code", "workspace", "repo", "repository", "project")
            for word in context.subject.words
        )
        if named_file or not general:
            return None
    rows = show.files(context.task)
    if not rows:
        return Reply(text=say(intent.language, "files_none"))
    if intent.has("many"):
        count = len(context.task.files) + context.task.left_out.get("file", 0)
        return compose(rows, LIST, opening=f"{count}: ", glue="; ", language=intent.language)
    more = context.task.left_out.get("file", 0)
    return compose(rows, LIST, glue="; ", left_out=more, language=intent.language)


def commits(intent: Intent, context: Context) -> Reply | None:
    """The commits that were made."""
    found = list(context.commits)
    if context.subject and not intent.polar:
        found = fitting(context.subject, found, lambda commit: commit.subject) or found
    if not found:
        return Reply(text="No commit is recorded.")
    if intent.polar:
        made = [commit for commit in found if commit.made]
        if context.subject:
            made = fitting(context.subject, made, lambda commit: commit.subject)
        rows = show.commit_rows(made[:1])
        return compose(rows, PARAGRAPH, opening=f"{say(intent.language, 'yes')}: ") if rows else None
    return _some(intent, show.commit_rows(found), "Commits, newest first: ", 0)


# --- blockers ---------------------------------------------------------------------------------------


def blocking(intent: Intent, context: Context) -> Reply | None:
    """The blockers and open waits of now; of an old problem, the events about it."""
    task, language = context.task, intent.language
    rows = [*show.blockers(task, language), *(show.wait(wait, language) for wait in task.waits)]
    if context.subject:
        texts = [*task.blockers, *(wait.target for wait in task.waits)]
        texts += [item.active_issue or "" for item in task.steps]
        if not any(context.subject.coverage(text) >= FITS for text in texts):
            return _past_trouble(intent, context) or failed(intent, context)
    if task.status == "waiting":
        reason = f" for {quote(task.reason, 200)}" if task.reason else ""
        rows.insert(0, plain(f"The task is waiting{reason}."))
    if intent.has("wait") and not task.waits and task.status != "waiting" and language == "en":
        rows.insert(0, plain("The task is not waiting for anything on record."))
    if not rows:
        rows = [plain(say(language, "no_block"))]
    return compose(rows, LIST, least=60, language=language)


def _past_trouble(intent: Intent, context: Context) -> Reply | None:
    """What was in the way of the subject, or of the step about it, at some time."""
    best: tuple[float, Evidence] | None = None
    for one in context.window:
        if one.kind == "error" or one.troubles:
            step = _step_at(one, context.task)
            texts = " ".join((one.text, *one.details))
            share = max(context.subject.coverage(texts), 0.95 * context.subject.coverage(f"{texts} {step}"))
            if share >= FITS and (best is None or share >= best[0]):
                best = (share, one)
    if best is None:
        return None
    one = best[1]
    said = one.troubles or (one.text,)
    place = cite(one.seq, one.channel)
    rows = [Row(lambda most: f"{', '.join(quote(text, most) for text in said)}{place}", one.seq)]
    if one.text and one.troubles:
        rows.append(Row(lambda most: f"({quote(one.text, most)})"))
    return compose(rows, PARAGRAPH)


def _step_at(one: Evidence, task: Snapshot) -> str:
    """The title of the step that was in progress, or that the event is about."""
    for item in task.steps:
        begun = item.started_at is not None and item.started_at <= one.at
        if item.id == one.item or (begun and (item.completed_at is None or one.at <= item.completed_at)):
            return item.title
    return ""


def effects(intent: Intent, context: Context) -> Reply | None:
    """Side effects with an unknown outcome, otherwise those whose outcome is known."""
    if context.subject and intent.polar and not intent.has("effect"):
        return did(intent, context)
    rows = [show.effect(effect, intent.language) for effect in context.task.effects]
    if not rows:
        settled = [show.effect(effect, intent.language) for effect in context.task.settled[::-1]]
        return compose([plain("No side effect has an unknown outcome."), *settled], LIST, least=60)
    return compose(rows, LIST, glue="; ", language=intent.language)
