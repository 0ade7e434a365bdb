"""The job queue: one row per job, leased to one worker at a time.

Kind, task and key identify a job. A worker that takes one gets a lease and a token. When the lease has
expired, another worker may take the job with a higher token, and late workers get `stale_token`. Finished
jobs are deleted. `attempts` counts from the last request of the job: zero during a lease means that the job
was requested again in the meantime, so it will run once more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from ..model.errors import Conflict, NotFound
from ..model.results import Job
from ..model.validate import dumps, seconds_of, stamp
from ..system import os_calls, processes
from .database import placeholders
from .tx import Row, Tx

MOST_ATTEMPTS = 8
FIRST_DELAY, LONGEST_DELAY = 5.0, 3600.0
JITTER = 0.25  # as a share of the delay: jobs that failed together are not retried together
# How long a dead job rests before the worker may request it again.
DEAD_REST = 3600.0
# A lease that seems to last longer started before the clock was set back.
LONGEST_LEASE = 3600.0
LONGEST_ERROR = 2000
NOW = ""  # sorts before every time: due at once, whatever the clock says
_holders = count(1)
WORKER = "worker"  # the kind of rows that describe workers, see workers.py
# The kind of rows that hold what must work but not be read: the ledger has it redacted (ADR 0035).
SEALED = "sealed"
# The kind of rows that hold what a sink has published, see sinks/queries.py.
PUBLISHED = "published"
NEVER = "9999"

NAMES = (
    "id", "kind", "task_id", "key", "data", "status", "attempts", "due_at", "token", "holder", "error",
    "created_at",
)  # fmt: skip
_SELECT = f"SELECT {', '.join(NAMES)} FROM jobs"
_NAMED = "kind = :kind AND task_id = :task_id AND key = :key"
# A job that waits for its retry keeps its delay, however often it is requested in the meantime.
_ADD = (
    "INSERT INTO jobs (kind, task_id, key, data, status, attempts, due_at, token, created_at)"
    " VALUES (:kind, :task_id, :key, :data, 'waiting', 0, :due, 0, :now)"
    " ON CONFLICT (kind, task_id, key) DO UPDATE SET data = excluded.data,"
    " due_at = CASE WHEN jobs.status = 'dead' THEN excluded.due_at"
    " WHEN jobs.status = 'waiting' AND jobs.attempts = 0 AND jobs.due_at > excluded.due_at"
    " THEN excluded.due_at ELSE jobs.due_at END,"
    " attempts = CASE WHEN jobs.status = 'waiting' THEN jobs.attempts ELSE 0 END,"
    " status = CASE WHEN jobs.status = 'dead' THEN 'waiting' ELSE jobs.status END"
    " WHERE jobs.status <> 'waiting' OR jobs.due_at > excluded.due_at OR jobs.data <> excluded.data"
)
# Expired leases come first: they have waited longest.
_DUE = (
    ("leased", "due_at <= :now"),
    ("leased", "due_at > :beyond"),
    ("waiting", "due_at <= :now"),
    # Waits and upkeep are never due so late: the clock was set back.
    ("waiting", "kind IN ('wait', 'upkeep') AND due_at > :beyond"),
)


def add(tx: Tx, kind: str, task_id: str, key: str, data: Mapping[str, Any], due: str, now: str) -> None:
    """Request a job, in the transaction that makes it necessary.

    A job that is already waiting stays one job, with the newer data and the earlier time. A leased one will
    run once more afterwards. A dead one gets another chance.
    """
    row = {"kind": kind, "task_id": task_id, "key": key, "data": dumps(data), "due": due, "now": now}
    tx.database.run(_ADD, row)


def seal(tx: Tx, task_id: str, seq: int, value: str, now: str) -> None:
    """Keep a value that an event holds with its secrets redacted, until the event or the task goes."""
    add(tx, SEALED, task_id, str(seq), {"value": value}, NEVER, now)


def unsealed(tx: Tx, task_id: str, seq: int) -> str | None:
    """The value that was sealed for an event; None if this store has none."""
    job = find(tx, SEALED, task_id, str(seq))
    return job.data["value"] if job is not None else None


def ensure(tx: Tx, kind: str, key: str, data: Mapping[str, Any], now: float) -> None:
    """Request a recurring job unless it exists; a dead one is requested again after a rest."""
    job = find(tx, kind, "", key)
    if job is None or (job.status == "dead" and seconds_of(job.due_at) + DEAD_REST <= now):
        add(tx, kind, "", key, data, NOW, stamp(now))


def publish_again(tx: Tx) -> None:
    """Forget how far the sinks were, after the store was replaced; what they have published is kept."""
    tx.database.run(f"DELETE FROM jobs WHERE kind = '{PUBLISHED}' AND key LIKE '%/'", {})


_LEASE = "status = 'leased', attempts = :attempts, token = :token, holder = :holder, due_at = :due_at"


def lease(
    tx: Tx, kinds: Sequence[str], holder: str, now: float, seconds: float, limit: int
) -> tuple[list[Job], list[Job]]:
    """Take up to `limit` due jobs; returns them, and the jobs that are now dead.

    A job is dead if it has lost every worker that tried it. Two workers never get the same job: rows that
    another transaction is taking are skipped.
    """
    which, params = _of(kinds)
    params |= _times(now)
    until = stamp(now + min(seconds, LONGEST_LEASE))
    taken: list[Job] = []
    dead_now: list[Job] = []
    for status, when in _DUE:
        room = limit - len(taken) - len(dead_now)
        rows = [] if room < 1 else tx.rows(
            NAMES,
            f"{_SELECT} WHERE status = '{status}' AND {when} AND {which} ORDER BY due_at LIMIT :room"
            + tx.database.take_rows,
            room=room,
            **params,
        )  # fmt: skip
        for row in rows:
            if status == "leased" and row["attempts"] >= MOST_ATTEMPTS:
                error = row["error"] or "every worker that tried it was lost"
                dead_now.append(_job({**row, "status": "dead", "holder": None, "error": error}))
                continue
            taken.append(_job({**row, **_next_lease(row), "holder": holder, "due_at": until}))
    leased = ("id", "attempts", "token", "holder", "due_at")
    _update(tx, _LEASE, [{name: getattr(job, name) for name in leased} for job in taken])
    given_up = [{"id": job.id, "error": job.error} for job in dead_now]
    _update(tx, "status = 'dead', holder = NULL, error = :error", given_up)
    return taken, dead_now


def _next_lease(row: Row) -> dict[str, Any]:
    """The columns that every new lease changes; the higher token makes writes of the former holder fail."""
    return {"status": "leased", "attempts": row["attempts"] + 1, "token": row["token"] + 1}


def extend(tx: Tx, held: Sequence[Job], now: float, seconds: float) -> None:
    """Extend the leases that are still held; lost ones stay lost."""
    until = stamp(now + min(seconds, LONGEST_LEASE))
    rows = [{"id": job.id, "token": job.token, "until": until} for job in held]
    _update(tx, "due_at = :until", rows, " AND token = :token AND status = 'leased'")


def done(tx: Tx, job_id: int, token: int) -> None:
    """Delete a finished job, or let it wait again if it was requested in the meantime."""
    if _held_attempts(tx, job_id, token):
        tx.database.run("DELETE FROM jobs WHERE id = :id", {"id": job_id})
    else:
        _update(tx, f"status = 'waiting', due_at = '{NOW}', holder = NULL, error = NULL", [{"id": job_id}])


def failed(tx: Tx, job_id: int, token: int, error: str, now: float) -> bool:
    """Schedule the next attempt of a job that failed; returns True if it was the last and the job is dead."""
    attempts = _held_attempts(tx, job_id, token)
    dead = attempts >= MOST_ATTEMPTS
    row = {
        "id": job_id,
        "status": "dead" if dead else "waiting",
        "due": stamp(now + _delay(job_id, attempts)),
        "error": error[:LONGEST_ERROR],
    }
    _update(tx, "status = :status, due_at = :due, holder = NULL, error = :error", [row])
    return dead


def _delay(job_id: int, attempts: int) -> float:
    """The delay before the next attempt: doubled each time, plus jitter."""
    delay = min(FIRST_DELAY * 2 ** max(attempts - 1, 0), LONGEST_DELAY)
    # Derived from the id: jobs with neighbouring ids, which often fail together, end up far apart.
    return delay * (1 + JITTER * ((job_id * 0.6180339887 + attempts * 0.7548776662) % 1))


def find(tx: Tx, kind: str, task_id: str, key: str) -> Job | None:
    """The job with this kind, task and key, if it exists."""
    row = tx.row(NAMES, f"{_SELECT} WHERE {_NAMED}", kind=kind, task_id=task_id, key=key)
    return _job(row) if row else None


def of_workspace(tx: Tx, kind: str, workspace: str | None, limit: int) -> list[tuple[str, str]]:
    """Task and key of each job of a kind in a workspace, or in all."""
    where = "" if workspace is None else " AND h.workspace_path = :workspace"
    rows = tx.database.query(
        "SELECT j.task_id, j.key FROM jobs j JOIN heads h ON h.task_id = j.task_id"
        f" WHERE j.kind = :kind{where} ORDER BY j.task_id, j.id LIMIT :limit",
        {"kind": kind, "limit": limit, "workspace": workspace},
    )
    return [(row[0], row[1]) for row in rows]


def count_with(tx: Tx, kind: str, field: str, value: str) -> int:
    """The number of jobs of a kind whose data have this text in this field."""
    # In JSON, no text can contain the quotes of a field.
    needle = dumps({field: value})[1:-1]
    for special in ("\\", "%", "_"):
        needle = needle.replace(special, f"\\{special}")
    sql = "SELECT count(*) FROM jobs WHERE kind = :kind AND data LIKE :like ESCAPE '\\'"
    return tx.cell(sql, kind=kind, like=f"%{needle}%")


def postpone(tx: Tx, kind: str, task_id: str, key: str, data: Mapping[str, Any], due: str) -> None:
    """Change the data and time of a job that is not leased."""
    tx.database.run(
        "UPDATE jobs SET data = :data, due_at = :due, status = 'waiting', attempts = 0, error = NULL"
        f" WHERE {_NAMED} AND status <> 'leased'",
        {"kind": kind, "task_id": task_id, "key": key, "data": dumps(data), "due": due},
    )


def drop(tx: Tx, kind: str, task_id: str, key: str) -> None:
    """Delete a job; late workers get `stale_token`."""
    tx.database.run(f"DELETE FROM jobs WHERE {_NAMED}", {"kind": kind, "task_id": task_id, "key": key})


def renew(tx: Tx, kind: str, holder: str, now: float, seconds: float) -> dict[int, tuple[int, int]]:
    """Extend all leases of a holder on jobs of a kind; returns (token, attempts) by job id.

    A job that is held for long counts as one attempt.
    """
    params = {"kind": kind, "holder": holder, "until": stamp(now + min(seconds, LONGEST_LEASE))}
    which = "kind = :kind AND holder = :holder AND status = 'leased'"
    tx.database.run(
        f"UPDATE jobs SET due_at = :until, attempts = CASE WHEN attempts = 0 THEN 0 ELSE 1 END WHERE {which}",
        params,
    )
    rows = tx.database.query(f"SELECT id, token, attempts FROM jobs WHERE {which}", params)
    return {row[0]: (row[1], row[2]) for row in rows}


def holders(tx: Tx, kind: str) -> list[str]:
    """The holders of leases on jobs of a kind."""
    sql = "SELECT DISTINCT holder FROM jobs WHERE status = 'leased' AND kind = :kind"
    return [holder for holder in tx.column(sql, kind=kind) if holder]


def is_dead_process(holder: str) -> bool:
    """Whether a holder is a process on this machine that is no longer running."""
    machine, _, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    if machine != os_calls.machine() or not pid.isdecimal():
        return False
    return processes.is_gone(pid)


def expire(tx: Tx, kind: str, holder: str) -> None:
    """End the leases of a holder that is known to be dead."""
    tx.database.run(
        f"UPDATE jobs SET due_at = '{NOW}' WHERE kind = :kind AND holder = :holder AND status = 'leased'",
        {"kind": kind, "holder": holder},
    )


def save_progress(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store the progress of leased jobs, as rows of id, token and data.

    Jobs that were lost or requested again have newer data and are left alone.
    """
    _update(tx, "data = :data", rows, " AND token = :token AND status = 'leased' AND attempts > 0")


