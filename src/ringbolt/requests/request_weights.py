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
    bias=-4.90,
    doubt=2.64,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "says that it is something else": 2.35,
        "scene set after completion": 1.77,
        "sets a scene of its own": 1.09,
        "has a slash command": 1.05,
        "the work was committed": 1.04,
        "much is new": 1.02,
        "is long": 0.98,
        "announces a question": 0.88,
        "most of it is new": 0.7,
        "a silence before it": 0.64,
        "asks for work": 0.64,
        "is longer than the prompts before": 0.61,
        "the agent had reported completion": 0.6,
        "describes trouble": 0.53,
        "new names": 0.37,
        "all steps were done": 0.36,
        "a new link": 0.36,
        "own subject after completion": 0.15,
        "asks for work with a subject of its own": 0.14,
        "a question was answered": 0.08,
        "points before it names anything": -0.14,
        "the agent was at work": -0.15,
        "quotes the agent": -0.16,
        "was sent before": -0.18,
        "the agent had asked something": -0.22,
        "has a few words only": -0.24,
        "opens like an answer": -0.4,
        "is short": -0.44,
        "words of the last message": -0.48,
        "is mostly pasted": -0.5,
        "known names": -0.57,
        "opens with something known": -0.79,
        "words of the instructions": -0.82,
        "asks for tests": -0.84,
    },
)

SECOND_LOOK = Weights(
    bias=-5.05,
    doubt=1.89,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "says that it is something else": 2.41,
        "the reply is about something new": 1.29,
        "is long": 1.25,
        "scene set after completion": 1.16,
        "the work was committed": 1.09,
        "the agent announced work": 1.03,
        "much is new": 1.01,
        "the first file is another one": 0.89,
        "announces a question": 0.71,
        "sets a scene of its own": 0.67,
        "the agent had reported completion": 0.65,
        "describes trouble": 0.61,
        "own subject after completion": 0.6,
        "the agent turned to other files": 0.6,
        "all steps were done": 0.58,
        "has a slash command": 0.58,
        "a silence before it": 0.52,
        "most of it is new": 0.5,
        "new names": 0.46,
        "asks for work": 0.18,
        "is longer than the prompts before": 0.16,
        "asks for work with a subject of its own": 0.03,
        "the agent used no files": -0.01,
        "quotes the agent": -0.1,
        "words of the last message": -0.2,
        "has a few words only": -0.25,
        "is mostly pasted": -0.28,
        "opens with something known": -0.29,
        "the agent had asked something": -0.33,
        "points before it names anything": -0.33,
        "known names": -0.38,
        "is short": -0.39,
        "the agent was at work": -0.45,
        "was sent before": -0.45,
        "words of the instructions": -0.45,
        "opens like an answer": -0.53,
        "the reply takes up the prompt": -0.53,
        "the agent stayed with its files": -0.77,
        "the agent edited at once": -0.82,
        "asks for tests": -1.27,
    },
)
