"""Read and edit an ACTIVE-TASKS.md that people edit too, changing only the necessary lines.

A document keeps every line, understood or not; writing an unchanged document produces the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model.errors import InvalidInput, NotFound, shown
from ..model.lazy_regex import lazy_regex
from ..model.results import ActiveRow
from ..model.types import Value
from ..packet import encode
from .active_tasks import (
    EMPTY,
    FIELDS,
    FLAT_HEADING,
    HEADINGS,
    NOT_SHOWN,
    UNKNOWN,
    is_completed,
    is_stamp,
    known_moment,
    row_lines,
)

_HEADING = lazy_regex(r"(#{1,6})(?:[ \t]+(.*?))?[ \t]*$")
_ROW = lazy_regex(r"\[((?:[^\]\\]|\\.)*)\]:[ \t]*(.*)$")
_LOOSE_ROW = lazy_regex(r"\[(.*?)\]:(?:[ \t]+(.*))?$")  # a person's label with a bracket in it
_FIELD = lazy_regex(
    r"([ \t]*[-*+][ \t]+\*\*(?P<name>[^*]+?)(?::\*\*|\*\*:)[ \t]*)(?P<value>.*?)(?P<rest>[ \t]*)$"
)
_FENCE = lazy_regex(r" {0,3}(`{3,}|~{3,})(.*)$")
_SECTIONS = {
    "active": "active",
    "active tasks": "active",
    "stale": "stale",
    "stale revisit": "stale",
    "completed": "completed",
    "done": "completed",
}
_NAMES = {name.casefold(): field for field, name in FIELDS.items()}
_TIMES = ("started", "updated")
_SURROGATE = lazy_regex("[\ud800-\udfff]")


class Block(Value, frozen=True, kw_only=True):
    """A row of the file: its lines [start, end), and the line number of each field."""

    row: ActiveRow
    section: str
    start: int
    end: int
    fields: Mapping[str, int]


class Section(Value, frozen=True, kw_only=True):
    """A known section: its name, the line of its heading, and the line after its last."""

    name: str
    start: int
    end: int
    flat: bool = False


class Document(Value, frozen=True, kw_only=True):
    """A file line by line, with its rows and sections."""

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]

    @property
    def rows(self) -> tuple[ActiveRow, ...]:
        """The rows, in the order of the file."""
        return tuple(block.row for block in self.blocks)

    @property
    def line_end(self) -> str:
        """The line end of this file."""
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"


# --- reading ----------------------------------------------------------------------------------------


def parse(content: bytes | str) -> Document:
    """Parse a file; the document holds every line, byte for byte."""
    text = content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else content
    lines = tuple(line + "\n" for line in text.split("\n"))
    last = lines[-1][:-1]
    lines = (*lines[:-1], last) if last else lines[:-1]
    blocks: list[Block] = []
    sections: list[Section] = []
    section = Section(name="active", start=-1, end=0)  # rows before any section are active
    heading: tuple[int, str] | None = None
    fields: dict[str, int] = {}

    def close(at: int) -> None:
        nonlocal heading, fields
        if heading is not None:
            end = _without_blanks(lines, heading[0] + 1, at)
            blocks.append(_block(lines, heading, fields, section, end))
        heading, fields = None, {}

    for number, body, kind in _outline(lines):
        if kind == "end":
            close(number)
        elif kind == "field":
            if heading is not None and (match := _FIELD.match(body)):
                name = _NAMES.get(match["name"].strip().casefold())
                if name is not None:
                    fields.setdefault(name, number)
        elif kind == "heading":
            level, title = _heading(body)
            close(number)
            if level < 3:
                if section.start >= 0 and section.name:
                    sections.append(section.replace(end=number))
                section = _section(level, title, number, begun=bool(sections))
            elif level == 3 and section.name and _row_heading(title):
                heading = number, title
    close(len(lines))
    if section.start >= 0 and section.name:
        sections.append(section.replace(end=len(lines)))
    return Document(lines=lines, blocks=tuple(blocks), sections=tuple(sections))


def write(document: Document) -> bytes:
    """The bytes of a document."""
    return "".join(document.lines).encode("utf-8", "surrogateescape")


def _outline(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The relevant lines with their kind, without code blocks and comments."""
    fence = ""
    comment = False
    for number, line in enumerate(lines):
        body = line.rstrip("\r\n")
        if number == 0:
            body = body.removeprefix("\ufeff")
        if comment:
            comment = "-->" not in body
            continue
        if (match := _FENCE.match(body)) and (not fence or _closes(match, fence)):
            fence = "" if fence else match[1]
            continue
        if fence:
            continue
        if is_stamp(body) or body.startswith(NOT_SHOWN):
            yield number, body, "end"
        elif body.startswith("#") and _HEADING.fullmatch(body):
            yield number, body, "heading"
        elif "**" in body:
            yield number, body, "field"
        _, opened, rest = body.rpartition("<!--")
        comment = bool(opened) and "-->" not in rest


