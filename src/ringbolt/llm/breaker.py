"""A breaker: what fails is left alone for a while, and for longer each time it fails again."""

from __future__ import annotations

import threading

PAUSE, LONGEST = 30.0, 900.0
# So many answers in a row that were of no use are as bad as a server that does not answer at all.
PATIENCE = 5


class Breaker:
    """Whether a server may be asked. Times are those of a clock that the caller reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._useless = 0
        self._pause = 0.0  # how long the last pause was; 0: all is well
        self._until = 0.0
        self._reason = ""

    def refusal(self, now: float) -> str | None:
        """Why nobody may ask now; None if the one who wants to know may.

        After a pause one may try, and the others go on waiting until it is known how that went.
        """
        with self._lock:
            if not self._pause:
                return None
            if now < self._until:
                return f"{self._reason}; it is asked again in {self._until - now:.0f} s"
            self._until = now + self._pause
            return None

    def passed(self) -> None:
        """It answered as it should."""
        with self._lock:
            self._useless, self._pause = 0, 0.0

    def failed(self, now: float, reason: str) -> None:
        """It did not answer, or said that it cannot: nobody else should wait for that."""
        with self._lock:
            self._open(now, reason)

    def disappointed(self, now: float, reason: str) -> None:
        """It answered, but with nothing of use: that may happen, but not for ever."""
        with self._lock:
            self._useless += 1
            if self._useless >= PATIENCE:
                self._open(now, reason)

    def _open(self, now: float, reason: str) -> None:
        self._pause = min(self._pause * 2, LONGEST) if self._pause else PAUSE
        self._until = now + self._pause
        self._reason = reason
