"""Claims on tasks and steps, and idempotency keys: the rows that guard a write."""

from __future__ import annotations

from ..database import Queries, Row
from ..schema import CLAIMS, KEYS

SELECT_CLAIMS = f"SELECT {', '.join(CLAIMS)} FROM claims WHERE task_id = :task_id ORDER BY item_id"
_SELECT_KEY = f"SELECT {', '.join(KEYS)} FROM keys"
_OWN_KEY = (
    f"SELECT {', '.join(f'k.{name}' for name in KEYS)} FROM keys k"
    " JOIN events e ON e.task_id = k.task_id AND e.seq = k.seq"
    " JOIN heads h ON h.task_id = k.task_id"
    " WHERE k.key = :key AND k.operation = :operation AND e.origin_id = :origin"
    " AND coalesce(h.workspace_path, '') = :workspace"
    " ORDER BY e.id DESC LIMIT 1"
)


class ClaimsAndKeys(Queries):
    """Reading claims and keys."""

    def claims(self, task_id: str) -> list[Row]:
        """All claims that a task or its steps ever had, including released ones."""
        return self.rows(CLAIMS, SELECT_CLAIMS, task_id=task_id)

    def leases(self) -> dict[tuple[str, str], str]:
        """When each held claim expires, by task and step."""
        rows = self._query("SELECT task_id, item_id, expires_at FROM claims WHERE status = 'held'", {})
        return {(row[0], row[1]): row[2] for row in rows}

    def key(self, task_id: str, key: str) -> Row | None:
        """The first result of a keyed call on a task."""
        return self.row(
            KEYS, f"{_SELECT_KEY} WHERE task_id = :task_id AND key = :key", task_id=task_id, key=key
        )

    def own_key(self, key: str, operation: str, origin: int, workspace: str | None) -> Row | None:
        """The first result of a keyed call by the same caller, on any task of a workspace."""
        return self.row(
            KEYS,
            _OWN_KEY,
            key=key,
            operation=operation,
            origin=origin,
            workspace=workspace or "",
        )

    def register_key(self, key: str) -> Row | None:
        """The first result of a keyed registration.

        A registration has no task row to lock yet, so this locks the key: the second of two registrations
        with the same key waits here until the first has committed.
        """
        self.database.lock(key)
        return self.row(KEYS, f"{_SELECT_KEY} WHERE key = :key AND operation = 'task_register'", key=key)
