"""Steps that a clause of a report names by number, in any language that has an act table."""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import TITLE, Lookup, Token

_UNITS = frozenset(
    "s sec secs min mins minute minutes h hr hrs hour hours day days week weeks month months % gb mb kb tb"
    " ms eur usd euro euros dollars km m cm kg g ng ul ml l x pm am uhr stunden tage minuten heures jours"
    " horas días dias ore giorni uur dagen people pages lines rows files times"
    .split()
)  # fmt: skip
_NOT_BEFORE_NUMBER = frozenset("in at after by for of as to from on than v version about around".split())


def step_numbers_in(tokens: Sequence[Token], lookup: Lookup) -> list[int]:
    """The steps that a clause names by number: "step 3", "steps 1-3 and 5", "done with 5", "second step"."""
    found: list[int] = []
    for place, token in enumerate(tokens):
        follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if token.low in lookup.ordinals and follows in lookup.steps:
            found.append(lookup.ordinals[token.low])
        if token.low not in lookup.steps or token.low in ("no", "part", "point", "number"):
            continue
        found += _listed_numbers(tokens[place + 1 :], lookup)
    ends = next(
        (place for place, token in enumerate(tokens) if token.text == "," and not _lists(tokens, place)),
        len(tokens),
    )
    if not found and not any(_is_content(token, tokens, lookup) for token in tokens[:ends]):
        for place, token in enumerate(tokens[:ends]):
            before = tokens[place - 1].low if place else ""
            if token.text[0].isdecimal() and before not in _NOT_BEFORE_NUMBER:
                follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
                if follows not in _UNITS and "/" not in token.text:
                    found += _span(token.text)
    return list(dict.fromkeys(found))


def _lists(tokens: Sequence[Token], place: int) -> bool:
    """Whether a comma stands between two numbers."""
    return (
        place + 1 < len(tokens)
        and tokens[place + 1].text[0].isdecimal()
        and place > 0
        and tokens[place - 1].text[0].isdecimal()
    )


def _is_content(token: Token, tokens: Sequence[Token], lookup: Lookup) -> bool:
    """Whether a word names something besides numbers and how things stand."""
    if not token.text[0].isalpha() and not token.text.startswith(TITLE):
        return False
    return not token.mark and token.low not in lookup.common and token.low not in lookup.joins


def _listed_numbers(tokens: Sequence[Token], lookup: Lookup) -> list[int]:
    found: list[int] = []
    to = False
    for token in tokens:
        text = token.text
        if text in "#," or token.low in lookup.joins or token.low in ("und", "et", "y", "e", "en"):
            continue
        if token.low in ("to", "through", "bis", "à", "a", "al", "tot", "–", "-"):
            to = True
            continue
        value = text.split("/")[0]  # "2/5" is the second of five
        numbers = (
            _span(value)
            if value[:1].isdecimal()
            else [lookup.numbers[token.low]]
            if token.low in lookup.numbers
            else []
        )
        if not numbers:
            break
        if to and found:
            found += range(found[-1] + 1, numbers[-1] + 1)
        else:
            found += numbers
        to = False
        if "/" in text:
            break
    return found[:100]


def _span(text: str) -> list[int]:
    first, dash, last = text.replace("–", "-").partition("-")
    if not first.isdecimal() or len(first) > 3:
        return []
    if dash:
        return (
            list(range(int(first), min(int(last), int(first) + 99) + 1))
            if last.isdecimal() and len(last) <= 3
            else []
        )
    return [int(first)]
