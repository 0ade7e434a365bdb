"""Steps that a sentence names by number."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..model.lazy_regex import lazy_regex

NOUNS = "task|step|item|todo|phase|stage|milestone|part"


STEP_NOUNS = frozenset(("task", "step", "item", "todo"))


NUMBER = r"#?\d{1,3}(?:\s*\([^)]*\))?"


_NUMBERS = lazy_regex(
    rf"\b({NOUNS})s?\s*({NUMBER}(?:(?:\s*(?:,|and|&|/|-|–|to|through))+\s*{NUMBER})*)",
    re.I,
)


_SPAN = lazy_regex(r"(\d+)\s*(?:-|–|to|through)\s*#?(\d+)|(\d+)")


def step_numbers(sentence: str, nouns: Collection[str] = STEP_NOUNS) -> list[int]:
    """The steps that a sentence names by number: "step 3", "tasks 1, 2 and 5", "steps 1-3"."""
    found: list[int] = []
    for named in _NUMBERS.finditer(sentence):
        if named[1].lower() not in nouns:
            continue
        for span in _SPAN.finditer(re.sub(r"\([^)]*\)", "", named[2])):
            first = int(span[1] or span[3])
            found.extend(range(first, min(int(span[2] or first), first + 99) + 1))
    return found
