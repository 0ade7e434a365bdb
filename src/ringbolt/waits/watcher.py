# pyright: reportPrivateUsage=false
"""Looking after many waits at once: a worker takes them all and keeps them in its memory.

While nothing changes nothing is written but the leases, all in one statement. What was looked at and is the
same is known by a glance at its file. Whatever is written about a wait or its task is an event, and an event
is the sign to read it again.
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
from .looking import time_left
from .looks import UNSEEN, Held, Looks, Outcome, in_words
from .operations import Waiting
from .records import KIND, SHORTEST, Live, next_interval, steady, watch_of
from .waking import is_told

LEASE_SECONDS = 60.0
MOST_HELD = 100_000
TICK = SHORTEST  # seconds: what is due within one is looked at together
FEED_SECONDS = 0.2  # between two questions whether anything was written
LEASE_CHECK_SECONDS = 1.0  # between two looks for waits that nobody holds, where nothing was written
FLUSH_SECONDS = 2.0  # how long what was seen may be in memory alone
DEAD_SECONDS = 60.0
JUMP_SECONDS = 1.0  # by which a clock is put right without anyone minding
_LOADED = 500  # waits that are read in one go
_MOST_TOUCHED = 10_000
_EVENTED = 60.0  # seconds between looks at other tasks: a change there is an event
# Seconds after which there is a look, although a glance finds nothing new.
_LOOK_AGAIN, _LOOK_AGAIN_AT_PROCESS = 60.0, 30.0
_PASSING = ("store_busy", "store_full", "store_unavailable", "outcome_unknown")


class Watcher:
    """Takes the waits that are due and looks after them until they are over. For one thread."""

    def __init__(
        self,
        memory: Waiting,
        holder: str,
        *,
        lease_seconds: float = LEASE_SECONDS,
        note: Callable[[Job, str, str], None] = lambda job, outcome, why: None,
    ) -> None:
        self._memory = memory
        self._note = note
        self._store = memory.store
        self._holder = f"{holder}:waits"  # what a watcher holds is not what its worker holds
        self._lease_seconds = lease_seconds
        self._held: dict[tuple[str, int], Held] = {}
        self._own: dict[str, set[Held]] = {}  # by the task that waits
        self._about: dict[str, set[Held]] = {}  # by the task that is waited for
        self._due: dict[int, list[Held]] = {}  # by tick; one that was moved counts only under its own
        self._tick = int(steady() / TICK)
        self._horizon = Horizon()
        self._read_to = -1  # events up to this place were taken in; -1: not begun
        self._looks = Looks(memory)
        self._next_feed = self._next_lease = self._next_flush = self._next_dead = 0.0
        self._next_hold = steady() + lease_seconds / 3
        self._ahead = memory._clock() - steady()  # of the clock on the wall
        self.looks = 0

    def __len__(self) -> int:
        return len(self._held)

    # --- the loop ---------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Look after waits until told to stop; then all are given back. A store that cannot serve for a
        while is waited for; one that cannot take them back either lets their leases run out."""
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

    def tick(self) -> float:
        """Do what is due now; the seconds until there may be more."""
        now = steady()
        if now >= self._next_dead:
            self._next_dead = now + DEAD_SECONDS
            self._memory._end_dead_waits()
            self._bury()
        if now >= self._next_feed:
            self._next_feed = now + FEED_SECONDS
            self._take_in_events()
        if now >= self._next_lease:
            self._next_lease = now + LEASE_CHECK_SECONDS
            self._take_jobs()
        self._notice_jump(now)
        self._settle_all(self._looks.at(self._now_due()))
        now = steady()
        if now >= self._next_hold:
            self._next_hold = now + self._lease_seconds / 3
            self._hold_on()
        if now >= self._next_flush:
            self._next_flush = now + FLUSH_SECONDS
            self._flush()
        return self._pause()

    def close(self) -> None:
        """Give all waits back: others may go on with them at once."""
        self._looks.close()
        held, self._held = list(self._held.values()), {}
        if held:
            rows = [self._row(one) for one in held if one.dirty]

            def work(tx: Tx) -> None:
                jobs.save_progress(tx, rows)
                jobs.release(tx, [one.job for one in held])

            self._store.write(work)

    def _pause(self) -> float:
        soonest = int(FEED_SECONDS / TICK)
        for ahead in range(1, soonest):
            if self._tick + ahead in self._due:
                soonest = ahead
                break
        return max((self._tick + soonest) * TICK - steady(), 0.0) if self._held else FEED_SECONDS

    # --- what others do ---------------------------------------------------------------------------

    def _take_in_events(self) -> None:
        """Read the waits again that something was written about, and look for new ones."""
        until = self._store.read(self._horizon.look, once=True)
        if self._read_to < 0:  # what is taken later is read as it is then
            self._read_to = until
        if until == self._read_to:
            return
        after, self._read_to = self._read_to, until
        self._next_lease = 0.0
        try:
            self._take_in(after, until)
        except StoreError:
            self._read_to = after  # once more, when the store is there again
            raise

    def _take_in(self, after: int, until: int) -> None:
        changes = self._store.read(lambda tx: touched(tx, after, until, _MOST_TOUCHED), once=True)
        if until < after or len(changes) == _MOST_TOUCHED:  # put back to an earlier time; or too many
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
        """Go on with some waits as the store has them now."""
        again: list[dict[str, int]] = []
        for held, live in self._read([(one, one.job) for one in which]):
            if live is None:
                self._forget(held)
            elif live.version != held.live.version or live.task_status != held.live.task_status:
                try:
                    watch = watch_of(live)
                except RingboltError as error:
                    self._give_up(held.job, error)
                    self._forget(held)
                    continue
                held.take(live, watch, self._memory._waited(live))
                again.append({"id": held.job.id, "token": held.job.token})
                self._plan(held, 0)
        if again:
            self._store.write(lambda tx: jobs.accept_repeats(tx, again))

    def _read(self, wanted: Sequence[tuple[Any, Job]]) -> list[tuple[Any, Live | None]]:
        """Waits as the store has them, in pages; None for those that are over."""

        def one(tx: Tx, job: Job) -> Live | None:
            try:
                live = self._memory._read_live(tx, job.task_id, int(job.key))
            except NotFound:
                return None
            return live if live.state == "watching" and live.data is not None else None

        found: list[tuple[Any, Live | None]] = []
        for start in range(0, len(wanted), _LOADED):
            some = wanted[start : start + _LOADED]
            lives = self._store.read(lambda tx, s=some: [one(tx, job) for _, job in s])
            found += [(what, live) for (what, _), live in zip(some, lives, strict=True)]
        return found

    def _take_jobs(self) -> None:
        """Take waits that nobody looks after."""
        clock = self._memory._clock()
        if not self._store.read(lambda tx: jobs.is_due(tx, (KIND,), clock), once=True):
            return
        room = MOST_HELD - len(self._held)
        taken, given_up = self._store.write(
            lambda tx: jobs.lease(tx, (KIND,), self._holder, clock, self._lease_seconds, room)
        )
        for job in given_up:
            self._note(job, "dead", job.error or "")
        over: list[Job] = []
        for job, live in self._read([(job, job) for job in taken]):
            if live is None:
                over.append(job)
                continue
            try:
                held = Held(job, live, watch_of(live), self._memory._waited(live))
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
        if given_up:  # nobody could look at them: that is their end
            self._memory._end_dead_waits()

    def _bury(self) -> None:
        """What the dead of this machine have held is free again, before their leases have run out."""
        for holder in self._store.read(lambda tx: jobs.holders(tx, KIND)):
            if jobs.is_dead_process(holder):
                self._store.write(lambda tx, h=holder: jobs.expire(tx, KIND, h))
                self._next_lease = 0.0

    def _hold_on(self) -> None:
        """Keep the leases alive; what another has by now is no longer ours, and what was asked for once more
        is read again."""
        clock = self._memory._clock()
        mine = self._store.write(lambda tx: jobs.renew(tx, KIND, self._holder, clock, self._lease_seconds))
        again: list[Held] = []
        for held in list(self._held.values()):
            token, attempts = mine.pop(held.job.id, (None, 1))
            if token != held.job.token:
                self._forget(held)
            elif not attempts:
                again.append(held)
        if mine:  # taken when the store was in trouble, and not known here
            rows = [{"id": number, "token": token} for number, (token, _) in mine.items()]
            self._store.write(lambda tx: jobs.release_rows(tx, rows))
        self._reload(again)

    def _forget(self, held: Held) -> None:
        self._held.pop((held.job.task_id, int(held.job.key)), None)
        held.tick = -1
        self._own.get(held.job.task_id, set()).discard(held)
        for task in held.about:
            self._about.get(task, set()).discard(held)

    # --- looking ----------------------------------------------------------------------------------

    def _plan(self, held: Held, delay: float) -> None:
        """Look at a wait in so many seconds, and not when it was planned before."""
        held.tick = max(int((steady() + delay) / TICK), self._tick + 1)
        self._due.setdefault(held.tick, []).append(held)

    def _look_now(self, held: Held) -> None:
        """Look at a wait with the next tick, whatever a glance finds."""
        if held.tick >= 0:
            held.seen = UNSEEN
            self._plan(held, 0)

    def _notice_jump(self, now: float) -> None:
        """When the clock on the wall was set, look at once at what waits for a time on it."""
        ahead = self._memory._clock() - now
        if abs(ahead - self._ahead) > JUMP_SECONDS:
            self._ahead = ahead
            for held in self._held.values():
                if held.timed:
                    self._look_now(held)

    def _now_due(self) -> list[Held]:
        due: list[Held] = []
        now = int(steady() / TICK)
        ticks = range(self._tick + 1, now + 1)
        for tick in ticks if len(ticks) <= len(self._due) else sorted(t for t in self._due if t <= now):
            for held in self._due.pop(tick, ()):
                if held.tick == tick:
                    held.tick = 0  # until it is planned again
                    if not held.busy:
                        due.append(held)
        self._tick = max(now, self._tick)
        return due

    def _settle_all(self, found: Sequence[tuple[Held, Any]]) -> None:
        """Write down what is new, and plan the next look at each."""
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
                    self._settle_trouble(held, outcome)
            except StoreError:
                for one, _ in found[place:]:
                    self._look_now(one)
                raise
            except RingboltError as error:
                self._give_up(held.job, error)
                self._forget(held)

    def _settle(self, held: Held, outcome: Outcome) -> None:
        old = held.live.data or {}
        held.seen = outcome.seen
        if outcome.live.version != held.live.version:  # what was seen is not what is wanted by now
            self._look_now(held)
        elif outcome.ended is not None:
            if self._memory._conclude(held.live, outcome.ended, outcome.said):
                self._forget(held)
                self._note(held.job, "done", "")
            else:
                self._look_again(held)
        elif outcome.said == old["said"] and outcome.state == old["state"]:
            self._plan_next(held, changed=False)
        else:
            tell = is_told(old, outcome.said)
            if tell and not self._memory._tell_change(held.live, outcome.said):
                self._look_again(held)
                return
            data = {**old, "state": outcome.state, "said": outcome.said, "changes": old["changes"] + tell}
            held.live = held.live.replace(data=data)
            held.dirty = True
            self._plan_next(held, changed=True)

    def _settle_trouble(self, held: Held, trouble: Any) -> None:
        """A look hung, or came to an error that no look should: it is tried again, until the time is up."""
        said = in_words(trouble)
        late = steady() >= held.deadline
        said = f"not within {held.live.spec['timeout']:g} s: {said}" if late else said
        state = (held.live.data or {})["state"]
        ended = "timeout" if late else None
        self._settle(held, Outcome(live=held.live, ended=ended, said=said, state=state))

    def _plan_next(self, held: Held, *, changed: bool, looked: bool = True) -> None:
        """Plan the next look, or the next glance."""
        spec = held.live.spec
        held.interval = next_interval(held.watch, spec["poll_interval"], held.interval, changed)
        now = steady()
        if looked:
            again = _LOOK_AGAIN_AT_PROCESS if "process" in dict(held.glances) else _LOOK_AGAIN
            held.look_by = min(now + again, held.deadline)
            if held.timed:
                left = time_left(held.watch, self._memory._surroundings(held.live, now - held.zero))
                held.look_by = min(held.look_by, now + (left or 0))
        # What comes with an event, or at a time that is known, is looked at now and then all the same.
        interval = _EVENTED if held.passive else held.interval
        self._plan(held, max(SHORTEST, min(interval, held.look_by - now)))

    # --- what follows -----------------------------------------------------------------------------

    def _give_up(self, job: Job, error: RingboltError) -> None:
        """A wait that cannot be looked after here: another may try, and in the end it ends with an error."""
        clock, why = self._memory._clock(), f"{type(error).__name__}: {error}"
        with contextlib.suppress(Conflict):  # it is another's by now
            if isinstance(error, NotFound):
                self._store.write(lambda tx: jobs.drop(tx, KIND, job.task_id, job.key))
            else:
                dead = self._store.write(lambda tx: jobs.failed(tx, job.id, job.token, why, clock))
                self._note(job, "dead" if dead else "failed", why)

    def _look_again(self, held: Held) -> None:
        """The wait is over, or was changed while it was looked at: what was seen may not count."""
        self._reload([held])
        self._look_now(held)

    def _flush(self) -> None:
        """Write down what was seen since, all at once."""
        dirty = [one for one in self._held.values() if one.dirty]
        if dirty:
            rows = [self._row(one) for one in dirty]
            self._store.write(lambda tx: jobs.save_progress(tx, rows))
            for held in dirty:
                held.dirty = False

    def _row(self, held: Held) -> dict[str, Any]:
        data = {**(held.live.data or {}), "interval": held.interval, **self._memory._mark(held.waited())}
        return {"id": held.job.id, "token": held.job.token, "data": validate.dumps(data)}
