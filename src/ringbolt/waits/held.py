# pyright: reportPrivateUsage=false
"""The waits that a loop holds in memory, and the threads that check them.

Quick checks run one after the other on a thread that is abandoned when it hangs; slow ones, such as those
over the network, run on a few other threads, so that no file waits for a server.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from typing import Any

from ..model.errors import RingboltError
from ..model.results import Job
from ..system import processes
from ..system.os_calls import steady
from .bounded import FILE_SECONDS, HUNG, Runner, resource_of
from .conditions import Watch
from .file_targets import fingerprint
from .state import UNSEEN, Outcome, Wait, is_quick
from .wake import WaitRecords

SLOW_THREADS = 8
_CHUNK = 200  # checks of one resource in one go
# A file written a moment ago may be written again within the same timestamp.
_YOUNG_NS = 100_000_000


def problem_text(problem: Any) -> str:
    """Why a check had no result, for display."""
    if isinstance(problem, RingboltError):
        return problem.message
    if isinstance(problem, Exception):
        return f"{type(problem).__name__}: {problem}"[:300]
    return f"no answer within {FILE_SECONDS:g} s"


class Held:
    """A wait that a loop holds. `tick` is when the next check is planned: 0 not yet, -1 never again."""

    __slots__ = (
        "about",
        "busy",
        "check_by",
        "deadline",
        "dirty",
        "interval",
        "job",
        "passive",
        "quick",
        "resource",
        "seen",
        "stat_targets",
        "tick",
        "timed",
        "wait",
        "watch",
        "zero",
    )  # fmt: skip

    def __init__(self, job: Job, wait: Wait, watch: Watch, waited: float) -> None:
        self.job = job
        self.busy = False  # a slow check is running
        self.tick = 0
        self.resource = resource_of(watch)
        self.about = {leaf.value.partition("/")[0] for leaf in watch.leaves if leaf.kind in ("task", "step")}
        self.take(wait, watch, waited)

    def take(self, wait: Wait, watch: Watch, waited: float) -> None:
        """Continue with the current version of the wait."""
        self.wait, self.watch = wait, watch
        self.quick = is_quick(watch)
        # Targets that change only with an event, or at a known moment, need few checks.
        self.passive = all(leaf.kind in ("time", "manual", "task", "step") for leaf in watch.leaves)
        self.timed = watch.has("time")
        self.stat_targets = _stat_targets(watch) if self.quick else ()
        self.seen = UNSEEN
        self.check_by = 0.0
        self.zero = steady() - waited  # when it started, by the monotonic clock
        self.deadline = self.zero + wait.spec["timeout"]
        self.interval: float = (wait.data or {}).get("interval") or wait.spec["poll_interval"]
        self.dirty = False

    def fingerprint(self) -> tuple[Any, ...]:
        """A cheap view of the targets; while it stays the same, a check would find the same."""
        return tuple(
            processes.program(value) if kind == "process" else fingerprint(value)
            for kind, value in self.stat_targets
        )

    def waited(self) -> float:
        """For how many seconds it has been watched."""
        return steady() - self.zero


class Checks:
    """Checks held waits for a loop. `arrived` is set when a slow check has returned."""

    def __init__(self, memory: WaitRecords, file_seconds: float = FILE_SECONDS) -> None:
        self._memory = memory
        self._runner = Runner(file_seconds)
        self._slow: queue.SimpleQueue[Held | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Held, Any]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.arrived = threading.Event()

    def close(self) -> None:
        """End the threads."""
        for _ in self._threads:
            self._slow.put(None)
        self._runner.close()

    def run(self, due: Sequence[Held]) -> list[tuple[Held, Any]]:
        """Check waits; the result of each is an Outcome, None if nothing can have changed, an error, or HUNG.

        The results of slow checks come with a later call.
        """
        resources: dict[str, list[Held]] = {}
        for held in due:
            if held.quick:
                resources.setdefault(held.resource, []).append(held)
            else:
                self._queue_slow(held)
        chunks = [
            (resource, waits[start : start + _CHUNK])
            for resource, waits in resources.items()
            for start in range(0, len(waits), _CHUNK)
        ]
        results = self._runner.run_all(
            [(resource, lambda w=waits: self._check_quick(w)) for resource, waits in chunks]
        )
        checked = self._slow_results()
        for (_, waits), outcomes in zip(chunks, results, strict=True):
            if outcomes is HUNG or isinstance(outcomes, Exception):
                checked += [(held, outcomes) for held in waits]
            else:
                checked += outcomes
        return checked

    def _check_quick(self, waits: Sequence[Held]) -> list[tuple[Held, Any]]:
        checked: list[tuple[Held, Any]] = []
        now = steady()
        for held in waits:
            seen = held.fingerprint()
            if held.stat_targets and seen == held.seen and now < held.check_by:
                checked.append((held, None))
                continue
            outcome = self._outcome(held, limited=False)
            if held.stat_targets and isinstance(outcome, Outcome) and _is_complete(seen, outcome):
                outcome = outcome.replace(seen=seen)
            checked.append((held, outcome))
        return checked

    def _outcome(self, held: Held, *, limited: bool) -> Any:
        """The outcome of a check, or the error that it raised."""
        try:
            return self._memory._check_wait(held.wait, held.watch, held.waited(), limited=limited)
        except Exception as error:  # noqa: BLE001 - the loop handles it
            return error

    def _queue_slow(self, held: Held) -> None:
        held.busy = True
        if len(self._threads) < SLOW_THREADS:
            thread = threading.Thread(target=self._work, name="ringbolt-slow-check", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._slow.put(held)

    def _work(self) -> None:
        while (held := self._slow.get()) is not None:
            self._results.put((held, self._outcome(held, limited=True)))
            self.arrived.set()

    def _slow_results(self) -> list[tuple[Held, Any]]:
        self.arrived.clear()
        checked: list[tuple[Held, Any]] = []
        while not self._results.empty():
            held, outcome = self._results.get()
            held.busy = False
            checked.append((held, outcome))
        return checked


def _stat_targets(watch: Watch) -> tuple[tuple[str, str], ...]:
    """The files and processes whose fingerprints show whether a check is needed; empty if they cannot."""
    parts = watch.leaves
    for leaf in parts:
        known = leaf.kind in ("file", "process", "time", "manual", "task", "step")
        if not (known or leaf is watch) or leaf.word.startswith("stable"):
            return ()
    return tuple((leaf.kind, leaf.value) for leaf in parts if leaf.kind in ("file", "log", "process"))


def _is_complete(seen: Sequence[Any], outcome: Outcome) -> bool:
    """Whether a check saw everything: no file is being written, and no part of a log is unread."""
    files: list[Any] = [part for part in seen if isinstance(part, tuple)]
    now = time.time_ns()
    if any(abs(now - file[1]) < _YOUNG_NS for file in files):
        return False
    state: dict[str, Any] = outcome.state or {}
    return "offset" not in state or not files or state["offset"] == files[0][0]
