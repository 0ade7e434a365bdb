"""The trust of inferred texts: that of their least trusted source, and never the user's."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.types import Channel

AGENT = "ringbolt"  # the author of inferred texts, which are never read as an agent's own

_MOST_FIRST: tuple[Channel, ...] = ("agent", "tool", "web", "import")
# A text inferred from the user or the system counts as the agent's; an unknown source counts as the least
# trusted one.
_RANKS: dict[str | None, int] = {
    "user": 0,
    "system": 0,
    None: len(_MOST_FIRST) - 1,
    **{channel: rank for rank, channel in enumerate(_MOST_FIRST)},
}


def least_trusted(channels: Iterable[str | None]) -> Channel:
    """The least trusted of several channels, at best the agent's."""
    return _MOST_FIRST[max((_RANKS[channel] for channel in channels), default=0)]


def is_trusted_as(channel: str, other: str) -> bool:
    """Whether one channel is trusted at least as much as another."""
    return _RANKS[channel] <= _RANKS[other]
