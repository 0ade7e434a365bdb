# pyright: reportPrivateUsage=false
"""Publish tasks to sinks: what to publish when, and what people answered there.

There is one job for each sink and task, so a sink gets the states of a task in order. How far the store was
read is kept in the store, as are the marks of the sinks. A job with the key `sink/`, without a task, probes
the target once a minute: it tells it how far behind it is, and notices that it was down or has lost
everything.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..memory import TaskMemory
from ..model.errors import Conflict, NotFound
from ..model.results import Job
from ..model.settings import Settings
from ..sinks import queries
from ..sinks.lark_api import LarkApi
from ..sinks.lark_document import LarkDocuments
from ..sinks.lark_table import LarkTable
from ..sinks.redis_copy import RedisCopy
from ..sinks.sink import Lag, Ledger, Mark, Reply, Sink, names_in
from ..store import Tx, jobs
from ..store.queries.feed import Horizon

if TYPE_CHECKING:
    from .worker import Handler, Settle

PROBE_SECONDS = 60.0

Opener = Callable[[str, Settings], Sink]


def open_sink(name: str, settings: Settings) -> Sink:
    """The sink with this name, as the settings describe it."""
    if name == "redis":
        return RedisCopy(settings)
    api = LarkApi(settings)
    return LarkTable(api, settings) if settings.lark_table else LarkDocuments(api, settings)


def publishing(opener: Opener = open_sink) -> Handler:
    """The handler that publishes a task or probes a sink. Sinks are kept for their connections and pace."""
    kept: dict[str, tuple[Settings, Sink]] = {}

    def publish(memory: TaskMemory, job: Job, settle: Settle) -> None:
        name, _, task_id = job.key.partition("/")
        if name not in names_in(memory.settings.publish):  # it was on when the job was added
            memory.store.write(settle)
            return
        if name not in kept or kept[name][0] != memory.settings:
            kept[name] = memory.settings, opener(name, memory.settings)
        sink = kept[name][1]
        if task_id:
            _publish(memory, sink, task_id, job, settle)
        else:
            _probe(memory, sink, job, settle)

    return publish


def _publish(memory: TaskMemory, sink: Sink, task_id: str, job: Job, settle: Settle) -> None:
    mark: Mark = memory.store.read(lambda tx: queries.mark_of(tx, job.key))
    ledger = Ledger(memory.store, task_id)
    try:
        if sink.replies:
            ledger.task()
            replies, mark = sink.collect(mark)
            for reply in replies:
                _record(memory, sink.name, task_id, reply)
        published: Mark | None = sink.publish(ledger, mark)
    except LookupError:
        sink.remove(task_id, mark)
        published = None

    def work(tx: Tx) -> None:
        if published is None:
            jobs.drop(tx, jobs.PUBLISHED, "", job.key)
        else:
            queries.keep_mark(tx, job.key, published, memory._now())
        settle(tx)

    try:
        memory.store.write(work)
    except Conflict as conflict:
        if conflict.code == "stale_token":  # what we wrote late may be over something newer
            memory.store.write(lambda tx: queries.want(tx, sink.name, [task_id], memory._now()))
        raise


def _record(memory: TaskMemory, sink: str, task_id: str, reply: Reply) -> None:
    """Record once what somebody did to a copy; as the user's only if the operator named the account."""
    channel = "user" if reply.trusted else "import"
    person = memory.acting_as(channel=channel, agent=sink, principal=reply.author, session="")
    key = f"{sink}/{reply.id}"[:200]
    said = f"Ticked in {sink}: {reply.text}" if reply.step else reply.text
    if reply.step and reply.trusted:
        try:
            person.task_update(task_id, said, step=reply.step, step_status="completed", key=key)
            return
        except (Conflict, NotFound) as error:  # the step has gone; what was done there is still kept
            said, key = f"{said} (not taken over: {error.message})", f"note/{key}"[:200]
    kind = "user_instruction" if reply.trusted and not reply.step else "context"
    person.task_remember(task_id, said, type=kind, data={"from": sink, "account": reply.author}, key=key)


def _probe(memory: TaskMemory, sink: Sink, job: Job, settle: Settle) -> None:
    def read(tx: Tx) -> tuple[Lag, Mark]:
        behind = queries.unpublished(tx, sink.name)
        return Lag(newest=tx.last_position(), behind=behind, at=memory._now()), queries.mark_of(tx, job.key)

    lag, mark = memory.store.read(read)
    has_all = sink.probe(lag)
    now = memory._clock()
    looks = sink.replies and now - mark.get("looked_at", 0) >= sink.replies
    was_down = bool(job.data.get("again")) or job.attempts > 1

    def work(tx: Tx) -> None:
        queries.try_again(tx, sink.name, was_down, now)
        which = ["gone"] + (["all"] if not has_all else ["open"] if looks else [])
        for each in which:
            queries.want(tx, sink.name, queries.published_tasks(tx, sink.name, each), lag.at)
        fresh = queries.mark_of(tx, job.key)
        queries.keep_mark(
            tx, job.key, {**fresh, **({"looked_at": now} if looks else {}), "at": lag.at}, lag.at
        )
        settle(tx)

    memory.store.write(work)


class PublishScheduler:
    """Adds jobs for tasks that changed, and for the probes."""

    def __init__(self, memory: TaskMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._horizon = Horizon()
        self._sinks = dict.fromkeys(names_in(memory.settings.publish), -1)  # scheduled up to these positions
        self._workspaces = names_in(memory.settings.publish_workspaces)
        self._probe_at = 0.0

    def schedule(self, at_once: bool = False) -> None:
        """Add the jobs that are due."""
        until = self._memory.store.read(self._horizon.advance, once=True)
        for sink, position in self._sinks.items():
            if position < until or position > self._horizon.newest:
                self._sinks[sink] = self._memory.store.write(lambda tx, s=sink: self._schedule(tx, s, until))
        if at_once or self._clock() >= self._probe_at:
            self._probe_at = self._clock() + PROBE_SECONDS
            self._memory.store.write(self._add_probes)

    def _schedule(self, tx: Tx, sink: str, until: int) -> int:
        """Request the tasks that changed, the first time the open ones; returns how far that went."""
        mark = queries.mark_of(tx, f"{sink}/")
        now = self._memory._now()
        after: int = mark.get("position", 0)
        if not after or after > self._horizon.newest:  # the first time, or the store was replaced
            queries.want(tx, sink, queries.published_tasks(tx, sink), now)
            after = 0
        elif until <= after:
            return after
        changed = queries.changed_tasks(tx, after, until, self._workspaces, only_open=not after)
        queries.want(tx, sink, [task_id for task_id, _ in changed], now)
        upto = changed[-1][1] if len(changed) == queries.PAGE else until
        queries.keep_mark(tx, f"{sink}/", {**mark, "position": upto}, now)
        return upto

    def _add_probes(self, tx: Tx) -> None:
        for sink in self._sinks:
            key = f"{sink}/"
            known = jobs.find(tx, queries.PUBLISH, "", key)
            if known is None or known.status == "dead":
                data = {"again": True} if known else {}
                jobs.add(tx, queries.PUBLISH, "", key, data, jobs.NOW, self._memory._now())
