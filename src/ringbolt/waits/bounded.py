"""Checks with a time limit: a target that hangs, such as a file on a dead mount, does not block the others.

A call into a dead mount cannot be interrupted, so checks run on a separate thread. When one takes too long,
its thread is abandoned, and nothing on the same mount is checked until that thread returns. There is at most
one abandoned thread per mount or display, and at most a few in total.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..system.os_calls import mounts
from .conditions import Watch

Work = Callable[[], Any]

FILE_SECONDS = 3.0  # the time limit for a check of a file
MOST_HUNG = 32
_hung: dict[str, threading.Thread] = {}
_lock = threading.Lock()


class Hung:
    """The result of a check that took too long, or was not started because its resource hangs."""


HUNG = Hung()


def resource_of(watch: Watch) -> str:
    """The mount or display that a target depends on; empty if it cannot hang."""
    if watch.parts:
        return next((resource for part in watch.parts if (resource := resource_of(part))), "")
    if watch.kind in ("screen", "window"):
        return watch.value.partition("/")[0]
    return _mount_of(watch.value) if watch.kind in ("file", "log") else ""


def _mount_of(path: str) -> str:
    """The mount of a path, judged by its name, because asking the file system could hang. A link on the root
    file system may lead to any mount, so for the root file system it is the folder."""
    known = mounts()
    folder = os.path.dirname(path)
    above = folder
    while above not in known and above != os.path.dirname(above):
        above = os.path.dirname(above)
    return above if above in known and above != "/" else folder


def is_hung(resource: str) -> bool:
    """Whether a check of a resource has not returned yet; true for every resource if too many have not."""
    with _lock:
        return resource in _hung or len(_hung) >= MOST_HUNG


class Runner:
    """Runs checks one after the other on a thread, and on a new thread when that one hangs."""

    def __init__(self, seconds: float = FILE_SECONDS) -> None:
        self._seconds = seconds
        self._thread: _Thread | None = None

    def run_all(self, checks: Sequence[tuple[str, Work]]) -> list[Any]:
        """Run checks, each with its resource; returns their results, HUNG for those without one."""
        results: list[Any] = [HUNG] * len(checks)
        start = 0
        while start < len(checks):
            if self._thread is None:
                self._thread = _Thread()
            start = self._thread.run(checks, results, start, self._seconds)
            if start < len(checks):
                self._thread = None  # it hangs
        return results

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._thread.end()
            self._thread = None


class _Thread:
    def __init__(self) -> None:
        self._wanted = threading.Event()
        self._over = threading.Event()
        self._checks: Sequence[tuple[str, Work]] = ()
        self._results: list[Any] = []
        self._at = 0
        self._since = 0.0
        self._abandoned = False
        self._thread = threading.Thread(target=self._work, name="ringbolt-check", daemon=True)
        self._thread.start()

    def run(self, checks: Sequence[tuple[str, Work]], results: list[Any], start: int, seconds: float) -> int:
        """Run checks from index `start` on; returns the index of the first that was not started. If any is
        left, this thread hangs and must not be used again."""
        self._checks, self._results, self._at = checks, results, start
        self._since = time.monotonic()
        self._over.clear()
        self._wanted.set()
        while not self._over.wait(max(self._since + seconds - time.monotonic(), 0.01)):
            with _lock:
                if not self._over.is_set() and time.monotonic() - self._since >= seconds:
                    self._abandoned = True
                    _hung[checks[self._at][0]] = self._thread
                    return self._at + 1
        return len(checks)

    def end(self) -> None:
        self._checks = ()
        self._abandoned = True
        self._wanted.set()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            checks, results = self._checks, self._results
            for at in range(self._at, len(checks)):
                resource, work = checks[at]
                self._at, self._since = at, time.monotonic()
                if resource and is_hung(resource):
                    continue
                try:
                    result = work()
                except Exception as error:  # noqa: BLE001 - the error is the result
                    result = error
                with _lock:
                    if self._abandoned:
                        _hung.pop(resource, None)
                        return
                    results[at] = result
            if self._abandoned:
                return
            self._over.set()


def bounded(resource: str, work: Work, seconds: float) -> Any:
    """Run one check; TimeoutError if it takes too long, or its resource hangs."""
    runner = Runner(seconds)
    (result,) = runner.run_all([(resource, work)])
    runner.close()
    if isinstance(result, Exception):
        raise result
    if result is HUNG:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return result
