# pyright: reportPrivateUsage=false
"""The worker: takes jobs from the queue of a store and does them. None, one or many may run, anywhere.

Each job is done by a handler, which runs `settle` in its last transaction: what it wrote and the end of the
job are committed together or not at all. A handler that fails is tried again later, and given up in the end;
one whose worker died is taken over when its lease has run out, and a worker that comes late is refused.
"""

from __future__ import annotations

import contextlib
import os
import threading
from itertools import count

from .checks import seconds_of
from .errors import Conflict, NotFound, StoreError
from .memory.patterns import prune
from .store import jobs
from .types import WorkerReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from .memory import TaskMemory
    from .memory.extracting import Extractor, More
    from .store import Tx
    from .types import Job

    Settle = Callable[[Tx], None]
    Handler = Callable[[TaskMemory, Job, Settle], None]

LEASE_SECONDS = 60.0
BATCH = 16  # jobs that are taken at once
# How long an idle worker waits before it looks again: at first, and at most.
SHORTEST_WAIT, LONGEST_WAIT = 0.05, 5.0
# The store may be there again in a moment.
_PASSING = ("store_busy", "store_full", "store_unavailable", "outcome_unknown")
_numbers = count(1)


def extraction(extractor: Extractor | None = None, more: More | None = None) -> Handler:
    """The handler that extracts what a step, or a task that has ended, brought to light."""

    def extract(memory: TaskMemory, job: Job, settle: Settle) -> None:
        if memory.settings.extraction == "off":  # it was on when this was asked for
            memory.store.write(settle)
        else:
            memory._extract(
                job.task_id, extractor=extractor, more=more or memory._found_by_model, settle=settle
            )

    return extract