def accept_repeats(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    """Mark that the running work on leased jobs (id, token) also covers the repeated request."""
    _update(tx, "attempts = 1", rows, " AND token = :token AND status = 'leased' AND attempts = 0")


def release(tx: Tx, held: Mapping[int, int]) -> None:
    """Return jobs that were not started, as tokens by id; the attempt does not count."""
    changes = f"status = 'waiting', due_at = '{NOW}', holder = NULL"
    changes += ", attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END"
    rows = [{"id": job_id, "token": token} for job_id, token in held.items()]
    _update(tx, changes, rows, " AND token = :token AND status = 'leased'")


def retry(tx: Tx, job_id: int) -> Job:
    """Give a dead job another chance."""
    rows = tx.rows(NAMES, f"{_SELECT} WHERE id = :id AND status = 'dead'{tx.database.lock_row}", id=job_id)
    if not rows:
        raise NotFound(
            "job_not_found", f"No dead job has the id {job_id}.", "jobs_status lists the dead jobs."
        )
    _update(tx, f"status = 'waiting', attempts = 0, due_at = '{NOW}'", [{"id": job_id}])
    return _job({**rows[0], "status": "waiting", "attempts": 0, "due_at": NOW})


def counts(tx: Tx, now: float) -> list[Row]:
    """For each kind and status: the number of jobs, the oldest, the number of due jobs, and the time since
    when they are due."""
    due = "CASE WHEN status = 'waiting' AND due_at <= :now THEN"
    return tx.rows(
        ("kind", "status", "count", "oldest", "due", "due_since"),
        f"SELECT kind, status, count(*), min(created_at), sum({due} 1 ELSE 0 END),"
        f" min({due} CASE WHEN due_at = '{NOW}' THEN created_at ELSE due_at END END)"
        f" FROM jobs WHERE kind NOT IN ('{WORKER}', '{SEALED}', '{PUBLISHED}') GROUP BY kind, status"
        " ORDER BY kind, status",
        now=stamp(now),
    )


def dead(tx: Tx, limit: int) -> list[Job]:
    """Dead jobs, the oldest first."""
    rows = tx.rows(NAMES, f"{_SELECT} WHERE status = 'dead' ORDER BY due_at, id LIMIT :limit", limit=limit)
    return [_job(row) for row in rows]


def failing(tx: Tx, limit: int) -> list[Job]:
    """Jobs whose last attempt failed and that will be tried again, the next one first."""
    rows = tx.rows(
        NAMES,
        f"{_SELECT} WHERE status <> 'dead' AND error IS NOT NULL ORDER BY due_at, id LIMIT :limit",
        limit=limit,
    )
    return [_job(row) for row in rows]


def dead_count(tx: Tx) -> int:
    """The number of dead jobs."""
    return tx.cell("SELECT count(*) FROM jobs WHERE status = 'dead'")


def next_due(tx: Tx, kinds: Sequence[str], before: float) -> str | None:
    """When the next job of some kinds is due or its lease ends, if that is before a time."""
    which, params = _of(kinds)
    params["before"] = stamp(before)
    which += " AND due_at < :before ORDER BY due_at LIMIT 1"
    results = tx.database.query_all(
        [
            (f"SELECT due_at FROM jobs WHERE status = '{status}' AND {which}", params)
            for status in ("waiting", "leased")
        ]
    )
    return min((rows[0][0] for rows in results if rows), default=None)


def is_due(tx: Tx, kinds: Sequence[str], now: float) -> bool:
    """Whether `lease` would find a job."""
    which, params = _of(kinds)
    params |= _times(now)
    results = tx.database.query_all(
        [(f"SELECT 1 FROM jobs WHERE status = '{status}' AND {when} AND {which} LIMIT 1", params)
         for status, when in _DUE]
    )  # fmt: skip
    return any(results)


def _times(now: float) -> dict[str, Any]:
    return {"now": stamp(now), "beyond": stamp(now + 2 * LONGEST_LEASE)}


def _of(kinds: Sequence[str]) -> tuple[str, dict[str, Any]]:
    places, params = placeholders("kind", kinds)
    return f"kind IN ({places})", params


def _held_attempts(tx: Tx, job_id: int, token: int) -> int:
    """Lock a job whose lease is still ours and return its attempts; raises `stale_token` if it is not."""
    sql = "SELECT attempts FROM jobs WHERE id = :id AND token = :token AND status = 'leased'"
    attempts = tx.cell(sql + tx.database.lock_row, id=job_id, token=token)
    if attempts is None:
        raise Conflict(
            "stale_token",
            f"The lease on job {job_id} was lost.",
            "Another worker has the job or has finished it; stop working on it.",
        )
    return attempts


def _update(tx: Tx, changes: str, rows: Sequence[Mapping[str, Any]], also: str = "") -> None:
    if rows:
        tx.database.run_many(f"UPDATE jobs SET {changes} WHERE id = :id{also}", rows)


def _job(row: Row) -> Job:
    fields: dict[str, Any] = {**row, "data": json.loads(row["data"])}
    return Job(**fields)


# --- a single job -----------------------------------------------------------------------------------


def new_holder() -> str:
    """A unique name for a holder of leases: machine, process, number."""
    return f"{os_calls.machine()}:{os.getpid()}:{next(_holders)}"


def is_free(job: Job, now: float) -> bool:
    """Whether a job can be leased: it is waiting, or its lease has expired (or dates from before the clock
    was set back)."""
    times = _times(now)
    return job.status == "waiting" or not times["now"] < job.due_at <= times["beyond"]


def take(tx: Tx, kind: str, task_id: str, key: str, holder: str, now: float, seconds: float) -> Job | None:
    """Lease one job, due or not; None if it does not exist, is dead, or another worker holds it."""
    sql = f"{_SELECT} WHERE {_NAMED} AND status <> 'dead'{tx.database.lock_row}"
    rows = tx.rows(NAMES, sql, kind=kind, task_id=task_id, key=key)
    if not rows or not is_free(_job(rows[0]), now):
        return None
    until = stamp(now + min(seconds, LONGEST_LEASE))
    row = {**rows[0], **_next_lease(rows[0]), "holder": holder, "due_at": until}
    _update(tx, _LEASE, [row])
    return _job(row)
