"""What a sentence does: a linear model over its features, one sum for each function.

The weights are a table, `weights.json`, that `bench/speech_training.py` computes from labelled
sentences. At the score `sure` a function is taken for granted; at `likely` it is kept as probable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from math import exp
from typing import Any

from msgspec import Struct

from ...model.data_files import data_text
from .features import features
from .sentences import FUNCTIONS, Sentence, Tokens

SURE = 0.5  # the least confidence of what is sure; what is only likely has less


class Model(Struct):
    """The weights of each feature as (place of the function in FUNCTIONS, weight), and the limits."""

    words: frozenset[str]  # the vocabulary; of other words only the form counts
    weights: dict[str, list[tuple[int, float]]]
    sure: list[float]
    likely: list[float]
    slope: list[float]  # by which a score becomes a probability
    offset: list[float]


@cache
def model() -> Model:
    """The table that the training wrote."""
    table: dict[str, Any] = json.loads(data_text(__file__, "weights.json"))
    # In the file the words are one line, and a row is flat: place, weight, place, weight, …
    words = frozenset(table.pop("words").split())
    flat: dict[str, list[Any]] = table.pop("weights")
    weights = {name: list(zip(row[::2], row[1::2], strict=True)) for name, row in flat.items()}
    return Model(words, weights, **table)


def scores(sentence: Sentence, tokens: Tokens, user: bool, after_failure: bool = False) -> list[float]:
    """The score of each function, in the order of FUNCTIONS."""
    return added(features(sentence, tokens, user, after_failure, model().words), model())


def added(found: Iterable[str], table: Model) -> list[float]:
    """The sum of the weights of some features, for each function."""
    total = [0.0] * len(FUNCTIONS)
    weights = table.weights
    for name in found:
        for place, weight in weights.get(name, ()):
            total[place] += weight
    return total


def confidence(score: float, place: int) -> float:
    """How likely a reading is: at least SURE if it is sure, less if it is not."""
    table = model()
    chance = 1 / (1 + exp(-max(-30.0, min(30.0, table.slope[place] * score + table.offset[place]))))
    if score >= table.sure[place]:
        return round(min(0.95, max(SURE + 0.05, chance)), 2)
    return round(min(SURE - 0.05, chance), 2)
