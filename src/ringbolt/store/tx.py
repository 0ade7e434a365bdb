"""One transaction on the ledger: every query and every write.

The parts are modules of their own: `appending` (the only way in which state changes), `heads`, `steps`,
`records`, `events`, `claims_keys`, and `task_rows` for a whole task at once. Queries of single rooms are
functions of a `Tx`, as in `jobs` or `goal_queries`.
"""

from __future__ import annotations

from .appending import Appending
from .database import Row as Row
from .queries.claims_keys import ClaimsAndKeys
from .queries.events import Events
from .queries.heads import Heads
from .queries.task_rows import TaskReads
from .schema import NOT_FOLDED, STATE


class Tx(Appending, Events, Heads, ClaimsAndKeys, TaskReads):
    """One transaction on the ledger."""

    def state_rows(self, table: str, task_id: str) -> list[Row]:
        """All rows of a task in a state table, without the columns that folding does not restore."""
        columns = [name for name in STATE[table][0] if name not in NOT_FOLDED.get(table, ())]
        order = ", ".join(("task_id", *STATE[table][1]))
        return self.rows(
            columns,
            f"SELECT {', '.join(columns)} FROM {table} WHERE task_id = :task_id ORDER BY {order}",
            task_id=task_id,
        )

    def rows_without_events(self, table: str) -> list[tuple[str, int]]:
        """Task ids that have rows in a state table but no events, with the number of rows."""
        rows = self._query(
            f"SELECT t.task_id, count(*) FROM {table} t LEFT JOIN events e"
            " ON e.task_id = t.task_id AND e.seq = 1 WHERE e.task_id IS NULL"
            " GROUP BY t.task_id ORDER BY t.task_id LIMIT 20",
            {},
        )
        return [(row[0], row[1]) for row in rows]
