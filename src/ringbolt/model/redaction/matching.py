"""Patterns that are compiled when a text first needs them, and replacing what they match."""

from __future__ import annotations

import re
from collections.abc import Callable

from .markers import MARK, marker

# A pattern is compiled when a text first contains one of its hints, so most hooks compile none.
_compiled: dict[str, re.Pattern[str]] = {}


def pattern(source: str) -> re.Pattern[str]:
    if source not in _compiled:
        _compiled[source] = re.compile(source)
    return _compiled[source]


def replaced(source: str, text: str, kind: str, keep: Callable[[str], bool] | None = None) -> str:
    """Replace the group `secret` (or else the first group, or all) of each match."""

    def redact(match: re.Match[str]) -> str:
        group = "secret" if "secret" in match.re.groupindex else 1 if match.re.groups else 0
        found = match[group]
        if MARK in found or (keep is not None and keep(found)):
            return match[0]
        begin = match.start(group) - match.start()
        return match[0][:begin] + marker(kind) + match[0][begin + len(found) :]

    return pattern(source).sub(redact, text)
