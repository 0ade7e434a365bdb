"""Render a task as a states folder: four small files that agents read and people may write.

    .active-task            the id of the current task
    .task-<id>.json         goal, phase, progress, blockers, variables
    .decisions-<id>.md      each decision with its options and its reasoning
    .context-map-<id>.md    context, touched files, and approaches that did not work

Recorded text is escaped, so that it cannot begin an entry; states_reading restores it exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..model.trust import is_users
from ..model.types import Entry, Task, is_list
from ..packet.encode import clip, markdown, markdown_line, one_line, pretty

ACTIVE = ".active-task"
FORMAT = 1
# The fields of each type of entry in the order in which they are written, with their headings.
FIELDS: dict[str, dict[str, str]] = {
    "decision": {
        "choice": "Choice",
        "options": "Options considered",
        "reasoning": "Reasoning",
        "risks": "Risks",
        "if_wrong": "If wrong",
        "context": "Context",
        "detail": "Detail",
    },
    "exclusion": {
        "what": "What",
        "when": "When",
        "why": "Why",
        "symptom": "Symptom",
        "until": "Until",
        "signature": "Signature",
        "detail": "Detail",
    },
    **{
        kind: {"summary": "Summary", "detail": "Detail"}
        for kind in (
            "context", "discovery", "artifact", "tool_result", "question", "user_instruction", "error"
        )
    },
}  # fmt: skip
KINDS = {kind: kind.replace("_", " ").capitalize() for kind in FIELDS}
NOTES = tuple(kind for kind in KINDS if kind not in ("decision", "exclusion"))
DATA = "Data"


def task_path(task_id: str) -> str:
    """The file of a task's state."""
    return f".task-{task_id}.json"


def decisions_path(task_id: str) -> str:
    """The file of a task's decisions."""
    return f".decisions-{task_id}.md"


def map_path(task_id: str) -> str:
    """The file of a task's context map."""
    return f".context-map-{task_id}.md"


# --- state ------------------------------------------------------------------------------------------


def task_json(
    task: Task, variables: Mapping[str, Any], files: Mapping[str, str] | None = None, digest: str = ""
) -> str:
    """The state of a task; `files` holds the digests of its other files, so that edits can be detected."""
    # Edits of this file are read back, so it shows only steps that somebody wrote.
    live = [] if task.plan_inferred else [item for item in task.steps if item.dropped_in is None]
    steps = [_step(item.to_dict()) for item in live]
    progress = {
        "done": task.done,
        "total": task.total,
        "current": task.current,
        "next": task.next,
        "next_step": task.next_step,
        "steps": steps,
    }
    value = {
        "id": task.id,
        "name": task.name,
        "goal": task.goal,
        "status": task.status,
        "phase": task.phase,
        "reason": task.reason,
        "attention": task.attention,
        "progress": progress,
        "blockers": list(task.blockers),
        "variables": dict(variables),
        "ringbolt": {
            "format": FORMAT,
            "complete": True,
            "digest": digest,
            "seq": task.seq,
            **_own(task),
            "files": files or {},
        },
    }
    return pretty(value) + "\n"


def _step(item: Mapping[str, Any]) -> dict[str, Any]:
    names = ("id", "title", "status", "stage", "depends_on", "note", "active_issue", "detail")
    return {name: item[name] for name in names if item[name] not in (None, [], {})}


def _own(task: Task) -> dict[str, Any]:
    fields = task.to_dict()
    names = (
        "request", "kind", "tags", "metadata", "context", "acceptance", "approval_mode", "callback_url",
        "workspace", "archived", "answer", "error", "plan_version",
    )  # fmt: skip
    return {name: fields[name] for name in names if fields[name] not in (None, "", [], {}, False)}


# --- Markdown ---------------------------------------------------------------------------------------


def decisions_markdown(task: Task, decisions: Iterable[Entry]) -> str:
    """The decision log."""
    parts = [f"# Decisions: {markdown_line(one_line(task.name))}\n{_comment(_stamp(task))}\n"]
    parts += [entry_markdown(entry) for entry in decisions]
    return "\n".join(parts)


