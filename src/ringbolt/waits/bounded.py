"""Looking without being held up: what hangs, like a file on a mount whose server is gone, is left behind.

No call can be made to return from a dead mount. So looks run on a thread of their own; when one takes too
long its thread is given up and what it looked at is left alone until that thread comes back. There is never
more than one such thread for one place, and never more than a few in all.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from .conditions import Watch

Work = Callable[[], Any]


FILE_SECONDS = 3.0  # the most that a look at files takes
MOST_HUNG = 32
_hung: dict[str, threading.Thread] = {}
_lock = threading.Lock()


class Hung:
    """Instead of a result: it took too long, or its place is left alone."""


HUNG = Hung()


def place_of(watch: Watch) -> str:
    """What hangs together with a target: a mounted file system, or a display. Empty if nothing could hang."""
    if watch.parts:
        return next((place for part in watch.parts if (place := place_of(part))), "")
    if watch.kind in ("screen", "window"):
        return watch.value.partition("/")[0]
    return _mount_of(watch.value) if watch.kind in ("file", "log") else ""


def _mount_of(path: str) -> str:
    """The mount that a path is on by its name: to ask the file system itself could hang. What links lead to
    elsewhere is known only by its folder, so on the root it is that."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mounts = {line.split(" ", 5)[4].replace("\\040", " ") for line in file}
    folder = os.path.dirname(path)
    above = folder
    while above not in mounts and above != "/":
        above = os.path.dirname(above)
    return above if above != "/" else folder


def is_hung(place: str) -> bool:
    """Whether a look at a place has not come back yet; if too many have not, any place is."""
    with _lock:
        return place in _hung or len(_hung) >= MOST_HUNG


class Looker:
    """A thread that does looks one after the other, and its successors."""

    def __init__(self, seconds: float = FILE_SECONDS) -> None:
        self._seconds = seconds
        self._thread: _Thread | None = None

    def each(self, looks: Sequence[tuple[str, Work]]) -> list[Any]:
        """The results of some looks, each with its place; HUNG for those that have none."""
        results: list[Any] = [HUNG] * len(looks)
        start = 0
        while start < len(looks):
            if self._thread is None:
                self._thread = _Thread()
            start = self._thread.do(looks, results, start, self._seconds)
            if start < len(looks):
                self._thread = None  # it hangs, or it was given up
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
        self._left_behind = False
        self._thread = threading.Thread(target=self._run, name="ringbolt-look", daemon=True)
        self._thread.start()

    def do(self, looks: Sequence[tuple[str, Work]], results: list[Any], start: int, seconds: float) -> int:
        """Do looks from one on; the number of the first that was not begun. If that is not the end, this
        thread hangs and must not be used again."""
        self._looks, self._results, self._at = looks, results, start
        self._since = time.monotonic()
        self._over.clear()
        self._wanted.set()
        while not self._over.wait(max(self._since + seconds - time.monotonic(), 0.01)):
            with _lock:
                if not self._over.is_set() and time.monotonic() - self._since >= seconds:
                    self._left_behind = True
                    _hung[looks[self._at][0]] = self._thread
                    return self._at + 1
        return len(looks)

    def end(self) -> None:
        self._looks = ()
        self._left_behind = True
        self._wanted.set()

    def _run(self) -> None:
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
                    found = work()
                except Exception as error:  # noqa: BLE001 - it is the result, for whoever wants it
                    found = error
                with _lock:
                    if self._left_behind:
                        _hung.pop(place, None)
                        return
                    results[at] = found
            if self._left_behind:
                return
            self._over.set()


def bounded(place: str, work: Work, seconds: float) -> Any:
    """The result of one look; TimeoutError if it takes too long, or its place is left alone."""
    looker = Looker(seconds)
    (found,) = looker.each([(place, work)])
    looker.close()
    if isinstance(found, Exception):
        raise found
    if found is HUNG:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return found
