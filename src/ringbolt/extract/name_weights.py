"""Weights of the two models of `names`. Written by `bench/name_training.py`; do not edit.

Log-odds that a name is used, or a file opened, in the next 30 calls.
"""

FILES = {
    "bias": -4.05,
    "events": 0.53,
    "used": 0.13,
    "opened": 0.4,
    "lately": 0.21,
    "recently": 0.31,
    "used lately": 0.69,
    "used recently": 1.72,
    "heat": -0.14,
    "length": -0.15,
}
OTHERS = {
    "bias": -3.31,
    "events": 0.03,
    "used": 0.91,
    "opened": 0.56,
    "lately": 0.78,
    "recently": 0.98,
    "used lately": -0.87,
    "used recently": 1.26,
    "heat": 0.59,
    "length": -0.21,
    "snake": -0.45,
    "lower": -0.36,
    "commit": -1.11,
    "const": -0.45,
    "ticket": -0.35,
    "url": -0.98,
    "version": -0.99,
}