def _prune(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Forget patterns that were seen once, long ago."""

    def work(tx: Tx) -> None:
        prune(tx, memory._clock())
        settle(tx)

    memory.store.write(work)


def _summarize(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Make the running summary anew."""
    memory._summarize(job.task_id, memory._model_writer(), settle)


def _call_back(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Tell the callback_url of a task that the task has ended."""
    from .webhooks import deliver

    deliver(memory, job)
    memory.store.write(settle)


def _look_at_wait(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Look once at what a wait is about; the next look is another job."""
    memory._look_for(job.task_id, int(job.key), settle)


def _run_command(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Run the command that a wait was to run when it is over."""
    memory._run_command(job)
    memory.store.write(settle)


HANDLERS: dict[str, Handler] = {
    "extract": extraction(),
    "summary": _summarize,
    "prune": _prune,
    "webhook": _call_back,
    "wait": _look_at_wait,
    "wake": _run_command,
}


class Worker:
    """One that does jobs. A memory may have many, in threads and processes."""

    def __init__(
        self,
        memory: TaskMemory,
        *,
        handlers: Mapping[str, Handler] = HANDLERS,
        lease_seconds: float = LEASE_SECONDS,
        batch: int = BATCH,
        pause: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self._memory = memory
        self._store = memory.store
        self._clock = memory._clock
        self._handlers = dict(handlers)
        self._kinds = tuple(handlers)
        self._lease_seconds = lease_seconds
        self._batch = batch
        self._pause = pause
        self.holder = f"{os.uname().nodename}:{os.getpid()}:{next(_numbers)}"

    def run_once(self, limit: int = 1000, stop: threading.Event | None = None) -> WorkerReport:
        """Do the jobs that are due, at most so many, and say what became of them."""
        total = WorkerReport()
        stopped = stop or threading.Event()
        while (room := limit - sum(total.__dict__.values())) > 0 and not stopped.is_set():
            if not self._is_due():  # a read: an idle worker keeps no writer waiting
                break
            held, given_up = self._lease(min(room, self._batch))
            if given_up:  # nobody could look at a wait: that is its end
                self._memory._end_dead_waits()
            total = _sum(total, WorkerReport(dead=given_up))
            if not held:
                break
            total = self._do_all(held, stopped, total)
        return total

    def run(self, stop: threading.Event) -> WorkerReport:
        """Do jobs until `stop` is set; the job in hand is done to its end, the others are given back.

        An idle worker waits longer each time, up to a few seconds, and no longer than until the next job is
        due. A store that cannot serve for a while is waited for.
        """
        with self._watching(stop) as check:
            return self._run(stop, check)

    def _run(self, stop: threading.Event, check: Callable[[], None]) -> WorkerReport:
        total = WorkerReport()
        wait = SHORTEST_WAIT
        while not stop.is_set():
            check()
            due = None
            try:
                did = self.run_once(stop=stop)
                if not any(did.__dict__.values()):
                    due = self._store.read(lambda tx: jobs.next_due(tx, self._kinds), once=True)
            except StoreError as error:
                if error.code not in _PASSING:
                    raise
                did = WorkerReport()
            total = _sum(total, did)
            if any(did.__dict__.values()):
                wait = SHORTEST_WAIT
                continue
            left = seconds_of(due) - self._clock() if due else wait
            self._pause(stop, max(SHORTEST_WAIT, min(wait, left)))
            wait = min(2 * wait, LONGEST_WAIT)
        return total

    @contextlib.contextmanager
    def _watching(self, stop: threading.Event) -> Generator[Callable[[], None]]:
        """Waits are looked after by a thread of their own for as long as the block takes: it keeps them in
        memory. What is given raises what that thread has come to, if it has."""
        troubles: list[BaseException] = []

        def watch() -> None:
            try:
                Watcher(self._memory, self.holder).run(over)
            except BaseException as error:  # noqa: BLE001 - raised by whoever checks
                troubles.append(error)

        def check() -> None:
            if troubles:
                raise troubles[0]

        if "wait" not in self._kinds:
            yield check
            return
        from .memory.watching import Watcher

        over = threading.Event()
        kinds, self._kinds = self._kinds, tuple(kind for kind in self._kinds if kind != "wait")
        thread = threading.Thread(target=watch, name="holdfast-waits", daemon=True)
        thread.start()
        try:
            yield check
        finally:
            over.set()
            thread.join()
            self._kinds = kinds
        check()

    def _lease(self, most: int) -> tuple[list[Job], int]:
        now = self._clock()
        return self._store.write(
            lambda tx: jobs.lease(tx, self._kinds, self.holder, now, self._lease_seconds, most)
        )

    def _is_due(self) -> bool:
        now = self._clock()
        return self._store.read(lambda tx: jobs.is_due(tx, self._kinds, now), once=True)

    def _do_all(self, held: list[Job], stop: threading.Event, total: WorkerReport) -> WorkerReport:
        left = list(held)
        with self._heartbeat(left):
            try:
                while left and not stop.is_set():
                    total = _sum(total, self._do(left[0]))
                    left.pop(0)
            finally:
                if left:
                    self._store.write(lambda tx: jobs.release(tx, left))
        return total

    def _do(self, job: Job) -> WorkerReport:
        """Do one job; whatever goes wrong with it is written down with it."""
        settled = False

        def settle(tx: Tx) -> None:
            nonlocal settled
            jobs.done(tx, job.id, job.token)
            settled = True

        try:
            self._handlers[job.kind](self._memory, job, settle)
            if not settled:
                raise RuntimeError(f"the handler of {job.kind} did not settle its job")
        except Exception as error:  # noqa: BLE001 - it is kept with the job, and shown by jobs_status
            return self._failed(job, error, settle)
        return WorkerReport(done=1)

    def _failed(self, job: Job, error: Exception, settle: Settle) -> WorkerReport:
        if isinstance(error, NotFound) and error.code == "task_not_found":
            return self._fenced(
                lambda: self._store.write(settle), WorkerReport(done=1)
            )  # nothing is left to do
        if isinstance(error, Conflict) and error.code == "stale_token":
            return WorkerReport(lost=1)
        why = f"{type(error).__name__}: {error}".replace("\0", "").encode("utf-8", "replace").decode()
        now = self._clock()
        dead = False

        def work(tx: Tx) -> None:
            nonlocal dead
            dead = jobs.failed(tx, job.id, job.token, why, now)

        report = self._fenced(lambda: self._store.write(work), WorkerReport(failed=1))
        return WorkerReport(dead=1) if dead and report.failed else report

    def _fenced(self, write: Callable[[], None], report: WorkerReport) -> WorkerReport:
        try:
            write()
        except Conflict as error:
            if error.code != "stale_token":
                raise
            return WorkerReport(lost=1)
        return report

    @contextlib.contextmanager
    def _heartbeat(self, held: list[Job]) -> Generator[None]:
        """Keep the leases on some jobs alive for as long as the block takes."""
        over = threading.Event()

        def beat() -> None:
            while not self._pause(over, self._lease_seconds / 3):
                still = tuple(held)
                # A beat that is missed is not the end: the lease outlives two of them.
                with contextlib.suppress(StoreError):
                    self._store.write(
                        lambda tx, s=still: jobs.extend(tx, s, self._clock(), self._lease_seconds)
                    )

        thread = threading.Thread(target=beat, name="holdfast-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _sum(one: WorkerReport, other: WorkerReport) -> WorkerReport:
    return WorkerReport(**{name: getattr(one, name) + getattr(other, name) for name in one.__fields__})
