"""A circuit breaker: a server that fails is not asked for a while, longer each time it fails again."""

from __future__ import annotations

import threading

PAUSE, LONGEST = 30.0, 900.0
# This many useless answers in a row are as bad as a server that does not answer.
PATIENCE = 5


class Breaker:
    """Decides whether a server may be asked. The caller passes the time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._useless = 0
        self._pause = 0.0  # length of the last pause; 0 if all is well
        self._until = 0.0
        self._reason = ""

    def refusal(self, now: float) -> str | None:
        """Why the server may not be asked now; None if the caller may.

        After a pause one caller may try, and the others wait until its result is known.
        """
        with self._lock:
            if not self._pause:
                return None
            if now < self._until:
                return f"{self._reason}; next attempt in {self._until - now:.0f} s"
            self._until = now + self._pause
            return None

    def passed(self) -> None:
        """The server gave a good answer."""
        with self._lock:
            self._useless, self._pause = 0, 0.0

    def failed(self, now: float, reason: str) -> None:
        """The server did not answer, or cannot: pause, so that other callers do not wait for it."""
        with self._lock:
            self._open(now, reason)

    def useless_answer(self, now: float, reason: str) -> None:
        """The server gave a useless answer, which may happen, but not many times in a row."""
        with self._lock:
            self._useless += 1
            if self._useless >= PATIENCE:
                self._open(now, reason)

    def _open(self, now: float, reason: str) -> None:
        self._pause = min(self._pause * 2, LONGEST) if self._pause else PAUSE
        self._until = now + self._pause
        self._reason = reason
