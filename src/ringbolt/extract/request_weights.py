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
    bias=-5.18,
    doubt=3.15,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "says that it is something else": 2.36,
        "scene set after completion": 1.75,
        "much is new": 1.05,
        "has a slash command": 1.03,
        "announces a question": 0.95,
        "sets a scene of its own": 0.93,
        "is long": 0.86,
        "a silence before it": 0.7,
        "most of it is new": 0.69,
        "the agent had reported completion": 0.67,
        "asks for work": 0.65,
        "is longer than the prompts before": 0.65,
        "a new link": 0.61,
        "describes trouble": 0.42,
        "new names": 0.27,
        "all steps were done": 0.25,
        "asks for work with a subject of its own": 0.2,
        "own subject after completion": 0.13,
        "a question was answered": 0.03,
        "quotes the agent": -0.14,
        "points before it names anything": -0.23,
        "has a few words only": -0.23,
        "was sent before": -0.24,
        "the agent had asked something": -0.27,
        "is short": -0.38,
        "opens like an answer": -0.41,
        "is mostly pasted": -0.42,
        "known names": -0.44,
        "words of the last message": -0.5,
        "words of the instructions": -0.84,
    },
)

SECOND_LOOK = Weights(
    bias=-5.11,
    doubt=2.52,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "says that it is something else": 2.34,
        "the reply is about something new": 1.53,
        "scene set after completion": 1.48,
        "the agent turned to other files": 1.18,
        "much is new": 0.97,
        "is long": 0.91,
        "announces a question": 0.83,
        "has a slash command": 0.83,
        "the agent had reported completion": 0.66,
        "sets a scene of its own": 0.64,
        "a silence before it": 0.6,
        "a new link": 0.59,
        "describes trouble": 0.52,
        "own subject after completion": 0.51,
        "most of it is new": 0.5,
        "asks for work": 0.46,
        "all steps were done": 0.43,
        "is longer than the prompts before": 0.3,
        "the user had interrupted": 0.27,
        "new names": 0.18,
        "asks for work with a subject of its own": 0.08,
        "quotes the agent": -0.04,
        "the agent was at work": -0.08,
        "refers back": -0.09,
        "is mostly pasted": -0.11,
        "the agent used no files": -0.2,
        "has a few words only": -0.23,
        "words of the last message": -0.23,
        "points before it names anything": -0.29,
        "was sent before": -0.29,
        "known names": -0.34,
        "is short": -0.35,
        "the agent had asked something": -0.36,
        "opens like an answer": -0.46,
        "words of the instructions": -0.58,
        "the agent stayed with its files": -1.08,
    },
)
