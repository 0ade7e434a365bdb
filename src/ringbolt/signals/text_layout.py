"""The layout of a written text: headings, list items, table rows, prose and sentences; no code or quotations.

Time is linear in the text and bounded: only both ends of a very long text and the start of a long line are
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ..model.lazy_regex import lazy_regex

Kind = Literal["heading", "lead", "item", "row", "prose", "blank", "code"]

MOST_TEXT, HEAD_OF_TEXT = 64_000, 48_000
MOST_LINE = 1500
MOST_LEAD = 110

_LAYOUT = lazy_regex(
    r"(?P<indent>[ \t]*)(?:(?P<hashes>#{1,6})[ \t]+|(?P<bullet>[-*+•–])[ \t]+(?!\*\*$)"
    r"|(?P<number>\d{1,3})[.)][ \t]+|(?P<bar>\|)|(?P<quote>>)|(?P<ticks>`{3,}|~{3,}))?(?P<rest>.*)"
)
_BOX = lazy_regex(r"\[([ xX~/-])\][ \t]+")
_BOLD_LINE = lazy_regex(r"(?:\*\*|__)([^*]{2,150}?)(?:\*\*:?|:\*\*|__:?)$")
_DECORATION = lazy_regex(r"[*`]+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
_RULE = lazy_regex(r"[-=*_|: \t]{3,}$")
_SENTENCE_END = r"(?<=[.!?])[\"'”)*]{0,3}\s+(?=[^\sa-z])"
_SENTENCE_ENDS = lazy_regex(_SENTENCE_END)
_CLAUSE_ENDS = lazy_regex(rf"{_SENTENCE_END}|[;\n]+")
_QUOTED = lazy_regex(r"`[^`\n]{1,300}`|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|(?<!\w)'[^'\n]{12,300}'(?!\w)")
_SPACE = lazy_regex(r"\s+")
_ANSI = lazy_regex(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


class Line(Struct):
    """One line of a text: its kind, its text, how far it is indented, and the heading above it.

    An item of a numbered list has its `number`, an item with a checkbox the letter in the `box`.
    """

    kind: Kind
    text: str
    depth: int
    heading: str
    number: int | None = None
    box: str | None = None


def bounded(text: str, most: int = MOST_TEXT, head: int = HEAD_OF_TEXT) -> str:
    """A text, or both ends of a very long one."""
    return text if len(text) <= most else f"{text[:head]}\n\n{text[head - most :]}"


def layout(text: str, quotes: bool = False) -> Iterator[Line]:
    """The lines of a text. A code block is one empty line of kind `code`; quotations are left out."""
    fence = heading = ""
    last: Line | None = None
    for raw in bounded(text).splitlines():
        if last and last.kind == "blank" and not raw.strip():
            continue  # many blank lines are as good as one
        found = _LAYOUT.match(raw[:MOST_LINE])
        if found is None:
            continue
        quote, ticks = found["quote"], found["ticks"]
        if fence:
            if ticks and ticks.startswith(fence):
                fence = ""
            continue
        if ticks:
            if last:
                yield last
            last, fence = Line("code", "", len(found["indent"]), heading), ticks
            continue
        if quote and not quotes:
            continue
        line = _read_line(found, heading)
        if line.kind == "heading":
            heading = line.text
        elif last and line.kind == "prose" and line.depth and last.kind == "item":
            # Indented prose continues the item above it.
            if len(last.text) < MOST_LINE:
                last.text = f"{last.text} {line.text}"
            continue
        if last:
            yield last
        last = line
    if last:
        yield last


def _read_line(found: re.Match[str], heading: str) -> Line:
    indent, hashes, bullet, number, bar, rest = found.group(
        "indent", "hashes", "bullet", "number", "bar", "rest"
    )
    rest = (_SPACE.sub(" ", rest) if "  " in rest or "\t" in rest else rest).rstrip()
    depth = len(indent.expandtabs(4))
    if hashes:
        return Line("heading", rest.rstrip("# ").strip(), len(hashes), heading)
    if bullet or number:
        line = Line("item", rest, depth, heading)
        line.number = int(number) if number else None
        if box := _BOX.match(rest):
            line.box, line.text = box[1].lower(), rest[box.end() :]
        return line
    if bar:
        return Line("row", rest, depth, heading)
    if not rest or _RULE.match(rest):
        return Line("blank", "", depth, heading)
    if not depth and (bold := _BOLD_LINE.match(rest)):
        return Line("heading", bold[1].rstrip(": "), 7, heading)
    if rest[-1] == ":" and len(rest) <= MOST_LEAD:
        return Line("lead", rest, depth, heading)
    return Line("prose", rest, depth, heading)


def sentences(text: str) -> list[str]:
    """The sentences of a line of prose."""
    return [one for one in _SENTENCE_ENDS.split(text) if one]


def clauses(text: str) -> list[str]:
    """The sentences of a text of any number of lines, also cut at semicolons."""
    return [one for one in _CLAUSE_ENDS.split(text) if one and one.strip(" .")]


def masked(text: str) -> str:
    """A text of the same length with quoted words and code blanked out, so that no pattern matches them."""
    if "`" not in text and '"' not in text and "'" not in text and "“" not in text:
        return text
    return _QUOTED.sub(lambda found: "\x00" * len(found[0]), text)


def plain(text: str, most: int = 300) -> str:
    """A text as one line without markup, cut at a word."""
    return cut(_SPACE.sub(" ", _DECORATION.sub("", text)).strip(), most)


def one_line(text: str, most: int = 300) -> str:
    """A text as one line with its markup, cut at a word."""
    return cut(_SPACE.sub(" ", text[: 4 * most]).strip(), most)


def without_colours(text: str) -> str:
    """A text without terminal colour codes."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def cut(text: str, most: int) -> str:
    """At most `most` characters of a text, with an ellipsis where it was cut."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    space = kept.rfind(" ", most // 2)
    return f"{kept[:space] if space > 0 else kept}…"


def cells(row: str) -> list[str]:
    """The cells of a table row whose first bar is gone."""
    return [cell.strip() for cell in row.rstrip().rstrip("|").split("|")][:12]
