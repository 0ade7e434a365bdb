"""Rows of a resume packet: one record each, in a short form and longer ones.

A row's priority says how soon each form is chosen (see `budget`); `resume` puts the rows into parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..ledger.inferred_plan import FROM_PROSE
from ..model.lazy_regex import lazy_regex
from ..model.types import (
    Criterion,
    Effect,
    Entry,
    Moment,
    Proposal,
    RelatedGoal,
    RunCommand,
    Snapshot,
    Source,
    Step,
    Wait,
    is_list,
)
from ..model.validate import dumps, seconds_of
from . import encode, tokens
from .budget import Row, Worth
from .effect_checks import check_of
from .selection import select
from .worth import REASON, of_step, worth

MARKS = {"pending": " ", "active": ">", "completed": "x", "failed": "!", "skipped": "-", "cancelled": "/"}

SUMMED = " | "  # between the line of an output that says most, and the one that sums it up
REST = 0.3  # of the worth of a failure, for more of its symptom
INSTEAD = 20  # characters of what worked instead
BRIEF = 30  # characters of a choice that may be in other words by chance
REFUSAL = 240  # characters of the user's words why something was refused
TOPIC = 44  # characters of what a decision was about
EARLY_WORDS = 100  # characters of a message by which it is known to be shown already
SHORT = 20  # characters of an attempt in its shortest form, without folders
_ADDRESS = lazy_regex(
    r"https?://([^\s/;]{1,80})(?:/[^\s/;]{1,200}){0,20}?((?:/[^\s/;]{1,200}){2})(?=[\s;]|$)"
)
_LAST_QUESTION = lazy_regex(r"(?:(?<=[.!?:])\s+|^)(?:\w{1,20}: )?[^.!?:]{1,400}\?\W*$")
_FOLDERS = lazy_regex(r"(?<![\w:/.~-])[\w.~-]*/(?:[\w.@~-]+/)*(?=[\w.-])")


def standing(task: Snapshot) -> str:
    """Status, phase and progress."""
    reason = f" ({encode.prompt(encode.clip(task.reason, 80))})" if task.reason else ""
    proven = f", {task.verified} verified" if task.verified else ""
    steps = f"; {task.done} of {task.total} steps done{proven}" if task.total else ""
    phase = "planning" if task.mode == "plan" else task.phase
    return f"{task.status}{reason}, phase {phase}{steps}"


# --- sessions, and what stands above all else -------------------------------------------------------

MOST_FORBIDDEN = 5
SHORT_REQUEST = 160  # characters of the request that every packet shows
# Modes of hosts in which the agent may not do all it could.
_MODES = {
    "plan": "Plan mode: the user has not approved a plan; do not edit",
    "read-only": "Read-only mode: do not edit",
    "dontAsk": "Mode dontAsk: tools that are not allowed already are refused",
}
_APPROVAL_MODES = {
    "confirm": "Approval mode confirm: a side effect waits for the user's word (task_intent asks)",
    "manual": "Approval mode manual: a step or side effect waits for the user's word before it begins",
}
# A clause in which the user forbids something. What people say about themselves begins otherwise.
_FORBIDS = lazy_regex(
    r"(?:^|[.!?;:,(\n]\s*(?:[-*]\s+)?|\b(?:but|and|so|then|also)\s+)(?:please\s+|just\s+)?"
    r"((?:do\s+not|don['’]?t|never|must\s+not|mustn['’]t)\s+"
    r"(?!worry|forget|hesitate|know|think|see|mind|bother|understand|have\b)\w[^.!?\n]*)",
    re.I,
)


def session_lines(task: Snapshot) -> list[Row]:
    """The modes of session and task, if they restrict the agent, and why its last turn broke off."""
    found: list[Row] = []
    if task.mode in _MODES:
        found.append(Row((0.5, lambda: _MODES[task.mode])))
    if (broke := task.interruption) is not None:
        until = f", may go on at {clock(broke.until, task)}" if broke.until else ""
        line = f"The last turn broke off at {clock(broke.at, task)}: {quote(broke.what, 100)}{until}"
        found.append(Row((0.6, lambda: line)))
    return [*found, *approvals(task)]


def request_seqs(task: Snapshot) -> set[int]:
    """The numbers of the events that began requests; some of them are instructions too."""
    first = task.sources.get("request")
    return {one.seq for one in task.new_requests} | ({first.seq} if first else set())


def forbidding(task: Snapshot) -> list[Entry]:
    """The last instructions with which the user forbids something, oldest first.

    The newest of all has its own row, which shows more of it.
    """
    begun = request_seqs(task)
    found = [
        entry for entry in task.instructions[:-1] if entry.seq not in begun and _FORBIDS.search(entry.summary)
    ]
    return found[-MOST_FORBIDDEN:]


def forbidden(task: Snapshot) -> list[Row]:
    """What the user forbade: the clause itself, and with more room all of the instruction.

    Of the present request, only what its short form does not reach.
    """
    found: list[Row] = []
    for age, entry in enumerate(reversed(forbidding(task))):
        match = _FORBIDS.search(entry.summary)
        clause = match[1] if match else entry.summary
        head, whole = f"The user said {by(entry)} ", with_detail(entry)
        longer = texts(head, whole, (9 + age / 100, 340), (30, 4000)).forms
        found.append(
            Row((1.6 + age / 100, lambda head=head, clause=clause: head + quote(clause, 160)), *longer)
        )
    return [*_forbidden_in_request(task), *found[::-1]]


def _forbidden_in_request(task: Snapshot) -> list[Row]:
    last = task.new_requests[-1] if task.new_requests else None
    text = last.text if last else task.request or ""
    named = f" #{last.seq}{encode.CLASS[last.channel]}" if last else cite(task.sources.get("request"))
    clauses = [match[1] for match in _FORBIDS.finditer(text[:20_000]) if match.end() > SHORT_REQUEST]
    return [
        Row(
            (2.25 + place / 100, lambda clause=clause: f"The request says{named} {quote(clause, 120)}"),
            tells=clause[:120],
        )
        for place, clause in enumerate(clauses[:2])
    ]


def work_tree(task: Snapshot) -> list[Row]:
    """Branch, last commit, what is not committed, and what was edited after the last check that passed."""
    tree = task.work_tree
    if tree is None:
        return []
    found: list[Row] = []
    place = [f"branch {encode.name(tree.branch)}"] if tree.branch else []
    if tree.commit:  # its subject stands among the commits, if it was made here
        short = tree.commit.split(" ", 1)[0]
        made_here = len(short) >= 7 and any(short[:7] in entry.summary for entry in task.notes)
        place.append(f"last commit {encode.name(short) if made_here else quote(tree.commit, 70)}")
    if place:
        found.append(Row((worth("branch"), lambda: f"#{tree.seq}t {', '.join(place)}")))
    if tree.last_check:
        word = {True: "passed", False: "failed", None: "ended"}[tree.last_check_ok]
        edited = [path.rsplit("/", 1)[-1] for path in tree.edited_since_check]
        check = tree.last_check

        def checked(most: int) -> str:
            since = f"; edited since: {_listed(edited, most)}" if edited else ""
            return f"Last check {quote(check, 80)} {word}{since}"

        found.append(Row((worth("check"), lambda: checked(2)), (9, lambda: checked(6))))
    # Files that were changed here are listed with a mark instead.
    folders = roots(task)
    changed = {from_root(file.path, folders) for file in task.files}
    paths = [path for dirty in tree.dirty if (path := from_root(dirty, folders)) not in changed]
    if paths:
        total = tree.dirty_count - len(tree.dirty) + len(paths)
        bare = [path.rsplit("/", 1)[-1] for path in paths]
        found.append(
            Row(
                (worth("not committed"), lambda: f"Not committed: {_listed(bare, 4, total)}"),
                (11, lambda: f"Not committed: {_listed(paths, 10, total)}"),
            )
        )
    return found


def _listed(paths: Sequence[str], most: int, total: int = 0) -> str:
    named = [encode.name(path) for path in paths[:most]]
    more = max(total, len(paths)) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def from_root(path: str, roots: Sequence[str]) -> str:
    """A path from the first of some folders that it is in."""
    for root in roots:
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def roots(task: Snapshot) -> list[str]:
    """The folders that paths are shown from: the workspace, or the one that all files of the task are in."""
    return [*([task.workspace] if task.workspace else []), *_shared_folder(task)]


def _shared_folder(task: Snapshot) -> list[str]:
    """The folder outside the workspace that all changed files with a full path are in, if there is one."""
    full = [file.path.split("/")[:-1] for file in task.files if file.path.startswith("/")]
    if len(full) < 2:
        return []
    shared = 0
    while all(len(parts) > shared and parts[shared] == full[0][shared] for parts in full):
        shared += 1
    return ["/".join(full[0][:shared])] if shared > 2 else []


def run_command(one: RunCommand, wanted: float) -> Row:
    """A command that worked here, what it needs, and what did not work instead."""

    def show(most: int) -> str:
        needs = f"; needs {quote(one.needs, most)}" if one.needs else ""
        instead = f"; not {quote(one.instead_of, most)}" if one.instead_of else ""
        return f"{one.kind} #{one.seq}t {quote(one.command, most)}{needs}{instead}"

    return Row((wanted, lambda: show(110)), (30, lambda: show(600)))


def blockers(task: Snapshot) -> list[Row]:
    """What is in the way, and what needs a person's attention."""
    named = cite(task.sources.get("blockers"))
    found = [texts(f"Blocked{named}: ", text, (3, 120), (10, 400), (35, 2000)) for text in task.blockers]
    if task.attention:
        named = cite(task.sources.get("attention"))
        found.append(texts(f"Needs attention{named}: ", task.attention, (5, 120), (36, 500)))
    return found


