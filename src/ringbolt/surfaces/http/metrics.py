"""Metrics of the server and its store, in the Prometheus text format."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

from ...memory import TaskMemory
from ...model.errors import RingboltError
from ...model.rules import TASK_STATUSES
from ...model.validate import seconds_of
from ...store import jobs, workers
from ...store.queries import feed
from ...store.tx import Tx

_Work = tuple[Mapping[str, Mapping[str, int]], int]  # outcomes of jobs by kind, and running workers
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Upper bounds of the histogram buckets, in seconds.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_KNOWN_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT".split())


class Figures:
    """Counters of this server since it started. Only the event loop uses them, so they need no lock."""

    def __init__(self) -> None:
        self.running = 0
        self.streams = 0
        self._requests: dict[tuple[str, str, int], int] = {}
        self._times: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a finished request; status 0 means that it was cut off before a response."""
        key = (route, method if method in _KNOWN_METHODS else "other", status)
        self._requests[key] = self._requests.get(key, 0) + 1
        times = self._times.setdefault(route, [0] * (len(BUCKETS) + 1))
        times[bisect_left(BUCKETS, seconds)] += 1
        self._sums[route] = self._sums.get(route, 0.0) + seconds

    def lines(self) -> Iterable[str]:
        """The counters as lines of text."""
        yield from _family(
            "ringbolt_http_requests_total",
            "counter",
            "Finished requests.",
            (
                ({"route": route, "method": method, "status": status}, count)
                for (route, method, status), count in sorted(self._requests.items())
            ),
        )
        yield from _family(
            "ringbolt_http_requests_running", "gauge", "Requests in progress.", [({}, self.running)]
        )
        yield from _family("ringbolt_http_streams", "gauge", "Open event streams.", [({}, self.streams)])
        name = "ringbolt_http_request_seconds"
        yield f"# HELP {name} Duration of requests."
        yield f"# TYPE {name} histogram"
        for route, times in sorted(self._times.items()):
            total = 0
            for bound, count in zip((*map(repr, BUCKETS), "+Inf"), times, strict=True):
                total += count
                yield _sample(f"{name}_bucket", {"route": route, "le": bound}, total)
            yield _sample(f"{name}_sum", {"route": route}, self._sums[route])
            yield _sample(f"{name}_count", {"route": route}, total)


def store_lines(memory: TaskMemory, worker: bool | None) -> Iterable[str]:
    """Metrics read from the store. `worker`: whether the server's own worker runs, or None if it has none."""
    now = time.time()

    def work(tx: Tx) -> tuple[dict[str, int], list[dict[str, Any]], _Work, list[dict[str, Any]]]:
        done = workers.totals(tx), sum(worker.alive for worker in workers.seen(tx, now))
        return feed.task_counts(tx), jobs.counts(tx, now), done, feed.model_totals(tx)

    tasks, queue, done, models = memory.store.read(work)
    yield from _family(
        "ringbolt_tasks",
        "gauge",
        "Tasks that are not archived.",
        (({"status": status}, tasks.get(status, 0)) for status in TASK_STATUSES),
    )
    yield from _job_lines(queue, done, now)
    stale = sum(mirror.stale for mirror in memory.acting_as(workspace=None).mirrors_status())
    yield from _family("ringbolt_mirrors_stale", "gauge", "Mirror files behind the store.", [({}, stale)])
    yield from _family("ringbolt_store_bytes", "gauge", "Size of the store.", _sizes(memory))
    if worker is not None:
        yield from _family(
            "ringbolt_worker_up", "gauge", "1 if the server's worker is running.", [({}, int(worker))]
        )
    for field, what in (
        ("calls", "Calls"),
        ("cost", "Cost"),
        ("tokens_in", "Tokens"),
        ("tokens_out", "Tokens"),
    ):
        yield from _family(
            f"ringbolt_model_{field}_total",
            "counter",
            f"{what} of language models ({field}).",
            (({"model": row["model"]}, row[field]) for row in models),
        )


def _job_lines(queue: list[dict[str, Any]], done: _Work, now: float) -> Iterable[str]:
    totals, alive = done
    kinds = sorted({row["kind"] for row in queue} | {"extract", "summary", "wait", "webhook"})
    counts = {(row["kind"], row["status"]): row["count"] for row in queue}
    yield from _family(
        "ringbolt_jobs",
        "gauge",
        "Background jobs by status; dead jobs are not retried.",
        (
            ({"kind": kind, "status": status}, counts.get((kind, status), 0))
            for kind in kinds
            for status in ("waiting", "leased", "dead")
        ),
    )
    due = {row["kind"]: row for row in queue if row["due"]}
    yield from _family(
        "ringbolt_jobs_due",
        "gauge",
        "Due jobs that no worker has taken yet.",
        (({"kind": kind}, due[kind]["due"] if kind in due else 0) for kind in kinds),
    )
    yield from _family(
        "ringbolt_jobs_due_seconds",
        "gauge",
        "How long the oldest due job has been due.",
        (({"kind": kind}, _late(due.get(kind), now)) for kind in kinds),
    )
    yield from _family(
        "ringbolt_jobs_total",
        "counter",
        "Outcomes of jobs: done, failed (to be retried), dead, or lost to another worker.",
        (
            ({"kind": kind, "outcome": outcome}, count)
            for kind, each in sorted(totals.items())
            for outcome, count in sorted(each.items())
        ),
    )
    yield from _family("ringbolt_workers", "gauge", "Running workers of the store.", [({}, alive)])


def _late(row: Mapping[str, Any] | None, now: float) -> float:
    return max(0.0, round(now - seconds_of(row["due_since"]), 3)) if row else 0.0


def _sizes(memory: TaskMemory) -> list[tuple[Mapping[str, Any], float]]:
    try:
        info = memory.store.info()
    except RingboltError:  # still report the other metrics
        return []
    return [({"part": part}, info[part]) for part in ("bytes", "log_bytes") if part in info]


def _family(
    name: str, kind: str, text: str, samples: Iterable[tuple[Mapping[str, Any], float]]
) -> Iterable[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: Mapping[str, Any], value: float) -> str:
    pairs = ",".join(f'{key}="{_escaped(str(label))}"' for key, label in labels.items())
    number = repr(value) if isinstance(value, float) else str(value)  # PostgreSQL sums are Decimals
    return f"{name}{{{pairs}}} {number}" if pairs else f"{name} {number}"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
