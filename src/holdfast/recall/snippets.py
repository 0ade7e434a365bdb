"""Snippets: the words around a match, and a title for a text."""

from __future__ import annotations

import re

from ..views.encode import clip, one_line
from .terms import stem_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

WIDTH = 280
TITLE = 100
MOST_LOOKED_AT = 50_000
_DIGITS = re.compile(r"\d+")


def title(text: str) -> str:
    """The first words of a text."""
    return clip(one_line(text[:2000]), TITLE)


def snippet(text: str, stems: Collection[str], width: int = WIDTH) -> str:
    """The part of a text that has most of some stems, on one line; its beginning if it has none."""
    text = text[:MOST_LOOKED_AT]
    places = [(start, end, stem) for start, end, stem in stem_places(text) if stem in stems]
    best, begin = 0, 0
    for number, (start, _, _) in enumerate(places):
        within = {stem for _, last, stem in places[number : number + 50] if last - start <= width}
        if len(within) > best:
            best, begin = len(within), start
    if len(text) <= width:
        return one_line(text)
    # Some words before the match, so that it can be read.
    begin = max(0, begin - width // 4)
    if begin:
        space = text.find(" ", begin, begin + 30)
        begin = space + 1 if space >= 0 else begin
    shown = clip(one_line(text[begin : begin + 2 * width]), width)
    return f"…{shown}" if begin else shown


def fingerprint(text: str) -> str:
    """What texts that say the same have in common: numbers and case do not count."""
    return _DIGITS.sub("0", one_line(text[:1000]).lower())[:300]
