"""Whether a text says something: most of its words stand together in one row.

A row is a line, or two lines that follow each other; of a long line it is any stretch. So words that are
scattered over a text, or over a long list of names, do not count.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

ROW = 300  # characters of a row; for a long truth half as much again as its own length
ENOUGH = 0.8  # share of the words of a truth that must be in the row
OPENING = 300  # characters of a long truth that say what it is about
_WORD = re.compile(r"\w+")
_SMALL_WORDS = frozenset(
    "the and for with from this that was were has have had not but you can will should would could does did"
    " into out all any there then when what which how are its our their please".split()
)


class RowText:
    """A text, read as rows."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._by_limit: dict[int, list[str]] = {}

    @cached_property
    def _words(self) -> set[str]:
        return significant_words(self._text)

    def holds(self, *parts: str) -> bool:
        """Whether one row has most words of each part, or of its opening if it is long."""
        openings = [_opening(part) for part in parts]
        wanted = [significant_words(part) for part in openings]
        if not all(_enough(words, self._words) for words in wanted):
            return False
        return any(
            all(
                _enough(words, significant_words(row)) if words else has_exactly(part, row)
                for part, words in zip(openings, wanted, strict=True)
            )
            for row in self._rows(sum(map(len, openings)))
        )

    def names(self, *parts: str) -> bool:
        """Whether one row has each part letter by letter, as a whole word."""
        return any(all(has_exactly(part, row) for part in parts) for row in self._rows(sum(map(len, parts))))

    def _rows(self, size: int) -> list[str]:
        limit = max(ROW, 50 * -(-size * 3 // 100))
        if limit not in self._by_limit:
            lines = [line.strip() for line in self._text.splitlines() if line.strip()]
            found: list[str] = []
            for line, following in pairwise([*lines, ""]):
                if len(line) <= limit:
                    both = f"{line}\n{following}"
                    found.append(both if len(both) <= limit else line)
                else:
                    begins = range(0, len(line) - limit * 3 // 4, limit // 4)
                    found += [line[begin : begin + limit] for begin in begins]
            self._by_limit[limit] = found
        return self._by_limit[limit]


def has_exactly(truth: str, text: str) -> bool:
    """Whether a text has a truth letter by letter, as a whole word."""
    return re.search(rf"(?<!\w){re.escape(truth)}(?!\w)", text) is not None


def significant_words(text: str) -> set[str]:
    """The words of a text that say what it is about."""
    return {word for word in _WORD.findall(text.lower()) if len(word) > 2} - _SMALL_WORDS


def _opening(text: str) -> str:
    return text if len(text) <= OPENING else text[:OPENING].rsplit(None, 1)[0]


def _enough(wanted: set[str], words: set[str]) -> bool:
    return len(wanted & words) >= ENOUGH * len(wanted)
