"""Lay out an answer: rows of quoted text with citations, within a limit of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from ..model.types import Channel, Entry, Source, Value
from ..model.validate import dumps, seconds_of
from ..packet import encode
from .answer_words import say

# The maximum length of an answer in bytes: one fact (60 tokens), a paragraph (150), a short or a long list.
ONE, PARAGRAPH, SHORT_LIST, LIST = 240, 600, 1200, 2000
# Characters shown of each recorded text: the most that lets all rows fit. Below LEAST, rows are left out.
_LENGTHS = (1600, 1200, 900, 700, 550, 450, 370, 300, 250, 210, 180, 150, 125, 100, 80, 65, 50, 40)
LEAST = 125
_CHARACTERS = 2000


class Row:
    """A part of an answer: a function from the length of quotations to its text, and the events it cites."""

    def __init__(self, show: Callable[[int], str], *seqs: int | None) -> None:
        self.show = show
        self.seqs = tuple(seq for seq in seqs if seq is not None)


class Reply(Value, frozen=True, kw_only=True):
    """An answer: its text, the events it cites, its source, its rows if it is a list, and whether anything
    recorded answers the question."""

    text: str
    cites: tuple[int, ...] = ()
    source: str = "ledger"
    items: tuple[str, ...] = ()
    recorded: bool = True


def plain(text: str) -> Row:
    """A row of our own words."""
    return Row(lambda most: text)


def compose(
    rows: Sequence[Row],
    room: int,
    *,
    opening: str = "",
    glue: str = " ",
    left_out: int = 0,
    least: int = LEAST,
    source: str = "ledger",
    language: str = "en",
    recorded: bool = True,
) -> Reply:
    """Join rows, the most important first, quoting as much of each text as fits into `room` bytes.

    If they do not fit with `least` characters of each text, the last rows are only counted.
    """
    shown = list(rows)
    lengths = [most for most in _LENGTHS if most >= least] or [least]
    while True:
        more = left_out + len(rows) - len(shown)
        ending = f"{glue.rstrip()} {say(language, 'more', count=more)}" if more and shown else ""
        free = room - _bytes(opening) - _bytes(ending)
        fitting = next((text for text in _tries(shown, lengths, glue) if _bytes(text) <= free), None)
        if fitting is not None:
            break
        if len(shown) > 1:
            shown = _fewer(shown, lengths[-1], glue, free)
        else:  # one row with long or many texts: quote less of each
            lengths = [most for most in _LENGTHS if most < lengths[-1]]
            if not lengths:
                fitting = encode.clip(shown[0].show(_LENGTHS[-1]), max(20, free // 4)) if shown else ""
                break
    cites = tuple(dict.fromkeys(seq for row in shown for seq in row.seqs))
    listed = bool(rows) and glue != " "
    items = tuple(row.show(lengths[-1] if lengths else LEAST) for row in shown) if listed else ()
    return Reply(
        text=f"{opening}{fitting}{ending}", cites=cites, source=source, items=items, recorded=recorded
    )


def _tries(rows: Sequence[Row], lengths: Sequence[int], glue: str) -> Iterable[str]:
    return (glue.join(row.show(most) for row in rows) for most in lengths)


def _fewer(rows: list[Row], most: int, glue: str, free: int) -> list[Row]:
    """As many of the first rows as fit, at least one, and at least one fewer than before."""
    used, count = 0, 0
    for row in rows:
        used += _bytes(row.show(most)) + len(glue)
        if used > free:
            break
        count += 1
    return rows[: max(1, min(count, len(rows) - 1))]


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


# --- texts ------------------------------------------------------------------------------------------


def quote(text: Any, most: int) -> str:
    """A recorded text on one line, clipped, in quotation marks that it cannot close."""
    words = text if isinstance(text, str) else dumps(text)
    return encode.quoted(encode.clip(encode.one_line(words[:_CHARACTERS]), most))


def cite(seq: int | None, channel: Channel | None = None) -> str:
    """A citation; it names the channel of text that is neither the agent's nor the user's."""
    if seq is None:
        return ""
    foreign = channel if channel in ("tool", "web", "import") else None
    return f" #{seq} ({foreign})" if foreign else f" #{seq}"


def cite_source(source: Source | None) -> str:
    return cite(source.seq, source.channel) if source else ""


def cite_entry(entry: Entry) -> str:
    """The citation of an entry; inferred ones are marked."""
    inferred = " (inferred)" if entry.data.get("inferred") else ""
    return f"{cite(entry.seq, entry.origin.channel)}{inferred}"


# --- times ------------------------------------------------------------------------------------------


def length(seconds: float) -> str:
    """A duration in its two largest units."""
    left = max(0, round(seconds))
    if left < 1:
        return f"{max(0.0, seconds) * 1000:.0f} ms"
    parts: list[str] = []
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])


def clock(at: str, zone: tzinfo = UTC) -> str:
    """A time to the minute, in the time zone of the asker."""
    here = datetime.fromtimestamp(seconds_of(at), zone)
    return f"{here:%Y-%m-%d %H:%M}{'' if here.utcoffset() else 'Z'}"
