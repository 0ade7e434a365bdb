"""The text of the running summary, from a task's state: three to five sentences in a token budget. Pure.

What is done, begun and blocked always comes from the ledger's state, never from an earlier summary, so that
errors cannot build up. Recorded text is in quotation marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ledger.trust import least_trusted
from ..model.types import Channel, Entry, Event, Item, Name, Snapshot, Source, Value, is_dict
from ..model.validate import dumps
from ..packet import encode, tokens
from ..signals.step_numbers import number_ranges

BUDGET = 500  # tokens
# Characters of a text, and how many of each kind, from the fullest form to the shortest.
FORMS = ((120, 6), (80, 4), (50, 3), (30, 2), (16, 1), (0, 0))
# The kinds of names that count as details; there are too many identifiers.
DETAILS = {"version": "version", "url": "", "path": "", "ticket": "", "commit": "commit"}
MOST_RANGES = 12
LINE = 200  # characters of a line about one event


class Text(Value, frozen=True, kw_only=True):
    """A text and the least trusted channel that something in it came from."""

    text: str
    channel: Channel


# The channels that the texts of a summary came through; None for a text whose source is unknown.
_Channels = set[str | None]


def compose(task: Snapshot, budget: int = BUDGET, count: Callable[[str], int] = tokens.estimate) -> Text:
    """The summary of a task as it stands, in at most `budget` tokens."""
    found = Text(text="", channel="agent")
    for characters, most in FORMS:
        channels: _Channels = set()
        parts = (
            _completed(task, characters, most, channels),
            _current(task, characters, channels),
            _blockers(task, characters, most, channels),
            _details(task, characters, most, channels),
            _last(task, characters, channels),
        )
        found = Text(text=" ".join(f"{part}." for part in parts if part), channel=least_trusted(channels))
        if count(found.text) <= budget:
            break
    return found


# --- sentences --------------------------------------------------------------------------------------


def _quote(text: str, characters: int) -> str:
    return encode.quoted(encode.clip(encode.one_line(text), characters))


def _note(channels: _Channels, source: Source | None) -> None:
    channels.add(source.channel if source else None)


def _titled(number: int, item: Item, characters: int, channels: _Channels) -> str:
    if not characters:
        return f"step {number}"
    _note(channels, item.sources.get("title"))
    return f"step {number} {_quote(item.title, characters)}"


def _live(task: Snapshot) -> list[Item]:
    return [item for item in task.items if item.dropped_in is None]


def _completed(task: Snapshot, characters: int, most: int, channels: _Channels) -> str:
    live = _live(task)
    if not live:
        return "There is no plan"
    done = [(number, item) for number, item in enumerate(live, 1) if item.status == "completed"]
    if not done:
        return f"None of {task.total} steps is completed"
    plural = "s" if len(done) > 1 else ""
    which = number_ranges((number for number, _ in done), MOST_RANGES)
    said = f"Completed {task.done} of {task.total} steps: step{plural} {which}"
    inferred = [number for number, item in done if item.basis == "inferred"]
    if inferred:
        said += f" ({number_ranges(inferred, MOST_RANGES)} inferred)"
    lately = sorted(done, key=lambda pair: pair[1].version)[-most:] if most else []
    lately.sort(key=lambda pair: pair[0])
    titles = [_titled(number, item, characters, channels) for number, item in lately]
    return f"{said}; last {', '.join(titles)}" if titles else said


def _current(task: Snapshot, characters: int, channels: _Channels) -> str:
    """What is in progress or comes next; for a finished task, how it ended."""
    if task.status not in ("active", "waiting", "paused"):
        if task.answer and characters:
            _note(channels, task.sources.get("answer"))
            return f"The task is {task.status}: {_quote(task.answer, 2 * characters)}"
        return f"The task is {task.status}"
    live = _live(task)
    numbers = {item.id: number for number, item in enumerate(live, 1)}
    items = {item.id: item for item in live}
    said: list[str] = []
    if task.current in items:
        item = items[task.current]
        sure = " (inferred)" if item.basis == "inferred" else ""
        said.append(f"In progress: {_titled(numbers[item.id], item, characters, channels)}{sure}")
    if task.next in items:
        said.append(f"next: {_titled(numbers[task.next], items[task.next], characters, channels)}")
    if task.next_step and characters:
        _note(channels, task.sources.get("next_step"))
        said.append(f"noted as next: {_quote(task.next_step, characters)}")
    text = "; ".join(said) or ("All steps are over" if live else f"The task is {task.status}")
    return text[0].upper() + text[1:]


def _blockers(task: Snapshot, characters: int, most: int, channels: _Channels) -> str:
    """What is in the way: blockers, issues, failed steps, open errors."""
    said: list[str] = []
    if task.blockers:
        if characters:
            _note(channels, task.sources.get("blockers"))
        shown = [_quote(blocker, characters) for blocker in task.blockers[:most]] if characters else []
        said.append(f"blocked by {', '.join(shown) or f'{len(task.blockers)} things'}")
    for number, item in enumerate(_live(task), 1):
        if item.status == "failed" or (item.active_issue and item.status == "active"):
            what = item.active_issue or item.note
            words = "failed" if item.status == "failed" else "has an issue"
            line = f"step {number} {words}"
            if what and characters:
                _note(channels, item.sources.get("active_issue" if item.active_issue else "note"))
                line += f": {_quote(what, characters)}"
            said.append(line)
    said = said[: most + 1]
    if errors := list(task.errors):
        line = f"{len(errors)} open error{'s' if len(errors) > 1 else ''}"
        if characters:
            line += f", the last {_entry(errors[-1], errors[-1].summary, characters, channels)}"
        said.append(line)
    text = "; ".join(said) or "Nothing is known to block"
    return text[0].upper() + text[1:]


def _entry(entry: Entry, text: str, characters: int, channels: _Channels) -> str:
    channels.add(entry.origin.channel)
    return f"{_quote(text, characters)} (#{entry.seq})"


def _details(task: Snapshot, characters: int, most: int, channels: _Channels) -> str:
    """Values, versions, addresses and paths that the work is likely to need again."""
    if not most:
        return ""
    said: list[str] = []
    for entry in task.values[-most:]:
        channels.add(entry.origin.channel)
        value = entry.data.get("value")
        shown = _quote(value if isinstance(value, str) else dumps(value), characters)
        said.append(f"{encode.name(encode.clip(entry.key or '', 40))} = {shown} (#{entry.seq})")
    for name in _best_names(task.names, most):
        channels.add(name.channel)
        word = f"{DETAILS[name.kind]} " if DETAILS[name.kind] else ""
        said.append(f"{word}{encode.name(encode.clip(name.name, max(characters, 40)))} (#{name.seq})")
    return f"Key details: {', '.join(said)}" if said else ""


def _best_names(names: Sequence[Name], most: int) -> list[Name]:
    """The names that matter most, a few of each kind."""
    shown: dict[str, int] = {}
    best: list[Name] = []
    for name in names:
        if name.kind in DETAILS and shown.get(name.kind, 0) < max(1, most // 2):
            shown[name.kind] = shown.get(name.kind, 0) + 1
            best.append(name)
    return best[: 2 * most]


def _last(task: Snapshot, characters: int, channels: _Channels) -> str:
    """The last message."""
    said = next((moment for moment in task.recent if moment.type in _MESSAGES and moment.text), None)
    if said is None or not characters:
        return ""
    channels.add(said.channel)
    return f"Last said: {_quote(said.text, 2 * characters)} (#{said.seq})"


# --- what happened since ----------------------------------------------------------------------------

_MESSAGES = ("message", "task.updated", "item.updated", "task.finished")
_SILENT = ("task.focused", "claim.taken", "claim.released", "log")


def event_line(event: Event) -> str:
    """An event in one line; empty if it is of no interest here."""
    if event.type in _SILENT:
        return ""
    cite = f"#{event.seq}{encode.CLASS[event.origin.channel]}"
    moved = [
        f"{item} {row['status']}" for item, row in event.sets.get("steps", {}).items() if row.get("status")
    ]
    sure = " (inferred)" if moved and event.data.get("inferred") else ""
    steps = f" {encode.clip(', '.join(moved), 80)}{sure}" if moved else ""
    word = "" if event.type in (*_MESSAGES, "item.inferred") else f" {event.type}"
    about = f" {event.item}" if event.item and not moved else ""
    text = f" {_quote(event.text, LINE)}" if event.text else ""
    failed = " failed" if event.type.startswith("action") and _failed(event.sets) else ""
    return f"{cite}{word}{failed}{about}{steps}{text}" if word or steps or text else ""


def _failed(sets: Any) -> bool:
    return any(
        is_dict(row) and row.get("status") == "failed"
        for table in ("records", "+records")
        for row in sets.get(table, {}).values()
    )
