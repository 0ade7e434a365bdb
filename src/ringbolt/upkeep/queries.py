"""The SQL of upkeep: the tasks that each rule applies to, in pages; portable as in store/tx.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.rules import SESSION_ENDED
from ..store.database import placeholders
from ..store.schema import ACTIVITY, HEADS, quoted
from ..store.tx import Row, Tx

# A real task: not a goal, not a conflicting copy from an import, not archived.
_OWN = "h.kind = 'task' AND h.root_id = h.task_id AND h.archived_at IS NULL"
_COLUMNS = (
    "task_id name status reason attention last_seq position done actions session_id parent_id workspace_path"
    " created_at updated_at completed_at"
).split()
_ENDING = (
    "e.event_type = 'message' AND o.channel = 'tool'"
    f" AND substr(e.text, 1, {len(SESSION_ENDED)}) = '{SESSION_ENDED}'"
)
_EVENTS = "FROM events e JOIN origins o ON o.id = e.origin_id WHERE e.task_id = h.task_id"
# The position of the last activity on a task.
_PLACE = f"(SELECT e.id {_EVENTS} AND {ACTIVITY} ORDER BY e.seq DESC LIMIT 1)"
# Whether that activity was the end of the session; 1 or 0.
_OVER = f"(SELECT CASE WHEN {_ENDING} THEN 1 ELSE 0 END {_EVENTS} AND {ACTIVITY} ORDER BY e.seq DESC LIMIT 1)"
# Whether anything was done on a task since it was registered; 1 or NULL.
_TOUCHED = (
    f"(SELECT 1 {_EVENTS} AND e.seq > 1 AND {ACTIVITY} AND NOT ({_ENDING}) AND e.event_type NOT IN"
    " ('task.focused', 'task.linked', 'claim.taken', 'claim.released') LIMIT 1)"
)
_ALERTED = "(SELECT max(e.{0}) FROM events e WHERE e.task_id = h.task_id AND e.event_type = 'task.stuck')"
_KEPT_AT = (
    "(SELECT max(e.timestamp) FROM events e WHERE e.task_id = h.task_id AND e.event_type = 'task.upkeep')"
)
_WAITING = (
    "EXISTS (SELECT 1 FROM records r WHERE r.task_id = h.task_id AND r.type = 'wait'"
    " AND r.status = 'watching')"
)
# A held claim counts as work, although heartbeats write no events.
_CLAIMED = (
    "EXISTS (SELECT 1 FROM claims c WHERE c.task_id = h.task_id AND c.status = 'held'"
    " AND c.expires_at > :held)"
)
# A task whose sub-tasks change is not idle.
_BELOW = (
    "EXISTS (WITH RECURSIVE below(id) AS (SELECT b.task_id FROM heads b WHERE b.parent_id = h.task_id"
    " UNION SELECT b.task_id FROM heads b JOIN below ON b.parent_id = below.id)"
    " SELECT 1 FROM below JOIN heads b ON b.task_id = below.id"
    " WHERE b.updated_at > :lately OR b.status = 'waiting')"
)
_LIVE = f"({_WAITING} OR {_CLAIMED} OR {_BELOW})"
_LABEL = "(SELECT min(l.value) FROM labels l WHERE l.task_id = h.task_id AND l.kind = 'label' AND l.seq = 0)"


# The parameters `page` of these queries are status, after, until, workspace and limit, see `_page`.


def ended(tx: Tx, **page: Any) -> list[Row]:
    """Tasks of a status with no activity since `cutoff`, and when upkeep last changed them."""
    return _page(tx, "h.updated_at <= :cutoff", {"place": _PLACE, "kept_at": _KEPT_AT}, **page)


def idle(tx: Tx, **page: Any) -> list[Row]:
    """Idle tasks of a status, and when they were last reported as stuck."""
    alerts = {"alerted": _ALERTED.format("id"), "alerted_at": _ALERTED.format("timestamp")}
    return _idle(tx, "h.updated_at <= :cutoff", alerts, **page)


def orphans(tx: Tx, **page: Any) -> list[Row]:
    """Idle tasks of a session: whether the session ended (`over`), and whether there was work (`touched`)."""
    where = "h.updated_at <= :cutoff AND h.session_id IS NOT NULL"
    return _idle(tx, where, {"over": _OVER, "touched": _TOUCHED}, **page)


def _idle(tx: Tx, where: str, more: dict[str, str], reason: str | None, **page: Any) -> list[Row]:
    """Tasks with no activity since `cutoff` that nothing keeps alive: no wait, no claim that lasts beyond
    `held`, no sub-task with activity after `lately`."""
    where += f" AND NOT {_LIVE}" + ("" if reason is None else " AND h.reason = :reason")
    return _page(tx, where, {"place": _PLACE, **more}, reason=reason, **page)


def _page(
    tx: Tx, where: str, more: dict[str, str], *, workspace: str | None, **params: str | int | None
) -> list[Row]:
    """At most `limit` tasks of a `status`, in the order of their positions after `after` up to `until`."""
    chosen = ", ".join(f"h.{name}" for name in _COLUMNS)
    extra = "".join(f", {sql} AS {name}" for name, sql in more.items())
    return tx.rows(
        [*_COLUMNS, *more],
        f"SELECT {chosen}{extra} FROM heads h WHERE h.status = :status AND h.position > :after"
        f" AND h.position <= :until AND {_OWN}{_in(workspace)} AND {where} ORDER BY h.position LIMIT :limit",
        workspace=workspace,
        **params,
    )


def _in(workspace: str | None) -> str:
    return "" if workspace is None else " AND h.workspace_path = :workspace"


def first_kept(tx: Tx, statuses: Sequence[str], after: Mapping[str, int], until: int) -> dict[str, int]:
    """The position just before the first task of each status that is not archived, searched from `after`.

    Every event moves a task to a later position, so archived tasks that were passed once stay behind.
    """
    sql = (
        f"SELECT h.position - 1 FROM heads h WHERE h.status = :status AND h.position > :after AND {_OWN}"
        " ORDER BY h.position LIMIT 1"
    )
    firsts = {status: tx.cell(sql, status=status, after=after.get(status, 0)) for status in statuses}
    return {status: until if place is None else place for status, place in firsts.items()}


def sessions_seen(tx: Tx, sessions: Sequence[str]) -> dict[str, str]:
    """When each session was last active on any of its tasks."""
    places, params = placeholders("name", sessions)
    sql = f"SELECT session_id, max(updated_at) FROM heads WHERE session_id IN ({places}) GROUP BY session_id"
    return dict(tx.database.query(sql, params)) if params else {}


def working_sessions(tx: Tx, task_ids: Sequence[str]) -> dict[str, str]:
    """The sessions that tasks name as working on them: the JSON of those facts, by task."""
    places, params = placeholders("id", task_ids)
    rows = tx.database.query(
        "SELECT r.task_id, e.data FROM records r JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq"
        f" WHERE r.task_id IN ({places}) AND r.type IN ('variable', 'fact') AND r.key = 'related_session'"
        " AND r.status = 'active' ORDER BY r.seq",
        params,
    )
    return dict(rows)


def overdue(tx: Tx, before: str, after: tuple[str, str], workspace: str | None, limit: int) -> list[Row]:
    """Claims that expired before a time, in the order of their keys."""
    return tx.rows(
        ("task_id", "item_id", "holder", "token", "expires_at", "name", "status", "last_seq"),
        "SELECT c.task_id, c.item_id, c.holder, c.token, c.expires_at, h.name, h.status, h.last_seq"
        " FROM claims c JOIN heads h ON h.task_id = c.task_id WHERE c.status = 'held'"
        " AND c.expires_at <= :before"
        " AND (c.task_id > :task OR (c.task_id = :task AND c.item_id > :item))"
        f"{_in(workspace)} ORDER BY c.task_id, c.item_id LIMIT :limit",
        before=before, task=after[0], item=after[1], workspace=workspace, limit=limit,
    )  # fmt: skip


def named(
    tx: Tx, status: str, after: int, until: int, workspace: str | None, limit: int
) -> list[tuple[Any, ...]]:
    """Tasks of a status as (place, id, workspace, parent, name, label), in pages as above."""
    return tx.database.query(
        f"SELECT h.position, h.task_id, h.workspace_path, h.parent_id, h.name, {_LABEL}"
        f" FROM heads h WHERE h.status = :status AND h.position > :after AND h.position <= :until AND {_OWN}"
        f"{_in(workspace)} ORDER BY h.position LIMIT :limit",
        {"status": status, "after": after, "until": until, "workspace": workspace, "limit": limit},
    )


def alike(tx: Tx, task_ids: Sequence[str], lately: str, held: str) -> list[Row]:
    """Tasks with the columns that decide which duplicate is kept; `live` is 1 if something keeps it alive."""
    places, params = placeholders("id", task_ids)
    chosen = ", ".join(f"h.{name}" for name in _COLUMNS)
    return tx.rows(
        [*_COLUMNS, "place", "live", "label"],
        f"SELECT {chosen}, {_PLACE}, CASE WHEN {_LIVE} THEN 1 ELSE 0 END, {_LABEL} FROM heads h"
        f" WHERE h.task_id IN ({places}) AND {_OWN}",
        lately=lately, held=held, **params,
    )  # fmt: skip


def count(tx: Tx, statuses: Sequence[str], workspace: str | None) -> int:
    """The number of tasks with one of these statuses."""
    sql = f"SELECT count(*) FROM heads h WHERE h.status IN ({quoted(statuses)}) AND {_OWN}{_in(workspace)}"
    return tx.cell(sql, workspace=workspace)


def locked_heads(tx: Tx, task_ids: Sequence[str]) -> dict[str, Row]:
    """The rows of these tasks, locked until the transaction ends."""
    places, params = placeholders("id", sorted(task_ids))
    sql = f"SELECT {', '.join(HEADS)} FROM heads WHERE task_id IN ({places})"
    rows = tx.rows(HEADS, f"{sql} ORDER BY task_id{tx.database.lock_row}", **params)
    return {row["task_id"]: row for row in rows}
