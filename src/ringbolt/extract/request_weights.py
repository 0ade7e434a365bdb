"""Weights for recognising new requests, written by `bench/request_training.py`: do not edit."""

from __future__ import annotations

from ..model.types import Value


class Weights(Value, frozen=True, kw_only=True):
    """A linear model: what each feature adds to the score, and the score without any.

    Above 0 a prompt is new; down to `-doubt` it may be.
    """

    bias: float
    doubt: float
    features: dict[str, float]


FIRST_LOOK = Weights(
    bias=-4.64,
    doubt=1.83,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "the branch was changed": 3.4,
        "says that it is something else": 2.68,
        "scene set after completion": 1.67,
        "sets a scene of its own": 1.08,
        "much is new": 0.97,
        "the work was committed": 0.9,
        "is long": 0.9,
        "a silence before it": 0.83,
        "announces a question": 0.7,
        "new names": 0.65,
        "all steps were done": 0.52,
        "the agent had reported completion": 0.5,
        "asks for work with a subject of its own": 0.48,
        "most of it is new": 0.47,
        "is longer than the prompts before": 0.44,
        "has a slash command": 0.42,
        "describes trouble": 0.41,
        "asks for work": 0.31,
        "a new link": 0.18,
        "the user had interrupted": 0.08,
        "own subject after completion": 0.07,
        "a question was answered": 0.01,
        "was sent before": -0.16,
        "the agent had asked something": -0.2,
        "points before it names anything": -0.2,
        "has a few words only": -0.29,
        "the agent was at work": -0.31,
        "words of the last message": -0.33,
        "is short": -0.4,
        "opens like an answer": -0.42,
        "known names": -0.52,
        "is mostly pasted": -0.53,
        "opens with something known": -0.57,
        "words of the instructions": -0.64,
        "asks for tests": -0.65,
    },
)

SECOND_LOOK = Weights(
    bias=-4.74,
    doubt=0.75,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "the branch was changed": 2.87,
        "says that it is something else": 2.62,
        "is long": 1.14,
        "the reply is about something new": 1.12,
        "scene set after completion": 1.11,
        "much is new": 1.05,
        "the work was committed": 0.88,
        "the first file is another one": 0.88,
        "the agent announced work": 0.8,
        "sets a scene of its own": 0.72,
        "a silence before it": 0.68,
        "all steps were done": 0.65,
        "announces a question": 0.61,
        "new names": 0.61,
        "the agent had reported completion": 0.56,
        "describes trouble": 0.5,
        "the agent turned to other files": 0.46,
        "own subject after completion": 0.39,
        "most of it is new": 0.34,
        "asks for work with a subject of its own": 0.3,
        "the user had interrupted": 0.21,
        "has a slash command": 0.16,
        "is longer than the prompts before": 0.14,
        "asks for work": 0.06,
        "the agent used no files": -0.07,
        "opens with something known": -0.17,
        "words of the last message": -0.17,
        "the agent had asked something": -0.24,
        "has a few words only": -0.29,
        "known names": -0.31,
        "words of the instructions": -0.35,
        "points before it names anything": -0.36,
        "is short": -0.38,
        "was sent before": -0.38,
        "is mostly pasted": -0.4,
        "the reply takes up the prompt": -0.4,
        "the agent was at work": -0.41,
        "opens like an answer": -0.51,
        "the agent stayed with its files": -0.56,
        "the agent edited at once": -0.79,
        "asks for tests": -1.01,
    },
)
