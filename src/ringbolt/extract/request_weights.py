"""The weights of the recogniser of new requests, written by `bench/request_training.py`: do not edit."""

from __future__ import annotations

from ..model.types import Value


class Weights(Value, frozen=True, kw_only=True):
    """A linear model: what each feature adds to the score, and the score without any."""

    bias: float
    features: dict[str, float]


FIRST_LOOK = Weights(
    bias=-4.71,
    features={
        "hands over a plan": 4.0,
        "says that it is something else": 2.4,
        "scene set after completion": 1.71,
        "much is new": 1.2,
        "is long": 1.07,
        "has a slash command": 1.04,
        "sets a scene of its own": 0.99,
        "announces a question": 0.96,
        "most of it is new": 0.72,
        "the agent had reported completion": 0.68,
        "asks for work": 0.68,
        "a new link": 0.59,
        "describes trouble": 0.41,
        "a long silence": 0.38,
        "new names": 0.35,
        "all steps were done": 0.26,
        "asks for work with a subject of its own": 0.22,
        "own subject after completion": 0.04,
        "a question was answered": 0.03,
        "the agent was at work": -0.04,
        "quotes the agent": -0.17,
        "points before it names anything": -0.2,
        "has a few words only": -0.2,
        "was sent before": -0.21,
        "the agent had asked something": -0.32,
        "is short": -0.4,
        "opens like an answer": -0.42,
        "words of the last message": -0.47,
        "known names": -0.48,
        "is mostly pasted": -0.51,
        "words of the instructions": -0.94,
    },
)

SECOND_LOOK = Weights(
    bias=-4.93,
    features={
        "hands over a plan": 4.0,
        "says that it is something else": 2.39,
        "the reply is about something new": 1.57,
        "scene set after completion": 1.47,
        "the agent turned to other files": 1.17,
        "much is new": 1.04,
        "is long": 1.01,
        "has a slash command": 0.84,
        "announces a question": 0.83,
        "the agent had reported completion": 0.7,
        "sets a scene of its own": 0.7,
        "a new link": 0.61,
        "describes trouble": 0.53,
        "most of it is new": 0.51,
        "asks for work": 0.48,
        "all steps were done": 0.45,
        "a long silence": 0.34,
        "own subject after completion": 0.32,
        "the user had interrupted": 0.29,
        "new names": 0.21,
        "asks for work with a subject of its own": 0.14,
        "refers back": -0.09,
        "quotes the agent": -0.09,
        "the agent was at work": -0.11,
        "is mostly pasted": -0.12,
        "words of the last message": -0.2,
        "the agent used no files": -0.2,
        "has a few words only": -0.22,
        "points before it names anything": -0.27,
        "was sent before": -0.27,
        "is short": -0.36,
        "the agent had asked something": -0.41,
        "known names": -0.41,
        "opens like an answer": -0.46,
        "words of the instructions": -0.62,
        "the agent stayed with its files": -1.09,
    },
)
