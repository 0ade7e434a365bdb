"""The queries of publishing, and the marks: what is published where, kept as rows beside the jobs.

A mark's key is `sink/task`; the one of the sink itself is `sink/`. Its job has the same key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.validate import stamp
from ..store import jobs
from ..store.database import placeholders
from ..store.schema import IS_OPEN
from ..store.tx import Tx

PUBLISH = "publish"  # the kind of the jobs
PAGE = 500
_TASK = "kind = 'task' AND root_id = task_id"


def mark_of(tx: Tx, key: str) -> dict[str, Any]:
    """A mark; empty if there is none yet."""
    kept = jobs.find(tx, jobs.PUBLISHED, "", key)
    return dict(kept.data) if kept else {}


def keep_mark(tx: Tx, key: str, mark: Mapping[str, Any], now: str) -> None:
    """Keep a mark."""
    jobs.add(tx, jobs.PUBLISHED, "", key, mark, jobs.NEVER, now)


def changed_tasks(
    tx: Tx, after: int, until: int, workspaces: Sequence[str], only_open: bool
) -> list[tuple[str, int]]:
    """Tasks that changed between two positions, each with its last position, in that order."""
    where = f"{_TASK} AND position > :after AND position <= :until"
    params: dict[str, Any] = {"after": after, "until": until, "limit": PAGE}
    if only_open:
        where += f" AND {IS_OPEN} AND archived_at IS NULL"
    if workspaces:
        places, named = placeholders("workspace", workspaces)
        where, params = f"{where} AND workspace_path IN ({places})", {**params, **named}
    sql = f"SELECT task_id, position FROM heads WHERE {where} ORDER BY position LIMIT :limit"
    return [(row[0], row[1]) for row in tx.database.query(sql, params)]


def published_tasks(tx: Tx, sink: str, which: str = "all") -> list[str]:
    """The tasks that a sink has published: `all`, those that are `open`, or those that are `gone`."""
    # Of the key, what follows the name of the sink is the task.
    task = f"substr(j.key, {len(sink) + 2})"
    head = f"SELECT 1 FROM heads h WHERE h.task_id = {task}"
    of = {
        "all": "1 = 1",
        "open": f"EXISTS ({head} AND h.{IS_OPEN} AND h.archived_at IS NULL)",
        "gone": f"NOT EXISTS ({head})",
    }[which]
    return tx.column(
        f"SELECT {task} FROM jobs j WHERE j.kind = :kind AND j.key LIKE :all AND j.key <> :own AND {of}"
        " ORDER BY j.key",
        kind=jobs.PUBLISHED,
        **_keys(sink),
    )


def unpublished(tx: Tx, sink: str) -> int:
    """The number of tasks that wait to be published."""
    sql = "SELECT count(*) FROM jobs WHERE kind = :kind AND key LIKE :all AND key <> :own"
    return tx.cell(sql, kind=PUBLISH, **_keys(sink))


def want(tx: Tx, sink: str, tasks: Sequence[str], now: str) -> None:
    """Request that tasks be published."""
    for task_id in tasks:
        jobs.add(tx, PUBLISH, "", f"{sink}/{task_id}", {}, jobs.NOW, now)


def try_again(tx: Tx, sink: str, every: bool, now: float) -> None:
    """Retry at once all that a sink could not publish (`every`), otherwise what died long ago."""
    rested = stamp(now - jobs.DEAD_REST)
    where = "" if every else " AND status = 'dead' AND due_at <= :rested"
    tx.database.run(
        f"UPDATE jobs SET status = 'waiting', attempts = 0, due_at = '{jobs.NOW}' WHERE kind = :kind"
        " AND key LIKE :all AND key <> :own"
        f" AND (status = 'dead' OR (status = 'waiting' AND attempts > 0)){where}",
        {"kind": PUBLISH, "rested": rested, **_keys(sink)},
    )


def _keys(sink: str) -> dict[str, str]:
    return {"own": f"{sink}/", "all": f"{sink}/%"}
