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
    bias=-4.61,
    doubt=3.18,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "has a slash command": 2.2,
        "scene set after completion": 2.02,
        "says that it is something else": 2.01,
        "is longer than the prompts before": 0.88,
        "much is new": 0.83,
        "announces a question": 0.82,
        "a silence before it": 0.7,
        "sets a scene of its own": 0.68,
        "the work was committed": 0.67,
        "is long": 0.64,
        "most of it is new": 0.56,
        "asks for work": 0.48,
        "a new link": 0.41,
        "new names": 0.39,
        "describes trouble": 0.34,
        "the agent had reported completion": 0.31,
        "own subject after completion": 0.24,
        "asks for work with a subject of its own": 0.19,
        "all steps were done": 0.13,
        "words of the request": -0.04,
        "known names": -0.07,
        "opens like a follow-up": -0.08,
        "quotes the agent": -0.08,
        "has a few words only": -0.21,
        "refers back": -0.22,
        "is short": -0.26,
        "opens like an answer": -0.3,
        "points before it names anything": -0.3,
        "the agent had asked something": -0.32,
        "the agent was at work": -0.34,
        "opens with something known": -0.41,
        "was sent before": -0.48,
        "asks for tests": -0.52,
        "words of the last message": -0.54,
        "words of the instructions": -0.74,
    },
)

SECOND_LOOK = Weights(
    bias=-3.25,
    doubt=1.41,
    features={
        "hands over a plan": 4.0,
        "declares a new request": 4.0,
        "has a slash command": 1.24,
        "says that it is something else": 1.21,
        "the next turn is closer to this one than to the last": 0.93,
        "scene set after completion": 0.86,
        "the next turns are closer to each other": 0.78,
        "the last turns were closer to each other": 0.71,
        "is long and about no recent turn": 0.66,
        "announces a question": 0.56,
        "the agent explored first": 0.52,
        "the agent launched a helper": 0.52,
        "sets a scene of its own": 0.5,
        "is longer than the prompts before": 0.49,
        "much is new": 0.44,
        "the agent said much": 0.42,
        "is long": 0.4,
        "the reply is about something new": 0.36,
        "a silence before it": 0.35,
        "the agent had done much": 0.35,
        "the work was committed": 0.33,
        "the first file is another one": 0.31,
        "the agent turned to other files": 0.29,
        "own subject after completion": 0.28,
        "new names": 0.27,
        "most of it is new": 0.26,
        "the agent announced work": 0.24,
        "the agent did much": 0.23,
        "describes trouble": 0.22,
        "a new link": 0.18,
        "asks for work": 0.17,
        "the agent had reported completion": 0.16,
        "the agent explored and then edited": 0.15,
        "asks for work with a subject of its own": 0.12,
        "all steps were done": 0.05,
        "opens like a follow-up": -0.02,
        "the agent used no files": -0.08,
        "opens with something known": -0.09,
        "refers back": -0.1,
        "has a few words only": -0.12,
        "the agent stayed with its files": -0.13,
        "is short": -0.15,
        "the next turns edit what was edited": -0.16,
        "the agent had asked something": -0.17,
        "was sent before": -0.18,
        "the agent was at work": -0.2,
        "the agent edited at once": -0.2,
        "words of the last message": -0.21,
        "points before it names anything": -0.22,
        "opens like an answer": -0.23,
        "the reply takes up the prompt": -0.26,
        "the next turns are on known files": -0.27,
        "words of the instructions": -0.33,
        "asks for tests": -0.42,
        "the prompt is about the last turn": -0.54,
        "the turn is about a recent turn": -1.21,
        "the turn is about the last turn": -1.29,
        "the next turns are about the last ones": -1.91,
    },
)
