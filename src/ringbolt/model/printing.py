"""How values print: `str(value)` is what a person wants to read, `repr(value)` shows the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_LONGEST = 200
_MARKS = {"completed": "x", "active": ">", "failed": "!", "skipped": "-", "cancelled": "-"}


def printed(value: Any) -> str:
    """A value as text; its fields if it has no better form."""
    for kind in type(value).__mro__:
        if form := _FORMS.get(kind.__name__):
            return form(value)
    return repr(value)


def _clipped(text: Any) -> str:
    line = " ".join(str(text or "").split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"


def _lines(values: Iterable[Any], empty: str) -> str:
    return "\n".join(map(str, values)) or empty


def _written(value: Any) -> str:
    parts = [f"Task {value.task_id} #{value.seq}: {value.status}"]
    if value.total:
        parts.append(f"{value.done} of {value.total} steps done")
    parts += [f"{word} {name}" for word, name in (("now", value.current), ("next", value.next)) if name]
    lines = [", ".join(parts) + ".", *value.warnings, *map(str, value.patterns)]
    return "\n".join([*lines, *([value.answer.text] if value.answer else [])])


def _card(value: Any) -> str:
    parts = [f"{value.id}  {_clipped(value.name)}: {value.life or value.status}"]
    if value.total:
        parts.append(f"{value.done} of {value.total} steps done")
    if following := value.next_step or value.current_title or value.next_title:
        parts.append(f"next: {_clipped(following)}")
    if value.blockers:
        parts.append(f"blocked by: {_clipped(value.blockers[0])}")
    return ", ".join(parts)


def _task(value: Any) -> str:
    live = [item for item in value.steps if item.dropped_in is None]
    return "\n".join([_card(value), *(f"  {item}" for item in live)])


def _step(value: Any) -> str:
    mark = _MARKS.get(value.status, " ")
    issue = f" (issue: {_clipped(value.active_issue)})" if value.active_issue else ""
    return f"[{mark}] {value.id}  {_clipped(value.title)}{issue}"


def _entry(value: Any) -> str:
    ended = "" if value.status == "active" else f" ({value.status})"
    why = value.data.get("reasoning") or value.data.get("why") or value.detail
    return f"#{value.seq} {value.type}{ended}: {_clipped(value.summary)}" + (
        f" ({_clipped(why)})" if why else ""
    )


def _event(value: Any) -> str:
    return f"#{value.seq} {value.at} {value.type}" + (f": {_clipped(value.text)}" if value.text else "")


def _hit(value: Any) -> str:
    more = f": {_clipped(value.snippet)}" if value.snippet and value.snippet != value.title else ""
    return f"{value.task_id}#{value.seq} {value.type} {_clipped(value.title)}{more}"


def _wait(value: Any) -> str:
    result = f": {value.result}" if value.result else ""
    return f"{value.wait_id} {value.state}, {value.target} {value.until or ''}".rstrip() + result


_FORMS: dict[str, Callable[[Any], str]] = {
    "Answer": lambda value: value.text,
    "Summary": lambda value: value.text,
    "Packet": lambda value: value.text,
    "ActiveBlock": lambda value: value.text,
    "Written": _written,
    "Task": _task,
    "TaskCard": _card,
    "TaskPage": lambda value: _lines(value.tasks, "No tasks."),
    "Step": _step,
    "PlanVersion": lambda value: "\n".join([f"Plan v{value.version} #{value.seq}", *map(str, value.steps)]),
    "Entry": _entry,
    "Pattern": lambda value: f"In an earlier task, {value.sentence()}.",
    "Event": _event,
    "Thread": lambda value: _lines(value.events, "No events."),
    "Hit": _hit,
    "Recall": lambda value: _lines(value.hits, "Nothing found."),
    "WaitResult": _wait,
}
