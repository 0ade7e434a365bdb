# pyright: reportPrivateUsage=false
"""The loop that checks waits until they end: a worker runs it for all waits, a blocking caller for its own.

The loop leases the jobs of its waits and keeps them in memory. While nothing changes, it writes only its
leases, all in one statement, and a file whose fingerprint is unchanged is not read. Everything that others
write about a wait or its task is an event, and an event makes the loop read the wait again.

A lease only says who checks. Ending a wait needs no lease: the wait must still be `watching` and must not
have been updated since the check. So a loop that lost its lease without noticing can do no harm, and a loop
that dies is replaced when its leases expire, or sooner by another process on the same machine.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from ..model import rules, validate
from ..model.errors import Conflict, NotFound, RingboltError, StoreError
from ..model.results import Job
from ..store import jobs
from ..store.queries.feed import Horizon, touched
from ..store.tx import Tx
from ..system.os_calls import steady
from .bounded import FILE_SECONDS
from .held import Checks, Held, problem_text
from .state import KIND, SHORTEST, UNSEEN, Outcome, Wait, latest_check, next_interval
from .wake import WaitRecords

LEASE_SECONDS = 60.0
CALLER_LEASE_SECONDS = 15.0  # of a caller that blocks: if it dies elsewhere, a worker takes over after this
MOST_HELD = 100_000
TICK = SHORTEST  # seconds: waits that are due within one tick are checked together
FEED_SECONDS = 0.2  # between two reads of new events
LEASE_CHECK_SECONDS = 1.0  # between two searches for waits that no loop holds
FLUSH_SECONDS = 2.0  # how long the result of a check may be only in memory
DEAD_SECONDS = 60.0
JUMP_SECONDS = 1.0  # of the wall clock that count as a jump
_PAGE = 500  # waits per read
_MOST_TOUCHED = 10_000
_PASSIVE_SECONDS = 60.0  # between checks of targets that change with an event, or at a known moment
# Seconds after which the loop checks although the fingerprint is unchanged.
_RECHECK, _RECHECK_PROCESS = 60.0, 30.0
# Errors of a store that may be available again in a moment.
PASSING = ("store_busy", "store_full", "store_unavailable", "outcome_unknown")


class Watcher:
    """Watches waits on one thread: `run` watches all that are due, `run_until_over` a single one, and with
    `only` it watches those that are in this set, which may change.

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
        only: Collection[tuple[str, int]] | None = None,
    ) -> None:
        self.holder = f"{holder}:waits"  # differs from the worker's, which may hold jobs too
        self.lease_seconds = lease_seconds
        self.checks = 0
        self._only = only
        self._memory = memory
        self._store = memory.store
        self._note = note
        self._held: dict[tuple[str, int], Held] = {}
        self._own: dict[str, set[Held]] = {}  # by the task that waits
        self._about: dict[str, set[Held]] = {}  # by the task that is waited for
        self._due: dict[int, list[Held]] = {}  # by tick; an entry counts only if its wait still has that tick
        self._tick = int(steady() / TICK)
        self._horizon = Horizon()
        self._read_to = -1  # events up to this position were processed; -1 before the first read
        self._checks = Checks(memory, file_seconds)
        self._next_feed = self._next_lease = self._next_flush = 0.0
        self._next_dead = 0.0
        self._next_hold = steady() + lease_seconds / 3
        self._ahead = memory._clock() - steady()  # of the wall clock

    def __len__(self) -> int:
        return len(self._held)

    # --- the loop ---------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Watch waits until `stop` is set, then release them. If the store is unavailable, keep trying; if it
        still is at the end, the leases expire."""
        try:
            while not stop.is_set():
                try:
                    pause = self.tick()
                except StoreError as error:
                    if error.code not in PASSING:
                        raise
                    pause = LEASE_CHECK_SECONDS
                stop.wait(pause)
        finally:
            with contextlib.suppress(StoreError):
                self.close()

    def run_until_over(self, task_id: str, seq: int, timeout: float) -> Wait:
        """Watch one wait until it is over, even if another process ends it, and return it."""
        self._only = ((task_id, seq),)
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
                            self._memory._check_once(wait)
                except StoreError as error:
                    if error.code not in PASSING or steady() > patience:
                        raise
                    pause = LEASE_CHECK_SECONDS
                self._checks.arrived.wait(pause)
        finally:
            with contextlib.suppress(StoreError):
                self.close()

    def tick(self) -> float:
        """Do everything that is due now; returns the seconds until the next call."""
        now = steady()
        if self._only is None and now >= self._next_dead:
            self._next_dead = now + DEAD_SECONDS
            self._memory._end_dead_waits()
            self._expire_dead_leases()
        if now >= self._next_feed:
            self._next_feed = now + FEED_SECONDS
            self._read_events()
        if now >= self._next_lease:
            self._next_lease = now + LEASE_CHECK_SECONDS
            self._take_jobs()
        self._notice_clock_jump(now)
        self._settle_all(self._checks.run(self._pop_due()))
        now = steady()
        if now >= self._next_hold:
            self._next_hold = now + self.lease_seconds / 3
            self._renew_leases()
        if now >= self._next_flush:
            self._next_flush = now + FLUSH_SECONDS
            self._flush()
        return self._pause()

    def close(self) -> None:
        """Release all waits: others can continue with them at once."""
        self._checks.close()
        held, self._held = list(self._held.values()), {}
        if held:
            rows = [self._row(wait) for wait in held if wait.dirty]

            def work(tx: Tx) -> None:
                jobs.save_progress(tx, rows)
                jobs.release(tx, {wait.job.id: wait.job.token for wait in held})

            self._store.write(work)

    def holds(self, wait: tuple[str, int]) -> bool:
        """Whether it watches a wait now."""
        return wait in self._held

    def look_for_waits(self) -> None:
        """Search for waits with the next tick."""
        self._next_lease = 0.0

    def flush_soon(self) -> None:
        """Write results and renew the leases with the next tick."""
        self._next_flush = self._next_hold = 0.0

    def _pause(self) -> float:
        if not self._held:
            return FEED_SECONDS
        soonest = int(FEED_SECONDS / TICK)
        ahead = next((ahead for ahead in range(soonest) if self._tick + ahead in self._due), soonest)
        return max((self._tick + max(ahead, 1)) * TICK - steady(), 0.0)

    # --- events of others -------------------------------------------------------------------------

    def _read_events(self) -> None:
        """Reload the waits that new events are about, and search for new waits."""
        until = self._store.read(self._horizon.advance, once=True)
        if self._read_to < 0:  # a wait that is leased later is read then
            self._read_to = until
        if until == self._read_to:
            return
        after, self._read_to = self._read_to, until
        self._next_lease = 0.0
        try:
            self._apply_events(after, until)
        except StoreError:
            self._read_to = after  # again, when the store is back
            raise

    def _apply_events(self, after: int, until: int) -> None:
        changes = self._store.read(lambda tx: touched(tx, after, until, _MOST_TOUCHED), once=True)
        if until < after or len(changes) == _MOST_TOUCHED:  # the store was restored, or there are too many
            self._reload(self._held.values())
            for held in [wait for waits in self._about.values() for wait in waits]:
                self._check_now(held)
            return
        tasks = {task for task, _ in changes}
        self._reload(held for name in changes if (held := self._held.get((name[0], name[1] or 0))))
        own = [task for task in tasks if task in self._own]
        heads = self._store.read(lambda tx: [tx.head(task) for task in own])
        for task, head in zip(own, heads, strict=True):
            if head is None or head["status"] in rules.ENDED:
                self._reload(self._own.get(task, ()))
        for held in [wait for task in tasks for wait in self._about.get(task, ())]:
            self._check_now(held)

    def _reload(self, which: Iterable[Held]) -> None:
        """Continue with the current versions of these waits."""
        again: list[dict[str, int]] = []
        for held, wait in self._read([(held, held.job) for held in which]):
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
        """Read waits from the store, in pages; None for those that are over."""

        def read_one(tx: Tx, job: Job) -> Wait | None:
            try:
                wait = self._memory._read_wait(tx, job.task_id, int(job.key))
            except NotFound:
                return None
            return wait if wait.state == "watching" and wait.data is not None else None

        result: list[tuple[Any, Wait | None]] = []
        for start in range(0, len(wanted), _PAGE):
            page = wanted[start : start + _PAGE]
            waits = self._store.read(lambda tx, p=page: [read_one(tx, job) for _, job in p])
            result += [(what, wait) for (what, _), wait in zip(page, waits, strict=True)]
        return result

    # --- leases -----------------------------------------------------------------------------------

    def _take_jobs(self) -> None:
        """Lease waits that no loop holds."""
        taken, given_up = self._lease_due() if self._only is None else self._lease_only(self._only)
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

    def _lease_only(self, wanted: Collection[tuple[str, int]]) -> tuple[list[Job], list[Job]]:
        """The jobs of blocking callers: leased when the wait was started, or as soon as they are free."""
        taken: list[Job] = []
        dead: list[Job] = []
        for task_id, seq in [wait for wait in wanted if wait not in self._held]:
            clock, key = self._memory._clock(), str(seq)
            job = self._store.read(lambda tx, t=task_id, k=key: jobs.find(tx, KIND, t, k), once=True)
            if job is None or job.status == "dead":
                dead += [] if job is None else [job]
                continue
            if job.status != "leased" or job.holder != self.holder:
                if not jobs.is_free(job, clock):
                    continue
                job = self._store.write(
                    lambda tx, t=task_id, k=key, c=clock: jobs.take(
                        tx, KIND, t, k, self.holder, c, self.lease_seconds
                    )
                )
            taken += [job] if job else []
        return taken, dead

    def _expire_dead_leases(self) -> None:
        """End the leases of dead processes on this machine before they expire by themselves."""
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
        if mine:  # leased by a write whose result was lost while the store was unavailable
            tokens = {job_id: token for job_id, (token, _) in mine.items()}
            self._store.write(lambda tx: jobs.release(tx, tokens))
        self._reload(again)

    def _forget(self, held: Held) -> None:
        self._held.pop((held.job.task_id, int(held.job.key)), None)
        held.tick = -1
        self._own.get(held.job.task_id, set()).discard(held)
        for task in held.about:
            self._about.get(task, set()).discard(held)

    # --- checking ---------------------------------------------------------------------------------

    def _plan(self, held: Held, delay: float) -> None:
        """Plan the next check of a wait after `delay` seconds, replacing any earlier plan; 0 means this tick
        if its checks have not run yet, otherwise the next one."""
        held.tick = max(int((steady() + delay) / TICK), self._tick + (delay > 0))
        self._due.setdefault(held.tick, []).append(held)

    def _check_now(self, held: Held) -> None:
        """Check a wait at once, even if its fingerprint is unchanged."""
        if held.tick >= 0:
            held.seen = UNSEEN
            self._plan(held, 0)

    def _notice_clock_jump(self, now: float) -> None:
        """If the wall clock was set, check at once the waits for a time."""
        ahead = self._memory._clock() - now
        if abs(ahead - self._ahead) > JUMP_SECONDS:
            self._ahead = ahead
            for held in self._held.values():
                if held.timed:
                    self._check_now(held)

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

    def _settle_all(self, checked: Sequence[tuple[Held, Any]]) -> None:
        """Record the new outcomes, and plan the next check of each wait."""
        self.checks += len(checked)
        for index, (held, outcome) in enumerate(checked):
            if held.tick < 0:
                continue  # its lease was lost in the meantime
            try:
                if outcome is None:
                    self._plan_next(held, changed=False, checked=False)
                elif isinstance(outcome, Outcome):
                    self._settle(held, outcome)
                else:
                    self._settle_problem(held, outcome)
            except StoreError:
                for unsettled, _ in checked[index:]:
                    self._check_now(unsettled)
                raise
            except RingboltError as error:
                self._give_up(held.job, error)
                self._forget(held)

    def _settle(self, held: Held, outcome: Outcome) -> None:
        held.seen = outcome.seen
        if outcome.wait.version != held.wait.version:  # the wait was updated during the check
            self._check_now(held)
        elif outcome.ended is None and not outcome.changed:
            self._plan_next(held, changed=False)
        elif (outcome.ended is not None or outcome.is_news) and not self._memory._record_check(outcome):
            self._reload([held])  # it is over, or was updated just now
            self._check_now(held)
        elif outcome.ended is not None:
            self._forget(held)
            self._note(held.job, "done", "")
        else:
            held.wait = held.wait.replace(data=outcome.data)
            held.dirty = True
            self._plan_next(held, changed=True)

    def _settle_problem(self, held: Held, problem: Any) -> None:
        """After a check that hung or raised an unexpected error: check again, until the wait times out."""
        detail = problem_text(problem)
        late = steady() >= held.deadline
        detail = f"not within {held.wait.spec['timeout']:g} s: {detail}" if late else detail
        ended = "timeout" if late else None
        state = (held.wait.data or {})["state"]
        self._settle(held, Outcome(wait=held.wait, ended=ended, detail=detail, state=state))

    def _plan_next(self, held: Held, *, changed: bool, checked: bool = True) -> None:
        """Plan the next check; `checked` is false if only the fingerprint was compared."""
        spec = held.wait.spec
        held.interval = next_interval(held.watch, spec["poll_interval"], held.interval, changed)
        now = steady()
        if checked:
            again = _RECHECK_PROCESS if "process" in dict(held.stat_targets) else _RECHECK
            context = self._memory._check_context(held.wait, now - held.zero)
            held.check_by = now + min(again, latest_check(held.watch, context, spec["timeout"]))
        interval = _PASSIVE_SECONDS if held.passive else held.interval
        self._plan(held, max(SHORTEST, min(interval, held.check_by - now)))

    # --- writing ----------------------------------------------------------------------------------

    def _give_up(self, job: Job, error: RingboltError) -> None:
        """Count a failed attempt at a wait: other loops may try, and after too many it ends as an error."""
        clock, why = self._memory._clock(), f"{type(error).__name__}: {error}"
        with contextlib.suppress(Conflict):  # another loop holds it by now
            if isinstance(error, NotFound):
                self._store.write(lambda tx: jobs.drop(tx, KIND, job.task_id, job.key))
            else:
                dead = self._store.write(lambda tx: jobs.failed(tx, job.id, job.token, why, clock))
                self._note(job, "dead" if dead else "failed", why)

    def _flush(self) -> None:
        """Write the outcomes since the last flush, all at once."""
        dirty = [held for held in self._held.values() if held.dirty]
        if dirty:
            rows = [self._row(held) for held in dirty]
            self._store.write(lambda tx: jobs.save_progress(tx, rows))
            for held in dirty:
                held.dirty = False

    def _row(self, held: Held) -> dict[str, Any]:
        data = {**(held.wait.data or {}), "interval": held.interval, **self._memory._time_mark(held.waited())}
        return {"id": held.job.id, "token": held.job.token, "data": validate.dumps(data)}
