"""The queries of forgetting and purging: the only ones that remove anything from the ledger.

Forgetting replaces the content of single events with tombstones (see `tombstones`) and folds the task again,
so that the content also disappears from the state. Purging deletes whole tasks and keeps only their ids in a
log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .database import placeholders
from .past_rows import PAST_ROWS
from .schema import (
    EVENT_FROM,
    EVENT_NAMES,
    EVENT_ROW,
    HEADS,
    IS_OPEN,
    KEYS,
    NOT_FOLDED,
    ORIGINS,
    STATE,
    escape_like,
    insert,
)
from .tx import Row, Tx

PAGE = 1000
# In the order of their foreign keys: referenced rows last.
_TASK_TABLES = ("labels", "files", "links", "claims", "keys", "records", "steps", "extras", "events", "heads")


def events_by_origin(tx: Tx, column: str, value: str) -> list[Row]:
    """The events of a principal, an agent, a channel, or a session with its helpers."""
    if column not in ORIGINS:
        raise ValueError(column)
    if column == "session":  # a helper's session has the name of the main one as its prefix
        where = "(o.session = :value OR o.session LIKE :helpers ESCAPE '!')"
        return _events(tx, where, value=value, helpers=f"{escape_like(value)}/%")
    return _events(tx, f"o.{column} = :value", value=value)


def events_by_correlation(tx: Tx, value: str) -> list[Row]:
    """The events with a correlation id."""
    # The second condition is that of the index.
    return _events(tx, "e.correlation_id = :value AND e.correlation_id <> ''", value=value)


def authors_of(tx: Tx, task_id: str) -> set[str]:
    """The channels that the events of a task came through."""
    sql = (
        "SELECT DISTINCT o.channel FROM origins o JOIN events e ON e.origin_id = o.id"
        " WHERE e.task_id = :task_id"
    )
    return {row["channel"] for row in tx.rows(("channel",), sql, task_id=task_id)}


def events_of_task(tx: Tx, task_id: str) -> list[Row]:
    """All events of a task."""
    return _events(tx, "e.task_id = :value", value=task_id)


def events_containing(tx: Tx, text: str) -> list[Row]:
    """The events that may contain a text anywhere; the caller checks each one exactly."""
    plain = escape_like(text)
    inner = escape_like(json.dumps(text, ensure_ascii=False)[1:-1])
    return _events(
        tx,
        "(e.text LIKE :plain ESCAPE '!' OR e.data LIKE :inner ESCAPE '!' OR e.sets LIKE :deep ESCAPE '!')",
        plain=f"%{plain}%",
        inner=f"%{inner}%",
        # `sets` may hold JSON within JSON, where everything is escaped twice.
        deep=f"%{'%'.join(part for part in inner.split(chr(92)) if part) or inner}%",
    )


def tasks_with_tag(tx: Tx, tag: str) -> list[str]:
    """The tasks with a tag."""
    sql = "SELECT task_id FROM labels WHERE kind = 'tag' AND value = :tag AND seq = 0 ORDER BY task_id"
    return tx.column(sql, tag=tag)


def promoted_from(tx: Tx, task_id: str) -> list[Row]:
    """The events that created goals from a task."""
    return _events(tx, "e.data LIKE :named", named=f'%"promoted_from":"{task_id}"%')


def copied_from(tx: Tx, task_id: str) -> list[Row]:
    """The events of other tasks that copy some of a task, as splitting, merging and folding drafts do."""
    return _events(
        tx, "e.task_id <> :task_id AND e.data LIKE :named", task_id=task_id, named=f'%"from":"{task_id}%'
    )


def _events(tx: Tx, where: str, **params: Any) -> list[Row]:
    """Events that match a condition, by task."""
    return tx.rows(EVENT_NAMES, f"{EVENT_ROW}{EVENT_FROM} WHERE {where} ORDER BY e.task_id, e.seq", **params)


def iterate_events(tx: Tx, task_id: str) -> Iterator[Row]:
    """All events of a task, read in pages."""
    after = 0
    while rows := tx.events(task_id, after, PAGE):
        yield from rows
        after = rows[-1]["seq"]


# --- events and their state -----------------------------------------------------------------------


def write_tombstones(tx: Tx, task_id: str, tombstones: Mapping[int, Row]) -> None:
    """Replace events with tombstones and remove them from every index."""
    ids = _ids(tx, task_id, tombstones)
    tx.database.run_many(
        "UPDATE events SET text = :text, data = :data, sets = :sets, forgotten = :forgotten"
        " WHERE task_id = :task_id AND seq = :seq",
        [{**cells, "task_id": task_id, "seq": seq} for seq, cells in tombstones.items()],
    )
    _unindex(tx, ids)


def _ids(tx: Tx, task_id: str, seqs: Mapping[int, Any] | None = None) -> list[int]:
    rows = tx.database.query("SELECT id, seq FROM events WHERE task_id = :task_id", {"task_id": task_id})
    return [row[0] for row in rows if seqs is None or row[1] in seqs]


def _unindex(tx: Tx, ids: Sequence[int]) -> None:
    rows = [{"id": event_id} for event_id in ids]
    if rows:
        tx.database.run_many(f"DELETE FROM words WHERE {tx.database.word_id} = :id", rows)
        tx.database.run_many("DELETE FROM vectors WHERE id = :id", rows)


def replace_past(tx: Tx, folder: Tx, task_id: str) -> None:
    """Replace the earlier rows of a task's state with those that `folder` has folded."""
    tx.database.run("DELETE FROM past_rows WHERE task_id = :task_id", {"task_id": task_id})
    sql = f"SELECT {', '.join(PAST_ROWS)} FROM past_rows WHERE task_id = :task_id"
    if rows := folder.rows(PAST_ROWS, sql, task_id=task_id):
        tx.database.run_many(insert("past_rows", PAST_ROWS), rows)


