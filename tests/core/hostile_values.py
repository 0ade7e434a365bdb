"""Values that an argument may be given by mistake or by malice, by what they are."""

from __future__ import annotations

import math

from tests.support import nested

HOSTILE = {
    "a lone surrogate": "\ud800",
    "a NUL": "a\0b",
    "an empty text": "",
    "a path": "../../etc/passwd",
    "an escape": "\x1b]52;c;x\x07",
    "SQL": "x') OR 1=1--",
    "10,000 letters": "x" * 10_000,
    "zero": 0,
    "a negative number": -1,
    "2**63": 2**63,
    "5,000 digits": 10**5000,
    "a fraction": 1.5,
    "NaN": math.nan,
    "infinity": math.inf,
    "true": True,
    "bytes": b"\xff\xfe",
    "an object": object(),
    "an empty list": [],
    "a list of lists": [["a"]],
    "a list of nothing": [None],
    "an empty mapping": {},
    "a mapping of numbers": {1: 2, "a": 3},
    "depth": nested(10_000),
    "a deep mapping": {"message": nested(10_000)},
    "a set": {"a"},
}
