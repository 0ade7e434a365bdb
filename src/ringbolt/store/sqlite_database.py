"""A connection to SQLite as a `Database`, for the store's file or for a scratch ledger in memory."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# apsw's own type hints name a class that Python 3.11 does not have.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import apsw

from ..signals.terms import Term
from . import migrate
from .schema import NUMBERS


class SqliteDatabase:
    """A connection as a `Database`."""

    lock_row = take_rows = ""
    one_of = "IN ({})"
    position = "(SELECT id FROM events WHERE task_id = :task_id AND seq = :last_seq)"
    word_id = "rowid"
    words = "words w"
    matches = "words MATCH :match AND w.rowid BETWEEN :low AND :high"
    here = "main."
    pack = "json_patch('{{}}', json_object({}))"  # the patch drops cells without a value

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute

    def unpack(self, table: str, columns: Sequence[str], rows: str) -> str:
        # Both parts of a UNION ALL need the same affinity, or SQLite reads all of it before it selects.
        cells = ", ".join(
            f"CAST(json_extract(j.value, '$.{name}') AS {_affinity(name)}) AS {name}" for name in columns
        )
        return f"SELECT {cells} FROM json_each({rows}) j"

    def bytes_of(self, value: str) -> str:
        return value

    def text_of(self, value: str) -> str:
        return f"CAST({value} AS TEXT)"

    def query(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._execute(sql, params).fetchall()

    def query_all(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        return [self._execute(sql, params).fetchall() for sql, params in queries]

    def run(self, sql: str, params: Mapping[str, Any]) -> None:
        self._execute(sql, params)

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if len(rows) == 1:
            self._execute(sql, rows[0])
        else:
            self._connection.executemany(sql, rows)

    def lock(self, name: str) -> None:
        """Nothing to do: there is one writer at a time."""

    def nested(self, work: Callable[[], None]) -> Exception | None:
        self._execute("SAVEPOINT nested")
        try:
            work()
        except Exception as error:
            if not self._connection.in_transaction:  # SQLite has rolled back everything by itself
                raise
            self._execute("ROLLBACK TO nested; RELEASE nested").fetchall()
            if isinstance(error, apsw.Error) and not isinstance(error, apsw.ConstraintError):
                raise
            return error
        self._execute("RELEASE nested")
        return None

    def settled(self) -> int:
        return single_value(self._connection, "SELECT max(id) FROM events") or 0

    def horizon(self) -> tuple[int, frozenset[str]]:
        return self.settled(), frozenset()

    def compares_vectors(self) -> bool:
        return False

    def index(self, event: Mapping[str, Any]) -> None:
        """Nothing yet: events are indexed in batches, see `_index_waiting`."""

    def query_fresh(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        return self.query_all(queries)

    def matching(self, groups: Sequence[Sequence[Term]]) -> str:
        return " AND ".join(f"({' OR '.join(_match(term) for term in group)})" for group in groups)


def _affinity(column: str) -> str:
    return "INTEGER" if column in NUMBERS else "REAL" if column == "duration_seconds" else "TEXT"


def _match(term: Term) -> str:
    """A term in FTS5 syntax. FTS5 stems it itself; inside the quotation marks nothing is syntax."""
    quoted = '"' + term.word.replace('"', '""') + '"'
    if not term.prefix:
        return quoted
    # The index holds stems, so a word with this prefix may be there in a shorter form.
    shorter = (f'"{term.word[:size]}"' for size in range(4, len(term.word)))
    return " OR ".join((f"{quoted}*", *shorter))


@cache
def _empty_ledger(migrations: str) -> bytes:
    """An empty ledger, as the content of its file: copying that is ten times as fast as the migrations."""
    connection = apsw.Connection(":memory:")
    for _, _, sql in migrate.migrations("sqlite"):
        connection.execute(sql).fetchall()
    return connection.serialize("main")


def scratch_database() -> SqliteDatabase:
    """An empty ledger in memory."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", _empty_ledger(migrate.FOLDER))
    connection.execute("BEGIN")  # never committed: the content lives as long as the connection
    return SqliteDatabase(connection)


def single_value(connection: apsw.Connection, sql: str) -> Any:
    """The first cell of a query that returns one row."""
    return connection.execute(sql).fetchall()[0][0]
