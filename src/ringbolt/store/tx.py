"""One transaction on the ledger: every query and every write.

The parts are modules of their own: `appending` (the only way in which state changes), `heads`, `steps`,
`records`, `events`, `claims_keys`, and `task_rows` for a whole task at once. Queries of single rooms are
functions of a `Tx`, as in `jobs` or `goal_queries`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .appending import Appending
from .database import Row as Row
from .database import placeholders
from .past_rows import PAST_ROWS, decoded
from .queries.claims_keys import ClaimsAndKeys
from .queries.events import Events
from .queries.heads import Heads
from .queries.task_rows import TaskReads
from .schema import NOT_FOLDED, STATE


class Tx(Appending, Events, Heads, ClaimsAndKeys, TaskReads):
    """One transaction on the ledger."""

    def state_rows(self, table: str, task_id: str, keys: Collection[str] | None = None) -> list[Row]:
        """The rows of a task in a state table, without the columns that folding does not restore.

        With `keys`, those with one of these keys (`schema.row_key`), and perhaps others.
        """
        columns = [name for name in STATE[table][0] if name not in NOT_FOLDED.get(table, ())]
        order = ", ".join(("task_id", *STATE[table][1]))
        where, params = "", dict[str, Any]()
        if keys is not None and (key := STATE[table][1]):
            # Only a key of several columns has a line for each; a path alone may have lines itself.
            firsts = {name.partition("\n")[0] if key[1:] else name for name in keys}
            places, params = placeholders("key", map(int, firsts) if key[0] == "seq" else firsts)
            where = f" AND {key[0]} IN ({places})"
        sql = f"SELECT {', '.join(columns)} FROM {table} WHERE task_id = :task_id{where} ORDER BY {order}"
        return self.rows(columns, sql, task_id=task_id, **params)

    def past_rows(self, task_id: str) -> dict[str, Row]:
        """The earlier rows of a task by their identity, without the cells that folding does not restore."""
        names = PAST_ROWS[1:]
        rows = self.rows(names, f"SELECT {', '.join(names)} FROM past_rows WHERE task_id = :id", id=task_id)
        return {
            "\n".join((row["table_name"], row["row_key"], str(row["until"]))): decoded(row) for row in rows
        }

    def rows_without_events(self, table: str) -> list[tuple[str, int]]:
        """Task ids that have rows in a state table but no events, with the number of rows."""
        rows = self._query(
            f"SELECT t.task_id, count(*) FROM {table} t LEFT JOIN events e"
            " ON e.task_id = t.task_id AND e.seq = 1 WHERE e.task_id IS NULL"
            " GROUP BY t.task_id ORDER BY t.task_id LIMIT 20",
            {},
        )
        return [(row[0], row[1]) for row in rows]
