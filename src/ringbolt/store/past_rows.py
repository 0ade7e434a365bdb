"""Earlier rows of the state, from which any past state of a task can be read without folding its events.

A row of `past_rows` is a state row as it was from the event `since` until the event `until` replaced it;
without content, it did not exist. `Appending.fold` writes them, so folding a task again gives the same ones:
they are derived, `verify` compares them like the state, and forgetting replaces both together. A past state
consists of the state rows that have not changed since, and of the earlier rows that were valid then. So
reading one costs about the same at every event, however long the history is (ADR 0045).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..model.types import is_dict
from ..model.validate import dumps
from .database import Database, Row
from .schema import (
    HEADS,
    NOT_FOLDED,
    STATE,
    row_key,
)

PAST_ROWS = ["task_id", "table_name", "row_key", "since", "until", "content"]
# Columns of a task that nearly every event changes. They are computed for a past state, not kept: see `past`.
COUNTED = frozenset(("last_seq", "last_hash", "position", "updated_at", "messages", "actions"))
# A row of the task is kept at least this often, so that a past state counts only few messages and actions.
HEAD_EVERY = 1000
_KEPT_HEAD = [name for name in HEADS if name not in ("last_seq", "last_hash", "position", "updated_at")]

_INSERT = f"INSERT INTO past_rows ({', '.join(PAST_ROWS)})"
_SINCE = (
    "coalesce((SELECT max(p.until) FROM past_rows p WHERE p.task_id = :task_id"
    " AND p.table_name = '{table}' AND p.row_key = :row_key), 0)"
)
# Of these tables, a row says itself when it was last changed.
VERSIONED = ("steps", "records")
_HEAD = f"{_INSERT} VALUES (:task_id, 'heads', '', {_SINCE.format(table='heads')}, :until, :content)"
_ABSENT = f"{_INSERT} VALUES (:task_id, :table_name, :row_key, 0, :until, NULL) ON CONFLICT DO NOTHING"


_NEW_LABEL = (
    f"{_INSERT} SELECT :task_id, 'labels', :row_key, 0, :until, NULL WHERE NOT EXISTS (SELECT 1 FROM labels"
    " WHERE task_id = :task_id AND seq = :seq AND kind = :kind AND value = :value) ON CONFLICT DO NOTHING"
)


def _identity(table: str) -> str:
    return " AND ".join(f"t.{name} = :{name}" for name in ("task_id", *STATE[table][1]))


def _keep(table: str, pack: str) -> str:
    """The statement that keeps a row of a table before it is replaced, or that it did not exist yet."""
    columns = STATE[table][0][1:]  # all but the task, which is in every row
    cells = pack.format(", ".join(f"'{name}', t.{name}" for name in columns))
    if table in VERSIONED:
        return (
            f"{_INSERT} SELECT t.task_id, '{table}', :row_key, t.version, :until, {cells} FROM {table} t"
            f" WHERE {_identity(table)} ON CONFLICT DO NOTHING"
        )
    content = f"(SELECT {cells} FROM {table} t WHERE {_identity(table)})"
    return (
        f"{_INSERT} VALUES (:task_id, '{table}', :row_key, {_SINCE.format(table=table)}, :until, {content})"
        " ON CONFLICT DO NOTHING"
    )


KEPT_TABLES = ("steps", "records", "extras", "files", "links", "claims")
_keeping: dict[str, dict[str, str]] = {}  # the statements of each engine, by how it packs a row


class PastRows:
    """Keeps the rows that an event is about to replace."""

    def __init__(self, database: Database) -> None:
        self._run, self._run_many = database.run, database.run_many
        pack = database.pack
        if pack not in _keeping:
            _keeping[pack] = {table: _keep(table, pack) for table in KEPT_TABLES}
        self._statements = _keeping[pack]

    def keep(self, table: str, task_id: str, seq: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep the rows with these keys as they are before the event `seq`."""
        if seq > 1 and rows:  # before its first event a task had none
            key = STATE[table][1]
            self._run_many(
                self._statements[table],
                [
                    {
                        "task_id": task_id,
                        "row_key": row_key(table, row),
                        "until": seq,
                        **{name: row[name] for name in key},
                    }
                    for row in rows
                ],
            )

    def note_new(self, table: str, task_id: str, seq: int, keys: Sequence[str]) -> None:
        """Note that rows with these keys did not exist before the event `seq`."""
        if seq > 1 and keys:
            row = {"task_id": task_id, "table_name": table, "until": seq}
            self._run_many(_ABSENT, [{**row, "row_key": key} for key in keys])

    def note_new_labels(self, task_id: str, seq: int, labels: Sequence[Mapping[str, Any]]) -> None:
        """Note that these labels did not exist before the event `seq`, unless they did."""
        if seq > 1 and labels:
            rows = [{**row, "row_key": row_key("labels", row), "until": seq} for row in labels]
            self._run_many(_NEW_LABEL, rows)

    def keep_head(self, head: Row, changes: Mapping[str, Any], seq: int) -> None:
        """Keep a task's own row before an event that changes more than its counters."""
        if seq % HEAD_EVERY == 0 or any(
            name not in COUNTED and head.get(name) != value for name, value in changes.items()
        ):
            content = {name: head[name] for name in _KEPT_HEAD if head.get(name) is not None}
            row = {"task_id": head["task_id"], "row_key": "", "until": seq, "content": dumps(content)}
            self._run(_HEAD, row)


def decoded(row: Row) -> Row:
    """An earlier row with its content decoded, as two engines agree on it."""
    if row["content"] is None:
        return row
    try:
        content: dict[str, Any] = json.loads(row["content"])
    except ValueError:
        return row
    if is_dict(content):
        for name in NOT_FOLDED.get(row["table_name"], ()):
            content.pop(name, None)
        for name, value in content.items():
            if isinstance(value, float):  # the engines write different numbers of digits
                content[name] = float(f"{value:.12g}")
    return {**row, "content": content}
