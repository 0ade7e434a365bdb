"""The YAML state of a task and its one-line form: small enough for every prompt.

It has the form that agents of other projects know: task, plan, subtasks, decisions_log, errors_encountered,
workspace_changes. The source of a text follows as a comment (`#8a`: event 8, by the agent), so that values
stay clean. Texts are always quoted, so that `NO` stays text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ..model.foreign_statuses import write_item_status, write_task_status
from ..model.lazy_regex import lazy_regex
from ..model.trust import is_users
from ..model.types import Entry, Snapshot, Source, Step
from ..model.validate import dumps
from . import encode, tokens
from .budget import Part, Row, fill

BUDGET = 1500
SUMMARY = 100
DECISIONS = 10
ERRORS = 5
INSTRUCTIONS = 5
# A plan with more steps is shown as a count, the current step and the next few.
ALL_STEPS = 15
NEXT_STEPS = 3


def yaml_state(task: Snapshot, budget: int = BUDGET, *, count: Callable[[str], int] = tokens.estimate) -> str:
    """The state of a task as YAML, within a token budget."""
    room = budget
    while True:
        text = fill(_parts(task), room, count)
        used = count(text)
        if used <= budget or room < budget // 2:
            return text
        room -= used - budget


def _parts(task: Snapshot) -> list[Part]:
    plan = [_line(0, "  version", task.plan_version)]
    if task.last_replanned_at:
        plan.append(_line(0, "  last_replanned", task.last_replanned_at))
    return [
        Part("task", _key("task"), _task(task)),
        Part("plan", _key("plan"), plan),
        _subtasks(task),
        _decisions(task),
        _errors(task),
        _instructions(task),
        Part("workspace_changes", _key("workspace_changes"), _changes(task)),
        Part(
            "blocker",
            _key("blockers"),
            [_item(2, text, _cite(task.sources.get("blockers"))) for text in task.blockers],
        ),
        _approvals(task),
        _exclusions(task),
        _variables(task),
        _proposals(task),
    ]


def _task(task: Snapshot) -> list[Row]:
    status = write_task_status("loom", task.status, task.phase, task.reason)

    def goal(most: int) -> str:
        return f"  goal: {_text(task.goal or task.name, most)}{_cite(task.sources.get('goal'))}"

    rows = [
        _line(0, "  id", task.id),
        _line(0.1, "  name", task.name, task.sources.get("name")),
        Row((1, lambda: goal(200)), (20, lambda: goal(800))),
        _line(0, "  status", status),
        _line(0, "  phase", task.phase),
        Row((0, lambda: f'  progress: "{task.done} of {task.total}"')),
    ]
    if task.workspace:
        rows.append(_line(3, "  workspace", task.workspace))
    if task.approval_mode != "auto":
        rows.append(_line(2, "  approval_mode", task.approval_mode))
    if task.next_step:
        rows.append(_line(2, "  next", task.next_step, task.sources.get("next_step"), 200))
    return rows


def _subtasks(task: Snapshot) -> Part:
    live = [item for item in task.steps if item.dropped_in is None]
    if len(live) <= ALL_STEPS:
        return Part("subtask", _key("subtasks"), [_subtask(task, item, 4) for item in live])
    open_steps = [item for item in live if item.status == "pending" and item.id != task.current]
    # What went wrong is shown however long the plan is; the rest is counted.
    chosen = {item.id for item in (*open_steps[:NEXT_STEPS], *filter(_needs_a_look, live))} | {task.current}
    rows = [_subtask(task, item, 2 if item.id == task.current else 2.5) for item in live if item.id in chosen]
    counts = Counter(write_item_status(item.status) for item in live)
    counted = ", ".join(f"{status}: {count}" for status, count in sorted(counts.items()))

    def heading(shown: int, total: int) -> str:
        return f"subtasks:  # {shown} of {total}\n  # {counted}"

    return Part("subtask", heading, rows, len(live))


def _needs_a_look(item: Step) -> bool:
    """Whether something is wrong with a step: it failed, something is in its way, or its check failed."""
    is_open = item.status in ("pending", "active")
    return item.status == "failed" or bool(item.active_issue and is_open) or item.evidence == "contradicted"


def _subtask(task: Snapshot, item: Step, wanted: float) -> Row:
    head = f"  - id: {encode.scalar(item.id)}{_cite(item.sources.get('title'))}"
    status = write_item_status(item.status)
    summary, source = _summary_of(task, item)

    def show(most: int) -> str:
        lines = [head, f"    status: {status}"]
        lines.append(f"    summary: {_text(summary, most)}{_cite(source)}")
        if item.active_issue:
            by = _cite(item.sources.get("active_issue"))
            lines.append(f"    active_issue: {_text(item.active_issue, most)}{by}")
        if item.depends_on:
            lines.append(f"    depends_on: [{', '.join(encode.scalar(name) for name in item.depends_on)}]")
        if item.status == "completed" and item.evidence in ("verified", "contradicted"):
            lines.append(f"    evidence: {item.evidence}")
        return "\n".join(lines)

    return Row((wanted, lambda: show(40)), (wanted + 8, lambda: show(SUMMARY)))


def _summary_of(task: Snapshot, item: Step) -> tuple[str, Source | None]:
    """A step in a line: its note, the message that completed it or mentioned it last, or its title."""
    if item.note:
        return item.note, item.sources.get("note")
    said = task.reports.get(item.id)
    if item.status == "active":
        said = next((one for one in task.recent if one.step == item.id and one.type in _MESSAGES), None)
    if said is None or not (text := _PREFIX.sub("", said.text).strip()):
        return item.title, None
    return text, Source(seq=said.seq, channel=said.channel)


_MESSAGES = ("message", "task.updated", "step.updated")
# The words that say which step a message is about.
_PREFIX = lazy_regex(
    r"^\s*(?:step|item|task)\s+#?\d+(?:\s*(?:/|of)\s*\d+)?\s*(?:is\s+|was\s+)?(?:now\s+)?"
    r"(?:done|completed?|finished|over)?\s*[-–—:.,;!✓✔]*\s*",
    re.I,
)


def _decisions(task: Snapshot) -> Part:
    shown = _newest(task.decisions, DECISIONS)
    rows = [_decision(entry, age) for age, entry in zip(range(len(shown), 0, -1), shown, strict=True)]
    return Part(
        "decision", _key("decisions_log"), rows, len(task.decisions) + task.left_out.get("decision", 0)
    )


def _decision(entry: Entry, age: int) -> Row:
    choice = str(entry.data.get("choice") or entry.summary)
    title = entry.data.get("title")
    text = f"{title}: {choice}" if title and title != choice else choice
    if entry.data.get("reasoning"):
        text += f" ({entry.data['reasoning']})"
    wanted = 5 if age <= 3 else 9 + age / 100
    return Row(
        (wanted, lambda: f"  - {_text(text, SUMMARY)}{_by(entry)}"),
        (wanted + 9, lambda: f"  - {_text(text, 3 * SUMMARY)}{_by(entry)}"),
    )


def _errors(task: Snapshot) -> Part:
    known = sorted((*task.errors, *task.resolved), key=lambda entry: entry.seq)
    rows = [_error(entry, 7) for entry in _newest(known, ERRORS)]
    return Part("error", _key("errors_encountered"), rows, len(known) + task.left_out.get("error", 0))


def _error(entry: Entry, wanted: float) -> Row:
    def show(most: int) -> str:
        lines = [f"  - error: {_text(entry.summary, most)}{_by(entry)}"]
        if entry.step:
            lines.append(f"    subtask: {encode.scalar(entry.step)}")
        if resolution := entry.data.get("resolution"):
            lines.append(f"    resolution: {_text(str(resolution), most)}")
        return "\n".join(lines)

    return Row((wanted, lambda: show(SUMMARY)), (wanted + 9, lambda: show(3 * SUMMARY)))


def _instructions(task: Snapshot) -> Part:
    """What the user said, the newest last."""
    shown = task.instructions[-INSTRUCTIONS:]
    rows = [
        _item(4.6 if age <= 2 else 8.5 + age / 100, entry.summary, _by(entry))
        for age, entry in zip(range(len(shown), 0, -1), shown, strict=True)
    ]
    total = len(task.instructions) + task.left_out.get("user_instruction", 0)
    return Part("user_instruction", _key("user_instructions"), rows, total)


def _changes(task: Snapshot) -> list[Row]:
    if not task.files:
        return []
    made = sum(file.change == "created" for file in task.files)
    rows = [
        _line(8, "  files_created", made),
        _line(8, "  files_modified", sum(file.change == "modified" for file in task.files)),
        _line(8, "  last_change", max(file.at for file in task.files)),
    ]
    if gone := sum(file.change == "deleted" for file in task.files):
        rows.append(_line(8, "  files_deleted", gone))
    if more := task.left_out.get("file", 0):
        rows.append(Row((8, lambda: f"  # {more} more files")))
    return rows


def _approvals(task: Snapshot) -> Part:
    """What waits for the user's word, and the last answers."""
    rows: list[Row] = []
    for one in task.approvals:
        note = f" ({one.note})" if one.note else ""
        cite = f"  # #{one.seq}{encode.CLASS[one.channel]}"
        rows.append(_item(3 if one.status == "pending" else 7.5, f"{one.status}: {one.what}{note}", cite))
    return Part("approval", _key("approvals"), rows, len(rows) + task.left_out.get("approval", 0))


