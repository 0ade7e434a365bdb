"""The SQL of facts and of the list of active tasks; portable as in store/tx.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.rules import OPEN, TASK_STATUSES
from ..store.queries.heads import VERIFIED_STEPS
from ..store.queries.task_rows import SELECT_LINKS, TaskRows
from ..store.schema import ACTIVITY, HEADS, LINKS
from ..store.tx import Row, Tx

_ACTIVE_HEADS = (
    "task_id name status phase reason session_id created_at updated_at last_seq name_seq next_step done"
).split()
# Looked up row by row: without table statistics, a join may scan whole tables.
_NEXT = (
    "coalesce({1}, (SELECT s.{0} FROM steps s WHERE s.task_id = h.task_id AND s.item_id = h.current_item),"
    " (SELECT s.{0} FROM steps s WHERE s.task_id = h.task_id AND s.item_id = h.next_item))"
)
_OWN_NEXT = "CASE WHEN h.next_step IS NOT NULL THEN h.next_seq END"
_OPEN = ", ".join(f"'{status}'" for status in (*OPEN, "failed"))
_CHANNEL_OF = (
    "(SELECT o.channel FROM events e JOIN origins o ON o.id = e.origin_id"
    " WHERE e.task_id = {0} AND e.seq = {1})"
)
# Whether there was activity on a task after a fact was written; 1 or NULL.
_WORKED = (
    "(SELECT 1 FROM events e JOIN origins o ON o.id = e.origin_id WHERE e.task_id = r.task_id"
    f" AND e.seq > r.seq AND {ACTIVITY} ORDER BY e.seq LIMIT 1)"
)


class FactQueries:
    """Queries for facts and active tasks in one transaction."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._database = tx.database

    def labelled(self, kind: str, value: str, workspace: str | None, lock: bool = False) -> list[Row]:
        """The tasks of a workspace with a label, open ones first, then the most recently changed.

        With `lock`, another transaction that requests the same label waits, so that no label is used twice.
        """
        if lock:
            self._database.lock(f"{kind}\n{workspace or ''}\n{value}")
        return self._tx.rows(
            HEADS,
            f"SELECT {', '.join(f'h.{name}' for name in HEADS)} FROM labels l JOIN heads h"
            " ON h.task_id = l.task_id WHERE l.kind = :kind AND l.value = :value AND l.seq = 0"
            " AND coalesce(h.workspace_path, '') = :workspace"
            " ORDER BY CASE WHEN h.root_id <> h.task_id THEN 2"
            " WHEN h.status IN ('active', 'waiting', 'paused') THEN 0 ELSE 1 END, h.position DESC",
            kind=kind,
            value=value,
            workspace=workspace or "",
        )

    def own_labels(self, task_ids: Sequence[str]) -> dict[str, str]:
        """The labels of tasks, by task id."""
        places = {f"id{number}": name for number, name in enumerate(task_ids)}
        if not places:
            return {}
        rows = self._database.query(
            "SELECT task_id, value FROM labels WHERE kind = 'label' AND seq = 0"
            f" AND task_id IN ({', '.join(f':{name}' for name in places)}) ORDER BY value DESC",
            places,
        )
        return {row[0]: row[1] for row in rows}

    def active_rows(
        self,
        workspace: str | None,
        statuses: Sequence[str],
        keys: Sequence[str],
        limit: int,
        only: str | None = None,
    ) -> tuple[TaskRows, int]:
        """The tasks of a workspace with their labels, goals and selected facts, read in one batch; and the
        position of the newest change in the workspace. `only` limits the result to one task.

        Each task has the text and channel of its next step: `next` if it was set, otherwise the current step
        of the plan, otherwise the next one.
        """
        here = "workspace_path = :workspace" if workspace else "workspace_path IS NULL"
        own = f"{here} AND kind = 'task' AND root_id = task_id AND archived_at IS NULL"
        if only is not None:
            own = "task_id = :only"
        branches = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {', '.join(HEADS)} FROM heads WHERE {own} AND status = :status{number}"
            f" ORDER BY position DESC LIMIT :limit) b{number}"
            for number in range(len(statuses))
        )
        selected = f"({branches}) h"
        wanted = ", ".join(f":key{number}" for number in range(len(keys)))
        newest = " UNION ALL ".join(
            f"SELECT max(position) AS p FROM heads WHERE {here} AND status = :any{number}"
            for number in range(len(TASK_STATUSES))
        )
        queries = {
            "heads": (
                f"SELECT {', '.join(f't.{name}' for name in _ACTIVE_HEADS)}, t.next,"
                f" {_CHANNEL_OF.format('t.task_id', 't.name_seq')},"
                f" {_CHANNEL_OF.format('t.task_id', 't.next_from')},"
                " (SELECT min(l.value) FROM labels l WHERE l.task_id = t.task_id AND l.kind = 'label'"
                " AND l.seq = 0),"
                " (SELECT g.target FROM links g WHERE g.task_id = t.task_id AND g.kind = 'goal'"
                " AND g.status = 'active' ORDER BY g.seq DESC LIMIT 1),"
                f" CASE WHEN t.status IN ({_OPEN}) THEN {VERIFIED_STEPS.replace('h.', 't.')} END"
                f" FROM (SELECT h.*, {_NEXT.format('title', 'h.next_step')} AS next,"
                f" {_NEXT.format('title_seq', _OWN_NEXT)} AS next_from"
                f" FROM {selected}) t"
            ),
            # By task, not by the index of keys: a task has few variables, and many tasks share a key.
            "facts": (
                "SELECT r.task_id, r.key, r.seq,"
                " (SELECT e.data FROM events e WHERE e.task_id = r.task_id AND e.seq = r.seq),"
                f" {_CHANNEL_OF.format('r.task_id', 'r.seq')}, {_WORKED} FROM records r WHERE r.task_id "
                + self._database.one_of.format(f"SELECT task_id FROM {selected}")
                + " AND r.type IN ('fact', 'variable') AND r.status = 'active'"
                f" AND coalesce(r.key, '') IN ({wanted}) ORDER BY r.seq"
            ),
            "effects": (
                "SELECT r.task_id,"
                " (SELECT e.text FROM events e WHERE e.task_id = r.task_id AND e.seq = r.seq),"
                " (SELECT e.data FROM events e WHERE e.task_id = r.task_id AND e.seq = r.seq),"
                f" {_CHANNEL_OF.format('r.task_id', 'r.seq')} FROM records r WHERE r.task_id "
                + self._database.one_of.format(f"SELECT task_id FROM {selected}")
                + " AND r.type = 'effect' AND r.status IN ('intended', 'unknown') ORDER BY r.seq"
            ),
            "position": f"SELECT max(p) FROM ({newest}) m",
        }
        names = {
            "heads": [*_ACTIVE_HEADS, "next", "name_channel", "next_channel", "label", "goal", "verified"],
            "facts": ["task_id", "key", "seq", "data", "channel", "worked"],
            "effects": ["task_id", "what", "data", "channel"],
        }
        params: dict[str, Any] = {"workspace": workspace, "limit": limit, "only": only}
        params |= {f"status{number}": status for number, status in enumerate(statuses)}
        params |= {f"any{number}": status for number, status in enumerate(TASK_STATUSES)}
        params |= {f"key{number}": key for number, key in enumerate(keys)}
        results = dict(
            zip(queries, self._database.query_all([(sql, params) for sql in queries.values()]), strict=True)
        )
        position = results.pop("position")[0][0] or 0
        return {
            name: [dict(zip(names[name], row, strict=True)) for row in rows] for name, rows in results.items()
        }, position

    def facts(
        self,
        statuses: Sequence[str],
        limit: int,
        task_ids: Sequence[str] | None = None,
        workspace: str | None = None,
    ) -> list[Row]:
        """Facts with their events, newest first: of these tasks, or of a whole workspace."""
        params: dict[str, Any] = {"workspace": workspace, "limit": limit}
        params |= {f"status{number}": status for number, status in enumerate(statuses)}
        if task_ids is None:
            here = "h.workspace_path = :workspace" if workspace else "h.workspace_path IS NULL"
            where = f"{here} AND h.kind = 'task' AND h.root_id = h.task_id AND h.archived_at IS NULL"
        else:
            params |= {f"id{number}": name for number, name in enumerate(task_ids)}
            where = f"h.task_id IN ({', '.join(f':id{number}' for number in range(len(task_ids)))})"
        names = ["task_id", "kind", "type", "status", "key", "seq", "timestamp", "text", "data", "channel"]
        return self._tx.rows(
            names,
            "SELECT h.task_id, h.kind, r.type, r.status, r.key, r.seq, e.timestamp, e.text, e.data, o.channel"
            " FROM heads h JOIN records r ON r.task_id = h.task_id"
            " AND r.type IN ('fact', 'variable', 'discovery')"
            f" AND r.status IN ({', '.join(f':status{number}' for number in range(len(statuses)))})"
            " JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq AND e.forgotten IS NULL"
            " JOIN origins o ON o.id = e.origin_id"
            f" WHERE {where} ORDER BY e.id DESC LIMIT :limit",
            **params,
        )

    def tagged(self, tag: str) -> set[tuple[str, int]]:
        """The events that have a tag, as task and seq."""
        rows = self._database.query(
            "SELECT task_id, seq FROM labels WHERE kind = 'tag' AND value = :tag AND seq > 0", {"tag": tag}
        )
        return {(row[0], row[1]) for row in rows}

    def links(self, task_id: str) -> list[Row]:
        """The active links of a task."""
        return self._tx.rows(LINKS, SELECT_LINKS, task_id=task_id)
