"""Weights for recognising plans in prose, written by `bench/plan_training.py`: do not edit."""

from __future__ import annotations

BIAS = -3.18
WEIGHTS: dict[str, float] = {
    "asks for changes": 2.47,
    "source: user": 2.47,
    "has a number": 1.91,
    "has a label": 1.4,
    "the lead intends": 1.24,
    "begins with a verb": 1.02,
    "form: boxes": 1.0,
    "form: numbers": 0.95,
    "source: file": 0.84,
    "begins with a verb, intended": 0.63,
    "the heading speaks of a plan": 0.49,
    "the text is a plan": 0.47,
    "names a file": 0.46,
    "begins with a verb, in a plan": 0.31,
    "items, logarithm": 0.07,
    "the heading speaks of something else": -0.11,
    "is ticked": -0.12,
    "about checking": -0.2,
    "the lead reports": -0.22,
    "is a question": -0.26,
    "names a section": -0.29,
    "the lead asks": -0.36,
    "under another heading": -0.44,
    "is only a name": -0.66,
    "form: bullets": -0.75,
    "is short": -0.75,
    "the text reports": -0.78,
    "offers a choice": -0.92,
    "the text asks at its end": -1.0,
    "explains": -1.09,
    "begins in the past": -1.11,
}