def map_markdown(task: Task, entries: Mapping[str, Sequence[Entry]]) -> str:
    """The context map: context, files, and exclusions."""
    parts = [f"# Context map: {markdown_line(one_line(task.name))}\n{_comment(_stamp(task))}\n"]
    notes = sorted((entry for kind in NOTES for entry in entries.get(kind, ())), key=lambda entry: entry.seq)
    for title, group in (("Context", notes), ("Exclusions", entries.get("exclusion", ()))):
        if title == "Exclusions" and task.files:
            files = sorted(task.files, key=lambda file: file.path)
            touched = (f"- {file.change}: {markdown_line(file.path)}\n" for file in files)
            parts.append("## Files\n\n" + "".join(touched))
        if group:
            parts += [f"## {title}\n", *(entry_markdown(entry) for entry in group)]
    return "\n".join(parts)


def _stamp(task: Task) -> dict[str, Any]:
    return {"format": FORMAT, "task": task.id, "seq": task.seq}


def entry_markdown(entry: Entry) -> str:
    """An entry: a heading with its time and title, and its fields."""
    data = {**entry.data}
    at = str(data.pop("recorded_at", entry.at))
    values: dict[str, Any] = {"summary": entry.summary}
    title = None
    meant = entry.summary
    if entry.type in ("decision", "exclusion"):
        values = {name: data.pop(name) for name in FIELDS[entry.type] if name in data}
    if entry.type == "decision":
        title = data.pop("title", None)
        meant = values.get("choice") if title is None else title
    elif entry.type == "exclusion":
        meant = values.get("what")
        values = {"when": at, **values, "signature": entry.key}
    values["detail"] = entry.detail
    own: dict[str, Any] = {
        "seq": entry.seq,
        "status": None if entry.status == "active" else entry.status,
        "step": entry.step,
        "tags": list(entry.tags),
        "relevance_to": list(entry.relevance_to),
        "by": entry.origin.channel,
        "untitled": entry.type == "decision" and title is None,
        # Only if it differs from the title, choice or approach.
        "summary": None if entry.summary == str(meant).strip() else entry.summary,
    }
    shown = clip(one_line(entry.summary), 80) if title is None else str(title)
    lines = [
        f"### [{markdown_line(at) if at else ''}] {_kind(entry)}: {markdown_line(shown)}",
        _comment({name: value for name, value in own.items() if value}),
    ]
    for name, word in FIELDS[entry.type].items():
        if values.get(name) is not None:
            lines.append(f"- **{word}**:{_value(values[name])}")
    if data:
        lines.append(f"- **{DATA}**: {_json(data)}")
    return "\n".join(lines) + "\n"


def _kind(entry: Entry) -> str:
    """What an entry is called: an instruction of the user only if the user gave it."""
    is_reported = entry.type == "user_instruction" and not is_users(entry.origin.channel)
    return KINDS["context" if is_reported else entry.type]


def _value(value: Any) -> str:
    """A field's value after its name: a text, a list of texts, or any other value as JSON."""
    if is_list(value) and value:
        return "".join(f"\n  - {_text(part, '    ')}" for part in value)
    return f" {_text(value, '  ')}"


def _text(value: Any, indent: str) -> str:
    return markdown(value, indent) if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    # Two backticks, and none inside: no recorded text looks like that, because its backticks are escaped.
    return f"``{_unmarked(value).replace('`', chr(92) + 'u0060')}``"


def _comment(value: Mapping[str, Any]) -> str:
    """A comment that only Ringbolt reads; its content cannot close it."""
    return f"<!-- ringbolt {_unmarked(value).replace('--', '-' + chr(92) + 'u002d')} -->"


def _unmarked(value: Any) -> str:
    return pretty(value, None).replace("<", "\\u003c").replace(">", "\\u003e")