def approvals(task: Snapshot) -> list[Row]:
    """The approval mode if it restricts the agent, what waits for the user's word, and the last answers."""
    if task.approval_mode == "auto" and not task.approvals:
        return []
    found: list[Row] = []
    if rule := _APPROVAL_MODES.get(task.approval_mode):
        found.append(Row((1.55, lambda: rule)))
    for place, one in enumerate(task.approvals):
        head = f"#{one.seq}{encode.CLASS[one.channel]} {quote(one.what, 120)}"
        note = f": {quote(one.note, 160)}" if one.note else ""
        if one.status == "pending":
            line = f"Waits for the user's word {head}; do not do it before"
        elif one.status == "rejected":
            line = f"The user said no to {head}{note}"
        else:
            line = f"The user allowed {head}{note}"
        wanted = {"pending": 1.56, "rejected": 1.9, "approved": 4.4}[one.status] + place / 1000
        found.append(Row((wanted, lambda line=line: line)))
    return found


def lessons(task: Snapshot) -> list[Row]:
    """What would have saved an earlier task like this one."""
    found: list[Row] = []
    for place, one in enumerate(task.lessons):
        lesson = one.sentence(lambda text: quote(text, 110))
        line = f"From earlier task {one.task_id} #{one.seq}{encode.CLASS[one.channel]}: {lesson}"
        found.append(Row((3.4 + place / 100, lambda line=line: line)))
    return found