def _exclusions(task: Snapshot) -> Part:
    rows: list[Row] = []
    for age, entry in zip(range(len(task.exclusions), 0, -1), task.exclusions, strict=True):
        why = entry.data.get("why") or entry.data.get("symptom")
        text = f"{entry.summary}: {why}" if why else entry.summary
        rows.append(_item(6 if age <= 5 else 11 + age / 100, text, _by(entry)))
    total = len(task.exclusions) + task.left_out.get("exclusion", 0)
    return Part("exclusion", _key("exclusions"), rows, total)


def _proposals(task: Snapshot) -> Part:
    """What waits for the user's word and is not in force."""
    rows = [
        _item(6.5, one.text, f"  # #{one.seq}{encode.CLASS[one.channel]}") for one in task.proposals[-ERRORS:]
    ]
    return Part("proposal", _key("proposed_not_in_force"), rows, len(task.proposals))


def _newest(entries: Sequence[Entry], most: int) -> list[Entry]:
    """The newest entries, oldest first; what the user wrote is left out last."""
    ranked = sorted(entries, key=lambda entry: (not is_users(entry.origin.channel), -entry.seq))
    return sorted(ranked[:most], key=lambda entry: entry.seq)


def _variables(task: Snapshot) -> Part:
    rows: list[Row] = []
    for age, entry in zip(range(len(task.values), 0, -1), task.values, strict=True):
        value = entry.data.get("value")
        shown = _text(value, SUMMARY) if isinstance(value, str) else encode.clip(dumps(value), SUMMARY)
        if not isinstance(value, (str, int, float)) and value is not None:
            shown = encode.scalar(shown)  # clipped JSON is not YAML
        name = encode.scalar(encode.clip(entry.key or "", SUMMARY))
        wanted = 6 if age <= 12 else 10 + age / 100
        line = f"  {name}: {shown}{_by(entry)}"
        rows.append(Row((wanted, lambda line=line: line)))
    return Part("variable", _key("variables"), rows, len(task.values) + task.left_out.get("variable", 0))


