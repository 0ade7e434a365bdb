"""Answers of a hook that need the store. A stand-in: the drain and the real answers come with the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def answer(host: str, event: str, event_file: str | None, told: Mapping[str, Any], deadline: float) -> str:
    """The text for standard output."""
    return ""
