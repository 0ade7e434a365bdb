"""Texts that every engine can store, of bounded length."""

from __future__ import annotations

from .private_parts import without_private

# A very long text is cut to this many characters at its beginning and at its end.
_KEPT_AT_EACH_END = 60_000
_LEFT_OUT = "characters left out"


def folded(text: str) -> str:
    """A text in lower case and of the same length: only this one letter becomes longer."""
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


def storable(text: str) -> str:
    """Replace the characters that no engine can store: NUL and lone surrogates."""
    if text.isascii():
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def bounded(text: str) -> str:
    """Cut the middle out of a very long text, so that the time to search it is bounded."""
    if len(text) <= 2 * _KEPT_AT_EACH_END:
        return text
    text = without_private(text)  # before the cut parts the tags
    if len(text) <= 2 * _KEPT_AT_EACH_END:
        return text
    gap = f"\n… {len(text) - 2 * _KEPT_AT_EACH_END:,} {_LEFT_OUT} …\n"
    return f"{text[:_KEPT_AT_EACH_END]}{gap}{text[-_KEPT_AT_EACH_END:]}"
