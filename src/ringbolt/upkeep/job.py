# pyright: reportPrivateUsage=false
"""The job of kind `upkeep`: every store has one, and each run adds the next."""

from __future__ import annotations

from collections.abc import Callable

from ..model.errors import StoreError
from ..model.results import Job
from ..model.rules import parse_duration
from ..model.validate import stamp
from ..store import Tx, jobs
from .operations import KIND, Upkeep

MOST_CHANGES = 1000  # of each rule in one job, so that other jobs need not wait long


def add_upkeep_job(memory: Upkeep) -> None:
    """Add the upkeep job of a store, unless it exists or upkeep is off."""
    if memory.settings.upkeep_every == "off" or memory.store.read(_is_queued, once=True):
        return
    memory.store.write(lambda tx: jobs.add(tx, KIND, "", "", {}, jobs.NOW, memory._now()))


def _is_queued(tx: Tx) -> bool:
    job = jobs.find(tx, KIND, "", "")
    return job is not None and job.status != "dead"


def upkeep(memory: Upkeep, job: Job, settle: Callable[[Tx], None]) -> None:
    """Run the automatic rules on the whole store once, and add the next job."""
    every = memory.settings.upkeep_every
    if every == "off":  # it was on when the job was added
        memory.store.write(settle)
        return
    report = memory._run_automatic(MOST_CHANGES)
    if len(report.failures) == len(report.counts):
        raise StoreError("store_busy", f"Every rule failed: {report.failures}.", "It will be tried again.")
    more = max(report.counts.values()) >= MOST_CHANGES

    def work(tx: Tx) -> None:
        settle(tx)
        now = memory._clock()
        due = jobs.NOW if more else stamp(now + 60 * parse_duration("upkeep_every", every))
        jobs.add(tx, KIND, "", "", {}, due, stamp(now))

    memory.store.write(work)
