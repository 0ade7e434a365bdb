"""What the upkeep asks a store: tasks by what they need, in pages, portable as in tx.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.rules import SESSION_ENDED
from ..store.schema import ACTIVITY, HEADS
from ..store.tx import Row, Tx

# A real task: no goal, no copy that an import set aside, nothing that was put away.
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
# The place of the last sign that someone works on a task.
_PLACE = f"(SELECT e.id {_EVENTS} AND {ACTIVITY} ORDER BY e.seq DESC LIMIT 1)"
# Whether that sign was the end of the session; 1 or 0.
_OVER = f"(SELECT CASE WHEN {_ENDING} THEN 1 ELSE 0 END {_EVENTS} AND {ACTIVITY} ORDER BY e.seq DESC LIMIT 1)"
# Whether anything was done on it since it was registered; 1 or nothing.
_TOUCHED = (
    f"(SELECT 1 {_EVENTS} AND e.seq > 1 AND {ACTIVITY} AND NOT ({_ENDING}) AND e.event_type NOT IN"
    " ('task.focused', 'task.linked', 'claim.taken', 'claim.released') LIMIT 1)"
)
_ALERTED = "(SELECT max(e.{0}) FROM events e WHERE e.task_id = h.task_id AND e.event_type = 'task.stuck')"
_KEPT = "SELECT max(e.id) FROM events e WHERE e.task_id = h.task_id AND e.event_type = 'task.upkeep'"
# Whether work was done on a task since the upkeep changed it: what a person says is none.
_GOES_ON = (
    f"EXISTS (SELECT 1 {_EVENTS} AND e.id > ({_KEPT}) AND {ACTIVITY} AND o.channel <> 'user'"
    f" AND e.event_type IN ('message', 'action', 'action.ended', 'item.updated', 'plan.replaced',"
    f" 'plan.appended') AND NOT ({_ENDING}))"
)
_KEPT_AT = (
    "(SELECT max(e.timestamp) FROM events e WHERE e.task_id = h.task_id AND e.event_type = 'task.upkeep')"
)
_WAITING = (
    "EXISTS (SELECT 1 FROM records r WHERE r.task_id = h.task_id AND r.type = 'wait'"
    " AND r.status = 'watching')"
)
# Whoever holds a claim works, though a heartbeat leaves no event.
_CLAIMED = (
    "EXISTS (SELECT 1 FROM claims c WHERE c.task_id = h.task_id AND c.status = 'held'"
    " AND c.expires_at > :held)"
)
# A task whose parts are worked on is not idle.
_BELOW = (
    "EXISTS (WITH RECURSIVE below(id) AS (SELECT b.task_id FROM heads b WHERE b.parent_id = h.task_id"
    " UNION SELECT b.task_id FROM heads b JOIN below ON b.parent_id = below.id)"
    " SELECT 1 FROM below JOIN heads b ON b.task_id = below.id"
    " WHERE b.updated_at > :lately OR b.status = 'waiting')"
)
_LIVE = f"({_WAITING} OR {_CLAIMED} OR {_BELOW})"


def ended(
    tx: Tx, status: str, cutoff: str, after: int, until: int, workspace: str | None, limit: int
) -> list[Row]:
    """Tasks of a status that were last worked on before a time, with when the upkeep last changed them."""
    where = "h.updated_at <= :cutoff"
    more = {"place": _PLACE, "kept_at": _KEPT_AT}
    return _page(tx, status, where, more, after, until, workspace, limit, cutoff=cutoff)


def idle(
    tx: Tx,
    status: str,
    cutoff: str,
    lately: str,
    held: str,
    after: int,
    until: int,
    workspace: str | None,
    limit: int,
    reason: str | None = None,
    *,
    where: str = "h.updated_at <= :cutoff",
    more: Mapping[str, str] | None = None,
) -> list[Row]:
    """Tasks of a status without activity since a time, that nothing keeps alive: no wait, no claim that
    holds after `held`, no part of theirs with activity after `lately`; with when they were last told of."""
    where += f" AND NOT {_LIVE}" + ("" if reason is None else " AND h.reason = :reason")
    alerts = {"alerted": _ALERTED.format("id"), "alerted_at": _ALERTED.format("timestamp")}
    return _page(
        tx, status, where, {"place": _PLACE, **(alerts if more is None else more)},
        after, until, workspace, limit, cutoff=cutoff, lately=lately, held=held, reason=reason,
    )  # fmt: skip


def going_on(
    tx: Tx, status: str, reason: str, after: int, until: int, workspace: str | None, limit: int
) -> list[Row]:
    """Tasks of a status that the upkeep gave them, for a reason, and that someone works on since."""
    where = f"h.reason = :reason AND {_GOES_ON}"
    return _page(tx, status, where, {}, after, until, workspace, limit, reason=reason)


def orphans(tx: Tx, status: str, **page: Any) -> list[Row]:
    """The same, of tasks that belong to a session: with whether it said that it ended, and whether anything
    was done on the task."""
    where = "h.updated_at <= :cutoff AND h.session_id IS NOT NULL"
    return idle(tx, status, where=where, more={"over": _OVER, "touched": _TOUCHED}, **page)


def _page(
    tx: Tx,
    status: str,
    where: str,
    more: dict[str, str],
    after: int,
    until: int,
    workspace: str | None,
    limit: int,
    **params: Any,
) -> list[Row]:
    """A page of tasks of a status, in the order of the index: the next one goes on after the last place."""
    here = "" if workspace is None else " AND h.workspace_path = :workspace"
    chosen = ", ".join(f"h.{name}" for name in _COLUMNS)
    extra = "".join(f", {sql} AS {name}" for name, sql in more.items())
    return tx.rows(
        [*_COLUMNS, *more],
        f"SELECT {chosen}{extra} FROM heads h WHERE h.status = :status AND h.position > :after"
        f" AND h.position <= :until AND {_OWN}{here} AND {where} ORDER BY h.position LIMIT :limit",
        status=status,
        after=after,
        until=until,
        workspace=workspace,
        limit=limit,
        **params,
    )


def first_kept(tx: Tx, statuses: Sequence[str], after: Mapping[str, int], until: int) -> dict[str, int]:
    """For each status the place after which its tasks that are not archived begin, looked for from one on.

    Whatever happens to a task moves it behind: who has passed the archived ones need not see them again.
    """
    found: dict[str, int] = {}
    for status in statuses:
        rows = tx.database.query(
            f"SELECT h.position FROM heads h WHERE h.status = :status AND h.position > :after AND {_OWN}"
            " ORDER BY h.position LIMIT 1",
            {"status": status, "after": after.get(status, 0)},
        )
        found[status] = rows[0][0] - 1 if rows else until
    return found


def sessions_seen(tx: Tx, sessions: Sequence[str]) -> dict[str, str]:
    """When some sessions were last at work on any task of theirs."""
    places = {f"name{number}": name for number, name in enumerate(sessions)}
    if not places:
        return {}
    rows = tx.database.query(
        "SELECT session_id, max(updated_at) FROM heads"
        f" WHERE session_id IN ({', '.join(f':{name}' for name in places)}) GROUP BY session_id",
        places,
    )
    return {row[0]: row[1] for row in rows}


def working_sessions(tx: Tx, task_ids: Sequence[str]) -> dict[str, str]:
    """The sessions that tasks say are working on them, as the JSON of the facts that say so."""
    places = {f"id{number}": name for number, name in enumerate(task_ids)}
    rows = tx.database.query(
        "SELECT r.task_id, e.data FROM records r JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq"
        f" WHERE r.task_id IN ({', '.join(f':{name}' for name in places)})"
        " AND r.type IN ('variable', 'fact') AND r.key = 'related_session' AND r.status = 'active'"
        " ORDER BY r.seq",
        places,
    )
    return {row[0]: row[1] for row in rows}


def overdue(tx: Tx, before: str, after: tuple[str, str], workspace: str | None, limit: int) -> list[Row]:
    """Claims whose lease ran out before a time, in the order of their keys."""
    here = "" if workspace is None else " AND h.workspace_path = :workspace"
    return tx.rows(
        ("task_id", "item_id", "holder", "token", "expires_at", "name", "status", "last_seq"),
        "SELECT c.task_id, c.item_id, c.holder, c.token, c.expires_at, h.name, h.status, h.last_seq"
        " FROM claims c JOIN heads h ON h.task_id = c.task_id WHERE c.status = 'held'"
        " AND c.expires_at <= :before"
        " AND (c.task_id > :task OR (c.task_id = :task AND c.item_id > :item))"
        f"{here} ORDER BY c.task_id, c.item_id LIMIT :limit",
        before=before,
        task=after[0],
        item=after[1],
        workspace=workspace,
        limit=limit,
    )


def named(
    tx: Tx, status: str, after: int, until: int, workspace: str | None, limit: int
) -> list[tuple[Any, ...]]:
    """Tasks of a status as (place, id, workspace, parent, name, label), in pages as above."""
    here = "" if workspace is None else " AND h.workspace_path = :workspace"
    return tx.database.query(
        "SELECT h.position, h.task_id, h.workspace_path, h.parent_id, h.name,"
        " (SELECT min(l.value) FROM labels l WHERE l.task_id = h.task_id AND l.kind = 'label' AND l.seq = 0)"
        f" FROM heads h WHERE h.status = :status AND h.position > :after AND h.position <= :until AND {_OWN}"
        f"{here} ORDER BY h.position LIMIT :limit",
        {"status": status, "after": after, "until": until, "workspace": workspace, "limit": limit},
    )


def alike(tx: Tx, task_ids: Sequence[str], lately: str, held: str) -> list[Row]:
    """Some tasks with what decides which of them stays: `live` where something keeps them alive."""
    places = {f"id{number}": name for number, name in enumerate(task_ids)}
    chosen = ", ".join(f"h.{name}" for name in _COLUMNS)
    return tx.rows(
        [*_COLUMNS, "place", "live", "label"],
        f"SELECT {chosen}, {_PLACE}, CASE WHEN {_LIVE} THEN 1 ELSE 0 END,"
        " (SELECT min(l.value) FROM labels l WHERE l.task_id = h.task_id AND l.kind = 'label' AND l.seq = 0)"
        f" FROM heads h WHERE h.task_id IN ({', '.join(f':{name}' for name in places)}) AND {_OWN}",
        lately=lately,
        held=held,
        **places,
    )


def count(tx: Tx, statuses: Sequence[str], workspace: str | None) -> int:
    """How many tasks have one of some statuses."""
    here = "" if workspace is None else " AND h.workspace_path = :workspace"
    places = {f"status{number}": status for number, status in enumerate(statuses)}
    return tx.database.query(
        f"SELECT count(*) FROM heads h WHERE h.status IN ({', '.join(f':{name}' for name in places)})"
        f" AND {_OWN}{here}",
        {**places, "workspace": workspace},
    )[0][0]


def locked_heads(tx: Tx, task_ids: Sequence[str]) -> dict[str, Row]:
    """The rows of some tasks, kept for us until the transaction ends."""
    places = {f"id{number}": name for number, name in enumerate(sorted(task_ids))}
    rows = tx.rows(
        HEADS,
        f"SELECT {', '.join(HEADS)} FROM heads WHERE task_id IN ({', '.join(f':{name}' for name in places)})"
        f" ORDER BY task_id{tx.database.lock_row}",
        **places,
    )
    return {row["task_id"]: row for row in rows}
