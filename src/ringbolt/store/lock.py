"""The write lock of a store among processes, granted fairly.

With a single lock, a process that has just released it can take it again before a waiting process
wakes up: of 32 writers the slowest got a third as many turns as the fastest, and with timed polling a
thirtieth. So there are two locks. A writer takes the gate, then the lock, then releases the gate. The
process that holds the lock and wants it again finds the gate held by the next in line, so it cannot overtake.
The kernel drops both when a process dies, so a crash never leaves a stale lock.
"""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock

from ..model.errors import StoreError
from ..system.os_calls import lock as lock_file
from ..system.os_calls import open_file, read_at, unlock, write_at


class ProcessLock:
    """The write lock of a store, with a time limit."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._gate = -1
        self._lock = -1
        self._open()

    def _open(self) -> None:
        self._gate = open_file(f"{self._path}.gate", os.O_RDWR | os.O_CREAT)
        self._lock = open_file(f"{self._path}.lock", os.O_RDWR | os.O_CREAT)
        self._waiter: threading.Thread | None = None
        self._wanted: threading.Semaphore
        self._granted: threading.Semaphore
        self._mutex = allocate_lock()
        self._wanting = False
        self._outstanding = False
        self._closed = False

    def acquire(self, timeout: float | None = None) -> None:
        """Take the lock, or raise `store_busy` after `timeout` seconds."""
        if not self._outstanding and self._take_at_once():
            return
        self._ask_waiter()
        patience = self._timeout if timeout is None else timeout
        if self._granted.acquire(timeout=patience) or not self._give_up():
            self._outstanding = False
            return
        raise StoreError(
            "store_busy",
            f"Another process ({self._holder()}) has held the store's lock for {patience:.3g} s.",
            "Nothing was written. Try again; if it persists, check what that process is doing.",
        )

    def _give_up(self) -> bool:
        """Stop wanting the lock; False if it was granted at this very moment."""
        with self._mutex:
            self._wanting = False
            return not self._granted.acquire(blocking=False)

    def release(self, mark: int | None = None) -> None:
        """Release the lock; `mark` records the newest event, so that `verify` notices lost events."""
        if mark is not None:
            write_at(self._lock, b"%-10d %-20d\n" % (os.getpid(), mark), 0)
        unlock(self._lock)

    def mark(self) -> int:
        """The newest event ever recorded by `release`, or 0."""
        words = self._content()
        return int(words[1]) if len(words) == 2 and words[1].isdigit() else 0

    def close(self) -> None:
        """Close the lock files, which releases a lock that is held."""
        with self._mutex:
            self._closed = True
            waiting = self._outstanding  # then the waiter still uses the files, and closes them itself
        if not waiting:
            if self._waiter is not None:
                self._wanted.release()
            os.close(self._gate)
            os.close(self._lock)

    def reopen_after_fork(self) -> None:
        """In a forked child: open lock files of our own.

        The child shares the parent's open files. Closing its copies does not release the parent's lock, but
        keeping them would hold that lock for as long as the child lives.
        """
        os.close(self._gate)
        os.close(self._lock)
        self._open()

    def _take_at_once(self) -> bool:
        if not lock_file(self._gate, wait=False):
            return False
        try:
            return lock_file(self._lock, wait=False)
        finally:
            unlock(self._gate)

    def _ask_waiter(self) -> None:
        # Locks have no timeout, so a thread waits for us. If we give up, the thread keeps its place in line:
        # when it gets the lock, it passes it on if we want it again by then, or releases it at once.
        if self._waiter is None:
            self._wanted, self._granted = threading.Semaphore(0), threading.Semaphore(0)
            self._waiter = threading.Thread(target=self._wait_in_line, daemon=True)
            self._waiter.start()
        with self._mutex:
            self._wanting = True
            if not self._outstanding:
                self._outstanding = True
                self._wanted.release()

    def _wait_in_line(self) -> None:
        gate, lock, wanted, granted = self._gate, self._lock, self._wanted, self._granted
        while True:
            wanted.acquire()
            if self._closed:
                return
            lock_file(gate, wait=True)
            lock_file(lock, wait=True)
            unlock(gate)
            with self._mutex:
                if self._wanting:
                    granted.release()
                    continue
                self._outstanding = False
                unlock(lock)
            if self._closed:
                os.close(gate)
                os.close(lock)
                return

    def _content(self) -> list[bytes]:
        # With a handle of its own: on Windows the waiter's handle does nothing else while it waits.
        file = open_file(f"{self._path}.lock")
        try:
            return read_at(file, 64, 0).split()
        finally:
            os.close(file)

    def _holder(self) -> str:
        words = self._content()
        return f"last known: {words[0].decode()}" if words else "unknown"
