# pyright: reportPrivateUsage=false
"""Looks at many waits: quick ones one after the other on a thread that is left behind when it hangs; slow
ones, like those over the network, on some others, so that no file waits for a server."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Sequence
from typing import Any

from ..model.errors import RingboltError
from ..model.results import Job
from ..model.types import Value
from . import Watch
from .bounded import FILE_SECONDS, HUNG, Looker, place_of
from .files import glance
from .operations import Waiting
from .reading import is_quick
from .records import Live, leaves, steady

SLOW_THREADS = 8
_CHUNK = 200  # looks at one place that are done in one go
# A file that was written a moment ago may be written again without another time.
_YOUNG_NS = 100_000_000
UNSEEN: Any = object()


class Outcome(Value, frozen=True, kw_only=True):
    """What a look at a wait has found; `ended`: how the wait ends with it, if it does. `live` is the wait as
    it was then, and `seen` what a glance at its file will find while nothing changes."""

    live: Live
    ended: str | None
    said: str
    state: Any
    seen: Any = UNSEEN


def in_words(trouble: Any) -> str:
    """What kept a look from finding anything, for people."""
    if isinstance(trouble, RingboltError):
        return trouble.message
    if isinstance(trouble, Exception):
        return f"{type(trouble).__name__}: {trouble}"[:300]
    return f"no answer within {FILE_SECONDS:g} s"


class Held:
    """A wait in the memory of a watcher. `tick`: when the next look is planned; -1 if it is not held any
    more."""

    __slots__ = (
        "about", "busy", "deadline", "dirty", "glances", "interval", "job", "live", "look_by", "passive",
        "place", "quick", "seen", "tick", "timed", "watch", "zero",
    )  # fmt: skip

    def __init__(self, job: Job, live: Live, watch: Watch, waited: float) -> None:
        self.job = job
        self.busy = False
        self.tick = 0
        self.place = place_of(watch)
        self.about = {leaf.value.partition("/")[0] for leaf in leaves(watch) if leaf.kind in ("task", "item")}
        self.take(live, watch, waited)

    def take(self, live: Live, watch: Watch, waited: float) -> None:
        """Go on with the wait as the store has it."""
        self.live, self.watch = live, watch
        self.quick = is_quick(watch)
        parts = leaves(watch)
        self.passive = all(leaf.kind in ("time", "manual", "task", "item") for leaf in parts)
        self.timed = any(leaf.kind == "time" for leaf in parts)
        self.glances = _glances(watch, parts) if self.quick else ()
        self.seen = UNSEEN
        self.look_by = 0.0
        self.zero = steady() - waited  # when it began, by a clock that nobody sets
        self.deadline = self.zero + live.spec["timeout"]
        self.interval: float = (live.data or {}).get("interval") or live.spec["poll_interval"]
        self.dirty = False

    def glance(self) -> tuple[Any, ...]:
        """What is to be seen without a look; while it is the same, a look would find the same."""
        return tuple(_program(value) if kind == "process" else glance(value) for kind, value in self.glances)

    def waited(self) -> float:
        """For how many seconds it has been watched."""
        return steady() - self.zero


class Looks:
    """Looks on behalf of a watcher."""

    def __init__(self, memory: Waiting) -> None:
        self._memory = memory
        self._looker = Looker(FILE_SECONDS)
        self._slow: queue.SimpleQueue[Held | None] = queue.SimpleQueue()
        self._found: queue.SimpleQueue[tuple[Held, Any]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def close(self) -> None:
        """Let the threads end."""
        for _ in self._threads:
            self._slow.put(None)
        self._looker.close()

    def at(self, due: Sequence[Held]) -> list[tuple[Held, Any]]:
        """What is found at some waits: an Outcome; None if nothing can have changed; else an error, or HUNG.

        What slow looks find comes with a later call.
        """
        places: dict[str, list[Held]] = {}
        for held in due:
            if held.quick:
                places.setdefault(held.place, []).append(held)
            else:
                self._look_slowly(held)
        chunks = [
            (place, some[start : start + _CHUNK])
            for place, some in places.items()
            for start in range(0, len(some), _CHUNK)
        ]
        results = self._looker.each([(place, lambda s=some: self._look_at(s)) for place, some in chunks])
        found = self._slow_results()
        for (_, some), outcomes in zip(chunks, results, strict=True):
            if outcomes is HUNG or isinstance(outcomes, Exception):
                found += [(held, outcomes) for held in some]
            else:
                found += outcomes
        return found

    def _look_at(self, some: Sequence[Held]) -> list[tuple[Held, Any]]:
        found: list[tuple[Held, Any]] = []
        now = steady()
        for held in some:
            if held.glances:
                seen = held.glance()
                if seen == held.seen and now < held.look_by:
                    found.append((held, None))
                    continue
                outcome = self._outcome(held, bound=False)
                if isinstance(outcome, Outcome) and _is_all(seen, outcome):
                    outcome = outcome.replace(seen=seen)
                found.append((held, outcome))
            else:
                found.append((held, self._outcome(held, bound=False)))
        return found

    def _outcome(self, held: Held, *, bound: bool) -> Any:
        """What a look at a wait has found, or the error that it has come to."""
        memory, live = self._memory, held.live
        try:
            around = memory._surroundings(live, held.waited())
            ended, said, state = memory._judged(live, held.watch, around, bound=bound)
        except Exception as error:  # noqa: BLE001 - told by whoever settles it
            return error
        return Outcome(live=live, ended=ended, said=said, state=state)

    def _look_slowly(self, held: Held) -> None:
        held.busy = True
        if len(self._threads) < SLOW_THREADS:
            thread = threading.Thread(target=self._look_on, name="ringbolt-slow-look", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._slow.put(held)

    def _look_on(self) -> None:
        while (held := self._slow.get()) is not None:
            self._found.put((held, self._outcome(held, bound=True)))

    def _slow_results(self) -> list[tuple[Held, Any]]:
        found: list[tuple[Held, Any]] = []
        while not self._found.empty():
            held, outcome = self._found.get()
            held.busy = False
            found.append((held, outcome))
        return found


def _glances(watch: Watch, parts: Sequence[Watch]) -> tuple[tuple[str, str], ...]:
    """What of a watch can be known by a glance; nothing unless all can, or comes with an event or a time."""
    for leaf in parts:
        known = leaf.kind in ("file", "process", "time", "manual", "task", "item")
        if not (known or leaf is watch) or leaf.word.startswith("stable"):
            return ()
    return tuple((leaf.kind, leaf.value) for leaf in parts if leaf.kind in ("file", "log", "process"))


def _program(pid: str) -> str | int | None:
    """What a process runs, or why that is not known; one that has exited runs nothing. Another process with
    the same number may run the same, so now and then there is a look."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError as error:
        return error.errno


def _is_all(seen: Sequence[Any], outcome: Outcome) -> bool:
    """Whether a look has found all that there was: no file is just being written, and of a log nothing is
    left for the next look."""
    files: list[Any] = [one for one in seen if isinstance(one, tuple)]
    now = time.time_ns()
    if any(abs(now - one[1]) < _YOUNG_NS for one in files):
        return False
    state: dict[str, Any] = outcome.state or {}
    return "offset" not in state or not files or state["offset"] == files[0][0]
