"""Snippets: the text around a match, and a title for a text."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..model.lazy_regex import lazy_regex
from ..packet.encode import clip, one_line
from ..signals.terms import JOIN, stem_places

WIDTH = 280
TITLE = 100
MOST_SEARCHED = 50_000
_DIGITS = lazy_regex(r"\d+")


def title(text: str) -> str:
    """The start of a text."""
    return clip(one_line(text[:2000]), TITLE)


def snippet(text: str, stems: Collection[str], width: int = WIDTH) -> str:
    """The part of a text with most of the stems, on one line; its start if it has none."""
    text = text[:MOST_SEARCHED]
    if len(text) <= width:
        return one_line(text)
    begin = max(0, _densest(_places(text, stems), width) - width // 4)  # with some words before the match
    if begin:
        space = text.find(" ", begin, begin + 30)
        begin = space + 1 if space >= 0 else begin
    shown = clip(one_line(text[begin : begin + 2 * width]), width)
    return f"…{shown}" if begin else shown


def _places(text: str, stems: Collection[str]) -> list[tuple[int, str]]:
    """The positions of stems in a text, in order."""
    places = [(start, stem) for start, _, stem in stem_places(text) if stem in stems]
    found = {stem for _, stem in places}
    # Parts of identifiers, whole identifiers, prefixes, and words without spaces between them.
    others = ((stem, _inside(stem).search(text)) for stem in stems if stem not in found)
    return sorted(places + [(match.start(), stem) for stem, match in others if match])


def _inside(stem: str) -> re.Pattern[str]:
    return re.compile(re.escape(stem).replace(JOIN, r"[./\\:@#_-]"), re.IGNORECASE)


def _densest(places: list[tuple[int, str]], width: int) -> int:
    """The start of the part with most of the stems; 0 if there are none."""
    best, begin, last = 0, 0, 0
    within: dict[str, int] = {}
    for start, stem in places:
        within[stem] = within.get(stem, 0) + 1
        while start - places[last][0] > width // 2:
            gone = places[last][1]
            within[gone] -= 1
            if not within[gone]:
                del within[gone]
            last += 1
        if len(within) > best:
            best, begin = len(within), places[last][0]
    return begin


def fingerprint(text: str, numbers: bool = True) -> str:
    """Equal for texts that differ only in case and spacing, and optionally in numbers."""
    plain = one_line(text[:1000]).lower()
    return plain if numbers else _DIGITS.sub("0", plain)[:300]
