# pyright: reportPrivateUsage=false
"""A crew: the workers of one process, in threads. None, one or many crews may serve a store, anywhere.

Kinds of jobs that may take long have threads of their own, so that a model that thinks for a minute, or a
server that does not answer, keeps no wait from being looked at. A crew says in the store that it is there and
what it has done, finds by itself what nobody asks for (vectors and files that lag behind), and ends in
bounded time: what is not over by then is given back, and whoever is still at it is refused.
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
from ..waits.watcher import Watcher
from .schedule import rounds_for
from .worker import (
    BATCH,
    HANDLERS,
    LEASE_SECONDS,
    LONGEST_WAIT,
    Handler,
    Worker,
    handlers_for,
    new_holder,
    summed,
)

# Kinds that share a thread; all others are quick, and share one. They come in the order of `run_once`.
WAITS = ("wait",)
SLOW = (("extract", "summary"), ("embed",), ("webhook",), ("wake",), ("upkeep", "prune"))
WAITS_LOOK = 1.0  # an idle worker looks for waits at least this often, in seconds
TICK = 1.0
STOP_SECONDS = 20.0  # that jobs in hand may still take when the crew is to end
_PATIENCE = 2.0  # for a busy store, when the crew says that it is there, what it did, or that it ends


class Crew:
    """The workers of a process."""

    def __init__(
        self,
        memory: TaskMemory,
        *,
        handlers: Mapping[str, Handler] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self.holder = new_holder()
        self._memory = memory
        self._store = memory.store
        self._handlers = dict(handlers_for(memory) if handlers is None else handlers)
        self._lease_seconds = lease_seconds
        self._stop_seconds = stop_seconds
        self._rounds = rounds_for(memory, self._handlers)
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._did: Counter[tuple[str, str]] = Counter()  # since it was last told to the store
        self._beaten = 0.0
        self._broken: list[Exception] = []
        self._workers = [
            Worker(
                memory,
                handlers={kind: self._handlers[kind] for kind in lane},
                lease_seconds=lease_seconds,
                batch=1 if lane in SLOW else BATCH,  # others may want to share what takes long
                longest_wait=WAITS_LOOK if lane == WAITS else LONGEST_WAIT,
                holder=f"{self.holder}/{lane[0]}",
                note=self._note,
            )
            for lane in lanes(self._handlers)
        ]

    # --- running ----------------------------------------------------------------------------------

    def run_once(self, stop: threading.Event | None = None) -> WorkerReport:
        """Do what is due, waits first and what may take long last; then end."""
        stop = stop or threading.Event()
        total = WorkerReport()
        self._begin()
        try:
            for one in self._rounds:
                one.ask(at_once=True)
            for worker in self._workers:
                total = summed(total, worker.run_once(stop=stop))
        finally:
            self._tell(ended=True)
        return total

    def run(self, stop: threading.Event) -> WorkerReport:
        """Do jobs until `stop` is set; jobs in hand have some seconds then, all others are given back.

        A store that cannot serve for a while is waited for. What else goes wrong ends the crew.
        """
        reports: list[WorkerReport] = []
        threads = [
            threading.Thread(
                target=self._lane, args=(worker, reports), name=f"ringbolt-{worker.holder}", daemon=True
            )
            for worker in self._workers
        ]
        with suppress(StoreError):  # if not now, then with the first beat
            self._begin(_PATIENCE)
        for thread in threads:
            thread.start()
        watch_journal(self._memory, self._ending)
        try:
            while not stop.wait(TICK) and not self._broken:
                self._look_around()
        finally:
            self._end(threads)
        if self._broken:
            raise self._broken[0]
        return summed(*reports)

    def _lane(self, worker: Worker, reports: list[WorkerReport]) -> None:
        try:
            if worker.kinds == WAITS and self._handlers["wait"] is HANDLERS["wait"]:
                # Many waits cost little if one keeps them all in its memory.
                reports.append(self._watch(worker.holder))
            else:
                reports.append(worker.run(self._ending))
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self._broken.append(error)

    def _watch(self, holder: str) -> WorkerReport:
        did: Counter[str] = Counter()

        def note(job: Job, outcome: str, why: str) -> None:
            did[outcome] += 1
            self._note(job, outcome, why)

        Watcher(self._memory, holder, lease_seconds=self._lease_seconds, note=note).run(self._ending)
        return WorkerReport(**did)

    def _end(self, threads: list[threading.Thread]) -> None:
        self._ending.set()
        until = time.monotonic() + self._stop_seconds
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        with suppress(StoreError):
            for worker, thread in zip(self._workers, threads, strict=True):
                if thread.is_alive():
                    worker.give_back(_PATIENCE)
            self._tell(ended=True)

    def _look_around(self) -> None:
        """Ask for what nobody asks for, and say what was done: a store that is busy hears it later."""
        with suppress(StoreError):
            for one in self._rounds:
                one.ask()
        with suppress(StoreError):
            self._tell()

    # --- telling ----------------------------------------------------------------------------------

    def _now(self) -> float:
        return self._memory._clock()

    def _begin(self, patience: float | None = None) -> None:
        kinds = tuple(self._handlers)
        held = self._store.read(lambda tx: [(kind, who) for kind in kinds for who in jobs.holders(tx, kind)])
        dead = [(kind, who) for kind, who in held if jobs.is_dead(who)]

        def work(tx: Tx) -> None:
            workers.begin(tx, self.holder, kinds, self._now())
            for kind, who in dead:  # whoever was killed here a moment ago needs no lease any more
                jobs.abandon(tx, kind, who)

        self._store.write(work, patience=patience)
        self._beaten = time.monotonic()

    def _tell(self, ended: bool = False) -> None:
        """Say in the store what was done, and that this crew is here, as often as that is due."""
        with self._lock:
            did, self._did = self._did, Counter()
        if not did and not ended and time.monotonic() - self._beaten < workers.BEAT_SECONDS:
            return

        def work(tx: Tx) -> None:
            workers.add_up(tx, did, self._now())
            workers.beat(tx, self.holder, tuple(self._handlers), self._now(), ended=ended)

        try:
            self._store.write(work, patience=_PATIENCE)
            self._beaten = time.monotonic()
        except StoreError:
            with self._lock:
                self._did.update(did)
            raise

    def _note(self, job: Job, outcome: str, why: str) -> None:
        """Count what became of a job, and log what did not go well: a line for each."""
        with self._lock:
            self._did[job.kind, outcome] += 1
        if outcome == "done":
            return

        told = {
            "failed": f"failed (attempt {job.attempts} of {jobs.MOST_ATTEMPTS})",
            "dead": "was given up",
            "lost": "was lost to another worker",
        }[outcome]
        about = f" of {job.task_id}" if job.task_id else ""
        reason = f": {clip(one_line(why), 300)}" if outcome != "lost" else ""
        level = ERROR if outcome == "dead" else WARNING
        getLogger("ringbolt.worker").log(level, "job %d (%s%s) %s%s", job.id, job.kind, about, told, reason)


def lanes(kinds: Mapping[str, object]) -> list[tuple[str, ...]]:
    """The kinds that are there, by the thread that does them."""
    known = {kind for lane in (WAITS, *SLOW) for kind in lane}
    quick = tuple(kind for kind in kinds if kind not in known)
    found = [WAITS, quick, *SLOW]
    return [some for lane in found if (some := tuple(kind for kind in lane if kind in kinds))]
