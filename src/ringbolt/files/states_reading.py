"""Read the files of a states folder: exactly what Ringbolt wrote, and leniently what people wrote.

An entry starts with a heading (`### [time] Decision: title`) or, without one, with its first field
(`- **What**: …`). Lines outside any entry are reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_dict, is_list
from ..packet.encode import from_markdown, read_json
from .states import DATA, FIELDS, KINDS

_KINDS = {word.lower(): kind for kind, word in KINDS.items()}
_NAMES = {
    **{word.lower(): name for fields in FIELDS.values() for name, word in fields.items()},
    "options": "options",
    "option": "options",
    "risk": "risks",
    DATA.lower(): "data",
}
# The field that starts an entry without a heading.
_FIRST = {"choice": "decision", "what": "exclusion", "summary": "context"}
_HEADING = lazy_regex(r"(#{1,6})[ \t]+(.*?)[ \t]*")
_ENTRY = lazy_regex(
    r"(?:\[((?:\\.|[^\]\\])*)\][ \t]*|(\d[^A-Za-z]*(?:T[\d:.]+Z?)?)[ \t]+)?("
    + "|".join(re.escape(word) for word in _KINDS)
    + r")[ \t]*:[ \t]*(.*)",
    re.IGNORECASE,
)
_BOLD = lazy_regex(r"[ \t]*(?:[-*+][ \t]+)?\*\*([^*:]{1,60})(?:\*\*[ \t]*:|:[ \t]*\*\*)[ \t]*(.*)")
_PLAIN = lazy_regex(r"[-*+][ \t]+([A-Za-z][A-Za-z ]{0,30})[ \t]*:[ \t]*(.*)")
_BULLET = lazy_regex(r"[-*+][ \t]+(.*)")
_FILE = lazy_regex(r"[-*+][ \t]+(created|modified|deleted):[ \t]+(.*)")
_COMMENT = lazy_regex(r"<!-- ringbolt (.*) -->")


class Note(Value, frozen=True, kw_only=True):
    """An entry of a file: its kind, its time as written, its fields, other data, and our own comment."""

    kind: str
    line: int
    at: str | None = None
    title: str | None = None
    fields: Mapping[str, Any]
    data: Mapping[str, Any]
    own: Mapping[str, Any]


class Notes(Value, frozen=True, kw_only=True):
    """The entries and files in a Markdown file, and the numbers of lines that were not understood."""

    notes: tuple[Note, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    unread: tuple[int, ...] = ()


def read_notes(text: str, kind: str) -> Notes:
    """Parse a file; `kind` is the default type of entries."""
    reader = _Reader(kind)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        reader.take(number, line.removesuffix("\r"))
    reader.end_entry()
    return Notes(notes=tuple(reader.notes), files=tuple(reader.files), unread=tuple(reader.unread))


class _Reader:
    """Parses a file line by line."""

    def __init__(self, kind: str) -> None:
        self.notes: list[Note] = []
        self.files: list[tuple[str, str]] = []
        self.unread: list[int] = []
        self._section = self._kind = kind
        self._entry: dict[str, Any] | None = None
        self._field: str | None = None
        self._lines: list[str] = []

    def take(self, number: int, line: str) -> None:
        """Read the next line."""
        if match := _HEADING.fullmatch(line):
            self._heading(number, len(match[1]), match[2])
        elif match := _COMMENT.fullmatch(line):
            self._own(match[1])
        elif self._section == "files" and (match := _FILE.fullmatch(line)):
            self.files.append((from_markdown(match[2]), match[1]))
        elif (match := _BOLD.fullmatch(line)) or (match := self._plain(line)):
            self._begin_field(number, match[1].strip(), match[2])
        elif self._field is not None and (not line.strip(" \t") or line[:1] in (" ", "\t")):
            self._lines.append(line)
        elif not line.strip(" \t") or line.startswith("<!--"):
            self._end_field()
        elif self._section in ("context", "files") and (match := _BULLET.fullmatch(line)):
            self._end_field()
            self._bare(number, match[1])
        else:
            self._end_field()
            self.unread.append(number)

    def _plain(self, line: str) -> re.Match[str] | None:
        match = _PLAIN.fullmatch(line)
        return match if match and match[1].strip().lower() in _NAMES else None

    def _heading(self, number: int, level: int, text: str) -> None:
        self.end_entry()
        if match := _ENTRY.fullmatch(text):
            at = match[2] if match[1] is None else from_markdown(match[1].strip(" \t"))
            self._begin(number, _KINDS[match[3].lower()], at, from_markdown(match[4]))
            return
        sections = ("exclusion", "decision", "file", "context")
        named = next((name for name in sections if text.lower().startswith(name)), None)
        if named and level < 3:
            self._section = "files" if named == "file" else named
        elif level >= 3 and self._section != "files":
            self._begin(number, self._section, None, from_markdown(text))
        elif level == 2:
            self._section = self._kind

    def _begin(self, number: int, kind: str, at: str | None, title: str | None) -> None:
        self.end_entry()
        self._entry = {"kind": kind, "line": number, "at": at, "title": title}
        self._entry.update(fields={}, data={}, own={})

    def _bare(self, number: int, text: str) -> None:
        """A plain list item is an entry of type context."""
        self._begin(number, "context", None, None)
        self._begin_field(number, "Summary", text)

    def _own(self, text: str) -> None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if self._entry is not None and is_dict(value):
            self._entry["own"] = value

    def _begin_field(self, number: int, word: str, value: str) -> None:
        self._end_field()
        name = _NAMES.get(word.lower(), word)
        entry = self._entry
        if entry is None or (name in _FIRST and name in entry["fields"]):
            kind = "context" if self._section == "files" else self._section
            self._begin(number, _FIRST.get(name, kind), None, None)
        self._field = name
        self._lines = [value]

    def _end_field(self) -> None:
        if self._field is None or self._entry is None:
            return
        name, self._field = self._field, None
        value = _read_value(self._lines)
        if name == "data" and is_dict(value):
            self._entry["data"].update(value)
        elif value is not None:
            fields: dict[str, Any] = self._entry["fields" if name in FIELDS[self._entry["kind"]] else "data"]
            fields[name] = value if name not in fields else f"{fields[name]}\n{value}"

    def end_entry(self) -> None:
        """Finish the current entry."""
        self._end_field()
        entry, self._entry = self._entry, None
        if entry is None:
            return
        if entry["fields"] or entry["data"] or entry["title"] or entry["own"]:
            self.notes.append(Note(**entry))
        else:
            self.unread.append(entry["line"])


def _read_value(lines: list[str]) -> Any:
    """The value of a field from the text after its name and the lines below."""
    while len(lines) > 1 and not lines[-1].strip(" \t"):
        lines.pop()
    first, *rest = lines
    first = first.strip(" \t")
    if not first and rest and _BULLET.fullmatch(rest[0].lstrip(" \t")):
        return _read_list(rest)
    if not rest:
        return _read_text(first) if first else None
    shared = min((_indent(line) for line in rest if line.strip(" \t")), default=0)
    return _read_text("\n".join([first, *(line[shared:].rstrip(" \t") for line in rest)]).removeprefix("\n"))


def _read_list(lines: list[str]) -> list[Any]:
    items: list[list[str]] = []
    level = _indent(lines[0])
    for line in lines:
        match = _BULLET.fullmatch(line.lstrip(" \t"))
        if match and _indent(line) <= level:
            items.append([match[1].strip(" \t")])
        else:
            items[-1].append(line.strip(" \t"))
    return [_read_text("\n".join(item).rstrip("\n")) for item in items]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _read_text(text: str) -> Any:
    if len(text) > 4 and text.startswith("``") and text.endswith("``") and text[2] != "`":
        try:
            return json.loads(text[2:-2])
        except (ValueError, RecursionError):
            return text
    return from_markdown(text)


# --- the state --------------------------------------------------------------------------------------


def read_state(text: str) -> dict[str, Any]:
    """The state of a task; unknown fields are under `rest`."""
    value = read_json(text)
    if not is_dict(value):
        raise ValueError("it is not a JSON object")
    known = "id name goal status phase reason attention blockers variables ringbolt".split()
    state = {name: value[name] for name in known if value.get(name) is not None}
    rest = {name: part for name, part in value.items() if name not in known and name != "progress"}
    progress = value.get("progress")
    state["steps"], state["next_step"], unclear = _read_progress(progress)
    if unclear:
        rest["progress"] = progress
    own = state.get("ringbolt")
    state["ringbolt"] = own if is_dict(own) else {}
    blockers = state.get("blockers")
    if isinstance(blockers, str):
        state["blockers"] = [] if blockers.strip().lower() in ("", "none", "-") else [blockers]
    if not is_list(state.setdefault("blockers", [])) or not all(
        isinstance(b, str) for b in state["blockers"]
    ):
        raise ValueError("blockers must be a list of texts")
    if not is_dict(state.setdefault("variables", {})):
        raise ValueError("variables must be an object")
    return {**state, "rest": rest}


def _read_progress(progress: Any) -> tuple[list[dict[str, Any]], str | None, bool]:
    """The steps with their statuses, the next step in words, and whether the progress was not understood."""
    if progress is None:
        return [], None, False
    if not is_dict(progress):
        return [], None, True
    steps: Any = progress.get("steps")
    following = progress.get("next_step")
    if is_list(steps):
        return [dict(step) if is_dict(step) else {"title": step} for step in steps], following, False
    listed: list[dict[str, Any]] = []
    for name, status in (
        ("done", "completed"),
        ("completed", "completed"),
        ("current", "active"),
        ("next", "pending"),
    ):
        part: Any = progress.get(name)
        titles = part if is_list(part) else [part] if isinstance(part, str) and part.strip() else []
        listed += [{"title": title, "status": status} for title in titles if isinstance(title, str)]
    return listed, following, not listed
