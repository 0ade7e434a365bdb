"""The seam between queries and engines: the SQL is portable, and an engine runs it.

Queries are written once, in SQL that SQLite and PostgreSQL both understand, with `:name` parameters. The few
places where the engines differ are attributes and methods of `Database`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ..signals.terms import Term

Result = TypeVar("Result")

Row = dict[str, Any]

Cells = tuple[Any, ...]


class Database(Protocol):
    """A connection inside a transaction.

    `lock_row` at the end of a query locks its row until our transaction ends; `take_rows` also skips rows
    that others have locked. `one_of` compares with the result of a subquery in the form that always uses an
    index, whatever sizes the planner assumes. `position` is the id of the last inserted event.
    """

    lock_row: str
    take_rows: str
    one_of: str
    position: str
    # The full-text index: its column with an event's id, the table `w` (which may need to know how many rows
    # are wanted at `most`), and the condition for a matching row between the ids :low and :high.
    word_id: str
    words: str
    matches: str

    # For past states: the prefix that makes the name of a table mean the table itself, and the expression for
    # a row as JSON, a format that takes the names and values of its cells.
    here: str
    pack: str

    def unpack(self, table: str, columns: Sequence[str], rows: str) -> str:
        """The query for the rows of a table in a JSON list."""
        ...

    def bytes_of(self, value: str) -> str:
        """A parameter that the engine would not know to be bytes."""
        ...

    def text_of(self, value: str) -> str:
        """A parameter that the engine would not know to be text."""
        ...

    def matching(self, groups: Sequence[Sequence[Term]]) -> str:
        """The search expression for "one term of each group", as the parameter :match."""
        ...

    def index(self, event: Row) -> None:
        """Add a new event, with its agent and workspace, to the full-text index."""
        ...

    def query(self, sql: str, params: Mapping[str, Any]) -> list[Cells]: ...
    def query_all(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Cells]]:
        """Run several queries at once: on a server, in one round trip."""
        ...

    def query_fresh(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Cells]]:
        """Like `query_all`, each planned for its own parameters: terms differ a lot in frequency."""
        ...

    def run(self, sql: str, params: Mapping[str, Any]) -> None: ...
    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None: ...

    def lock(self, name: str) -> None:
        """Lock a name: other transactions that lock it wait until ours ends."""
        ...

    def nested(self, work: Callable[[], None]) -> Exception | None:
        """Run `work` in a savepoint: an error undoes only its own writes, and is returned.

        Raises if the engine itself failed: then the whole transaction is lost.
        """
        ...

    def settled(self) -> int | None:
        """An id up to which every later transaction sees all events; None while a transaction is writing."""
        ...

    def horizon(self) -> tuple[int, frozenset[str]]:
        """The newest id that was given out, and the transactions that are writing now.

        Each event up to that id is visible, or belongs to one of these transactions, or was rolled back.
        """
        ...

    def compares_vectors(self) -> bool:
        """Whether the engine itself can compute distances between vectors."""
        ...


class Queries:
    """Base of the parts of `Tx`: the database of one transaction, with its methods bound once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        # Bound here because a write calls them dozens of times.
        self._query = database.query
        self._query_all = database.query_all
        self._run = database.run
        self._run_many = database.run_many
        self._one_of = database.one_of.format

    def until_heads_change(self, name: Hashable, read: Callable[[], Result]) -> Result:
        """What `read` returns, which depends on rows of tasks; a transaction of many writes may keep it."""
        return read()

    def rows(self, names: Sequence[str], sql: str, **params: Any) -> list[Row]:
        """The rows of a query as dicts with these names for the columns."""
        return [dict(zip(names, row, strict=True)) for row in self._query(sql, params)]

    def row(self, names: Sequence[str], sql: str, **params: Any) -> Row | None:
        """The first row of a query, if there is one."""
        rows = self._query(sql, params)
        return dict(zip(names, rows[0], strict=True)) if rows else None

    def column(self, sql: str, **params: Any) -> list[Any]:
        """The first column of a query."""
        return [row[0] for row in self._query(sql, params)]

    def cell(self, sql: str, **params: Any) -> Any:
        """The first cell of a query; None if it has no rows."""
        rows = self._query(sql, params)
        return rows[0][0] if rows else None


def placeholders(name: str, values: Iterable[Any]) -> tuple[str, dict[str, Any]]:
    """The parameters for a list of values after IN, and their values by name."""
    params = {f"{name}{number}": value for number, value in enumerate(values)}
    return ", ".join([f":{place}" for place in params]), params
