"""How programs beside a test open a store: with few rooms, because those load much faster."""

from __future__ import annotations

from ringbolt.opening import Opening

START = 1_772_366_400.0  # 2026-03-01T12:00:00Z


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


def as_tests_want(clock=None, **options) -> dict:
    """How a memory is opened: a workspace, a session, an agent, and a clock that stands still."""
    given = {
        "workspace": "/w",
        "session": "S",
        "agent": "tester",
        "principal": "owner",
        "synchronous": "off",
        "reserve_bytes": 0,
        "clock": clock or Clock(),
    }
    return {**given, **options}


def open_rooms(url, *rooms, **options):
    """A memory with the operations of some rooms."""
    return type("Memory", (Opening, *rooms), {}).open(url, **as_tests_want(**options))
