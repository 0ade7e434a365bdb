# pyright: reportPrivateUsage=false
"""Waits of many clients that block, watched by one thread, so that a waiting client costs none of its own.

A server starts the wait of a client, adds it here, and goes on with other requests until the wait is
over. The thread exists only while somebody waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

from ..model.errors import NotFound, RingboltError, StoreError
from ..model.results import WaitResult
from ..store import jobs
from .loop import CALLER_LEASE_SECONDS, FEED_SECONDS, LEASE_CHECK_SECONDS, PASSING, Watcher
from .operations import Waiting
from .wake import WaitRecords

WaitKey = tuple[str, int]  # the task, and the seq of the wait
Over = Callable[[], None]


class BlockingWaits:
    """The waits that clients of one server block on."""

    def __init__(self, memory: WaitRecords) -> None:
        self._memory = memory
        self._wanted: dict[WaitKey, list[Over]] = {}
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._thread: threading.Thread | None = None
        self._ended = False

    def __len__(self) -> int:
        return len(self._wanted)

    def add(self, wait: WaitKey, over: Over) -> None:
        """Watch a wait; `over` is called, on another thread, when it has ended or this server ends."""
        with self._lock:
            if self._ended:
                over()
                return
            self._wanted.setdefault(wait, []).append(over)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ringbolt-blocking", daemon=True)
                self._thread.start()
        self._news.set()

    def keep(self, wait: WaitKey) -> None:
        """Watch a wait that nobody blocks on, until it ends."""
        if wait not in self._wanted:
            self.add(wait, _nobody)

    def remove(self, wait: WaitKey, over: Over) -> bool:
        """Remove a client that has gone; returns whether no other client waits for this."""
        with self._lock:
            callers = self._wanted.get(wait, [])
            if over in callers:
                callers.remove(over)
            if not callers:
                self._wanted.pop(wait, None)
        self._news.set()
        return not callers

    def end(self) -> None:
        """Let every client go, and leave the waits to other processes."""
        with self._lock:
            self._ended = True
            thread = self._thread
            callers = [over for waiting in self._wanted.values() for over in waiting]
            self._wanted.clear()
        self._news.set()
        for over in callers:
            over()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            self._watch_while_wanted()
            with self._lock:  # a wait may have been added just now
                if not self._wanted:
                    self._thread = None
                    return

    def _watch_while_wanted(self) -> None:
        watcher = Watcher(
            self._memory, jobs.new_holder(), lease_seconds=CALLER_LEASE_SECONDS, only=_Keys(self._wanted)
        )
        try:
            while self._wanted:
                try:
                    pause = min(watcher.tick(), FEED_SECONDS)
                    self._notify_of_ended(watcher)
                except StoreError as error:
                    if error.code not in PASSING:
                        raise
                    pause = LEASE_CHECK_SECONDS
                if self._news.wait(pause):
                    self._news.clear()
                    watcher.look_for_waits()
        except RingboltError:
            # Each client now asks for the state of its wait, and gets the same error.
            for wait in list(self._wanted):
                self._notify(wait)
        finally:
            with suppress(StoreError):  # the leases expire
                watcher.close()

    def _notify_of_ended(self, watcher: Watcher) -> None:
        """Notify the clients of waits that have ended; those that the watcher holds have not."""
        loose = [wait for wait in list(self._wanted) if not watcher.holds(wait)]
        if not loose:
            return
        for key in loose:
            try:
                wait = self._memory._wait(*key)
            except NotFound:  # the task was removed
                self._notify(key)
                continue
            if wait.state != "watching":
                self._notify(key)
            elif wait.data is None:  # imported: it has no job to hold, but it can time out
                self._memory._check_once(wait)

    def _notify(self, wait: WaitKey) -> None:
        with self._lock:
            callers = self._wanted.pop(wait, [])
        for over in callers:
            over()


def _nobody() -> None:
    """Called when a wait ends on which nobody blocks."""


GONE = "the client that waited for it has gone"
_POLL_SECONDS = 0.5  # between two questions whether the client is still there


def question_of(memory: Waiting, started: WaitResult) -> str | None:
    """What a wait asks a person; None if it waits for no person."""
    for leaf in memory._wait(started.task_id, started.seq).watch.leaves:
        if leaf.kind == "manual":
            return leaf.value.strip() or "The agent waits for your decision."
    return None


def wait_on_this_thread(memory: Waiting, started: WaitResult, gone: Callable[[], bool]) -> WaitResult:
    """Block until a wait is over, for a client that may go: then the wait ends with it."""
    waits, over = BlockingWaits(memory), threading.Event()
    if started.state == "watching":
        waits.add((started.task_id, started.seq), over.set)
        while not over.wait(_POLL_SECONDS):
            if gone():
                memory.wait_cancel(started.wait_id, reason=GONE)
                over.wait()
        waits.end()
    return memory.wait_status(started.wait_id)[0]


class _Keys:
    """A view of the wanted waits that may change while it is iterated over."""

    def __init__(self, wanted: dict[WaitKey, list[Over]]) -> None:
        self._wanted = wanted

    def __iter__(self) -> Iterator[WaitKey]:
        return iter(list(self._wanted))

    def __len__(self) -> int:
        return len(self._wanted)

    def __contains__(self, wait: object) -> bool:
        return wait in self._wanted
