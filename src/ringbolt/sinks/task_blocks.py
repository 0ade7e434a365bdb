"""A task as the blocks of a document: headings, texts, bullets, and a box to tick for each step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.types import Entry, Step, Task, Value
from ..model.validate import dumps
from ..packet.encode import clip, one_line

# Types of blocks in a Lark document, and the field that holds the content of each.
PAGE, TEXT, HEADING, BULLET, TODO, DIVIDER = 1, 2, 4, 12, 17, 22
FIELDS = {PAGE: "page", TEXT: "text", HEADING: "heading2", BULLET: "bullet", TODO: "todo", DIVIDER: "divider"}
MOST_STEPS = 200
LONGEST = 1000  # characters of a block
_ENDED = ("completed", "skipped", "cancelled")


class Block(Value, frozen=True, kw_only=True):
    """A block; `step` is the step that a box stands for."""

    kind: int
    text: str = ""
    done: bool = False
    step: str | None = None

    @property
    def content(self) -> tuple[int, str, bool]:
        """What a reader sees."""
        return self.kind, self.text, self.done


def title_of(task: Task) -> str:
    """The title of a task's document; by its end, the document is found again."""
    return f"{clip(one_line(task.name), 200)} · {task.id}"


def blocks_of(task: Task) -> list[Block]:
    """The blocks that show a task."""
    return [
        *_status(task),
        *_sections(task),
        Block(kind=TEXT, text=f"Event {task.seq}, {task.updated_at}. {_NOTICE}"),
    ]


_NOTICE = "Ringbolt keeps everything above the line up to date; write below it, or comment."


def _status(task: Task) -> Iterator[Block]:
    parts = [task.status, task.phase] + ([f"{task.done} of {task.total} steps done"] if task.total else [])
    yield _text(TEXT, " · ".join(parts) + (f": {task.reason}" if task.reason else ""))
    if task.goal:
        yield _text(TEXT, task.goal)
    if following := task.next_step or task.current_title or task.next_title:
        yield _text(TEXT, f"Next: {following}")


def _sections(task: Task) -> Iterator[Block]:
    yield from _section("Steps", _steps(task))
    yield from _section("Blockers", (_text(BULLET, text) for text in task.blockers))
    yield from _section("Instructions", map(_entry, task.instructions))
    yield from _section("Decisions", map(_entry, task.decisions))
    yield from _section("Do not repeat", map(_entry, task.exclusions))
    yield from _section("Open errors", map(_entry, task.errors))
    yield from _section("Questions", map(_entry, task.questions))
    values = (
        _text(BULLET, f"{name} = {value if isinstance(value, str) else dumps(value)}")
        for name, value in task.variables.items()
    )
    yield from _section("Values", values)
    yield from _section("Result", [_text(TEXT, task.answer)] if task.answer else [])


def _section(title: str, blocks: Iterable[Block]) -> Iterator[Block]:
    if content := list(blocks):
        yield Block(kind=HEADING, text=title)
        yield from content


def _steps(task: Task) -> Iterator[Block]:
    live = [step for step in task.steps if step.dropped_in is None]
    hidden = live[:-MOST_STEPS]
    if hidden:
        done = sum(step.status == "completed" for step in hidden)
        yield Block(kind=TEXT, text=f"{len(hidden)} earlier steps, {done} of them completed")
    for number, step in enumerate(live[len(hidden) :], len(hidden) + 1):
        yield _step(number, step)


def _step(number: int, step: Step) -> Block:
    text = f"{number}. {step.title}"
    if step.status not in ("pending", "completed"):
        text += f" ({step.status})"
    if remark := step.active_issue or step.note:
        text += f" — {remark}"
    return _text(TODO, text).replace(done=step.status in _ENDED, step=step.id)


def _entry(entry: Entry) -> Block:
    data = entry.data
    text = str(data.get("choice") or entry.summary)
    if (title := data.get("title")) and title != text:
        text = f"{title}: {text}"
    if why := data.get("reasoning") or data.get("why") or data.get("symptom"):
        text += f" ({why})"
    return _text(BULLET, text)


def _text(kind: int, text: str) -> Block:
    return Block(kind=kind, text=clip(one_line(text), LONGEST) or "–")
