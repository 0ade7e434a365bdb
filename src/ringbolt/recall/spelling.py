"""Other spellings of a query that found nothing: as the recorded texts write its words.

Only what is beyond doubt: a word of five letters or more that differs from a recorded one in about a letter,
and words that are recorded as one (`docker file`, `dockerfile`) or apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import pairwise

from ..signals.terms import words

LEAST = 5  # letters of a word that may be misspelt
ALIKE = 0.84


def spelt_as_recorded(query: str, texts: Iterable[str]) -> str | None:
    """The query with words as the texts spell them; None if no word is spelt otherwise there."""
    known = {word for text in texts for word in words(text)}
    asked = words(query)[:20]
    joined = {a + b: (a, b) for a, b in pairwise(asked) if a + b in known}
    parts = {part for pair in joined.values() for part in pair}
    alone = [word for word in asked if word not in parts]
    spelt = [*joined, *(word if word in known else _nearest(word, known) for word in alone)]
    return " ".join(spelt) if spelt != asked else None


def _nearest(word: str, known: set[str]) -> str:
    for cut in range(3, len(word) - 2):
        if word[:cut] in known and word[cut:] in known:
            return f"{word[:cut]} {word[cut:]}"
    if len(word) < LEAST:
        return word
    alike = [other for other in known if abs(len(other) - len(word)) <= 2 and other[:1] == word[:1]]
    close = get_close_matches(word, alike, 1, ALIKE)
    return close[0] if close else word
