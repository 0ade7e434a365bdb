"""The workers of a store: one row for each that is running or ended recently, and the totals of their work.

The rows live in the jobs table under a kind that is never leased, keyed by holder; the row with an empty key
holds the totals. A worker writes its row every few seconds, so a killed worker loses the counts since then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model.results import WorkerSeen
from ..model.validate import dumps, seconds_of, stamp
from .jobs import WORKER
from .tx import Tx

BEAT_SECONDS = 20.0
MISSED_BEATS = 3  # after which a worker counts as gone
FORGET_SECONDS = 3600.0

_TOTALS = ""
_INSERT = (
    "INSERT INTO jobs (kind, task_id, key, data, status, attempts, due_at, token, holder, created_at)"
    f" VALUES ('{WORKER}', '', :key, :data, :status, 0, :due, 0, :holder, :now)"
    " ON CONFLICT (kind, task_id, key) DO "
)
_UPSERT = f"{_INSERT}UPDATE SET data = excluded.data, status = excluded.status, due_at = excluded.due_at"


def begin(tx: Tx, holder: str, kinds: Sequence[str], now: float) -> None:
    """Register a worker and delete the rows of those that ended."""
    tx.database.run(
        f"DELETE FROM jobs WHERE kind = '{WORKER}' AND key <> '{_TOTALS}'"
        " AND (status = 'waiting' OR due_at < :before OR due_at > :after)",
        {"before": stamp(now - FORGET_SECONDS), "after": stamp(now + FORGET_SECONDS)},
    )
    beat(tx, holder, kinds, now)


def beat(tx: Tx, holder: str, kinds: Sequence[str], now: float, *, ended: bool = False) -> None:
    """Record that a worker is alive, or that it has ended."""
    data = {"kinds": list(kinds), "seen_at": stamp(now), "ended_at": stamp(now) if ended else None}
    _put(
        tx,
        key=holder,
        data=data,
        status="waiting" if ended else "leased",
        due=stamp(now + MISSED_BEATS * BEAT_SECONDS),
        holder=holder,
        now=stamp(now),
    )


def add_up(tx: Tx, did: Mapping[tuple[str, str], int], now: float) -> None:
    """Add the outcomes of jobs, by kind and outcome, to the totals."""
    if not did:
        return
    _put(tx, key=_TOTALS, data={}, status="waiting", due="", holder=None, now=stamp(now), once=True)
    sums = {kind: dict(each) for kind, each in totals(tx, tx.database.lock_row).items()}
    for (kind, outcome), count in did.items():
        each = sums.setdefault(kind, {})
        each[outcome] = each.get(outcome, 0) + count
    _put(tx, key=_TOTALS, data=sums, status="waiting", due="", holder=None, now=stamp(now))


def totals(tx: Tx, lock: str = "") -> dict[str, dict[str, int]]:
    """The number of jobs so far by kind and outcome."""
    for _, data, _, _, _ in _rows(tx, f"key = '{_TOTALS}'", lock):
        return data
    return {}


def seen(tx: Tx, now: float) -> tuple[WorkerSeen, ...]:
    """The workers that are running or ended recently, the most recently seen first."""
    workers: list[WorkerSeen] = []
    for holder, data, status, due, started in _rows(tx, f"key <> '{_TOTALS}'"):
        left = seconds_of(due) - now
        workers.append(
            WorkerSeen(
                holder=holder,
                kinds=tuple(data["kinds"]),
                alive=status == "leased" and 0 < left <= 2 * MISSED_BEATS * BEAT_SECONDS,
                started_at=started,
                seen_at=data["seen_at"],
                ended_at=data["ended_at"],
            )
        )
    return tuple(sorted(workers, key=lambda worker: worker.seen_at, reverse=True))


def _rows(tx: Tx, where: str, lock: str = "") -> Iterator[tuple[str, dict[str, Any], str, str, str]]:
    query = f"SELECT key, data, status, due_at, created_at FROM jobs WHERE kind = '{WORKER}' AND {where}"
    for key, data, status, due, created in tx.database.query(query + lock, {}):
        yield key, json.loads(data), status, due, created


def _put(tx: Tx, *, once: bool = False, data: Mapping[str, Any], **values: Any) -> None:
    tx.database.run(f"{_INSERT}NOTHING" if once else _UPSERT, {**values, "data": dumps(data)})
