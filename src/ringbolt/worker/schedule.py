# pyright: reportPrivateUsage=false
"""What a crew finds to do by itself, because nobody asks for it: upkeep, vectors and files that lag behind.

Those who write ask for neither, so that writing costs nothing more. A look is a read or two, and only when
something was written; what it finds becomes a job like any other, of which there is only one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from ..files.mirroring import Keeper
from ..memory import TaskMemory
from ..recall.semantic import semantic_index
from ..store import jobs
from ..upkeep.job import schedule


class Round(Protocol):
    """Looks whether something is to be done, and asks for it."""

    def ask(self, at_once: bool = False) -> None: ...


# How long nothing is looked at again if nothing was written.
REST = 60.0
# How long those who have written may take to bring their files up to date.
GRACE = 2.0
# A file that was late is looked at again after so long: the job may have gone to another machine.
AGAIN = 10.0


def rounds_for(memory: TaskMemory, kinds: Mapping[str, object]) -> list[Round]:
    """The rounds that a memory's settings call for."""
    found: list[Round] = []
    if "upkeep" in kinds:
        found.append(UpkeepRound(memory))
    if "embed" in kinds and memory.settings.embedder != "none":
        found.append(EmbedRound(memory))
    if "mirror" in kinds and isinstance(memory._mirrors, Keeper):
        found.append(MirrorRound(memory, memory._mirrors))
    return found


def _newest(memory: TaskMemory) -> int:
    return memory.store.read(lambda tx: tx.last_position(), once=True)


class UpkeepRound:
    """Asks for the upkeep of the store, which from then on asks for its next time itself."""

    def __init__(self, memory: TaskMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._next = 0.0

    def ask(self, at_once: bool = False) -> None:
        """Ask for it if nobody has: it may have been given up, or turned on since."""
        if at_once or self._clock() >= self._next:
            self._next = self._clock() + REST
            schedule(self._memory)


class EmbedRound:
    """Asks for vectors when there are texts without."""

    def __init__(self, memory: TaskMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._position = -1
        self._next = 0.0

    def ask(self, at_once: bool = False) -> None:
        """Ask for a job if there is anything to do for one."""

        newest = _newest(self._memory)
        if newest == self._position and self._clock() < self._next:
            return
        self._position, self._next = newest, self._clock() + REST
        if semantic_index(self._memory).is_behind(self._memory.store):
            now = self._memory._clock()
            self._memory.store.write(lambda tx: jobs.see_to(tx, "embed", "", {}, now))


class MirrorRound:
    """Asks for the files that do not show what was written, if whoever wrote it has not seen to them."""

    def __init__(
        self, memory: TaskMemory, keeper: Keeper, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = memory
        self._keeper = keeper
        self._clock = clock
        self._done = 0  # what was written up to here is shown, or asked for
        self._seen = (0, clock())  # how far the store was, and when
        self._asked: dict[str, str] = {}
        self._again = 0.0

    def ask(self, at_once: bool = False) -> None:
        """Ask for a job for each file that is late; at once, also for what was only just written."""
        found: dict[str, str] = {}
        if self._asked and self._clock() >= self._again:
            self._asked = found = self._keeper.still_late(self._asked)
            self._again = self._clock() + AGAIN
        newest = _newest(self._memory)
        upto, since = (newest, 0.0) if at_once else self._seen
        if upto > self._done and self._clock() - since >= GRACE:
            found |= self._keeper.late(self._done, upto)
            self._done = upto
        if self._seen[0] <= self._done:
            self._seen = newest, self._clock()
        if found:
            self._asked |= found
            self._again = max(self._again, self._clock() + AGAIN)
            self._write(found)

    def _write(self, found: Mapping[str, str]) -> None:
        now = self._memory._clock()

        def work(tx: jobs.Tx) -> None:
            for path, task_id in found.items():
                jobs.see_to(tx, "mirror", path, {"task_id": task_id}, now)

        self._memory.store.write(work)
