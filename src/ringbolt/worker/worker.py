# pyright: reportPrivateUsage=false
"""One worker: leases jobs from the queue of a store and runs them, one after the other. A pool has several.

A handler runs each job and calls `settle` in its last transaction, so that its writes and the end of the job
are committed together or not at all. A job that fails is tried again later, and is dead after too many
attempts. If its worker dies, another takes the job when the lease expires; late workers get `stale_token`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping

from ..extract.extraction import MakeReader, More
from ..extract.patterns import prune
from ..memory import TaskMemory
from ..model.errors import Conflict, NotFound, StoreError
from ..model.results import Job, WorkerReport
from ..model.validate import seconds_of
from ..progress.progress_updates import REPORT
from ..recall.semantic import semantic_index
from ..requests.request_model import KIND as NEW_REQUEST
from ..store import Tx, jobs
from ..upkeep.job import upkeep
from ..waits.loop import PASSING
from .publishing import publishing
from .webhooks import deliver

Settle = Callable[[Tx], None]
Handler = Callable[[TaskMemory, Job, Settle], None]
Note = Callable[[Job, str, str], None]

LEASE_SECONDS = 60.0
BATCH = 16  # jobs per lease
SHORTEST_WAIT, LONGEST_WAIT = 0.05, 5.0  # the first and the longest pause of an idle worker, in seconds
EMBED_SECONDS = 2.0  # the time that one job spends on vectors; the next job continues


def extraction(extractor: MakeReader | None = None, more: More | None = None) -> Handler:
    """The handler that extracts entries: by rules what is new, then by the model, if one is set."""

    def extract(memory: TaskMemory, job: Job, settle: Settle) -> None:
        if memory.settings.extraction == "off":  # it was on when the job was added
            memory.store.write(settle)
        elif memory.settings.model_local_url:
            memory._extract(job.task_id, extractor=extractor, more=more)
            memory._extract_with_model(job.task_id, settle)
        else:
            memory._extract(job.task_id, extractor=extractor, more=more, settle=settle)

    return extract


def _prune(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Delete patterns that were seen only once, long ago."""

    def work(tx: Tx) -> None:
        prune(tx, memory._clock())
        settle(tx)

    memory.store.write(work)


