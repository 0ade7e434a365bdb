"""Codes that a vendor marks with a prefix."""

from __future__ import annotations

from . import rules
from .matching import replaced
from .randomness import entropy, is_wordy

_SHORTEST_CODE = 15
EXACT_HINTS = tuple(dict.fromkeys(hint for _, hints, _ in rules.VENDORS for hint in hints))


def vendor_codes(text: str) -> str:
    # No code is shorter than a long word, and most messages have none.
    if len(text) < 2000 and max(map(len, text.split()), default=0) < _SHORTEST_CODE:
        return text
    if not any(map(text.__contains__, EXACT_HINTS)):
        return text
    for kind, hints, source in rules.VENDORS:
        if any(map(text.__contains__, hints)):
            text = replaced(source, text, kind, _is_blank)
    return text


def _is_blank(code: str) -> bool:
    """Whether a vendor's code is a placeholder or a name: `ghp_xxxxxxxx`, `pypi-publish-to-our-own-index`."""
    lowered = code.lower()
    if any(map(lowered.__contains__, ("xxxxx", "example", "your_", "your-", "abcdefgh"))):
        return True
    return len(code) < 300 and (entropy(code) < 1.9 or is_wordy(code))