def at_work(task: Snapshot) -> list[Row]:
    """Helpers that have not reported, claims, and other sessions at work nearby."""
    found: list[Row] = []
    for place, one in enumerate(task.helpers):
        named = f" task {one.task_id}" if one.task_id else ""
        head = f"At work since {clock(one.since, task)}:{named} {encode.CLASS[one.channel]} "
        line = f"{head}{quote(one.what, 100)}; its result is not in yet, do not start it again"
        found.append(Row((1.7 + place / 100, lambda line=line: line)))
    for place, claim in enumerate(task.claims):
        what = f"step {encode.name(claim.step)}" if claim.step else "this task"
        line = f"{quote(claim.holder, 60)} has claimed {what} until {clock(claim.expires_at, task)}"
        found.append(Row((4.2 + place / 100, lambda line=line: line)))
    for place, other in enumerate(task.neighbours):
        since = clock(other.since, task)
        step = f", step {quote(other.step, 60)}" if other.step else ""
        if other.task_id == task.id:
            line = f"Another session works on this very task since {since}{step}"
        elif other.task_id is None:
            line = f"Another session is open in this folder since {since}"
        else:
            name = f"{encode.CLASS[other.channel]} {quote(other.name or '', 60)}"
            line = f"Another session works in this folder since {since}: task {other.task_id} {name}{step}"
        found.append(Row(((1.8 if other.task_id == task.id else 4.3) + place / 100, lambda line=line: line)))
    return found


