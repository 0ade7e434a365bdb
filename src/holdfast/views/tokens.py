"""Counting tokens: an estimate that is never below, and the exact count where a tokenizer is installed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def estimate(text: str) -> int:
    """About how many tokens a text has, never fewer than it really has."""
    return (len(text.encode()) + 2) // 3


def exact() -> Callable[[str], int] | None:
    """The exact counter, or None where no tokenizer is installed."""
    return None


def counter(exact_wanted: bool) -> Callable[[str], int]:
    """The exact counter where it is wanted and there, else the estimate."""
    return (exact() if exact_wanted else None) or estimate


def fit(text: str, budget: int, count: Callable[[str], int] = estimate) -> str:
    """The longest beginning of a text within a budget, with `…` where something was cut."""
    if count(text) <= budget:
        return text
    low, high = 0, min(len(text), budget * 8)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle] + "…") <= budget else (low, middle - 1)
    return text[:low].rstrip() + "…"
