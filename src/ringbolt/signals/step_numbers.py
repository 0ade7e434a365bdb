"""Steps named by number: reading them in a sentence, and writing them as ranges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..model.lazy_regex import lazy_regex

NOUNS = "task|step|item|todo|phase|stage|milestone|part"
STEP_NOUNS = frozenset(("task", "step", "item", "todo"))
NUMBER = r"#?\d{1,3}(?:\s*\([^)]*\))?"
_NUMBERS = lazy_regex(rf"(?i)\b({NOUNS})s?\s*({NUMBER}(?:(?:\s*(?:,|and|&|/|-|–|to|through))+\s*{NUMBER})*)")
_SPAN = lazy_regex(r"(\d+)\s*(?:-|–|to|through)\s*#?(\d+)|(\d+)")


def step_numbers(sentence: str, nouns: Collection[str] = STEP_NOUNS) -> list[int]:
    """The numbers of the steps that a sentence names: "step 3", "tasks 1, 2 and 5", "steps 1-3"."""
    found: list[int] = []
    for named in _NUMBERS.finditer(sentence):
        if named[1].lower() not in nouns:
            continue
        for span in _SPAN.finditer(re.sub(r"\([^)]*\)", "", named[2])):
            first = int(span[1] or span[3])
            found.extend(range(first, min(int(span[2] or first), first + 99) + 1))
    return found


def number_ranges(numbers: Iterable[int], most: int | None = None) -> str:
    """Ascending numbers as ranges, the inverse of `step_numbers`: "1-3, 5"; of many only the last `most`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    shown = found if most is None else found[-most:]
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in shown)
    return text if len(shown) == len(found) else f"…, {text}"
