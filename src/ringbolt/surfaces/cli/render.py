"""Results as text for people: plain lines, with recorded text made safe for a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...model.event_names import event_name
from ...packet.effect_checks import natural_check
from ...packet.encode import pretty
from ..task_words import ago, steps_done
from .console import echo, is_terminal, line, say, warn
from .wording import cut, event_words

Data = Mapping[str, Any]


# Statuses of entries, in words for people.
_ENDED = {"invalidated": "undone", "superseded": "replaced"}
MARKS = {"completed": "x", "active": ">", "pending": " ", "failed": "!", "skipped": "-", "cancelled": "-"}


def text(data: Data) -> None:
    """The text of an answer, a packet or a summary."""
    say(data["text"].rstrip("\n"))


def plain(data: object) -> None:
    """A text, unchanged."""
    say(str(data).rstrip("\n"))


def minute(at: str | None) -> str:
    """A time to the minute."""
    return f"{at[:16]}Z" if at else ""


# --- tasks ------------------------------------------------------------------------------------------


def headline(task: Data) -> str:
    """A task in one line."""
    steps = f"; {done}" if (done := steps_done(task)) else ""
    life, reason = task["life"] or task["status"], task["reason"]
    why = f" ({line(reason)})" if reason and reason not in life else ""
    return f"{task['id']}  {line(task['name'])}  {life}{why}, {task['phase']}{steps}"


def steps(items: Iterable[Data]) -> list[str]:
    """A plan, a line for each step."""
    lines: list[str] = []
    for item in items:
        if item["dropped_in"] is not None:
            continue
        more = [f"after {', '.join(map(line, item['depends_on']))}"] if item["depends_on"] else []
        more += [line(item["note"])] if item["note"] else []
        more += [f"issue: {line(item['active_issue'])}"] if item["active_issue"] else []
        more += ["verified"] if item["evidence"] == "verified" else []
        more += ["its last check failed"] if item["evidence"] == "contradicted" else []
        mark = MARKS.get(item["status"], "?")
        remarks = f"  ({'; '.join(more)})" if more else ""
        lines.append(f"  [{mark}] {line(item['id'])}  {line(item['title'])}{remarks}")
    return lines


def task(data: Data) -> list[str]:
    """The state of a task, in lines."""
    lines = [headline(data)]
    if data["request"]:
        lines += ["Request", *(f"  | {part}" for part in _parts(data["request"]))]
    if data["goal"] not in (None, data["request"], data["name"]):
        lines.append(f"Goal: {line(data['goal'])}")
    inferred = "Plan, inferred from what was said" if data["plan_inferred"] else None
    lines += _section(inferred or f"Plan v{data['plan_version']}", steps(data["steps"]))
    lines += [f"Next: {line(data['next_step'])}"] if data["next_step"] else []
    lines += _section("Blocked by", (f"  {line(blocker)}" for blocker in data["blockers"]))
    lines += _section("Decisions", map(_decision, data["decisions"]))
    lines += _section("Failed or ruled out", map(_exclusion, data["exclusions"]))
    for title, name in _ENTRIES:
        lines += _section(title, map(_entry, data[name]))
    lines += _section(
        "Values", (f"  {line(name)} = {_value(value)}" for name, value in data["variables"].items())
    )
    lines += _section("Side effects with unknown outcome", map(_effect, data["effects"]))
    lines += _section("Files", (f"  {file['change']} {line(file['path'])}" for file in data["files"]))
    lines += _section("Claims", map(_claim, data["claims"]))
    lines += [f"Answer: {line(data['answer'])}"] if data["answer"] else []
    lines += [f"Error: {line(data['error']['message'])}"] if data["error"] else []
    left = {name: count for name, count in data["left_out"].items() if count}
    lines += [f"Left out: {', '.join(f'{count} {name}' for name, count in left.items())}"] if left else []
    return lines


_ENTRIES = (
    ("Errors", "errors"),
    ("Questions", "questions"),
    ("Instructions", "instructions"),
    ("Notes", "notes"),
)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    content = list(lines)
    return [title, *content] if content else []


def _parts(text: str) -> list[str]:
    return [line(part) for part in text.split("\n")]


def _decision(entry: Data) -> str:
    data = entry["data"]
    choice = line(data.get("choice", entry["summary"]))
    title = line(entry["summary"])
    why = f", because {line(data['reasoning'])}" if data.get("reasoning") else ""
    return f"  #{entry['seq']} {choice if title == choice else f'{title}: {choice}'}{why}"


def _exclusion(entry: Data) -> str:
    why = f", because {line(entry['data']['why'])}" if entry["data"].get("why") else ""
    return f"  #{entry['seq']} {line(entry['summary'])}{why}"


def _entry(entry: Data) -> str:
    detail = f": {line(entry['detail'])}" if entry["detail"] else ""
    return f"  #{entry['seq']} {entry['type']}: {line(entry['summary'])}{detail}"


def _effect(effect: Data) -> str:
    check = effect["verify"] or natural_check(effect["what"])
    return f"  #{effect['seq']} {line(effect['what'])}: unknown — verify with {line(check)}"


def _claim(claim: Data) -> str:
    what = f"step {line(claim['step'])}" if claim["step"] else "the task"
    return f"  {line(claim['holder'])} has {what} until {minute(claim['expires_at'])}"


def _value(value: Any) -> str:
    return line(value) if isinstance(value, str) else pretty(value, indent=None)


# --- events -----------------------------------------------------------------------------------------


def event(data: Data) -> str:
    """An event in one line."""
    who = data["origin"]["agent"] or data["origin"]["principal"]
    step = f" [{line(data['step'])}]" if data["step"] else ""
    return f"#{data['seq']} {minute(data['at'])} {line(who)}{step} {event_words(data, 200)}"


def event_in_full(data: Data) -> None:
    """An event with its data and changes."""
    origin = data["origin"]
    echo(f"{data['task_id']} #{data['seq']} {data['type']} at {data['at']}")
    who = ", ".join(f"{name} {line(value)}" for name, value in origin.items() if value)
    echo(f"by {who}")
    for name in ("step", "ref"):
        if data[name] is not None:
            echo(f"{name} {line(data[name])}")
    if data["text"]:
        say("\n".join(f"| {part}" for part in data["text"].split("\n")))
    for name in ("data", "sets"):
        if data[name]:
            echo(f"{name} {pretty(data[name])}")


def conflicts(found: Iterable[Data], who: str) -> None:
    """Tasks that two stores or machines continued differently."""
    for conflict in found:
        warn(
            f"two {who} continued {conflict['task_id']} differently from #{conflict['seq']} on;"
            f" the other history is kept as {conflict['kept_as']}"
        )


def thread(data: Data) -> None:
    """Events in order."""
    undone: set[int] = set()
    for row in reversed(data["events"]):
        if row["type"] == "undone" and row["seq"] not in undone:  # an undo that was itself undone
            undone.add(row["ref"])
    for row in data["events"]:
        echo(event(row) + (" (undone)" if row["seq"] in undone else ""))
    if not data["events"]:
        echo("No events.")
    if data["cursor"] is not None:
        warn(f"earlier events: --before {data['cursor']}")


def hits(data: Data) -> None:
    """Search results: each with its task, why it was found, and the matching words marked on a terminal."""
    for hit in data["hits"]:
        ended = (
            f", {_ENDED.get(hit['status'], hit['status'])}" if hit["status"] not in (None, "active") else ""
        )
        marked = _marker(hit["why"])
        echo(f"#{hit['seq']} {event_name(hit['type'])}{ended}: {marked(line(hit['title']))}")
        if hit["snippet"] and hit["snippet"] != hit["title"]:
            echo(f"    {marked(line(hit['snippet']))}")
        for anchor in hit["anchors"]:
            echo(f"    {anchor['state']}: {line(anchor['path'])}")
        where = f"{cut(hit['task_name'], 60)} ({hit['task_id']})"
        echo(f"    {where}, {ago(hit['at'])}; {line(hit['why'])}")
    if not data["hits"]:
        echo("Nothing found.")
    for warning in data["warnings"]:
        warn(warning)
    if data["cursor"] is not None:
        warn(f"more: --cursor {data['cursor']}")


def _marker(why: str) -> Callable[[str], str]:
    """A function that marks the words for which a result was found, if somebody looks at a terminal."""
    words = [word for word in re.findall(r"[\w.-]+", why.removeprefix("has ")) if len(word) > 1]
    if not words or not why.startswith("has ") or not is_terminal(sys.stdout) or os.environ.get("NO_COLOR"):
        return str
    pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
    return lambda text: pattern.sub(lambda found: f"\x1b[1m{found[0]}\x1b[22m", text)
