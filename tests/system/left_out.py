"""Tests that other systems leave out, with the reason: conftest.py skips them, and the table of
`tools/test_platforms.py` counts them.

A system is `macos` or `windows`; `simulated` adds what only a simulation on Linux cannot do.
"""

from __future__ import annotations

import os
import sys

POSTGRES = "no PostgreSQL server of that system is at hand"
_LEFT_OUT: dict[str, dict[str, str]] = {
    "macos": {},
    "windows": {},
    "simulated macos": {},
    "simulated windows": {},
}


def systems() -> list[str]:
    """The rows of the table that hold here; none on Linux."""
    if simulated := os.environ.get("RINGBOLT_SIMULATE"):
        return [simulated, f"simulated {simulated}"]
    return {"darwin": ["macos"], "win32": ["windows"]}.get(sys.platform, [])


def reason(test: str) -> str | None:
    """Why this system leaves out a test, by the test's name with its parameters."""
    here = systems()
    if here and "postgres" in test.partition("[")[2]:
        return POSTGRES
    for system in here:
        for why, names in _LEFT_OUT[system].items():
            if test.partition("[")[0] in names.split() or test in names.split():
                return why
    return None
