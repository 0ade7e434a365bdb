"""How far something inferred is trusted: as far as its least trusted source, never as the user's word."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.types import Channel

AGENT = "ringbolt"  # writes what is inferred; what it wrote is never read as an agent's word

_MOST_FIRST: tuple[Channel, ...] = ("agent", "tool", "web", "import")
# What the user or the system said counts as the agent's word once it is inferred; an unknown source as the
# worst one.
_RANKS: dict[str | None, int] = {
    "user": 0,
    "system": 0,
    None: len(_MOST_FIRST) - 1,
    **{channel: rank for rank, channel in enumerate(_MOST_FIRST)},
}


def least_trusted(channels: Iterable[str | None]) -> Channel:
    """The channel of what comes from several: the least trusted of them, at best the agent's."""
    return _MOST_FIRST[max((_RANKS[channel] for channel in channels), default=0)]


def is_trusted_as(channel: str, other: str) -> bool:
    """Whether one channel is trusted at least as much as another."""
    return _RANKS[channel] <= _RANKS[other]
