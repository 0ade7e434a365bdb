"""Long texts and events in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.event_names import event_name
from .console import line


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
