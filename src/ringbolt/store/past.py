"""Read a task as it was after any of its events, with the same queries as its present."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..model.errors import StoreError
from ..model.validate import dumps
from ..signals.terms import Term
from .database import Database, Row
from .past_rows import KEPT_TABLES, VERSIONED
from .queries.records import missing_events
from .schema import ACTIVITY, EVENT_FROM, EVENTS, HEADS, KEYS, LABELS, MESSAGE_TYPES, STATE, quoted
from .tx import Tx

# What is derived from more than a task's events is not part of its past.
_EMPTY = ("distilled", "sessions", "jobs", "learned_patterns", "spending", "folder_tasks")
_READS = re.compile(r"\b(?:FROM|JOIN) (\w+)")
_HEAD_AFTER = (
    "SELECT until, content FROM past_rows WHERE task_id = :task_id AND table_name = 'heads' AND until > :seq"
    " ORDER BY until LIMIT 1"
)
_VALID_AT = (
    "SELECT content FROM past_rows WHERE task_id = :task_id AND table_name = :table AND until > :seq"
    " AND since <= :seq AND content IS NOT NULL"
)
_ACTIVE_AT = (
    f"SELECT e.timestamp{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq <= :seq AND {ACTIVITY}"
    " ORDER BY e.seq DESC LIMIT 1"
)
_LATER = (
    f"SELECT coalesce(sum(CASE WHEN event_type IN ({quoted(sorted(MESSAGE_TYPES))}) AND text <> ''"
    " THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN event_type = 'action' THEN 1 ELSE 0 END), 0)"
    " FROM events WHERE task_id = :task_id AND seq > :seq AND seq < :until"
)


def past(tx: Tx, head: Row, seq: int) -> Tx:
    """A transaction that sees one task as it was after an event, and no other; it can only read.

    `head` is the task's row now.
    """
    named: dict[str, Any] = {"task_id": head["task_id"], "seq": seq}
    row: Row = head
    until = head["last_seq"] + 1
    for end, content in tx.database.query(_HEAD_AFTER, named):
        row = dict.fromkeys(HEADS)
        row.update(_checked(head, [content])[0])
        until = end
    event = tx.event(head["task_id"], seq)
    if event is None:
        raise missing_events([seq])
    active = tx.database.query(_ACTIVE_AT, named)
    ((messages, actions),) = tx.database.query(_LATER, {**named, "until": until})
    then: Row = {
        **{name: row[name] for name in HEADS},
        "task_id": head["task_id"],
        "last_seq": seq,
        "position": 0,
        "updated_at": active[0][0] if active else row["created_at"],
        "messages": row["messages"] - int(messages),
        "actions": row["actions"] - int(actions),
    }
    del then["last_hash"]
    earlier = tx.database.query_all([(_VALID_AT, {**named, "table": table}) for table in KEPT_TABLES])
    params = {
        "past_task": head["task_id"],
        "past_seq": seq,
        "past_line": "\n",
        "past_heads": f"[{dumps({name: value for name, value in then.items() if value is not None})}]",
        "past_hash": event["hash"],
    }
    for table, rows in zip(KEPT_TABLES, earlier, strict=True):
        params[f"past_{table}"] = dumps(_checked(head, [row[0] for row in rows]))
    return Tx(_PastDatabase(tx.database, params))


def _checked(head: Row, contents: Sequence[str]) -> list[dict[str, Any]]:
    try:
        return [json.loads(content) for content in contents]
    except ValueError:
        raise StoreError(
            "store_corrupt",
            f"What task {head['task_id']} was like earlier is damaged.",
            "Run `ringbolt verify`: it rebuilds that from the events.",
        ) from None


class _PastDatabase:
    """A database whose tables are those of one task at one moment: common table expressions hide the real
    ones, so every query of a task reads its past as it reads its present."""

    def __init__(self, database: Database, params: Mapping[str, Any]) -> None:
        self._database = database
        self._params = params
        self.lock_row = self.take_rows = ""
        self.one_of, self.position = database.one_of, database.position
        self.word_id, self.words, self.matches = database.word_id, database.words, database.matches
        self.here, self.pack = database.here, database.pack

    def query(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._database.query(self._in_past(sql), {**self._params, **params})

    def query_all(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        return self._database.query_all(
            [(self._in_past(sql), {**self._params, **params}) for sql, params in queries]
        )

    def query_fresh(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        return self.query_all(queries)

    def _in_past(self, sql: str) -> str:
        key = self.here, sql
        if key not in _rewritten:
            _rewritten[key] = _in_past(self._database, sql)
        return _rewritten[key]

    def run(self, sql: str, params: Mapping[str, Any]) -> None:
        raise RuntimeError("the past can only be read")

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        raise RuntimeError("the past can only be read")

    def index(self, event: Row) -> None:
        raise RuntimeError("the past can only be read")

    def lock(self, name: str) -> None:
        """Nothing to do: nobody writes here."""

    def nested(self, work: Callable[[], None]) -> Exception | None:
        raise RuntimeError("the past can only be read")

    def settled(self) -> int | None:
        return self._database.settled()

    def horizon(self) -> tuple[int, frozenset[str]]:
        return self._database.horizon()

    def compares_vectors(self) -> bool:
        return False

    def unpack(self, table: str, columns: Sequence[str], rows: str) -> str:
        return self._database.unpack(table, columns, rows)

    def bytes_of(self, value: str) -> str:
        return self._database.bytes_of(value)

    def text_of(self, value: str) -> str:
        return self._database.text_of(value)

    def matching(self, groups: Sequence[Sequence[Term]]) -> str:
        return self._database.matching(groups)


_rewritten: dict[tuple[str, str], str] = {}
_tables: dict[str, dict[str, str]] = {}


def _in_past(database: Database, sql: str) -> str:
    """A query with the past of each table that it reads."""
    if database.pack not in _tables:
        _tables[database.pack] = _past_tables(database)
    tables = _tables[database.pack]
    wanted = set(_READS.findall(sql))
    parts = [tables[name] for name in tables if name in wanted]
    return f"WITH {', '.join(parts)} {sql}" if parts else sql


def _past_tables(database: Database) -> dict[str, str]:
    """For each table, the common table expressions that hide it: the rows that have not changed since the
    moment, and the earlier rows that were valid then."""
    here = database.here
    names = [name for name in HEADS if name != "last_hash"]
    bodies = {
        "heads": (
            f"SELECT h.*, {database.bytes_of(':past_hash')} AS last_hash"
            f" FROM ({database.unpack('heads', names, ':past_heads')}) h"
        ),
        "events": (
            f"SELECT id, {', '.join(EVENTS)} FROM {here}events"
            " WHERE task_id = :past_task AND seq <= :past_seq"
        ),
        "keys": f"SELECT {', '.join(KEYS)} FROM {here}keys WHERE task_id = :past_task AND seq <= :past_seq",
        **{name: f"SELECT * FROM {here}{name} WHERE 1 = 0" for name in _EMPTY},
    }
    changed = (
        f"SELECT 1 FROM {here}past_rows p WHERE p.task_id = :past_task AND p.table_name = '{{}}'"
        " AND p.row_key = {}"
    )
    earlier: dict[str, str] = {}
    for table in KEPT_TABLES:
        columns, key = STATE[table]
        if table in VERSIONED:
            unchanged = "t.version <= :past_seq"
        else:
            own = " || :past_line || ".join(f"t.{name}" for name in key) or "''"
            unchanged = f"NOT EXISTS ({changed.format(table, own)} AND p.until > :past_seq)"
        if table == "records":  # for the index: a record is never older than its event
            unchanged += " AND t.seq <= :past_seq"
        earlier[table] = (
            f"past_{table} AS MATERIALIZED (SELECT {database.text_of(':past_task')} AS task_id, u.*"
            f" FROM ({database.unpack(table, columns[1:], f':past_{table}')}) u), "
        )
        bodies[table] = (
            f"SELECT {', '.join(f't.{name}' for name in columns)} FROM {here}{table} t"
            f" WHERE t.task_id = :past_task AND {unchanged}"
            f" UNION ALL SELECT {', '.join(columns)} FROM past_{table}"
        )
    own = "CAST(t.seq AS TEXT) || :past_line || t.kind || :past_line || t.value"
    known = changed.format("labels", own)
    bodies["labels"] = (
        f"SELECT {', '.join(f't.{name}' for name in LABELS)} FROM {here}labels t WHERE t.task_id = :past_task"
        f" AND (t.seq <= :past_seq OR EXISTS ({known})) AND NOT EXISTS ({known} AND p.until > :past_seq)"
    )
    # Not materialized: a query then uses the indexes of the table, and reads only what it needs.
    return {
        name: f"{earlier.get(name, '')}{name} AS NOT MATERIALIZED ({body})" for name, body in bodies.items()
    }
