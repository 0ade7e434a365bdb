# pyright: reportPrivateUsage=false
"""Waits in the memory of a loop, and the threads that look at them.

Quick looks run one after the other on a thread that is given up when it hangs; slow ones, such as those over
the network, run on a few others, so that no file waits for a server.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Sequence
from typing import Any

from ..model.errors import RingboltError
from ..model.results import Job
from .bounded import FILE_SECONDS, HUNG, Looker, place_of
from .conditions import Watch
from .file_targets import glance
from .state import UNSEEN, Outcome, Wait, is_quick, steady
from .wake import WaitRecords

SLOW_THREADS = 8
_CHUNK = 200  # looks at one place in one go
# A file written a moment ago may be written again within the same timestamp.
_YOUNG_NS = 100_000_000


def problem_text(problem: Any) -> str:
    """What kept a look from finding anything, for people."""
    if isinstance(problem, RingboltError):
        return problem.message
    if isinstance(problem, Exception):
        return f"{type(problem).__name__}: {problem}"[:300]
    return f"no answer within {FILE_SECONDS:g} s"


class Held:
    """A wait that a loop looks after. `tick` is when the next look is planned: 0 not yet, -1 never again."""

    __slots__ = (
        "about", "busy", "deadline", "dirty", "glances", "interval", "job", "look_by", "passive", "place",
        "quick", "seen", "tick", "timed", "wait", "watch", "zero",
    )  # fmt: skip

    def __init__(self, job: Job, wait: Wait, watch: Watch, waited: float) -> None:
        self.job = job
        self.busy = False  # a slow look is under way
        self.tick = 0
        self.place = place_of(watch)
        self.about = {leaf.value.partition("/")[0] for leaf in watch.leaves if leaf.kind in ("task", "item")}
        self.take(wait, watch, waited)

    def take(self, wait: Wait, watch: Watch, waited: float) -> None:
        """Continue with the wait as the store has it now."""
        self.wait, self.watch = wait, watch
        self.quick = is_quick(watch)
        # What changes only with an event, or at a known moment, needs few looks.
        self.passive = all(leaf.kind in ("time", "manual", "task", "item") for leaf in watch.leaves)
        self.timed = watch.has("time")
        self.glances = _glances(watch) if self.quick else ()
        self.seen = UNSEEN
        self.look_by = 0.0
        self.zero = steady() - waited  # when it started, by the clock that nobody can set
        self.deadline = self.zero + wait.spec["timeout"]
        self.interval: float = (wait.data or {}).get("interval") or wait.spec["poll_interval"]
        self.dirty = False

    def glance(self) -> tuple[Any, ...]:
        """What can be seen cheaply; while it is the same, a look would find the same."""
        return tuple(_program(value) if kind == "process" else glance(value) for kind, value in self.glances)

    def waited(self) -> float:
        """For how many seconds it has been watched."""
        return steady() - self.zero


class Looks:
    """Looks at held waits on behalf of a loop. `arrived` is set when a slow look has returned."""

    def __init__(self, memory: WaitRecords, file_seconds: float = FILE_SECONDS) -> None:
        self._memory = memory
        self._looker = Looker(file_seconds)
        self._slow: queue.SimpleQueue[Held | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Held, Any]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.arrived = threading.Event()

    def close(self) -> None:
        """Let the threads end."""
        for _ in self._threads:
            self._slow.put(None)
        self._looker.close()

    def look_at(self, due: Sequence[Held]) -> list[tuple[Held, Any]]:
        """Look at waits; each comes with an Outcome, None if nothing can have changed, an error, or HUNG.

        The results of slow looks come with a later call.
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
        results = self._looker.run_all(
            [(place, lambda s=some: self._look_quickly(s)) for place, some in chunks]
        )
        found = self._slow_results()
        for (_, some), outcomes in zip(chunks, results, strict=True):
            if outcomes is HUNG or isinstance(outcomes, Exception):
                found += [(held, outcomes) for held in some]
            else:
                found += outcomes
        return found

    def _look_quickly(self, some: Sequence[Held]) -> list[tuple[Held, Any]]:
        found: list[tuple[Held, Any]] = []
        now = steady()
        for held in some:
            seen = held.glance()
            if held.glances and seen == held.seen and now < held.look_by:
                found.append((held, None))
                continue
            outcome = self._outcome(held, limited=False)
            if held.glances and isinstance(outcome, Outcome) and _is_complete(seen, outcome):
                outcome = outcome.replace(seen=seen)
            found.append((held, outcome))
        return found

    def _outcome(self, held: Held, *, limited: bool) -> Any:
        """What a look found, or the error that it raised."""
        try:
            return self._memory._look_at_wait(held.wait, held.watch, held.waited(), limited=limited)
        except Exception as error:  # noqa: BLE001 - the loop decides what becomes of it
            return error

    def _look_slowly(self, held: Held) -> None:
        held.busy = True
        if len(self._threads) < SLOW_THREADS:
            thread = threading.Thread(target=self._work, name="ringbolt-slow-look", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._slow.put(held)

    def _work(self) -> None:
        while (held := self._slow.get()) is not None:
            self._results.put((held, self._outcome(held, limited=True)))
            self.arrived.set()

    def _slow_results(self) -> list[tuple[Held, Any]]:
        self.arrived.clear()
        found: list[tuple[Held, Any]] = []
        while not self._results.empty():
            held, outcome = self._results.get()
            held.busy = False
            found.append((held, outcome))
        return found


def _glances(watch: Watch) -> tuple[tuple[str, str], ...]:
    """The files and processes for which a glance shows whether to look; empty if a glance is not enough."""
    parts = watch.leaves
    for leaf in parts:
        known = leaf.kind in ("file", "process", "time", "manual", "task", "item")
        if not (known or leaf is watch) or leaf.word.startswith("stable"):
            return ()
    return tuple((leaf.kind, leaf.value) for leaf in parts if leaf.kind in ("file", "log", "process"))


def _program(pid: str) -> str | int | None:
    """The program of a process, or the error number; an exited process has none. Another process may get the
    same number and program, so the loop looks properly now and then."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError as error:
        return error.errno


def _is_complete(seen: Sequence[Any], outcome: Outcome) -> bool:
    """Whether a look found all there was: no file is just being written, and of a log nothing is unread."""
    files: list[Any] = [one for one in seen if isinstance(one, tuple)]
    now = time.time_ns()
    if any(abs(now - one[1]) < _YOUNG_NS for one in files):
        return False
    state: dict[str, Any] = outcome.state or {}
    return "offset" not in state or not files or state["offset"] == files[0][0]