def _closes(match: re.Match[str], fence: str) -> bool:
    return match[1].startswith(fence) and not match[2].strip()


def _heading(body: str) -> tuple[int, str]:
    match = _HEADING.fullmatch(body)
    return (len(match[1]), match[2] or "") if match else (0, "")


def _section(level: int, title: str, number: int, begun: bool) -> Section:
    """The section that a heading begins; an unknown one has no name, and its rows are ignored.

    Rows under the title of the file, before any section, are active.
    """
    plain = re.sub(r"[\W_]+", " ", title.casefold()).strip()
    name = _SECTIONS.get(plain, "") if level == 2 else "" if begun else "active"
    return Section(
        name=name,
        start=number if level == 2 else -1,
        end=number,
        flat=plain == FLAT_HEADING.casefold(),
    )


def _row_heading(title: str) -> re.Match[str] | None:
    return _ROW.fullmatch(title) or _LOOSE_ROW.fullmatch(title)


def _block(
    lines: Sequence[str], heading: tuple[int, str], fields: Mapping[str, int], section: Section, end: int
) -> Block:
    number, title = heading
    match = _row_heading(title)
    assert match is not None  # noqa: S101 - only such headings are noted
    values: dict[str, Any] = {}
    for name, place in fields.items():
        field = _FIELD.match(lines[place].rstrip("\r\n"))
        value = _text(field["value"]) if field else ""
        if name in _TIMES:
            values[name] = None if value.casefold() == UNKNOWN.casefold() else known_moment(value)
        elif value:
            values[name] = value
    completed = section.name == "completed" or is_completed(values.get("status", ""))
    values.setdefault("status", "Done" if completed else "In progress")
    row = ActiveRow(
        label=_text(match[1]),
        title=_text(match[2] or ""),
        completed=completed,
        stale=section.name == "stale" and not completed,
        **values,
    )
    return Block(row=row, section=section.name, start=number, end=end, fields=dict(fields))