def replace_state(tx: Tx, folder: Tx, task_id: str) -> None:
    """Replace a task's state, and its earlier rows, with what `folder` has folded from the tombstones.

    The head is updated, not replaced, because other rows refer to it. Leases and `position` are kept: no
    event sets them, so `folder` does not have them. All other tables are deleted and copied whole, so that a
    column added later cannot be missed here and keep forgotten text.
    """
    leases = {row["item_id"]: row["expires_at"] for row in tx.claims(task_id)}
    for table, (columns, _) in STATE.items():
        if table == "heads":
            continue
        tx.database.run(f"DELETE FROM {table} WHERE task_id = :task_id", {"task_id": task_id})
        names = KEYS if table == "keys" else columns
        rows = folder.rows(
            names, f"SELECT {', '.join(names)} FROM {table} WHERE task_id = :task_id", task_id=task_id
        )
        if table == "claims":
            for row in rows:
                row["expires_at"] = leases.get(row["item_id"], row["expires_at"])
        if rows:
            tx.database.run_many(insert(table, names), rows)
    replace_past(tx, folder, task_id)
    head = folder.head(task_id) or {}
    kept = [name for name in HEADS if name != "task_id" and name not in NOT_FOLDED["heads"]]
    tx.database.run(
        f"UPDATE heads SET {', '.join(f'{name} = :{name}' for name in kept)} WHERE task_id = :task_id",
        {name: head.get(name) for name in ("task_id", *kept)},
    )


def reset_distilled(tx: Tx, task_id: str) -> None:
    """Delete the distilled state of a task, so that it is rebuilt.

    The mark of an extraction stays: its entries are in the ledger and would be written twice.
    """
    for sql in (
        "DELETE FROM distilled WHERE task_id = :task_id AND kind NOT IN ('extraction', 'checks')",
        "UPDATE distilled SET state = '{}' WHERE task_id = :task_id AND kind = 'extraction'",
    ):
        tx.database.run(sql, {"task_id": task_id})


def jobs_of(tx: Tx, task_id: str) -> list[Row]:
    """The jobs about a task."""
    sql = "SELECT id, key, data, error FROM jobs WHERE task_id = :task_id"
    return tx.rows(("id", "key", "data", "error"), sql, task_id=task_id)


