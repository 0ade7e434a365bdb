# pyright: reportPrivateUsage=false
"""One worker: takes jobs from the queue of a store and does them, one after the other. A crew has several.

Each job is done by a handler, which runs `settle` in its last transaction: what it wrote and the end of the
job are committed together or not at all. A handler that fails is tried again later, and given up in the end;
one whose worker died is taken over when its lease has run out, and a worker that comes late is refused.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Mapping
from itertools import count

from ..extract.extraction import MakeReader, More
from ..extract.patterns import prune
from ..memory import TaskMemory
from ..model.errors import Conflict, NotFound, StoreError
from ..model.results import Job, WorkerReport
from ..model.validate import seconds_of
from ..recall.semantic import semantic_index
from ..store import Tx, jobs
from ..upkeep.job import upkeep
from .webhooks import deliver

Settle = Callable[[Tx], None]

Handler = Callable[[TaskMemory, Job, Settle], None]

Note = Callable[[Job, str, str], None]


LEASE_SECONDS = 60.0
BATCH = 16  # jobs that are taken at once
# How long an idle worker waits before it looks again: at first, and at most.
SHORTEST_WAIT, LONGEST_WAIT = 0.05, 5.0
EMBED_SECONDS = 2.0  # that one job makes vectors; what is left is the next one's
# The store may be there again in a moment.
_PASSING = ("store_busy", "store_full", "store_unavailable", "outcome_unknown")
_numbers = count(1)


def extraction(extractor: MakeReader | None = None, more: More | None = None) -> Handler:
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

    deliver(memory, job)
    memory.store.write(settle)


def _look_at_wait(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Look once at what a wait is about; the next look is another job."""
    memory._look_for(job.task_id, int(job.key), settle)


def _embed(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Make vectors for some of the texts that have none, and ask for the next job if there are more."""

    more = semantic_index(memory).fill_for(memory.store, EMBED_SECONDS)

    def work(tx: Tx) -> None:
        if more:
            jobs.add(tx, job.kind, job.task_id, job.key, {}, jobs.NOW, memory._now())
        settle(tx)

    memory.store.write(work)


def _mirror(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Bring a file up to date that mirrors a task or a workspace, if it is on this machine."""
    if memory._mirrors is not None:
        memory._mirrors.mend(job.data["task_id"], job.key)
    memory.store.write(settle)


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
    "embed": _embed,
    "mirror": _mirror,
    "upkeep": upkeep,
    "wake": _run_command,
}


def handlers_for(memory: TaskMemory) -> dict[str, Handler]:
    """The handlers of what a memory's settings allow: only some have an embedder, or files."""
    missing = {
        *(["embed"] if memory.settings.embedder == "none" else []),
        *(["mirror"] if memory._mirrors is None else []),
    }
    return {kind: handler for kind, handler in HANDLERS.items() if kind not in missing}


