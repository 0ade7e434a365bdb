"""Weights of the two models of `names`. Written by `bench/name_training.py`; do not edit.

Log-odds that a name is used, or a file opened, in the next 30 calls.
"""

FILES = {
    "bias": -4.26,
    "events": 0.39,
    "heat": 0.51,
    "lately": 1.57,
    "length": 0.15,
    "opened": 0.5,
    "recently": -0.67,
    "used": 0.05,
    "used lately": -0.31,
    "used recently": 2.22,
}

OTHERS = {
    "bias": -3.69,
    "commit": -0.86,
    "const": -0.12,
    "events": 0.08,
    "heat": 1.09,
    "lately": 1.52,
    "length": 0.1,
    "lower": -0.22,
    "opened": 0.57,
    "recently": -0.25,
    "snake": -0.22,
    "ticket": -0.36,
    "url": -1.03,
    "used": 0.61,
    "used lately": -0.85,
    "used recently": 1.72,
    "version": -0.37,
}
