"""The output of a tool as text."""

from __future__ import annotations

from json import dumps
from typing import Any

from ..model.types import is_dict, is_list


def as_text(value: Any) -> str:
    """What a host gives as a tool's output, as a text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if is_list(value):
        return "\n".join(as_text(part) for part in value)
    if is_dict(value) and isinstance(value.get("text"), str):
        return value["text"]

    return dumps(value, ensure_ascii=False, default=str)
