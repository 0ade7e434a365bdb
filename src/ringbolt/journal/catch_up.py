"""Catching up: the journal is drained before a store is read or written."""

from __future__ import annotations

import os
import threading
import time
from _thread import get_ident
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .cards import make_stale
from .event_files import Journal
from .side_files import SideFiles

# A folder's modification time moves in steps of up to 10 ms: a younger one may hide a later change.
_TICK_NS = 50_000_000
_PATIENCE = 0.05  # seconds that a thread waits for another one that is draining
_REST = 0.25  # seconds without a further try after a drain that made no progress
# Seconds between two looks into the second folder, where hooks write only while the first cannot be written.
_SELDOM = 0.05
WATCH_SECONDS = 0.1


class CatchUp:
    """Drains a journal before a store is used. While nothing waits this costs one `stat`."""

    def __init__(self, journal: Journal, drain: Callable[[], bool]) -> None:
        """`drain` moves events into the store; it returns whether it made progress, and raises nothing."""
        self.journal = journal
        self._drain = drain
        self._folders = [os.path.join(folder, "new") for folder in journal.folders]
        # The modification time that each folder had when it was seen to be empty.
        self._empty: dict[str, int] = {}
        self._looks_at_all = 0.0  # when to look into all folders again
        self._reset()
        self._rests_until = 0.0

    def _reset(self) -> None:
        self._process = os.getpid()
        self._turn = threading.Lock()
        self._drainer = 0

    def __call__(self) -> None:
        """Drain what waits, as far as that can be done in a short time."""
        folders = self._folders
        if (now := time.monotonic()) < self._looks_at_all:
            folders = folders[:1]
        else:
            self._looks_at_all = now + _SELDOM
        for folder in folders:
            if folder in self._empty:
                with suppress(OSError):
                    if os.stat(folder).st_mtime_ns == self._empty[folder]:
                        continue
            elif not os.access(folder, os.F_OK):  # a `stat` that fails costs twice as much
                continue  # no hook has written there yet
            self._looks_at_all = 0.0  # more may wait than one drain takes
            self._catch_up()
            return

    def _catch_up(self) -> None:
        if self._drainer == get_ident() or time.monotonic() < self._rests_until or not self.is_waiting():
            return
        if self._process != os.getpid():
            self._reset()  # after a fork: the thread that may hold the lock is in the parent
        if not self._turn.acquire(timeout=_PATIENCE):
            return
        self._drainer = get_ident()
        try:
            # If nothing waits any more, another process was faster, and the next event must not wait for us.
            if not self._drain() and self.is_waiting():
                self._rests_until = time.monotonic() + _REST
        finally:
            self._drainer = 0
            self._turn.release()

    def is_waiting(self) -> bool:
        """Whether an event waits. Remembers folders that are empty."""
        found = False
        for folder in self._folders:
            with suppress(OSError):
                now, modified = time.time_ns(), os.stat(folder).st_mtime_ns
                if modified == self._empty.get(folder):
                    continue
                with os.scandir(folder) as entries:
                    is_empty = next(entries, None) is None
                if not is_empty:
                    found = True
                elif now - modified > _TICK_NS:
                    self._empty[folder] = modified
        return found

    def ruled_out(self, session: str) -> None:
        """Let the hooks of a session know at once that something was ruled out."""
        make_stale(SideFiles(self.journal), session)

    def watch(self, stop: threading.Event) -> None:
        """Drain events soon after they happen, until `stop` is set."""
        while not stop.wait(WATCH_SECONDS):
            self()


def watch_journal(memory: Any, stop: threading.Event) -> threading.Thread | None:
    """Drain events in a thread until `stop` is set, so that servers see them live."""
    catch_up: CatchUp | None = memory.store.catch_up
    if catch_up is None:
        return None
    thread = threading.Thread(target=catch_up.watch, args=(stop,), name="ringbolt-journal", daemon=True)
    thread.start()
    return thread