def _summarize(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Rewrite the running summary."""
    memory._summarize(job.task_id, memory._model_writer(), settle)


def _judge_request(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Ask a model whether a prompt began a new request; if so, tag it by a copy that replaces it."""
    seq = int(job.key)
    if found := memory._begins_request(job.task_id, seq):
        entry, model = found
        user = memory.acting_as(channel=entry.origin.channel, session=entry.origin.session or "")
        user.task_remember(
            job.task_id, entry.summary, type="user_instruction", detail=entry.detail,
            data={**entry.data, "from": [seq], "by": model}, tags=[*entry.tags, *job.data["tags"]],
            supersedes=seq, key=f"request/{seq}",
        )  # fmt: skip
        name = job.data.get("name")
        if name and memory.task_get(job.task_id).name == job.data["was"]:
            memory.task_update(job.task_id, name=name)
    memory.store.write(settle)


def _judge_report(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Ask a model which steps a report has finished, where the rules were unsure."""
    memory._judge_report(job.task_id, int(job.key), job.data["steps"], settle)


def _call_back(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Call the callback_url of a task or a wait."""
    deliver(memory, job)
    memory.store.write(settle)


def _check_wait(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Check a wait once; the next check is another job."""
    memory._check_for_worker(job.task_id, int(job.key), settle)


def _embed(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Compute vectors for some of the texts that have none, and add another job if more are left."""
    more = semantic_index(memory).fill_for(memory.store, EMBED_SECONDS)

    def work(tx: Tx) -> None:
        if more:
            jobs.add(tx, job.kind, job.task_id, job.key, {}, jobs.NOW, memory._now())
        settle(tx)

    memory.store.write(work)


def _mirror(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Bring a mirror up to date, if it is on this machine."""
    if memory._mirrors is not None:
        memory._mirrors.mend(job.data["task_id"], job.key)
    memory.store.write(settle)


def _run_command(memory: TaskMemory, job: Job, settle: Settle) -> None:
    """Run the command of a wait that has ended."""
    memory._run_wake_command(job)
    memory.store.write(settle)


HANDLERS: dict[str, Handler] = {
    "extract": extraction(),
    "summary": _summarize,
    "prune": _prune,
    "webhook": _call_back,
    "wait": _check_wait,
    "embed": _embed,
    "mirror": _mirror,
    "upkeep": upkeep,
    "wake": _run_command,
    "publish": publishing(),
    NEW_REQUEST: _judge_request,
    REPORT: _judge_report,
}


def handlers_for(memory: TaskMemory) -> dict[str, Handler]:
    """The handlers that the settings of a memory require: not every memory has an embedder or mirrors."""
    wanted = {
        "embed": memory.settings.embedder != "none",
        "mirror": memory._mirrors is not None,
        "publish": bool(memory.settings.publish),
    }
    return {kind: handler for kind, handler in HANDLERS.items() if wanted.get(kind, True)}


class Worker:
    """Runs jobs. A store may have many workers, in threads and processes.

    `note(job, outcome, why)` is called for each job with `done`, `failed`, `dead` or `lost`.
    """

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
        self.holder = holder or jobs.new_holder()

    def run_once(self, limit: int = 1000, stop: threading.Event | None = None) -> WorkerReport:
        """Run the due jobs, at most `limit`, and report their outcomes."""
        total = WorkerReport()
        stopped = stop or threading.Event()
        while (room := limit - _jobs(total)) > 0 and not stopped.is_set():
            if not self._is_due():  # a read first, so that an idle worker delays no writer
                break
            held, given_up = self._lease(min(room, self._batch))
            for job in given_up:
                self._note(job, "dead", job.error or "")
            if given_up:  # a wait that could not be checked ends as an error
                self._memory._end_dead_waits()
            total = summed(total, WorkerReport(dead=len(given_up)))
            if not held:
                break
            total = self._run_all(held, stopped, total)
        return total

    def run(self, stop: threading.Event) -> WorkerReport:
        """Run jobs until `stop` is set; the current job is finished, the others are released.

        An idle worker pauses longer each time, up to a few seconds, but not beyond the time when the next job
        is due. While the store is unavailable, the worker keeps trying.
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
                if error.code not in PASSING:
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
        """Release all jobs, including the current one: a handler that still runs gets `stale_token`."""
        if held := {job.id: job.token for job in self._held}:
            self._store.write(lambda tx: jobs.release(tx, held), patience=patience)

    def _lease(self, most: int) -> tuple[list[Job], list[Job]]:
        now = self._clock()
        return self._store.write(
            lambda tx: jobs.lease(tx, self.kinds, self.holder, now, self._lease_seconds, most)
        )

    def _is_due(self) -> bool:
        now = self._clock()
        return self._store.read(lambda tx: jobs.is_due(tx, self.kinds, now), once=True)

    def _run_all(self, held: list[Job], stop: threading.Event, total: WorkerReport) -> WorkerReport:
        left = self._held = list(held)
        with self._heartbeat(left):
            try:
                while left and not stop.is_set():
                    total = summed(total, self._run_job(left[0]))
                    left.pop(0)
            finally:
                self.give_back()
                left.clear()
        return total

    def _run_job(self, job: Job) -> WorkerReport:
        """Run one job; an error is stored with the job."""
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
        except Exception as error:  # noqa: BLE001 - stored with the job and shown by jobs_status
            why = f"{type(error).__name__}: {error}".replace("\0", "").encode("utf-8", "replace").decode()
            report = self._failed(job, error, why, settle)
        self._note(job, next(name for name in report.__struct_fields__ if getattr(report, name)), why)
        return report

    def _failed(self, job: Job, error: Exception, why: str, settle: Settle) -> WorkerReport:
        """Record that a job failed; `lost` if another worker holds it by now."""
        now = self._clock()
        try:
            if isinstance(error, Conflict) and error.code == "stale_token":
                raise error
            if isinstance(error, NotFound) and error.code == "task_not_found":
                self._store.write(settle)  # the task is gone, so nothing is left to do
                return WorkerReport(done=1)
            dead = self._store.write(lambda tx: jobs.failed(tx, job.id, job.token, why, now))
        except Conflict as conflict:
            if conflict.code != "stale_token":
                raise
            return WorkerReport(lost=1)
        return WorkerReport(dead=1) if dead else WorkerReport(failed=1)

    @contextlib.contextmanager
    def _heartbeat(self, held: list[Job]) -> Generator[None]:
        """Renew the leases on these jobs while the block runs."""
        over = threading.Event()

        def beat() -> None:
            while not self._pause(over, self._lease_seconds / 3):
                still = tuple(held)
                # One missed renewal does no harm: a lease lasts for three intervals.
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


def _jobs(report: WorkerReport) -> int:
    """The number of jobs in a report."""
    return sum(getattr(report, name) for name in report.__struct_fields__)


def summed(*reports: WorkerReport) -> WorkerReport:
    """Add reports up."""
    return WorkerReport(
        **{name: sum(getattr(part, name) for part in reports) for name in WorkerReport.__struct_fields__}
    )