class Worker:
    """One that does jobs. A memory may have many, in threads and processes."""

    def __init__(
        self,
        memory: TaskMemory,
        *,
        handlers: Mapping[str, Handler] = HANDLERS,
        lease_seconds: float = LEASE_SECONDS,
        batch: int = BATCH,
        longest_wait: float = LONGEST_WAIT,
        holder: str = "",
        note: Note = lambda job, outcome, why: None,
        pause: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self._memory = memory
        self._store = memory.store
        self._clock = memory._clock
        self._handlers = dict(handlers)
        self.kinds = tuple(handlers)
        self._lease_seconds = lease_seconds
        self._batch = batch
        self._longest_wait = longest_wait
        self._note = note
        self._pause = pause
        self._held: list[Job] = []
        self.holder = holder or new_holder()

    def run_once(self, limit: int = 1000, stop: threading.Event | None = None) -> WorkerReport:
        """Do the jobs that are due, at most so many, and say what became of them."""
        total = WorkerReport()
        stopped = stop or threading.Event()
        while (room := limit - _jobs(total)) > 0 and not stopped.is_set():
            if not self._is_due():  # a read: an idle worker keeps no writer waiting
                break
            held, given_up = self._lease(min(room, self._batch))
            for job in given_up:
                self._note(job, "dead", job.error or "")
            if given_up:  # nobody could look at a wait: that is its end
                self._memory._end_dead_waits()
            total = summed(total, WorkerReport(dead=len(given_up)))
            if not held:
                break
            total = self._do_all(held, stopped, total)
        return total

    def run(self, stop: threading.Event) -> WorkerReport:
        """Do jobs until `stop` is set; the job in hand is done to its end, the others are given back.

        An idle worker waits longer each time, up to a few seconds, and no longer than until the next job is
        due. A store that cannot serve for a while is waited for.
        """
        total = WorkerReport()
        wait = SHORTEST_WAIT
        while not stop.is_set():
            due = None
            try:
                did = self.run_once(stop=stop)
                if not _jobs(did):
                    soon = self._clock() + wait
                    due = self._store.read(
                        lambda tx, soon=soon: jobs.next_due(tx, self.kinds, soon), once=True
                    )
            except StoreError as error:
                if error.code not in _PASSING:
                    raise
                did = WorkerReport()
            total = summed(total, did)
            if _jobs(did):
                wait = SHORTEST_WAIT
                continue
            left = seconds_of(due) - self._clock() if due else wait
            self._pause(stop, max(SHORTEST_WAIT, min(wait, left)))
            wait = min(2 * wait, self._longest_wait)
        return total

    def give_back(self, patience: float | None = None) -> None:
        """Give back all that is held, also the job in hand: who is still at it will be refused."""
        if held := tuple(self._held):
            self._store.write(lambda tx: jobs.release(tx, held), patience=patience)

    def _lease(self, most: int) -> tuple[list[Job], list[Job]]:
        now = self._clock()
        return self._store.write(
            lambda tx: jobs.lease(tx, self.kinds, self.holder, now, self._lease_seconds, most)
        )

    def _is_due(self) -> bool:
        now = self._clock()
        return self._store.read(lambda tx: jobs.is_due(tx, self.kinds, now), once=True)

    def _do_all(self, held: list[Job], stop: threading.Event, total: WorkerReport) -> WorkerReport:
        left = self._held = list(held)
        with self._heartbeat(left):
            try:
                while left and not stop.is_set():
                    total = summed(total, self._do(left[0]))
                    left.pop(0)
            finally:
                self.give_back()
                left.clear()
        return total

    def _do(self, job: Job) -> WorkerReport:
        """Do one job; whatever goes wrong with it is written down with it."""
        settled = False

        def settle(tx: Tx) -> None:
            nonlocal settled
            jobs.done(tx, job.id, job.token)
            settled = True

        why = ""
        try:
            self._handlers[job.kind](self._memory, job, settle)
            if not settled:
                raise RuntimeError(f"the handler of {job.kind} did not settle its job")
            report = WorkerReport(done=1)
        except Exception as error:  # noqa: BLE001 - it is kept with the job, and shown by jobs_status
            why = f"{type(error).__name__}: {error}".replace("\0", "").encode("utf-8", "replace").decode()
            report = self._failed(job, error, why, settle)
        self._note(job, next(name for name in report.__struct_fields__ if getattr(report, name)), why)
        return report

    def _failed(self, job: Job, error: Exception, why: str, settle: Settle) -> WorkerReport:
        if isinstance(error, NotFound) and error.code == "task_not_found":
            return self._fenced(
                lambda: self._store.write(settle), WorkerReport(done=1)
            )  # nothing is left to do
        if isinstance(error, Conflict) and error.code == "stale_token":
            return WorkerReport(lost=1)
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

        thread = threading.Thread(target=beat, name="ringbolt-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def new_holder() -> str:
    """A name for one that holds leases: machine, process, number."""
    return f"{os.uname().nodename}:{os.getpid()}:{next(_numbers)}"


def _jobs(report: WorkerReport) -> int:
    """How many jobs a report is about."""
    return sum(getattr(report, name) for name in report.__struct_fields__)


def summed(*reports: WorkerReport) -> WorkerReport:
    """Several reports as one."""
    return WorkerReport(
        **{name: sum(getattr(one, name) for one in reports) for name in WorkerReport.__struct_fields__}
    )
