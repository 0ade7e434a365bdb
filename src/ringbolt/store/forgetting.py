"""The queries of forgetting and purging, portable as in tx.py: only they take away from the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .schema import EVENT_FROM, EVENT_NAMES, EVENT_ROW, HEADS, KEYS, NOT_FOLDED, STATE
from .tx import Row, Tx

PAGE = 1000
ORIGINS = ("principal", "agent", "channel", "session")
# In this order: what others refer to comes last.
_OF_A_TASK = ("labels", "files", "links", "claims", "keys", "records", "steps", "extras", "events", "heads")


def by_origin(tx: Tx, column: str, value: str) -> list[Row]:
    """The events of one who wrote: a principal, an agent, a channel, or a session with its helpers."""
    if column not in ORIGINS:
        raise ValueError(column)
    if column == "session":  # a helper's session is named after the one that it works for
        escaped = _escaped(value)
        return _events(
            tx,
            "(o.session = :value OR o.session LIKE :helpers ESCAPE '!')",
            value=value,
            helpers=f"{escaped}/%",
        )
    return _events(tx, f"o.{column} = :value", value=value)


def by_correlation(tx: Tx, value: str) -> list[Row]:
    """The events of a correlation."""
    return _events(tx, "e.correlation_id = :value", value=value)


def of_task(tx: Tx, task_id: str) -> list[Row]:
    """All events of a task."""
    return _events(tx, "e.task_id = :value", value=task_id)


def holding(tx: Tx, text: str) -> list[Row]:
    """The events that may have a text in their words, data or what they set: the caller looks closer."""
    plain = _escaped(text)
    inner = _escaped(json.dumps(text, ensure_ascii=False)[1:-1])
    return _events(
        tx,
        "(e.text LIKE :plain ESCAPE '!' OR e.data LIKE :inner ESCAPE '!' OR e.sets LIKE :deep ESCAPE '!')",
        plain=f"%{plain}%",
        inner=f"%{inner}%",
        # What is set may hold JSON within JSON, in which everything is escaped twice.
        deep=f"%{'%'.join(part for part in inner.split(chr(92)) if part) or inner}%",
    )


def _escaped(text: str) -> str:
    """A text as it is written in a pattern whose escape is `!`."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def tagged(tx: Tx, tag: str) -> list[str]:
    """The tasks with a tag."""
    rows = tx.database.query(
        "SELECT task_id FROM labels WHERE kind = 'tag' AND value = :tag AND seq = 0 ORDER BY task_id",
        {"tag": tag},
    )
    return [row[0] for row in rows]


def promoted_from(tx: Tx, task_id: str) -> list[Row]:
    """The events of goals that were made from a task."""
    return _events(tx, "e.data LIKE :named", named=f'%"promoted_from":"{task_id}"%')


def _events(tx: Tx, where: str, **params: Any) -> list[Row]:
    """Some events, in the order of their tasks."""
    return tx.rows(
        EVENT_NAMES,
        f"{EVENT_ROW}{EVENT_FROM} WHERE {where} ORDER BY e.task_id, e.seq",
        **params,
    )


def whole_task(tx: Tx, task_id: str) -> Iterator[Row]:
    """All events of a task, in pages."""
    after = 0
    while rows := tx.events(task_id, after, PAGE):
        yield from rows
        after = rows[-1]["seq"]


# --- events and what follows from them --------------------------------------------------------------


def bury(tx: Tx, task_id: str, stones: Mapping[int, Row]) -> None:
    """Put tombstones in the place of events, and take them out of every index."""
    ids = _ids(tx, task_id, stones)
    tx.database.run_many(
        "UPDATE events SET text = :text, data = :data, sets = :sets, forgotten = :forgotten"
        " WHERE task_id = :task_id AND seq = :seq",
        [{**cells, "task_id": task_id, "seq": seq} for seq, cells in stones.items()],
    )
    _unindex(tx, ids)


def _ids(tx: Tx, task_id: str, seqs: Mapping[int, Any] | None = None) -> list[int]:
    rows = tx.database.query("SELECT id, seq FROM events WHERE task_id = :task_id", {"task_id": task_id})
    return [row[0] for row in rows if seqs is None or row[1] in seqs]


def _unindex(tx: Tx, ids: Sequence[int]) -> None:
    rows = [{"id": one} for one in ids]
    if rows:
        tx.database.run_many(f"DELETE FROM words WHERE {tx.database.word_id} = :id", rows)
        tx.database.run_many("DELETE FROM vectors WHERE id = :id", rows)


def restate(tx: Tx, folder: Tx, task_id: str) -> None:
    """Put the state that was folded anew in the place of a task's; what no event sets stays as it is."""
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
            values = ", ".join(f":{name}" for name in names)
            tx.database.run_many(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})", rows)
    head = folder.head(task_id) or {}
    kept = [name for name in HEADS if name != "task_id" and name not in NOT_FOLDED["heads"]]
    tx.database.run(
        f"UPDATE heads SET {', '.join(f'{name} = :{name}' for name in kept)} WHERE task_id = :task_id",
        {name: head.get(name) for name in ("task_id", *kept)},
    )


