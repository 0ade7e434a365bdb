# pyright: reportPrivateUsage=false
"""The loop that looks at waits until they end: a worker runs it for all, a blocking caller for its own.

The loop leases the jobs of its waits and keeps them in memory. While nothing changes it writes nothing but
its leases, all in one statement, and a glance at a file spares the look into it. Everything that others write
about a wait or its task is an event, and an event makes the loop read the wait again.

A lease says who looks, nothing more: ending a wait needs no lease, only that the wait is still `watching` and
was not updated since it was looked at. So a loop that lost its lease without noticing can do no harm, and a
loop that dies is replaced when its leases run out, or sooner by another process of the same machine.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..model import rules, validate
from ..model.errors import Conflict, NotFound, RingboltError, StoreError
from ..model.results import Job
from ..store import jobs
from ..store.feed import Horizon, touched
from ..store.tx import Tx
from .bounded import FILE_SECONDS
from .held import Held, Looks, problem_text
from .state import KIND, SHORTEST, UNSEEN, Outcome, Wait, latest_look, next_interval, steady
from .wake import WaitRecords

LEASE_SECONDS = 60.0
CALLER_LEASE_SECONDS = 15.0  # of a caller that blocks: if it dies elsewhere, a worker takes over after this
MOST_HELD = 100_000
TICK = SHORTEST  # seconds: what is due within one tick is looked at together
FEED_SECONDS = 0.2  # between two reads of what others wrote
LEASE_CHECK_SECONDS = 1.0  # between two searches for waits that nobody holds
FLUSH_SECONDS = 2.0  # how long what a look found may be in memory alone
DEAD_SECONDS = 60.0
JUMP_SECONDS = 1.0  # of the wall clock that count as a jump
_PAGE = 500  # waits that are read at once
_MOST_TOUCHED = 10_000
_PASSIVE_SECONDS = 60.0  # between looks at what comes with an event, or at a known moment
# Seconds after which the loop looks although a glance shows nothing new.
_LOOK_AGAIN, _LOOK_AGAIN_AT_PROCESS = 60.0, 30.0
_PASSING = ("store_busy", "store_full", "store_unavailable", "outcome_unknown")


class Watcher:
    """Looks after waits on one thread: `run` after all that are due, `run_until_over` after one.

    `note(job, outcome, why)` is called for every wait that ends ("done"), fails or is given up ("dead").
    """

    def __init__(
        self,
        memory: WaitRecords,
        holder: str,
        *,
        lease_seconds: float = LEASE_SECONDS,
        file_seconds: float = FILE_SECONDS,
        note: Callable[[Job, str, str], None] = lambda job, outcome, why: None,
    ) -> None:
        self.holder = f"{holder}:waits"  # other than its worker's, which may hold jobs too
        self.lease_seconds = lease_seconds
        self.looks = 0
        self._only: tuple[str, int] | None = None
        self._memory = memory
        self._store = memory.store
        self._note = note
        self._held: dict[tuple[str, int], Held] = {}
        self._own: dict[str, set[Held]] = {}  # by the task that waits
        self._about: dict[str, set[Held]] = {}  # by the task that is waited for
        self._due: dict[int, list[Held]] = {}  # by tick; an entry counts only if its wait still has that tick
        self._tick = int(steady() / TICK)
        self._horizon = Horizon()
        self._read_to = -1  # events up to this position are taken in; -1 before the first read
        self._looks = Looks(memory, file_seconds)
        self._next_feed = self._next_lease = self._next_flush = 0.0
        self._next_dead = 0.0
        self._next_hold = steady() + lease_seconds / 3
        self._ahead = memory._clock() - steady()  # of the wall clock

    def __len__(self) -> int:
        return len(self._held)

    # --- the loop ---------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Look after waits until `stop` is set, then give them back. A store that is unavailable for a while
        is waited for; if it cannot even take the waits back, their leases run out."""
        try:
            while not stop.is_set():
                try:
                    pause = self.tick()
                except StoreError as error:
                    if error.code not in _PASSING:
                        raise
                    pause = LEASE_CHECK_SECONDS
                stop.wait(pause)
        finally:
            with contextlib.suppress(StoreError):
                self.close()

    def run_until_over(self, task_id: str, seq: int, timeout: float) -> Wait:
        """Look after one wait until it is over, even if another process ends it, and return it."""
        self._only = task_id, seq
        patience = steady() + timeout + self.lease_seconds
        try:
            while True:
                try:
                    pause = self.tick()
                    if not self._held:
                        wait = self._memory._wait(task_id, seq)
                        if wait.state != "watching":
                            return wait
                        if wait.data is None:  # imported: it has no job to hold, but it can time out
                            self._memory._look_once(wait)
                except StoreError as error:
                    if error.code not in _PASSING or steady() > patience:
                        raise
                    pause = LEASE_CHECK_SECONDS
                self._looks.arrived.wait(pause)
        finally:
            with contextlib.suppress(StoreError):
                self.close()

    def tick(self) -> float:
        """Do what is due now; returns the seconds until there may be more."""
        now = steady()
        if self._only is None and now >= self._next_dead:
            self._next_dead = now + DEAD_SECONDS
            self._memory._end_dead_waits()
            self._free_leases_of_the_dead()
        if now >= self._next_feed:
            self._next_feed = now + FEED_SECONDS
            self._take_in_events()
        if now >= self._next_lease:
            self._next_lease = now + LEASE_CHECK_SECONDS
            self._take_jobs()
        self._notice_clock_jump(now)
        self._settle_all(self._looks.look_at(self._pop_due()))
        now = steady()
        if now >= self._next_hold:
            self._next_hold = now + self.lease_seconds / 3
            self._renew_leases()
        if now >= self._next_flush:
            self._next_flush = now + FLUSH_SECONDS
            self._flush()
        return self._pause()

    def close(self) -> None:
        """Give all waits back: others can continue with them at once."""
        self._looks.close()
        held, self._held = list(self._held.values()), {}
        if held:
            rows = [self._row(one) for one in held if one.dirty]

            def work(tx: Tx) -> None:
                jobs.save_progress(tx, rows)
                jobs.release(tx, {one.job.id: one.job.token for one in held})

            self._store.write(work)

    def flush_soon(self) -> None:
        """Write what was found and renew the leases with the next tick."""
        self._next_flush = self._next_hold = 0.0

    def _pause(self) -> float:
        if not self._held:
            return FEED_SECONDS
        soonest = int(FEED_SECONDS / TICK)
        ahead = next((ahead for ahead in range(soonest) if self._tick + ahead in self._due), soonest)
        return max((self._tick + max(ahead, 1)) * TICK - steady(), 0.0)

    # --- what others do ---------------------------------------------------------------------------

    def _take_in_events(self) -> None:
        """Read the waits again that others wrote about, and search for new ones."""
        until = self._store.read(self._horizon.look, once=True)
        if self._read_to < 0:  # waits that are taken later are read as they are then
            self._read_to = until
        if until == self._read_to:
            return
        after, self._read_to = self._read_to, until
        self._next_lease = 0.0
        try:
            self._take_in(after, until)
        except StoreError:
            self._read_to = after  # again, when the store is back
            raise

    def _take_in(self, after: int, until: int) -> None:
        changes = self._store.read(lambda tx: touched(tx, after, until, _MOST_TOUCHED), once=True)
        if until < after or len(changes) == _MOST_TOUCHED:  # the store was restored, or there are too many
            self._reload(self._held.values())
            for held in [one for some in self._about.values() for one in some]:
                self._look_now(held)
            return
        tasks = {task for task, _ in changes}
        self._reload(held for name in changes if (held := self._held.get((name[0], name[1] or 0))))
        own = [task for task in tasks if task in self._own]
        heads = self._store.read(lambda tx: [tx.head(task) for task in own])
        for task, head in zip(own, heads, strict=True):
            if head is None or head["status"] in rules.ENDED:
                self._reload(self._own.get(task, ()))
        for held in [one for task in tasks for one in self._about.get(task, ())]:
            self._look_now(held)

    def _reload(self, which: Iterable[Held]) -> None:
        """Continue with some waits as the store has them now."""
        again: list[dict[str, int]] = []
        for held, wait in self._read([(one, one.job) for one in which]):
            if wait is None:
                self._forget(held)
            elif wait.version != held.wait.version or wait.task_status != held.wait.task_status:
                try:
                    watch = wait.watch
                except RingboltError as error:
                    self._give_up(held.job, error)
                    self._forget(held)
                    continue
                held.take(wait, watch, self._memory._waited(wait))
                again.append({"id": held.job.id, "token": held.job.token})
                self._plan(held, 0)
        if again:
            self._store.write(lambda tx: jobs.accept_repeats(tx, again))

    def _read(self, wanted: Sequence[tuple[Any, Job]]) -> list[tuple[Any, Wait | None]]:
        """Waits as the store has them, in pages; None for those that are over."""

        def read_one(tx: Tx, job: Job) -> Wait | None:
            try:
                wait = self._memory._read_wait(tx, job.task_id, int(job.key))
            except NotFound:
                return None
            return wait if wait.state == "watching" and wait.data is not None else None

        found: list[tuple[Any, Wait | None]] = []
        for start in range(0, len(wanted), _PAGE):
            some = wanted[start : start + _PAGE]
            waits = self._store.read(lambda tx, s=some: [read_one(tx, job) for _, job in s])
            found += [(what, wait) for (what, _), wait in zip(some, waits, strict=True)]
        return found

    # --- leases -----------------------------------------------------------------------------------

    def _take_jobs(self) -> None:
        """Lease waits that nobody looks after."""
        taken, given_up = self._lease_due() if self._only is None else self._lease_only(*self._only)
        for job in given_up:
            self._note(job, "dead", job.error or "")
        over: list[Job] = []
        for job, wait in self._read([(job, job) for job in taken]):
            if wait is None:
                over.append(job)
                continue
            try:
                held = Held(job, wait, wait.watch, self._memory._waited(wait))
            except RingboltError as error:
                self._give_up(job, error)
                continue
            self._held[job.task_id, int(job.key)] = held
            self._own.setdefault(job.task_id, set()).add(held)
            for task in held.about:
                self._about.setdefault(task, set()).add(held)
            self._plan(held, 0)
        if over:
            self._store.write(lambda tx: [jobs.drop(tx, KIND, job.task_id, job.key) for job in over])
        if given_up:
            self._memory._end_dead_waits()

    def _lease_due(self) -> tuple[list[Job], list[Job]]:
        clock = self._memory._clock()
        if not self._store.read(lambda tx: jobs.is_due(tx, (KIND,), clock), once=True):
            return [], []
        room = MOST_HELD - len(self._held)
        return self._store.write(
            lambda tx: jobs.lease(tx, (KIND,), self.holder, clock, self.lease_seconds, room)
        )

    def _lease_only(self, task_id: str, seq: int) -> tuple[list[Job], list[Job]]:
        """The one job of a blocking caller: leased when the wait was started, or as soon as it is free."""
        if self._held:
            return [], []
        clock, key = self._memory._clock(), str(seq)
        job = self._store.read(lambda tx: jobs.find(tx, KIND, task_id, key), once=True)
        if job is None or job.status == "dead":
            return [], [] if job is None else [job]
        if job.status != "leased" or job.holder != self.holder:
            if not jobs.is_free(job, clock):
                return [], []
            job = self._store.write(
                lambda tx: jobs.take(tx, KIND, task_id, key, self.holder, clock, self.lease_seconds)
            )
        return [job] if job else [], []

    def _free_leases_of_the_dead(self) -> None:
        """Free what dead processes of this machine held, before their leases run out."""
        for holder in self._store.read(lambda tx: jobs.holders(tx, KIND)):
            if jobs.is_dead_process(holder):
                self._store.write(lambda tx, h=holder: jobs.expire(tx, KIND, h))
                self._next_lease = 0.0

    def _renew_leases(self) -> None:
        """Renew the leases; drop waits that another process took, and reload those requested again."""
        clock = self._memory._clock()
        mine = self._store.write(lambda tx: jobs.renew(tx, KIND, self.holder, clock, self.lease_seconds))
        again: list[Held] = []
        for held in list(self._held.values()):
            token, attempts = mine.pop(held.job.id, (None, 1))
            if token != held.job.token:
                self._forget(held)
            elif not attempts:
                again.append(held)
        if mine:  # leased by a write whose answer was lost while the store was in trouble
            tokens = {job_id: token for job_id, (token, _) in mine.items()}
            self._store.write(lambda tx: jobs.release(tx, tokens))
        self._reload(again)

    def _forget(self, held: Held) -> None:
        self._held.pop((held.job.task_id, int(held.job.key)), None)
        held.tick = -1
        self._own.get(held.job.task_id, set()).discard(held)
        for task in held.about:
            self._about.get(task, set()).discard(held)

    # --- looking ----------------------------------------------------------------------------------

    def _plan(self, held: Held, delay: float) -> None:
        """Plan the next look at a wait after `delay` seconds, replacing any earlier plan; 0 means with this
        tick if its looks are still to come, else with the next one."""
        held.tick = max(int((steady() + delay) / TICK), self._tick + (delay > 0))
        self._due.setdefault(held.tick, []).append(held)

    def _look_now(self, held: Held) -> None:
        """Look at a wait at once, whatever a glance shows."""
        if held.tick >= 0:
            held.seen = UNSEEN
            self._plan(held, 0)

    def _notice_clock_jump(self, now: float) -> None:
        """When the wall clock was set, look at once at what waits for a time."""
        ahead = self._memory._clock() - now
        if abs(ahead - self._ahead) > JUMP_SECONDS:
            self._ahead = ahead
            for held in self._held.values():
                if held.timed:
                    self._look_now(held)

    def _pop_due(self) -> list[Held]:
        due: list[Held] = []
        now = int(steady() / TICK)
        ticks = range(self._tick, now + 1)
        for tick in ticks if len(ticks) <= len(self._due) else sorted(t for t in self._due if t <= now):
            for held in self._due.pop(tick, ()):
                if held.tick == tick:
                    held.tick = 0  # until it is planned again
                    if not held.busy:
                        due.append(held)
        self._tick = max(now, self._tick)
        return due

    def _settle_all(self, found: Sequence[tuple[Held, Any]]) -> None:
        """Record what is new, and plan the next look at each wait."""
        self.looks += len(found)
        for place, (held, outcome) in enumerate(found):
            if held.tick < 0:
                continue  # it was lost meanwhile
            try:
                if outcome is None:
                    self._plan_next(held, changed=False, looked=False)
                elif isinstance(outcome, Outcome):
                    self._settle(held, outcome)
                else:
                    self._settle_problem(held, outcome)
            except StoreError:
                for one, _ in found[place:]:
                    self._look_now(one)
                raise
            except RingboltError as error:
                self._give_up(held.job, error)
                self._forget(held)

    def _settle(self, held: Held, outcome: Outcome) -> None:
        held.seen = outcome.seen
        if outcome.wait.version != held.wait.version:  # the wait was updated during the look
            self._look_now(held)
        elif outcome.ended is None and not outcome.changed:
            self._plan_next(held, changed=False)
        elif (outcome.ended is not None or outcome.is_news) and not self._memory._record_look(outcome):
            self._reload([held])  # it is over, or was updated just now
            self._look_now(held)
        elif outcome.ended is not None:
            self._forget(held)
            self._note(held.job, "done", "")
        else:
            held.wait = held.wait.replace(data=outcome.data)
            held.dirty = True
            self._plan_next(held, changed=True)

    def _settle_problem(self, held: Held, problem: Any) -> None:
        """A look hung or raised an error that none should: look again, until the wait times out."""
        said = problem_text(problem)
        late = steady() >= held.deadline
        said = f"not within {held.wait.spec['timeout']:g} s: {said}" if late else said
        ended = "timeout" if late else None
        state = (held.wait.data or {})["state"]
        self._settle(held, Outcome(wait=held.wait, ended=ended, said=said, state=state))

    def _plan_next(self, held: Held, *, changed: bool, looked: bool = True) -> None:
        """Plan the next look, or the next glance."""
        spec = held.wait.spec
        held.interval = next_interval(held.watch, spec["poll_interval"], held.interval, changed)
        now = steady()
        if looked:
            again = _LOOK_AGAIN_AT_PROCESS if "process" in dict(held.glances) else _LOOK_AGAIN
            around = self._memory._surroundings(held.wait, now - held.zero)
            held.look_by = now + min(again, latest_look(held.watch, around, spec["timeout"]))
        interval = _PASSIVE_SECONDS if held.passive else held.interval
        self._plan(held, max(SHORTEST, min(interval, held.look_by - now)))

    # --- what follows -----------------------------------------------------------------------------

    def _give_up(self, job: Job, error: RingboltError) -> None:
        """Count a failed attempt at a wait: others may try, and after too many it ends as an error."""
        clock, why = self._memory._clock(), f"{type(error).__name__}: {error}"
        with contextlib.suppress(Conflict):  # another holds it by now
            if isinstance(error, NotFound):
                self._store.write(lambda tx: jobs.drop(tx, KIND, job.task_id, job.key))
            else:
                dead = self._store.write(lambda tx: jobs.failed(tx, job.id, job.token, why, clock))
                self._note(job, "dead" if dead else "failed", why)

    def _flush(self) -> None:
        """Write what was found since the last time, all at once."""
        dirty = [one for one in self._held.values() if one.dirty]
        if dirty:
            rows = [self._row(one) for one in dirty]
            self._store.write(lambda tx: jobs.save_progress(tx, rows))
            for held in dirty:
                held.dirty = False

    def _row(self, held: Held) -> dict[str, Any]:
        data = {**(held.wait.data or {}), "interval": held.interval, **self._memory._time_mark(held.waited())}
        return {"id": held.job.id, "token": held.job.token, "data": validate.dumps(data)}
