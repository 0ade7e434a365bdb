"""The queue of jobs as an operator sees it: what waits, what was given up, and another chance for that."""

from __future__ import annotations

from .. import checks
from ..store import jobs
from ..types import Job, JobsStatus
from .base import Base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store.tx import Tx


class Queue(Base):
    """Operations on jobs: extractions, summaries and all else that a worker does."""

    def jobs_status(self, *, limit: int = 20) -> JobsStatus:
        """What waits for a worker, by kind, and the jobs that were given up, with their last error."""
        limit = checks.whole("limit", limit, 1, 1000)

        def work(tx: Tx) -> JobsStatus:
            totals = {"waiting": 0, "leased": 0, "dead": 0}
            kinds: dict[str, dict[str, int]] = {}
            waiting: list[str] = []
            for row in jobs.counts(tx):
                totals[row["status"]] += row["count"]
                kinds.setdefault(row["kind"], {})[row["status"]] = row["count"]
                if row["status"] == "waiting":
                    waiting.append(row["oldest"])
            return JobsStatus(
                **totals, kinds=kinds, oldest=min(waiting, default=None), given_up=tuple(jobs.dead(tx, limit))
            )

        return self.store.read(work)

    def jobs_retry(self, id: int) -> Job:
        """Give a job that was given up another chance."""
        job_id = checks.whole("id", id, 1, 1 << 62)
        return self.store.write(lambda tx: jobs.retry(tx, job_id))