def undistill(tx: Tx, task_id: str) -> None:
    """Throw away what was distilled of a task: it is made anew. Of an extraction the mark stays, for what it
    has written is in the ledger, and would come twice."""
    tx.database.run(
        "DELETE FROM distilled WHERE task_id = :task_id AND kind NOT IN ('extraction', 'checks')",
        {"task_id": task_id},
    )
    tx.database.run(
        "UPDATE distilled SET state = '{}' WHERE task_id = :task_id AND kind = 'extraction'",
        {"task_id": task_id},
    )


def jobs_of(tx: Tx, task_id: str) -> list[Row]:
    """The jobs about a task."""
    return tx.rows(
        ("id", "kind", "key", "data", "error"),
        "SELECT id, kind, key, data, error FROM jobs WHERE task_id = :task_id",
        task_id=task_id,
    )


def drop_jobs(tx: Tx, ids: Sequence[int]) -> None:
    """Jobs that are not wanted any more; whoever works on one is refused."""
    if ids:
        tx.database.run_many("DELETE FROM jobs WHERE id = :id", [{"id": one} for one in ids])


def patterns_of(tx: Tx, task_id: str) -> list[Row]:
    """What a task has taught last."""
    rows = tx.rows(
        ("type", "key", "data"),
        "SELECT pattern_type, pattern_key, data FROM learned_patterns WHERE data LIKE :named",
        named=f'%"task_id":"{task_id}"%',
    )
    return [row for row in rows if json.loads(row["data"]).get("task_id") == task_id]


def unlearn(tx: Tx, rows: Sequence[Row]) -> None:
    """Take patterns away."""
    if rows:
        tx.database.run_many(
            "DELETE FROM learned_patterns WHERE pattern_type = :type AND pattern_key = :key",
            [{"type": row["type"], "key": row["key"]} for row in rows],
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
    """Tasks that have ended, were not changed since, and on which no open task hangs; the oldest first."""
    params: dict[str, Any] = {"before": before, "workspace": workspace, "limit": limit}
    params |= {f"status{number}": one for number, one in enumerate(statuses)}
    params |= {f"kind{number}": one for number, one in enumerate(kinds)}
    where = " AND h.workspace_path = :workspace" if workspace is not None else ""
    where += " AND h.archived_at IS NOT NULL" if archived else ""
    return tx.rows(
        HEADS,
        f"SELECT {', '.join(f'h.{name}' for name in HEADS)} FROM heads h"
        f" WHERE h.status IN ({', '.join(f':status{number}' for number in range(len(statuses)))})"
        f" AND h.kind IN ({', '.join(f':kind{number}' for number in range(len(kinds)))})"
        f" AND h.updated_at < :before{where} AND NOT EXISTS ({_HANGING})"
        " ORDER BY h.updated_at, h.task_id LIMIT :limit",
        **params,
    )


_HANGING = (
    "SELECT 1 FROM heads c WHERE c.parent_id = h.task_id AND c.status IN ('active', 'waiting', 'paused')"
    " UNION ALL SELECT 1 FROM links g JOIN heads c ON c.task_id = g.task_id WHERE g.target = h.task_id"
    " AND g.kind IN ('goal', 'parent') AND g.status = 'active'"
    " AND c.status IN ('active', 'waiting', 'paused')"
)


def hangs(tx: Tx, task_id: str) -> bool:
    """Whether an open task hangs on a task: as its parent, or as its goal."""
    asked = _HANGING.replace("h.task_id", ":task_id")
    return bool(tx.database.query(f"SELECT 1 FROM ({asked}) x LIMIT 1", {"task_id": task_id}))


def event_count(tx: Tx, task_id: str) -> int:
    """How many events a task has."""
    found = tx.database.query("SELECT count(*) FROM events WHERE task_id = :task_id", {"task_id": task_id})
    return found[0][0]


def remove(tx: Tx, task_id: str) -> None:
    """Take a whole task away, with all that was derived from it. What models have cost stays in the sums."""
    _unindex(tx, _ids(tx, task_id))
    unlearn(tx, patterns_of(tx, task_id))
    drop_jobs(tx, [row["id"] for row in jobs_of(tx, task_id)])
    for table in ("distilled", *_OF_A_TASK):
        tx.database.run(f"DELETE FROM {table} WHERE task_id = :task_id", {"task_id": task_id})


def logs(tx: Tx) -> list[str]:
    """The tasks that say what was purged: our own first, then those that came from elsewhere."""
    rows = tx.database.query(
        "SELECT task_id FROM heads WHERE kind = 'log' AND status = 'completed' ORDER BY created_at, task_id",
        {},
    )
    return [row[0] for row in rows]


def is_purged(tx: Tx, task_id: str) -> bool:
    """Whether a task was here and was purged."""
    return any(tx.record_with_key(log, "purged", task_id) for log in logs(tx))
