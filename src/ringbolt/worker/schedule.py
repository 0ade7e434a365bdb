# pyright: reportPrivateUsage=false
"""Schedule recurring work: upkeep, and vectors, mirrors and published copies that lag behind.

Writers do not request this work, so that a write costs nothing extra. A check is a read or two, and only
after a write; its finding becomes an ordinary job, and each such job exists once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from ..files.mirror_keeper import Keeper
from ..memory import TaskMemory
from ..recall.semantic import semantic_index
from ..store import jobs
from ..upkeep.job import add_upkeep_job
from .publishing import PublishScheduler


class Scheduler(Protocol):
    """Checks whether there is work to do, and adds a job for it."""

    def schedule(self, at_once: bool = False) -> None: ...


CHECK_SECONDS = 60.0  # between two checks if nothing was written
GRACE = 2.0  # seconds that a writer has to refresh its mirrors itself
# Seconds after which a mirror that was behind is checked again: another machine may have taken the job.
RECHECK_SECONDS = 10.0


def schedulers_for(memory: TaskMemory, kinds: Mapping[str, object]) -> list[Scheduler]:
    """The schedulers that the settings of a memory require."""
    schedulers: list[Scheduler] = []
    if "upkeep" in kinds:
        schedulers.append(UpkeepScheduler(memory))
    if "embed" in kinds and memory.settings.embedder != "none":
        schedulers.append(EmbedScheduler(memory))
    if "mirror" in kinds and isinstance(memory._mirrors, Keeper):
        schedulers.append(MirrorScheduler(memory, memory._mirrors))
    if "publish" in kinds and memory.settings.publish:
        schedulers.append(PublishScheduler(memory))
    return schedulers


def _last_position(memory: TaskMemory) -> int:
    return memory.store.read(lambda tx: tx.last_position(), once=True)


class UpkeepScheduler:
    """Adds the upkeep job of the store, which then adds its successor itself."""

    def __init__(self, memory: TaskMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._next = 0.0

    def schedule(self, at_once: bool = False) -> None:
        """Add the job if it is missing: it may have died, or upkeep was turned on."""
        if at_once or self._clock() >= self._next:
            self._next = self._clock() + CHECK_SECONDS
            add_upkeep_job(self._memory)


class EmbedScheduler:
    """Adds a job for texts that have no vectors yet."""

    def __init__(self, memory: TaskMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._position = -1
        self._next = 0.0

    def schedule(self, at_once: bool = False) -> None:
        """Add a job if there is anything to do."""
        newest = _last_position(self._memory)
        if newest == self._position and self._clock() < self._next:
            return
        self._position, self._next = newest, self._clock() + CHECK_SECONDS
        if semantic_index(self._memory).is_behind(self._memory.store):
            now = self._memory._clock()
            self._memory.store.write(lambda tx: jobs.ensure(tx, "embed", "", {}, now))


class MirrorScheduler:
    """Adds jobs for mirrors that are behind because the process that wrote did not refresh them."""

    def __init__(
        self, memory: TaskMemory, keeper: Keeper, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = memory
        self._keeper = keeper
        self._clock = clock
        self._checked = 0  # mirrors of events up to this position are current, or have a job
        self._seen = (0, clock())  # the last position of the store, and when it was seen
        self._scheduled: dict[str, str] = {}
        self._recheck_at = 0.0

    def schedule(self, at_once: bool = False) -> None:
        """Add a job for each mirror that is behind; `at_once` gives writers no time to refresh it."""
        late: dict[str, str] = {}
        if self._scheduled and self._clock() >= self._recheck_at:
            self._scheduled = late = self._keeper.still_late(self._scheduled)
            self._recheck_at = self._clock() + RECHECK_SECONDS
        newest = _last_position(self._memory)
        upto, since = (newest, 0.0) if at_once else self._seen
        if upto > self._checked and self._clock() - since >= GRACE:
            late |= self._keeper.late(self._checked, upto)
            self._checked = upto
        if self._seen[0] <= self._checked:
            self._seen = newest, self._clock()
        if late:
            self._scheduled |= late
            self._recheck_at = max(self._recheck_at, self._clock() + RECHECK_SECONDS)
            self._add_jobs(late)

    def _add_jobs(self, late: Mapping[str, str]) -> None:
        now = self._memory._clock()

        def work(tx: jobs.Tx) -> None:
            for path, task_id in late.items():
                jobs.ensure(tx, "mirror", path, {"task_id": task_id}, now)

        self._memory.store.write(work)
