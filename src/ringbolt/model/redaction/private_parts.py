"""What stands in `<private>…</private>`: its author said that it must not be stored."""

from __future__ import annotations

from typing import Any

from ..types import is_dict
from . import rules
from .markers import marker
from .matching import pattern

PRIVATE_HINTS = ("<private", "< private")


def without_private(text: str) -> str:
    """Replace what stands in `<private>…</private>`. Tags nest; without an end, all the rest goes."""
    return _without_private(text, 0)[0] if "private" in text.lower() else text


def without_private_blocks(values: list[Any]) -> list[Any]:
    """The same in a message that a host reports as several blocks: a tag may end in a later one."""
    texts = [
        value["text"] if is_dict(value) and isinstance(value.get("text"), str) else "" for value in values
    ]
    if not any("private" in text.lower() for text in texts):
        return values
    depth, left = 0, list[Any]()
    for value, text in zip(values, texts, strict=True):
        if text:
            text, depth = _without_private(text, depth)
            value = {**value, "text": text}
        left.append(value)
    return left


def _without_private(text: str, depth: int) -> tuple[str, int]:
    """A text that begins within `depth` tags without its private parts, and the depth at its end."""
    parts: list[str] = []
    done = 0
    for tag in pattern(rules.PRIVATE_TAG).finditer(text):
        if tag["empty"]:
            continue
        if not tag["closes"]:
            if not depth:
                parts += text[done : tag.start()], marker("private")
            depth += 1
        elif depth:
            depth -= 1
            done = tag.end()
    return "".join(parts) + ("" if depth else text[done:]), depth
