"""A task as an outline: its steps, and below each its actions, in as much detail as asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model.trust import TRUST
from ..model.types import Action, Channel, Snapshot, Step
from ..model.validate import dumps
from . import encode

MOST_ITEMS = 200
CHARACTERS = 32_000
TITLE, VALUE = 200, 400
MARKS = {
    "pending": " ", "active": ">", "completed": "x", "failed": "!", "skipped": "-", "cancelled": "-",
}  # fmt: skip


def outline(task: Snapshot, level: str, below: Mapping[str | None, Sequence[Action]]) -> tuple[str, Channel]:
    """The text, and its least trusted source."""
    lines: list[str] = []
    channels: set[Channel] = {"agent"}
    size = left_out = 0
    for line, channel in _rows(task, level, below):
        size += len(line) + 1
        if size > CHARACTERS:
            left_out += 1
            continue
        lines.append(line)
        channels.add(channel or "import")
    if left_out:
        lines.append(f"… {left_out} more lines")
    return "\n".join(lines) + "\n", max(channels, key=TRUST.index)


def _rows(
    task: Snapshot, level: str, below: Mapping[str | None, Sequence[Action]]
) -> Iterator[tuple[str, Channel | None]]:
    source = task.sources.get("name")
    head = f"{task.id} {_quote(task.name, TITLE)}: {task.status}, {task.done} of {task.total} steps done"
    yield head, source.channel if source else None
    live = [item for item in task.steps if item.dropped_in is None]
    for number, item in enumerate(live[-MOST_ITEMS:], 1 + max(0, len(live) - MOST_ITEMS)):
        yield _item(number, item)
        for action in below.get(item.id, ()):
            yield from _action(action, whole=level != "actions")
    known = {item.id for item in live}
    others = [action for action in below.get(None, ()) if action.step not in known]
    if others:
        yield "Not part of any step:", "agent"
        for action in others:
            yield from _action(action, whole=level != "actions")


def _item(number: int, item: Step) -> tuple[str, Channel | None]:
    sure = " (inferred)" if item.basis == "inferred" else ""
    line = f"{number}. [{MARKS[item.status]}] {item.id} {_quote(item.title, TITLE)}: {item.status}{sure}"
    sources = [item.sources.get("title")]
    for name, text in (("note", item.note), ("active_issue", item.active_issue)):
        if text:
            line += f"; {name.removeprefix('active_')} {_quote(text, TITLE)}"
            sources.append(item.sources.get(name))
    channels: list[Channel] = [source.channel if source else "import" for source in sources]
    return line, max(channels, key=TRUST.index)


def _action(action: Action, whole: bool) -> Iterator[tuple[str, Channel | None]]:
    channel = action.origin.channel
    tool = f" {encode.name(action.tool)}" if action.tool else ""
    yield f"   #{action.seq} {action.type}{tool} {action.status}: {_quote(action.summary, TITLE)}", channel
    if not whole:
        return
    for name in ("input", "output", "error"):
        value: Any = getattr(action, name)
        if value is not None:
            yield f"      {name} {_quote(value if isinstance(value, str) else dumps(value), VALUE)}", channel
    for log in action.logs[-20:]:
        yield f"      #{log.seq} log {_quote(log.text or '', VALUE)}", log.origin.channel


def _quote(text: str, most: int) -> str:
    return encode.quoted(encode.clip(encode.one_line(text), most))