def clock(at: str, task: Snapshot) -> str:
    """A time to the minute, with its date if that is not the day of the task's last change."""
    return f"{at[11:16]}Z" if at[:10] == task.updated_at[:10] else f"{at[:16]}Z"


def related_goal(goal: RelatedGoal) -> Row:
    """The goal that a task serves, its progress, and whether it is stopped."""
    if goal.name is None:
        return texts("Related goal: ", goal.id, (6, 80), (34, 500))
    met = f", {goal.met} of {goal.total} criteria met" if goal.total else ""
    reason = f" ({encode.prompt(encode.clip(goal.reason, 80))})" if goal.reason else ""
    stands = f"{goal.status}{reason}{met}"
    if goal.reason in ("blocked", "budget"):
        stands += "; stopped until it is reset"

    def show(most: int) -> str:
        return f"Related goal {goal.id} {quote(goal.name or '', most)}: {stands}"

    return Row((6, lambda: show(60)), (34, lambda: show(500)))


def criterion(one: Criterion) -> Row:
    """A criterion of a goal, with its evidence."""

    def show(most: int, whole: bool) -> str:
        line = f"Criterion #{one.seq}{encode.CLASS[one.channel]} {one.status}: {quote(one.text, most)}"
        if whole and one.evidence:
            line += f"; #{one.evidence_seq} {quote(one.evidence, most)}"
        return line

    wanted = 5 if one.status in ("open", "failed") else 9
    return Row((wanted, lambda: show(100, False)), (wanted + 26, lambda: show(600, True)))


def mark(item: Step) -> str:
    if item.status == "completed":
        return "~" if item.basis == "inferred" else "v" if item.evidence == "verified" else "x"
    return MARKS[item.status]


def step(item: Step, distance: int, turn: bool) -> Row:
    """A step of the plan: the current and next step first, open ones before finished ones."""
    over = item.status in ("completed", "skipped", "cancelled")
    wanted = 2.1 if turn else of_step(item, distance)

    def show(most: int) -> str:
        line = f"[{mark(item)}] {item.id}{letter(item.sources.get('title'))} {quote(item.title, most)}"
        if item.dropped_in is not None and item.status == "completed":
            line += " from an earlier plan"
        if item.status == "completed" and item.evidence == "contradicted":
            line += "; its last check failed"
        if item.depends_on and not over:
            line += f" after {', '.join(item.depends_on)}"
        if item.replaced_by:
            line += f" replaced by {item.replaced_by}"
        for name, text in (("issue", item.active_issue), ("note", item.note)):
            if text:
                source = item.sources.get("active_issue" if name == "issue" else "note")
                line += f"; {name}{cite(source)} {quote(text, most)}"
        return line

    # Open steps that were found in the request are read there.
    open_in_prose = item.status == "pending" and not turn and FROM_PROSE in item.detail
    return Row(
        (wanted, lambda: show(90)), (34, lambda: show(2000)), tells=item.title if open_in_prose else ""
    )


def earlier_step(item: Step, age: int) -> Row:
    """What was done for an earlier request; `age` counts the later ones."""
    return texts(
        f"{letter(item.sources.get('title')).strip()} ", item.title, (of_step(item, age), 90), (34, 2000)
    )


def step_line(name: str, item: Step | None, title: str) -> Row:
    """The current or next step by its id, since the plan has its title; with more room the title too."""

    def show(most: int) -> str:
        named = f"{item.id}{letter(item.sources.get('title'))} " if item else ""
        return f"{name}: {named}{quote(title, most)}"

    if item is None:
        return Row((2, lambda: show(70)))
    return Row((2, lambda: f"{name}: {item.id}"), (25, lambda: show(2000)))


def instruction(entry: Entry, wanted: float) -> Row:
    return texts(f"{by(entry)} ", with_detail(entry), (wanted, 140), (13, 340), (30, 4000))


