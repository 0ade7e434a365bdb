"""Which intent a question has: a linear model over its marks, whose weights are a table.

`bench/question_training.py` fits the table, `question_weights.json`, to labelled phrasings. The model sees no
word of a subject, so that it cannot depend on what a task is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from msgspec import Struct

from ..model.data_files import data_text
from .question_words import Marks

INTENTS: tuple[str, ...] = (
    "where", "status", "completed", "open", "next", "current", "plan", "replan", "decision", "failed",
    "rejected", "rules", "permission", "request", "goal", "value", "needs", "files", "commits", "blocking",
    "questions", "effects", "did", "when", "duration", "history", "last", "people", "result", "notes", "none",
)  # fmt: skip
_POLAR = ("be", "may", "must")


class Model(Struct):
    """The weights of each feature for the intents that it speaks for or against."""

    weights: dict[str, dict[str, float]]


@cache
def model() -> Model:
    """The table that the training wrote."""
    return Model(weights=json.loads(data_text(__file__, "question_weights.json")))


def features(found: Marks, *, time: bool = False, step: bool = False) -> set[str]:
    """What the model knows about a question: its marks, pairs of them, and how it begins and ends."""
    marks = [mark for mark in found.marks if mark not in ("the", "also")]
    strong = [mark for mark in marks if mark not in ("go", "be", "we", "already")]
    names = {"bias", *marks}
    names |= {f"{one}~{two}" for one, two in pairwise(strong)}
    names |= {f"{one}&{two}" for one in strong for two in strong if one < two}
    if marks:
        names |= {f"^{marks[0]}", f"^{' '.join(marks[:2])}", f"{marks[-1]}$"}
        if marks[0] in _POLAR:
            names.add("polar")
            names |= {f"polar {mark}" for mark in strong}
    if strong:
        names.add(f"^^{strong[0]}")
    names.add("subject" if found.subject else "no subject")
    if len(strong) == 1:
        names.add(f"only {strong[0]}")
    if not strong:
        names.add("nothing")
    if time:
        names |= {"time", *(f"time {mark}" for mark in strong)}
    if step:
        names |= {"number", *(f"number {mark}" for mark in strong)}
    return names


def scores(names: Iterable[str], table: Model | None = None) -> dict[str, float]:
    """The score of each intent."""
    weights = (table or model()).weights
    total = dict.fromkeys(INTENTS, 0.0)
    for name in sorted(names):  # sums of floats depend on their order
        for intent, weight in weights.get(name, {}).items():
            total[intent] += weight
    return total
