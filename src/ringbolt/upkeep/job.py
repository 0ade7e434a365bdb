# pyright: reportPrivateUsage=false
"""The job of kind `upkeep`: there is one in each store, and doing it asks for the next one."""

from __future__ import annotations

from collections.abc import Callable

from ..model.errors import StoreError
from ..model.results import Job
from ..model.rules import parse_duration
from ..model.validate import stamp
from ..store import Tx, jobs
from .operations import KIND, Upkeep

MOST_CHANGES = 1000  # of each rule in one job: a wait that is due must not stand behind thousands


def schedule(memory: Upkeep) -> None:
    """See to it that the upkeep of a store is asked for, if it is wanted; a second time changes nothing."""
    if memory.settings.upkeep_every == "off" or memory.store.read(_asked_for, once=True):
        return
    memory.store.write(lambda tx: jobs.add(tx, KIND, "", "", {}, jobs.NOW, memory._now()))


def _asked_for(tx: Tx) -> bool:
    job = jobs.find(tx, KIND, "", "")
    return job is not None and job.status != "dead"


def upkeep(memory: Upkeep, job: Job, settle: Callable[[Tx], None]) -> None:
    """Look after the tasks of the whole store once; the next time is another job."""
    every = memory.settings.upkeep_every
    if every == "off":  # it was on when this was asked for
        memory.store.write(settle)
        return
    report = memory._upkeep_some(MOST_CHANGES)
    if len(report.failures) == len(report.counts):
        raise StoreError("store_busy", f"The upkeep failed: {report.failures}.", "It is tried again.")
    more = max(report.counts.values()) >= MOST_CHANGES

    def work(tx: Tx) -> None:
        settle(tx)
        now = memory._clock()
        due = jobs.NOW if more else stamp(now + 60 * parse_duration("upkeep_every", every))
        jobs.add(tx, KIND, "", "", {}, due, stamp(now))

    memory.store.write(work)
