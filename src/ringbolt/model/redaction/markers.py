"""The marker that stands for a secret."""

from __future__ import annotations

MARK = "[redacted "


def marker(kind: str) -> str:
    """The marker that replaces a secret."""
    return f"{MARK}{'value' if kind in ('guess', 'lone') else kind}]"


def is_marked(text: str) -> bool:
    """Whether a text contains the marker of a redaction; it is then not a name, variable or quotation."""
    return MARK in text