def delete_jobs(tx: Tx, ids: Sequence[int]) -> None:
    """Delete jobs; late workers get `stale_token`."""
    if ids:
        tx.database.run_many("DELETE FROM jobs WHERE id = :id", [{"id": job_id} for job_id in ids])


def patterns_of(tx: Tx, task_id: str) -> list[Row]:
    """The learned patterns whose last example is from a task."""
    rows = tx.rows(
        ("type", "key", "repository", "data"),
        "SELECT pattern_type, pattern_key, repository, data FROM learned_patterns WHERE data LIKE :named",
        named=f'%"task_id":"{task_id}"%',
    )
    return [row for row in rows if json.loads(row["data"]).get("task_id") == task_id]


def delete_patterns(tx: Tx, rows: Sequence[Row]) -> None:
    """Delete learned patterns."""
    if rows:
        tx.database.run_many(
            "DELETE FROM learned_patterns WHERE pattern_type = :type AND pattern_key = :key"
            " AND repository = :repository",
            [{name: row[name] for name in ("type", "key", "repository")} for row in rows],
        )


# --- whole tasks ------------------------------------------------------------------------------------


def purgeable(
    tx: Tx,
    statuses: Sequence[str],
    kinds: Sequence[str],
    before: str,
    workspace: str | None,
    archived: bool,
    limit: int,
) -> list[Row]:
    """Ended tasks that did not change since a time and have no open dependents, the oldest first."""
    in_statuses, status_params = placeholders("status", statuses)
    in_kinds, kind_params = placeholders("kind", kinds)
    where = " AND h.workspace_path = :workspace" if workspace is not None else ""
    where += " AND h.archived_at IS NOT NULL" if archived else ""
    return tx.rows(
        HEADS,
        f"SELECT {', '.join(f'h.{name}' for name in HEADS)} FROM heads h"
        f" WHERE h.status IN ({in_statuses}) AND h.kind IN ({in_kinds})"
        f" AND h.updated_at < :before{where} AND NOT EXISTS ({_OPEN_DEPENDENTS})"
        " ORDER BY h.updated_at, h.task_id LIMIT :limit",
        **status_params,
        **kind_params,
        before=before,
        workspace=workspace,
        limit=limit,
    )


_OPEN_DEPENDENTS = (
    f"SELECT 1 FROM heads c WHERE c.parent_id = h.task_id AND c.{IS_OPEN}"
    " UNION ALL SELECT 1 FROM links g JOIN heads c ON c.task_id = g.task_id WHERE g.target = h.task_id"
    f" AND g.kind IN ('goal', 'parent') AND g.status = 'active' AND c.{IS_OPEN}"
)


def has_open_dependents(tx: Tx, task_id: str) -> bool:
    """Whether an open task has this one as its parent or goal."""
    dependents = _OPEN_DEPENDENTS.replace("h.task_id", ":task_id")
    return bool(tx.cell(f"SELECT 1 FROM ({dependents}) x LIMIT 1", task_id=task_id))


def delete_task(tx: Tx, task_id: str) -> None:
    """Delete a task and everything derived from it. The cost of its model calls stays in the totals."""
    _unindex(tx, _ids(tx, task_id))
    delete_patterns(tx, patterns_of(tx, task_id))
    delete_jobs(tx, [row["id"] for row in jobs_of(tx, task_id)])
    for table in ("distilled", "past_rows", *_TASK_TABLES):
        tx.database.run(f"DELETE FROM {table} WHERE task_id = :task_id", {"task_id": task_id})


def purge_logs(tx: Tx) -> list[str]:
    """The tasks that list purged tasks: our own first, then imported ones."""
    return tx.column(
        "SELECT task_id FROM heads WHERE kind = 'log' AND status = 'completed' ORDER BY created_at, task_id"
    )


def is_purged(tx: Tx, task_id: str) -> bool:
    """Whether a task was purged from this store."""
    return any(tx.record_with_key(log, "purged", task_id) for log in purge_logs(tx))
