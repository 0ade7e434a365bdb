"""The rows of tasks: by id or prefix, the current one of a session, and lists."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...model.rules import INFERRED
from ..database import Queries, Row
from ..schema import EXTRAS, HEADS, IS_OPEN

RECENT_HEADS = ("task_id", "last_seq", "last_hash", "position", "status", "workspace_path", "archived_at")
SELECT_HEAD = f"SELECT {', '.join(HEADS)} FROM heads WHERE task_id = :task_id"
SELECT_EXTRAS = f"SELECT {', '.join(EXTRAS)} FROM extras WHERE task_id = :task_id"
# For a task `h`: the number of completed steps that a receipt has verified, and of side effects with an
# unknown outcome.
VERIFIED_STEPS = (
    "CASE WHEN h.done > 0 THEN (SELECT count(*) FROM steps v WHERE v.task_id = h.task_id"
    " AND v.evidence = 'verified' AND v.status = 'completed' AND v.dropped_in IS NULL) ELSE 0 END"
)
UNKNOWN_EFFECTS = (
    "(SELECT count(*) FROM records u WHERE u.task_id = h.task_id AND u.type = 'effect'"
    " AND u.status IN ('intended', 'unknown'))"
)
# An open task: not a goal, not the other side of an import conflict, not archived.
_CURRENT = f"{IS_OPEN} AND kind = 'task' AND root_id = task_id AND archived_at IS NULL"
# A task whose completion was only inferred: the next message in its session may show that it is not.
_INFERRED_DONE = f"status = 'completed' AND reason = '{INFERRED}' AND archived_at IS NULL"


class Heads(Queries):
    """Reading rows of tasks."""

    def head(self, task_id: str, lock: bool = False) -> Row | None:
        """A task's row; with `lock`, no other transaction can append to the task until this one ends."""
        sql = SELECT_HEAD + self.database.lock_row if lock else SELECT_HEAD
        return self.row(HEADS, sql, task_id=task_id)

    def task_with_label(self, kind: str, value: str) -> str | None:
        """The task that has this label itself, not on one of its entries."""
        sql = "SELECT min(task_id) FROM labels WHERE kind = :kind AND value = :value AND seq = 0"
        return self.cell(sql, kind=kind, value=value)

    def heads_with_prefix(self, prefix: str, limit: int = 10) -> list[Row]:
        """The tasks whose id begins with a prefix."""
        return self.rows(
            ("task_id", "name", "status", "workspace_path"),
            "SELECT task_id, name, status, workspace_path FROM heads"
            " WHERE task_id >= :low AND task_id < :high ORDER BY task_id LIMIT :limit",
            low=prefix,
            high=prefix + "~",
            limit=limit,
        )

    def session_task(self, session_id: str, workspace: str | None) -> str | None:
        """The open task that a session focused last, otherwise the last one whose completion was inferred."""
        return self.cell(
            f"SELECT task_id FROM heads WHERE session_id = :session_id AND ({_CURRENT} OR {_INFERRED_DONE})"
            " AND (CAST(:workspace AS TEXT) IS NULL OR workspace_path = :workspace)"
            " ORDER BY CASE status WHEN 'completed' THEN 1 ELSE 0 END, focus DESC, task_id LIMIT 1",
            session_id=session_id,
            workspace=workspace,
        )

    def last_session_task(self, session_id: str, workspace: str | None) -> str | None:
        """The task that a session focused last, open or not."""
        return self.cell(
            "SELECT task_id FROM heads WHERE session_id = :session_id AND kind = 'task'"
            " AND root_id = task_id AND archived_at IS NULL AND status <> 'superseded'"
            " AND (CAST(:workspace AS TEXT) IS NULL OR workspace_path = :workspace)"
            " ORDER BY focus DESC, task_id LIMIT 1",
            session_id=session_id,
            workspace=workspace,
        )

    def last_focus(self, session_id: str) -> int:
        """The highest focus number that a session has used."""
        sql = "SELECT max(focus) FROM heads WHERE session_id = :session_id"
        return self.cell(sql, session_id=session_id) or 0

    def worktrees(self, repository: str) -> list[str]:
        """The workspaces of a repository that have tasks."""
        sql = "SELECT DISTINCT workspace_path FROM heads WHERE repository = :repository ORDER BY 1"
        return self.column(sql, repository=repository)

    def open_tasks(self, workspace: str | None, limit: int = 50, repository: str | None = None) -> list[Row]:
        """The open tasks of a workspace, or of a whole repository, the most recently changed first."""
        where = "workspace_path = :workspace" if workspace else "workspace_path IS NULL"
        where = where if repository is None else "repository = :repository"
        return self.rows(
            ("task_id", "name", "status", "session_id", "parent_id"),
            f"SELECT task_id, name, status, session_id, parent_id FROM heads WHERE {where} AND {_CURRENT}"
            " ORDER BY position DESC LIMIT :limit",
            workspace=workspace,
            repository=repository,
            limit=limit,
        )

    def cards(
        self,
        statuses: Sequence[str],
        limit: int,
        *,
        workspace: str | None = None,
        repository: str | None = None,
        session: str | None = None,
        tag: str | None = None,
        parent: str | None = None,
        text: str | None = None,
        kind: str | None = None,
        archived: bool = False,
        before: int | None = None,
    ) -> list[Row]:
        """Task rows with the titles of their current and next steps, the most recently changed first.

        There is one branch per status, each in the order of its index, so the cost depends on the number of
        rows returned and not on the number of tasks.
        """
        tagged = (
            "EXISTS (SELECT 1 FROM labels l WHERE l.task_id = heads.task_id AND l.seq = 0"
            " AND l.kind = 'tag' AND l.value = :tag)"
        )
        filters = [
            ("workspace_path = :workspace", workspace),
            ("repository = :repository", repository),
            ("session_id = :session", session),
            ("parent_id = :parent", parent),
            ("kind = :kind", kind),
            ("position < :before", before),
            (tagged, tag),
            # The parameter takes the collation of the empty prefix of the name.
            ("lower(name) LIKE lower(substr(name, 1, 0) || :text) ESCAPE '!'", text),
        ]
        where = "".join(f" AND {clause}" for clause, value in filters if value is not None)
        where += "" if archived else " AND archived_at IS NULL"
        branches = _newest(HEADS, statuses, where)
        names = [*HEADS, "current_title", "next_title", "verified", "unknown"]
        return self.rows(
            names,
            f"SELECT h.*, c.title, n.title, {VERIFIED_STEPS}, {UNKNOWN_EFFECTS} FROM ({branches}) h"
            " LEFT JOIN steps c ON c.task_id = h.task_id AND c.item_id = h.current_item"
            " LEFT JOIN steps n ON n.task_id = h.task_id AND n.item_id = h.next_item"
            " ORDER BY h.position DESC LIMIT :limit",
            limit=limit, workspace=workspace, session=session, parent=parent, kind=kind, before=before,
            tag=tag, text=text, repository=repository,
        )  # fmt: skip

    def recent_heads(
        self, statuses: Sequence[str], limit: int, workspace: str | None = None, before: int | None = None
    ) -> list[Row]:
        """The end of each task's chain, the most recently changed first; includes archived tasks.

        One branch per status, as in `cards`, and few columns: every refresh of the mirrors runs this.
        """
        where = "" if workspace is None else " AND workspace_path = :workspace"
        where += "" if before is None else " AND position < :before"
        branches = _newest(RECENT_HEADS, statuses, where)
        sql = f"SELECT * FROM ({branches}) h ORDER BY position DESC LIMIT :limit"
        return self.rows(RECENT_HEADS, sql, limit=limit, workspace=workspace, before=before)

    def task_ids(self) -> list[str]:
        """All task ids, the least recently changed first: the same order in every store with the same
        ledger."""
        return self.column("SELECT task_id FROM heads ORDER BY updated_at, task_id")

    def chain_ends(self) -> dict[str, tuple[str, int, bytes]]:
        """The root id, last seq and last hash of each task, in the order of `task_ids`."""
        rows = self._query(
            "SELECT task_id, root_id, last_seq, last_hash FROM heads ORDER BY updated_at, task_id", {}
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    def extras(self, task_id: str) -> Row:
        """The long or rarely changed columns of a task."""
        return decode_extras(self.rows(EXTRAS, SELECT_EXTRAS, task_id=task_id)[0])

    def callback_url(self, task_id: str) -> tuple[str, int] | None:
        """The URL to call when a task ends, secrets redacted, and the event that set it; one that came with
        an import is never called."""
        rows = self.rows(
            ("url", "seq"),
            "SELECT x.callback_url, x.callback_seq FROM extras x"
            " JOIN events e ON e.task_id = x.task_id AND e.seq = x.callback_seq"
            " JOIN origins o ON o.id = e.origin_id"
            " WHERE x.task_id = :task_id AND x.callback_url IS NOT NULL AND o.channel <> 'import'",
            task_id=task_id,
        )
        return (rows[0]["url"], rows[0]["seq"]) if rows else None


def _newest(columns: Sequence[str], statuses: Sequence[str], where: str) -> str:
    """A subquery for the most recently changed tasks, with one branch per status: see `cards`."""
    return " UNION ALL ".join(
        f"SELECT * FROM (SELECT {', '.join(columns)} FROM heads WHERE status = '{status}'{where}"
        f" ORDER BY position DESC LIMIT :limit) b{number}"
        for number, status in enumerate(statuses)
    )


def decode_extras(row: Row) -> Row:
    """An extras row with its JSON columns decoded."""
    for name in ("context", "acceptance", "metadata"):
        row[name] = json.loads(row[name]) if row[name] else None
    return row
