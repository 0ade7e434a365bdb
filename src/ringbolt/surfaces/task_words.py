"""Tasks and times in words that several surfaces share."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..model import rules
from ..model.validate import seconds_of

_UNITS = (("day", 86400), ("h", 3600), ("min", 60), ("s", 1))
_LONG_AGO = 14 * 86400


def steps_done(task: Mapping[str, Any]) -> str:
    """How far the plan of a task is; empty without a plan."""
    if not task["total"]:
        return ""
    verified = f", {task['verified']} verified" if task.get("verified") else ""
    return f"{task['done']} of {task['total']} steps done{verified}"


def now_or_next(card: Mapping[str, Any]) -> str:
    """The step that a task is at, otherwise what comes next; empty if neither is known."""
    if card["status"] in rules.ENDED:
        return ""
    return card["current_title"] or card["next_step"] or card["next_title"] or ""


def span(seconds: float) -> str:
    """A length of time in its largest whole unit: 40 s, 5 min, 3 h, 2 days."""
    for unit, length in _UNITS:
        if (count := int(seconds // length)) or unit == "s":
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}"
    return ""


def ago(at: str) -> str:
    """How long ago a time was; a date if that is long ago."""
    seconds = max(0.0, time.time() - seconds_of(at))
    if seconds >= _LONG_AGO:
        return at[:10]
    return "just now" if seconds < 60 else f"{span(seconds)} ago"