def proposal(one: Proposal, age: int) -> Row:
    """Something that an agent wanted and only the user may do."""
    head = f"#{one.seq}{encode.CLASS[one.channel]} "
    return texts(head, one.text, (4.4 + age / 100, 120), (14 + age / 100, 400))


def commit(entry: Entry, wanted: float) -> Row:
    what = entry.summary.removeprefix("commit").lstrip(": ")
    return texts(f"{by(entry)} ", what, (wanted, 90), (27.5, 400))


# Fields of a decision, and the words that introduce them.
_BESIDE = (("options", "from"), ("risks", "risks"), ("if_wrong", "if wrong"), ("context", "context"))


def decision(entry: Entry, wanted: float) -> Row:
    data = entry.data
    choice = str(data.get("choice") or entry.summary)
    title = data.get("title")

    def show(most: int, whole: bool, why: bool = True) -> str:
        line = f"{by(entry)} "
        if title and title != choice:
            line += f"{quote(str(title), most if whole else TOPIC)}: "
        line += quote(choice, most)
        line += f" because {quote(str(data['reasoning']), most)}" if why and data.get("reasoning") else ""
        if whole:
            for name, words in _BESIDE:
                if data.get(name):
                    line += f"; {words} {quote(plain(data[name]), most)}"
        return line

    return Row(
        (wanted, lambda: show(80, False, why=False)),
        (Worth(wanted * REASON), lambda: show(140, False)),
        (8.1, lambda: show(320, False)),
        (30, lambda: show(2000, True)),
        tells=(choice if len(choice) > BRIEF else f"{choice} {data.get('reasoning') or ''}")
        if data.get("inferred")
        else "",
    )


def exclusion(entry: Entry, wanted: float) -> Row:
    """A failed attempt and the reason; in little room the reason says more than the attempt."""
    data = entry.data
    where = f" in {entry.step}" if entry.step and entry.type == "error" else ""
    why = data.get("why") or data.get("symptom")

    attempt = str(data.get("what") or entry.summary)

    def show(what: int, most: int, whole: bool) -> str:
        short = attempt if what > SHORT else _FOLDERS.sub("", attempt)
        line = f"{by(entry)}{where} {quote(short, what)}: {symptom(str(why), most)}"
        if whole and data.get("why") != data.get("symptom") and data.get("why") and data.get("symptom"):
            line += f"; symptom {quote(str(data['symptom']), most)}"
        if data.get("worked"):  # without it, the row would read as if nothing had worked
            worked = str(data["worked"])
            other = worked if whole else _differing(short, _FOLDERS.sub("", worked))
            alike = not whole and other[: INSTEAD - 1] == short[: INSTEAD - 1]
            line += "; worked later" if alike else f"; instead {quote(other, most if whole else INSTEAD)}"
        return line + (f"; until {data['until'][:16]}Z" if data.get("until") else "")

    if not why:
        return texts(f"{by(entry)}{where} ", with_detail(entry), (wanted, 140), (30, 2000))
    return Row(
        (wanted, lambda: show(SHORT, REFUSAL if data.get("rejected") else 90, False)),
        (Worth(wanted * REST), lambda: show(SHORT, 130, False)),
        (8.2, lambda: show(SHORT, 320, False)),
        (12.5, lambda: show(70, 320, False)),
        (26, lambda: show(300, 320, True)),
        (30, lambda: show(2000, 2000, True)),
    )


def _differing(attempt: str, worked: str) -> str:
    """The part of a command that worked from where it differs from the attempt."""
    tried, done = attempt.split(), worked.split()
    same = 0
    while same < min(len(tried), len(done) - 1) and tried[same] == done[same]:
        same += 1
    return f"…{' '.join(done[same:])}" if same > 1 else worked


def symptom(text: str, most: int) -> str:
    """What went wrong, in at most `most` characters. The line that sums it up (after the bar) is short and is
    kept whole; the line before it, which says where, is cut for it."""
    line = encode.one_line(text)
    where, bar, summed = line.rpartition(SUMMED)
    if len(line) <= most or not bar:
        return quote(line, most)
    summed = cut(summed, most - 24)
    room = most - len(summed) - len(SUMMED)
    return encode.quoted(f"{cut(where, room)}{SUMMED}{summed}" if room >= 20 else summed)


