"""Time limits of a hook: an alarm that interrupts whatever is being done."""

from __future__ import annotations

import signal
from types import FrameType


class Late(BaseException):
    """The time is up. No error: nothing that catches errors may catch it."""


class Enough(Late):
    """The time for something that need not be finished is up."""


def set_alarm(seconds: float, kind: type[Late] = Late) -> None:
    """Raise `kind` in so many seconds, wherever the process then is."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise kind

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def stop_alarm() -> None:
    """Let nothing be raised any more."""
    signal.setitimer(signal.ITIMER_REAL, 0)
