"""A pool of connections to PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

from .postgres_database import Connection


class Pool:
    """Idle connections; the most recently used one is reused first.

    A caller that needs a new connection opens it itself, so that a server is used the moment it is back.
    Writers, who may wait for each other for long, leave a quarter of the connections to readers.
    """

    def __init__(self, connect: Callable[[], Connection], size: int, timeout: float) -> None:
        self._connect = connect
        self._timeout = timeout
        self._slots = threading.Semaphore(size)
        self._for_writers = threading.Semaphore(size - max(1, size // 4) if size > 1 else size)
        self._free: list[Connection] = []
        self._closed = False
        self.process = os.getpid()

    def take(self, writing: bool) -> Connection | None:
        """A connection, or None if all stayed in use until the timeout."""
        until = time.monotonic() + self._timeout
        if writing and not self._for_writers.acquire(timeout=self._timeout):
            return None
        if not self._slots.acquire(timeout=max(0.0, until - time.monotonic())):
            if writing:
                self._for_writers.release()
            return None
        with contextlib.suppress(IndexError):  # none is free
            return self._free.pop()
        try:
            return self._connect()
        except BaseException:
            self._release(writing)
            raise

    def give_back(self, connection: Connection, writing: bool) -> None:
        """Keep a connection for the next caller, unless it is closed."""
        if self._closed:
            connection.close()
        elif not connection.closed:
            self._free.append(connection)
        self._release(writing)

    def _release(self, writing: bool) -> None:
        self._slots.release()
        if writing:
            self._for_writers.release()

    def clear(self) -> None:
        """Close all idle connections."""
        free, self._free = self._free, []
        for connection in free:
            connection.close()

    def close(self) -> None:
        self._closed = True
        self.clear()