# How most errors end, and what is said of it in little room: for the first, the heading says enough.
_USUAL_ENDS = {"the same worked later": "", "not tried again": " (left)"}


def settled(entry: Entry, wanted: float) -> Row:
    """A resolved error, and how it was resolved."""
    failed = str(entry.data.get("symptom") or entry.data.get("why") or entry.summary)
    how = entry.data.get("resolution")

    def show(most: int, whole: bool) -> str:
        usual = None if whole or not how else _USUAL_ENDS.get(str(how))
        end = usual if usual is not None else f": {quote(str(how), most)}" if how else ""
        return f"{by(entry)} {symptom(failed, most)}{end}"

    return Row(
        (wanted, lambda: show(90, False)),
        (Worth(wanted * REST), lambda: show(130, False)),
        (8.3, lambda: show(300, True)),
        (30, lambda: show(1000, True)),
        tells=encode.one_line(failed).rpartition(SUMMED)[2][:60],  # the same failure is read once
    )


def note(entry: Entry, wanted: float) -> Row:
    if entry.type == "tool_result":  # what a helper reported, which is often its only trace
        whole = encode.one_line(entry.detail or entry.summary)
        return sized(
            lambda most: f"{by(entry)} {quote(encode.clip_to_sentence(whole, most), most)}",
            *((wanted - 13, 160), (wanted - 10, 500), (60, 1500)),
        )
    row = texts(f"{by(entry)} {entry.type} ", with_detail(entry), (wanted, 140), (60, 1500))
    row.tells = entry.summary
    return row


def question(entry: Entry) -> Row:
    return texts(f"{by(entry)} ", with_detail(entry), (4, 140), (36, 2000))


def variable(entry: Entry, wanted: float) -> Row:
    value = entry.data.get("value")
    before = f"{by(entry)} {encode.name(encode.clip(entry.key or '', 80))} = "
    if value is None or isinstance(value, (bool, int, float)):
        return Row((wanted, lambda: before + encode.clip(dumps(value), 100)))
    text = value if isinstance(value, str) else dumps(value)
    row = texts(before, text, (wanted, 100), (31, 4000))
    row.tells = text if entry.data.get("inferred") else ""
    return row


def effect(effect: Effect) -> Row:
    """A side effect that was begun and whose outcome is unknown."""
    number = f"#{effect.seq}{encode.CLASS[effect.channel]}"
    check, recorded = check_of(effect)

    def show(most: int) -> str:
        how = quote(check, most) if recorded else check
        return f"{number} {quote(effect.what, most)}: unknown — verify with {how}{_noted(effect, most)}"

    return Row((3, lambda: show(90)), (28, lambda: show(2000)))


def settled_effect(effect: Effect, wanted: float) -> Row:
    """A side effect with a known outcome."""
    number = f"#{effect.seq}{encode.CLASS[effect.channel]}"

    def show(what: int, most: int) -> str:  # the heading says whether it was done
        call = effect.what if len(effect.what) <= what else _ADDRESS.sub(r"\1…\2", effect.what)
        return f"{number} {quote(call, what)}{_noted(effect, most)}"

    failed = effect.status == "did_not"  # the error may stand among the failures
    return Row(
        (wanted, lambda: show(48, 48)),
        (9.2, lambda: show(70, 70)),
        (35, lambda: show(1000, 1000)),
        tells=effect.outcome or "" if failed else "",
    )


def _noted(effect: Effect, most: int) -> str:
    """The note on an outcome, which may have another author; the end of an address says most."""
    if not effect.outcome:
        return ""
    note = effect.outcome if len(effect.outcome) <= most else _ADDRESS.sub(r"…\2", effect.outcome)
    return f"; #{effect.outcome_seq}{encode.CLASS[effect.outcome_channel]} {quote(note, most)}"


