"""Match texts with a question's topic, by the share of its words that a text has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..signals.words import weighted_words

Thing = TypeVar("Thing")

FITS = 0.6
_CHARACTERS = 1500  # of each text
_MOST = 2000  # candidates that are compared


def likeness(topic: str, text: str) -> float:
    """The share of a topic's words that a text has, 0 to 1."""
    wanted = weighted_words(topic)
    whole = sum(wanted.values())
    if not whole:
        return 0.0
    has = weighted_words(text[:_CHARACTERS])
    return sum(worth for word, worth in wanted.items() if word in has) / whole


def fitting(topic: str, things: Iterable[Thing], text: Callable[[Thing], str]) -> list[Thing]:
    """The candidates that fit a topic about as well as the best one, in their order."""
    if not topic:
        return []
    candidates = list(things)[-_MOST:]
    scores = [likeness(topic, text(thing)) for thing in candidates]
    best = max(scores, default=0.0)
    if best < FITS:
        return []
    least = max(FITS, 0.9 * best)
    return [thing for thing, score in zip(candidates, scores, strict=True) if score >= least]
