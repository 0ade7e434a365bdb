"""Looks with a time limit: a target that hangs, such as a file on a dead mount, holds up nothing else.

No call can be made to return from a dead mount, so looks run on a thread of their own. When one takes too
long, its thread is given up and nothing on the same mount is looked at until that thread returns. There is
at most one such thread per mount or display, and at most a few in all.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from .conditions import Watch

Work = Callable[[], Any]

FILE_SECONDS = 3.0  # the most that a look at a file takes
MOST_HUNG = 32
_hung: dict[str, threading.Thread] = {}
_lock = threading.Lock()


class Hung:
    """Stands for the result of a look that took too long, or was not begun because its place hangs."""


HUNG = Hung()


def place_of(watch: Watch) -> str:
    """What a target hangs together with: a mount or a display; empty if it cannot hang."""
    if watch.parts:
        return next((place for part in watch.parts if (place := place_of(part))), "")
    if watch.kind in ("screen", "window"):
        return watch.value.partition("/")[0]
    return _mount_of(watch.value) if watch.kind in ("file", "log") else ""


def _mount_of(path: str) -> str:
    """The mount of a path, judged by its name, because asking the file system could hang. A link on the root
    file system may lead to any mount, so there the place is the folder."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mounts = {line.split(" ", 5)[4].replace("\\040", " ") for line in file}
    folder = os.path.dirname(path)
    above = folder
    while above not in mounts and above != "/":
        above = os.path.dirname(above)
    return above if above != "/" else folder


def is_hung(place: str) -> bool:
    """Whether a look at a place has not returned yet; true for every place if too many have not."""
    with _lock:
        return place in _hung or len(_hung) >= MOST_HUNG


class Looker:
    """Runs looks one after the other on a thread, and on a new one when that hangs."""

    def __init__(self, seconds: float = FILE_SECONDS) -> None:
        self._seconds = seconds
        self._thread: _Thread | None = None

    def run_all(self, looks: Sequence[tuple[str, Work]]) -> list[Any]:
        """The results of looks, each given with its place; HUNG for those without a result."""
        results: list[Any] = [HUNG] * len(looks)
        start = 0
        while start < len(looks):
            if self._thread is None:
                self._thread = _Thread()
            start = self._thread.run(looks, results, start, self._seconds)
            if start < len(looks):
                self._thread = None  # it hangs
        return results

    def close(self) -> None:
        """Let the thread end."""
        if self._thread is not None:
            self._thread.end()
            self._thread = None


class _Thread:
    def __init__(self) -> None:
        self._wanted = threading.Event()
        self._over = threading.Event()
        self._looks: Sequence[tuple[str, Work]] = ()
        self._results: list[Any] = []
        self._at = 0
        self._since = 0.0
        self._given_up = False
        self._thread = threading.Thread(target=self._work, name="ringbolt-look", daemon=True)
        self._thread.start()

    def run(self, looks: Sequence[tuple[str, Work]], results: list[Any], start: int, seconds: float) -> int:
        """Run looks from index `start` on; returns the index of the first that was not begun. If any is left,
        this thread hangs and must not be used again."""
        self._looks, self._results, self._at = looks, results, start
        self._since = time.monotonic()
        self._over.clear()
        self._wanted.set()
        while not self._over.wait(max(self._since + seconds - time.monotonic(), 0.01)):
            with _lock:
                if not self._over.is_set() and time.monotonic() - self._since >= seconds:
                    self._given_up = True
                    _hung[looks[self._at][0]] = self._thread
                    return self._at + 1
        return len(looks)

    def end(self) -> None:
        self._looks = ()
        self._given_up = True
        self._wanted.set()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            looks, results = self._looks, self._results
            for at in range(self._at, len(looks)):
                place, work = looks[at]
                self._at, self._since = at, time.monotonic()
                if place and is_hung(place):
                    continue
                try:
                    result = work()
                except Exception as error:  # noqa: BLE001 - the error is the result
                    result = error
                with _lock:
                    if self._given_up:
                        _hung.pop(place, None)
                        return
                    results[at] = result
            if self._given_up:
                return
            self._over.set()


def bounded(place: str, work: Work, seconds: float) -> Any:
    """The result of one look; TimeoutError if it takes too long, or its place hangs."""
    looker = Looker(seconds)
    (result,) = looker.run_all([(place, work)])
    looker.close()
    if isinstance(result, Exception):
        raise result
    if result is HUNG:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return result