def wait(wait: Wait) -> Row:
    number = f"#{wait.seq}{encode.CLASS[wait.channel]}"
    until = f" until {quote(wait.until, 120)}" if wait.until else ""
    return Row((5, lambda: f"{number} {quote(wait.target, 120)}{until}"))


def over(moment: Moment, wanted: float) -> Row:
    number = f"#{moment.seq}{encode.CLASS[moment.channel]}"
    return texts(f"{number} ", moment.text, (wanted, 160), (wanted + 30, 1000))


def last_words(moment: Moment, wanted: float, answered: bool = False) -> Row:
    """What was said lately, in whole sentences; a question at its end only while it is open."""
    head = f"#{moment.seq}{encode.CLASS[moment.channel]}{f' {moment.step}' if moment.step else ''} "
    text = encode.one_line(moment.text)
    while answered and (shorter := _LAST_QUESTION.sub("", text)) not in ("", text):
        text = shorter

    def show(most: int) -> str:
        return head + encode.quoted(cut(encode.clip_to_sentence(text, most), most))

    return Row((wanted, lambda: show(140)), (8.4, lambda: show(400)), (36, lambda: show(1000)))


def earlier_words(moment: Moment, wanted: float) -> Row:
    """What the agent said before its last words, for room that nothing else needs."""
    row = last_words(moment, wanted)
    return Row((wanted, row.forms[1][1]), tells=moment.text[:EARLY_WORDS])


def moment(moment: Moment, wanted: float) -> Row:
    number = f"#{moment.seq}{encode.CLASS[moment.channel]}"
    about = f" {moment.step}" if moment.step else ""
    status = f" {moment.status}" if moment.type == "action" and moment.status else ""
    word = "" if moment.type in ("message", "task.updated", "step.updated") else f" {moment.type}{status}"
    return texts(f"{number}{about}{word} ", moment.text, (wanted, 100), (wanted + 30, 1000))


# --- texts ------------------------------------------------------------------------------------------


def sized(show: Callable[[int], str], *lengths: tuple[float, int]) -> Row:
    """A row in several lengths: `show(most)` makes each from its number of characters."""
    return Row(*((wanted, lambda most=most: show(most)) for wanted, most in lengths))


def texts(before: str, text: str, *lengths: tuple[float, int]) -> Row:
    """A row with one text in several lengths."""
    return sized(lambda most: f"{before}{quote(text, most)}", *lengths)


def quote(text: str, most: int) -> str:
    return encode.quoted(cut(encode.one_line(text), most))


def chosen(text: str, most: int) -> str:
    """At most `most` characters of a text: whole sentences, chosen by their worth."""
    return cut(select(text, most), most)


def quote_chosen(text: str, most: int) -> str:
    """The same on one line, in quotation marks."""
    return encode.quoted(cut(encode.one_line(select(text, most)), most))


def cut(text: str, most: int) -> str:
    """At most `most` characters of a text, fewer in scripts where a character can be a token or more."""
    if text.isascii() or len(text) <= most // 6 or len(text[:most].encode(errors="replace")) <= most * 1.1:
        return encode.clip(text, most)
    return (
        tokens.fit(text[:most], most // 4)
        if len(text) <= most
        else tokens.fit(f"{text[:most]} ", most // 4 - 1)
    )


def cite(source: Source | None) -> str:
    return f" #{source.seq}{encode.CLASS[source.channel]}" if source else ""


def letter(source: Source | None) -> str:
    return f" {encode.CLASS[source.channel if source else None]}"


def by(entry: Entry) -> str:
    return f"#{entry.seq}{encode.CLASS[entry.origin.channel]}"


def with_detail(entry: Entry) -> str:
    return f"{entry.summary} — {entry.detail}" if entry.detail else entry.summary


def plain(value: Any) -> str:
    if is_list(value):
        return ", ".join(plain(part) for part in value)
    return value if isinstance(value, str) else dumps(value)


def age(at: str, now: str) -> str:
    """How long ago a moment was, coarsely: it changes at most once an hour."""
    hours = int((seconds_of(now) - seconds_of(at)) // 3600)
    if hours < 0:
        return "in the future by this clock"
    return "within the hour" if hours == 0 else f"{hours} h ago" if hours < 48 else f"{hours // 24} d ago"