def _text(raw: str) -> str:
    """A value without its Markdown escapes; bytes that are not UTF-8 become replacement characters."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", encode.from_markdown_row(raw))


def _without_blanks(lines: Sequence[str], least: int, end: int) -> int:
    while end > least and not lines[end - 1].strip():
        end -= 1
    return end


# --- changing ---------------------------------------------------------------------------------------


def find(document: Document, label: str) -> Block | None:
    """The first row with a label."""
    wanted = encode.clean(label)
    return next((block for block in document.blocks if block.row.label == wanted), None)


def upsert(document: Document, label: str, changes: Mapping[str, str | None]) -> Document:
    """Set fields of the row with a label; if there is none, add one to the active section.

    A field of None is left alone; an empty text removes its line. `title` is the description. The row moves,
    with all its lines, to the section of its status.
    """
    new = {name: encode.clean(value) for name, value in changes.items() if value is not None}
    block = find(document, label)
    if block is None:
        fields: dict[str, Any] = {name: value for name, value in new.items() if value}
        fields.setdefault("title", "")
        row = ActiveRow(label=encode.clean(label), **fields)
        goal = "completed" if is_completed(row.status) else "active"
        lines = _inserted(document, goal, [f"{line}{document.line_end}" for line in row_lines(row)])
    else:
        lines = _changed(document, block, new)
        middle = parse("".join(lines))
        block = _required_row(middle, label)
        status = new.get("status")
        if status is not None:
            lines = _placed(middle, block, "completed" if is_completed(status) else "active")
    after = parse("".join(lines))
    _check(after, label, new)
    return after


def complete(document: Document, label: str, updated: str | None) -> Document:
    """Mark the row with a label as done; it moves to the completed section if there are sections."""
    if find(document, label) is None:
        labels = ", ".join(shown(block.row.label) for block in document.blocks[:10])
        raise NotFound(
            "task_not_found",
            f"The file has no row {shown(label)}.",
            f"Its labels are: {labels}." if labels else "It has no rows yet.",
        )
    return upsert(document, label, {"status": "Done", "updated": updated})


def _required_row(document: Document, label: str) -> Block:
    block = find(document, label)
    if block is None:
        raise _hidden(label)
    return block


def _hidden(label: str) -> InvalidInput:
    return InvalidInput(
        "invalid_argument",
        f"The row {shown(label)} would be hidden by a comment or code block that is not closed.",
        "Close it first. Nothing was written.",
    )


def _check(document: Document, label: str, new: Mapping[str, str]) -> None:
    """Raise unless the changed file reads back as intended."""
    row = _required_row(document, label).row
    for name, value in new.items():
        if (getattr(row, name) or "") != (value if name not in _TIMES else known_moment(value) or ""):
            raise _hidden(label)


def _changed(document: Document, block: Block, new: Mapping[str, str]) -> list[str]:
    """The lines with fields of a row changed."""
    lines = list(document.lines)
    end = document.line_end
    if "title" in new and new["title"] != block.row.title:
        body = lines[block.start].rstrip("\r\n")
        ending = lines[block.start][len(body) :]
        head = body[: body.rfind("]:") + 2] if not block.row.title else body[: _title_at(body)]
        lines[block.start] = f"{head.rstrip()} {encode.markdown_row(new['title'])}".rstrip(" ") + ending
    gone: list[int] = []
    added: list[str] = []
    for name in FIELDS:
        value = new.get(name)
        if value is None:
            continue
        place = block.fields.get(name)
        if place is None:
            if value:
                added.append(f"- **{FIELDS[name]}:** {encode.markdown_row(value)}{end}")
        elif not value:
            gone.append(place)
        elif (getattr(block.row, name) or "") != value:
            body = lines[place].rstrip("\r\n")
            match = _FIELD.match(body)
            head = match[1].rstrip() if match else f"- **{FIELDS[name]}:**"
            lines[place] = f"{head} {encode.markdown_row(value)}{lines[place][len(body) :]}"
    if added:
        place = max(block.fields.values(), default=block.start)
        while place + 1 < block.end and _FIELD.match(lines[place + 1].rstrip("\r\n")):
            place += 1  # after unknown fields
        _close_line(lines, place, end)
        lines[place + 1 : place + 1] = added
    for place in sorted(gone, reverse=True):
        del lines[place]
    return lines


def _title_at(body: str) -> int:
    """The position of the description in the heading of a row."""
    title = body.lstrip("\ufeff#").lstrip()
    match = _row_heading(title)
    return len(body) - len(title) + (match.start(2) if match and match[2] is not None else len(title))


def _placed(document: Document, block: Block, goal: str) -> list[str]:
    """The lines with a row moved to the section where it belongs."""
    sections = {section.name: section for section in document.sections}
    flat = any(section.flat for section in document.sections)
    stays = block.section == goal or (flat and goal not in sections) or block.section not in sections
    if stays:
        return list(document.lines)
    moved = list(document.lines[block.start : block.end])
    _close_line(moved, len(moved) - 1, document.line_end)
    rest = list(document.lines)
    end = block.end
    while end < len(rest) and not rest[end].strip():
        end += 1  # the blank lines after it are removed, those before it stay
    del rest[block.start : end]
    return _inserted(parse("".join(rest)), goal, moved)


def _inserted(document: Document, goal: str, row: list[str]) -> list[str]:
    """The lines with a row added at the end of a section, which is created if it is missing."""
    lines = list(document.lines)
    end = document.line_end
    section = next((each for each in document.sections if each.name == goal), None)
    if section is None and goal == "completed" and any(each.flat for each in document.sections):
        section = next(each for each in document.sections if each.flat)
    if section is None:
        at = _place_for(document, goal)
        heading = [f"## {HEADINGS[goal]}{end}", end]
        return _spliced(lines, at, heading + row, end)
    stop = _section_end(document, section)
    for number in range(section.start + 1, stop):
        if lines[number].strip() == EMPTY:  # no longer true
            del lines[number]
            stop -= 1
            break
    return _spliced(lines, _without_blanks(lines, section.start + 1, stop), row, end)


def _section_end(document: Document, section: Section) -> int:
    """The end of a section's rows: before our footer and stamp, if nothing else follows them."""
    end = section.end
    for number in range(section.end - 1, section.start, -1):
        line = document.lines[number]
        if is_stamp(line.rstrip("\r\n")) or line.startswith(NOT_SHOWN):
            end = number
        elif line.strip():
            break
    return end


def _place_for(document: Document, goal: str) -> int:
    """The position of a missing section: active before the others, completed after them."""
    if goal == "active" and document.sections:
        return document.sections[0].start
    last = document.sections[-1] if document.sections else Section(name="", start=-1, end=len(document.lines))
    return _without_blanks(document.lines, 0, _section_end(document, last))


def _spliced(lines: list[str], at: int, block: list[str], end: str) -> list[str]:
    """Insert lines, with one blank line before and after."""
    if at:
        _close_line(lines, at - 1, end)
    before = [end] if at and lines[at - 1].strip() else []
    after = [end] if at < len(lines) and lines[at].strip() else []
    return [*lines[:at], *before, *block, *after, *lines[at:]]


def _close_line(lines: list[str], number: int, end: str) -> None:
    if not lines[number].endswith("\n"):
        lines[number] += end