# --- pieces -----------------------------------------------------------------------------------------


def _key(name: str) -> Callable[[int, int], str]:
    return lambda shown, total: f"{name}:" if shown == total else f"{name}:  # {shown} of {total}"


def _line(wanted: float, name: str, value: Any, source: Source | None = None, most: int = SUMMARY) -> Row:
    shown = _text(value, most) if isinstance(value, str) else dumps(value)
    return Row((wanted, lambda: f"{name}: {shown}{_cite(source)}"))


def _item(wanted: float, text: str, cite: str) -> Row:
    return Row((wanted, lambda: f"  - {_text(text, SUMMARY)}{cite}"))


def _text(text: str, most: int) -> str:
    line = encode.one_line(text)
    if not line.isascii() and len(line) > most // 6:  # in scripts where a character may be a token or more
        return encode.scalar(tokens.fit(encode.clip(line, most), most // 3))
    return encode.scalar(encode.clip(line, most))


def _cite(source: Source | None) -> str:
    return f"  # #{source.seq}{encode.CLASS[source.channel]}" if source else ""


def _by(entry: Entry) -> str:
    return f"  # #{entry.seq}{encode.CLASS[entry.origin.channel]}"


# --- one line ---------------------------------------------------------------------------------------


def inline_state(task: Snapshot) -> str:
    """The state in one line, for hosts that keep nothing but the conversation."""
    phase = f"{task.phase} {task.done}/{task.total}" if task.steps else task.phase
    if task.next_step:
        following = _piece(task.next_step, task.sources.get("next_step"))
    elif (step := task.current_title or task.next_title) is not None:
        item = next((item for item in task.steps if item.id == (task.current or task.next)), None)
        following = _piece(step, item.sources.get("title") if item else None)
    else:
        following = "none"
    decision = "none"
    if task.decisions:
        last = task.decisions[-1]
        choice = str(last.data.get("choice") or last.summary)
        decision = f"{_cell(choice)} #{last.seq}{encode.CLASS[last.origin.channel]}"
    name = _piece(task.name, task.sources.get("name"))
    return f"[STATE] Task: {name} | Phase: {phase} | Next: {following} | Last decision: {decision}"


def _piece(text: str, source: Source | None) -> str:
    return _cell(text) + (f" #{source.seq}{encode.CLASS[source.channel]}" if source else "")


def _cell(text: str) -> str:
    return encode.prompt(encode.clip(encode.one_line(text), SUMMARY)).replace("|", "&#124;")
