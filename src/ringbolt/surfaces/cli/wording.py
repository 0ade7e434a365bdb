"""Times, long texts and events in words."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ...model.event_names import event_name
from ...model.validate import seconds_of
from .console import line

_UNITS = (("day", 86400), ("h", 3600), ("min", 60))
_LONG_AGO = 14 * 86400


def ago(at: str) -> str:
    """How long ago a time was; a date if that is long ago."""
    seconds = max(0.0, time.time() - seconds_of(at))
    if seconds >= _LONG_AGO:
        return at[:10]
    for unit, length in _UNITS:
        if count := int(seconds // length):
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''} ago"
    return "just now"


def cut(text: object, most: int = 100) -> str:
    """A recorded text on one line, cut after a word where it is long."""
    words = str(text)
    if not (words.isascii() and words.isprintable()):
        from ...packet.encode import one_line  # slow to load: many patterns

        words = one_line(words)
    if len(words) > most:
        words = words[: most - 1]
        space = words.rfind(" ")
        words = f"{words[:space] if space > most // 2 else words}…"
    return line(words)


def event_words(event: Mapping[str, Any], most: int = 100) -> str:
    """What an event is, and its text."""
    text = cut(event["text"] or "", most)
    return f"{event_name(event['type'])}: {text}" if text else event_name(event["type"])
