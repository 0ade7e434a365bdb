# pyright: reportPrivateUsage=false
"""The workers of one process, in threads. Any number of pools, on any machine, may serve a store.

Slow kinds of jobs have threads of their own, so that a model that thinks for a minute, or a server that does
not respond, delays no wait. A pool registers in the store and reports its work there, schedules recurring
work (upkeep, and vectors and files that lag behind), and stops within a time limit: unfinished jobs are
released, and late workers get `stale_token`.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from logging import ERROR, WARNING, getLogger

from ..journal.catch_up import watch_journal
from ..memory import TaskMemory
from ..model.errors import StoreError
from ..model.results import Job, WorkerReport
from ..packet.encode import clip, one_line
from ..store import Tx, jobs, workers
from ..waits.loop import Watcher
from .schedule import schedulers_for
from .worker import BATCH, HANDLERS, LEASE_SECONDS, LONGEST_WAIT, Handler, Worker, handlers_for, summed

# Kinds that share a thread, in the order of `run_once`; all others are quick and share one.
WAITS = ("wait",)
SLOW = (
    ("extract", "summary", "request", "report"),
    ("embed",),
    ("webhook",),
    ("wake",),
    ("publish",),
    ("upkeep", "prune"),
)
LONGEST_WAITS_PAUSE = 1.0  # seconds: an idle worker checks for waits at least this often
TICK = 1.0
STOP_SECONDS = 20.0  # time for running jobs when the pool stops
_PATIENCE = 2.0  # seconds to wait for a busy store when the pool registers, reports or stops


class Pool:
    """The workers of a process."""

    def __init__(
        self,
        memory: TaskMemory,
        *,
        handlers: Mapping[str, Handler] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self.holder = jobs.new_holder()
        self._memory = memory
        self._store = memory.store
        self._handlers = dict(handlers_for(memory) if handlers is None else handlers)
        self._lease_seconds = lease_seconds
        self._stop_seconds = stop_seconds
        self._schedulers = schedulers_for(memory, self._handlers)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()  # outcomes since the last report
        self._reported = 0.0
        self._errors: list[Exception] = []
        self._workers = [
            Worker(
                memory,
                handlers={kind: self._handlers[kind] for kind in lane},
                lease_seconds=lease_seconds,
                batch=1 if lane in SLOW else BATCH,  # other workers can take jobs that this one has not begun
                longest_wait=LONGEST_WAITS_PAUSE if lane == WAITS else LONGEST_WAIT,
                holder=f"{self.holder}/{lane[0]}",
                note=self._note,
            )
            for lane in lanes(self._handlers)
        ]

    # --- running ----------------------------------------------------------------------------------

    def run_once(self, stop: threading.Event | None = None) -> WorkerReport:
        """Run the due jobs, waits first and slow ones last, and return."""
        stop = stop or threading.Event()
        total = WorkerReport()
        self._register()
        try:
            for scheduler in self._schedulers:
                scheduler.schedule(at_once=True)
            for worker in self._workers:
                total = summed(total, worker.run_once(stop=stop))
        finally:
            self._report(stopped=True)
        return total

    def run(self, stop: threading.Event) -> WorkerReport:
        """Run jobs until `stop` is set; running jobs then get a few seconds, all others are released.

        While the store is unavailable, the pool keeps trying. Any other error stops the pool and is raised.
        """
        reports: list[WorkerReport] = []
        threads = [
            threading.Thread(
                target=self._run_lane, args=(worker, reports), name=f"ringbolt-{worker.holder}", daemon=True
            )
            for worker in self._workers
        ]
        with suppress(StoreError):  # the first report registers as well
            self._register(_PATIENCE)
        for thread in threads:
            thread.start()
        watch_journal(self._memory, self._stopping)
        try:
            while not stop.wait(TICK) and not self._errors:
                self._schedule_and_report()
        finally:
            self._stop(threads)
        if self._errors:
            raise self._errors[0]
        return summed(*reports)

    def _run_lane(self, worker: Worker, reports: list[WorkerReport]) -> None:
        try:
            if worker.kinds == WAITS and self._handlers["wait"] is HANDLERS["wait"]:
                # One loop that keeps all waits in memory costs less than a job for every check.
                reports.append(self._watch(worker.holder))
            else:
                reports.append(worker.run(self._stopping))
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self._errors.append(error)

    def _watch(self, holder: str) -> WorkerReport:
        counts: Counter[str] = Counter()

        def note(job: Job, outcome: str, why: str) -> None:
            counts[outcome] += 1
            self._note(job, outcome, why)

        Watcher(self._memory, holder, lease_seconds=self._lease_seconds, note=note).run(self._stopping)
        return WorkerReport(**counts)

    def _stop(self, threads: list[threading.Thread]) -> None:
        self._stopping.set()
        until = time.monotonic() + self._stop_seconds
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        with suppress(StoreError):
            for worker, thread in zip(self._workers, threads, strict=True):
                if thread.is_alive():
                    worker.give_back(_PATIENCE)
            self._report(stopped=True)

    def _schedule_and_report(self) -> None:
        """Schedule recurring work, and report; if the store is busy, the next tick tries again."""
        with suppress(StoreError):
            for scheduler in self._schedulers:
                scheduler.schedule()
        with suppress(StoreError):
            self._report()

    # --- reporting --------------------------------------------------------------------------------

    def _now(self) -> float:
        return self._memory._clock()

    def _register(self, patience: float | None = None) -> None:
        """Register in the store, and release the jobs of dead processes on this machine."""
        kinds = tuple(self._handlers)
        held = self._store.read(lambda tx: [(kind, who) for kind in kinds for who in jobs.holders(tx, kind)])
        dead = [(kind, who) for kind, who in held if jobs.is_dead_process(who)]

        def work(tx: Tx) -> None:
            workers.begin(tx, self.holder, kinds, self._now())
            for kind, who in dead:
                jobs.expire(tx, kind, who)

        self._store.write(work, patience=patience)
        self._reported = time.monotonic()

    def _report(self, stopped: bool = False) -> None:
        """Add our counts to the totals in the store; with nothing to add, send a heartbeat when it is due."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts and not stopped and time.monotonic() - self._reported < workers.BEAT_SECONDS:
            return

        def work(tx: Tx) -> None:
            workers.add_up(tx, counts, self._now())
            workers.beat(tx, self.holder, tuple(self._handlers), self._now(), ended=stopped)

        try:
            self._store.write(work, patience=_PATIENCE)
            self._reported = time.monotonic()
        except StoreError:
            with self._lock:
                self._counts.update(counts)
            raise

    def _note(self, job: Job, outcome: str, why: str) -> None:
        """Count the outcome of a job, and log it unless the job succeeded."""
        with self._lock:
            self._counts[job.kind, outcome] += 1
        if outcome == "done":
            return
        what = {
            "failed": f"failed (attempt {job.attempts} of {jobs.MOST_ATTEMPTS})",
            "dead": "was given up",
            "lost": "was lost to another worker",
        }[outcome]
        about = f" of {job.task_id}" if job.task_id else ""
        reason = f": {clip(one_line(why), 300)}" if outcome != "lost" else ""
        level = ERROR if outcome == "dead" else WARNING
        getLogger("ringbolt.worker").log(level, "job %d (%s%s) %s%s", job.id, job.kind, about, what, reason)


def lanes(kinds: Mapping[str, object]) -> list[tuple[str, ...]]:
    """The kinds of jobs, grouped by the thread that runs them."""
    known = {kind for lane in (WAITS, *SLOW) for kind in lane}
    quick = tuple(kind for kind in kinds if kind not in known)
    lanes = (tuple(kind for kind in lane if kind in kinds) for lane in (WAITS, quick, *SLOW))
    return [lane for lane in lanes if lane]
