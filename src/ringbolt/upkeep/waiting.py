# pyright: reportPrivateUsage=false
"""What upkeep is waiting for, in words: a worker, the next run, or a clock that can be trusted."""

from __future__ import annotations

from ..ledger.observed_time import KIND, TRUSTED_AFTER
from ..model.rules import parse_duration
from ..model.types import Value
from ..model.validate import seconds_of
from ..store import Tx, jobs
from ..store.queries import distilled
from .operations import Upkeep

# A run that is late by more than this many intervals is not merely queued behind other jobs.
_LATE = 3


_RUN = "`ringbolt worker` and `ringbolt serve` run it; so does `ringbolt active-tasks maintain`."


class UpkeepWaits(Value, frozen=True, kw_only=True):
    """When upkeep last ran, and what it waits for; `reason` is None if nothing keeps it.

    `is_wrong`: it will not continue without help.
    """

    last_run: str | None = None
    reason: str | None = None
    remedy: str = ""
    is_wrong: bool = False


def upkeep_waits_for(memory: Upkeep) -> UpkeepWaits:
    """What the upkeep of a store is waiting for."""
    boot, steady = memory._machine()

    def work(tx: Tx) -> UpkeepWaits:
        row = distilled.latest(tx, "", KIND)
        last = row[0] if row else None
        mark = (row[1] if row else {}).get("boots", {}).get(boot)
        job = jobs.find(tx, KIND, "", "")
        if last is None or mark is None:
            return UpkeepWaits(
                last_run=last,
                reason="it has not run since this machine started",
                remedy=_RUN,
            )
        if job is not None and job.status == "dead":
            return UpkeepWaits(
                last_run=last,
                reason=f"its job was given up: {job.error or 'every worker that tried it was lost'}",
                remedy=f"`ringbolt jobs retry {job.id}` tries it again.",
                is_wrong=True,
            )
        if not mark["sure"]:
            left = max(TRUSTED_AFTER - (steady - mark["since"]), 0.0)
            return UpkeepWaits(
                last_run=last,
                reason=f"it waits for this machine's clock to run {left:.0f} s more without being set",
                remedy="The next run after that goes on; `--trust-clock` says that the clock is right.",
            )
        every = 60 * parse_duration("upkeep_every", memory.settings.upkeep_every)
        late = memory._clock() - seconds_of(last)
        if late > _LATE * every:
            return UpkeepWaits(
                last_run=last,
                reason=f"no worker has run it for {late:,.0f} s",
                remedy=_RUN,
                is_wrong=True,
            )
        return UpkeepWaits(last_run=last)

    return memory.store.read(work)
