"""The job queue for operators: its status, and retrying dead jobs."""

from __future__ import annotations

from ..ledger.base import Base
from ..model import validate
from ..model.operation import operation
from ..model.redaction import Redactor
from ..model.results import Job, JobsStatus
from ..store import jobs, workers
from ..store.tx import Tx

_REDACTOR = Redactor()


def _shown(job: Job) -> Job:
    """A job with its secrets redacted: the URL that it calls may contain some."""
    return job.replace(data=_REDACTOR.whole(job.data), error=job.error and _REDACTOR.text(job.error))


class Queue(Base):
    """Operations on jobs: extractions, summaries and other work for the worker."""

    @operation(scope="read", whole_store=True)
    def jobs_status(self, *, limit: int = 20) -> JobsStatus:
        """Show queued jobs by kind, failed jobs with their last error, and the workers.

        Args:
            limit: Maximum number of failing jobs, and of dead ones, to show.
        """
        limit = validate.whole("limit", limit, 1, 1000)
        now = self._clock()

        def work(tx: Tx) -> JobsStatus:
            totals = {"waiting": 0, "leased": 0, "dead": 0, "due": 0}
            kinds: dict[str, dict[str, int]] = {}
            waiting: list[str] = []
            due: list[str] = []
            for row in jobs.counts(tx, now):
                totals[row["status"]] += row["count"]
                totals["due"] += row["due"]
                kinds.setdefault(row["kind"], {})[row["status"]] = row["count"]
                if row["status"] == "waiting":
                    waiting.append(row["oldest"])
                if row["due"]:
                    due.append(row["due_since"])
            return JobsStatus(
                **totals,
                kinds=kinds,
                oldest=min(waiting, default=None),
                due_since=min(due, default=None),
                failing=tuple(_shown(job) for job in jobs.failing(tx, limit)),
                given_up=tuple(_shown(job) for job in jobs.dead(tx, limit)),
                workers=workers.seen(tx, now),
                totals=workers.totals(tx),
            )

        return self.store.read(work)

    @operation(scope="write", tools="none", whole_store=True, example={"id": 1})
    def jobs_retry(self, id: int) -> Job:
        """Retry a job that was given up.

        Args:
            id: Id of the job, from jobs_status.
        """
        job_id = validate.whole("id", id, 1, 1 << 62)
        return _shown(self.store.write(lambda tx: jobs.retry(tx, job_id)))
