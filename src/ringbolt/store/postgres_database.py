"""A connection to PostgreSQL inside a transaction, as a `Database`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import psycopg

from ..model.validate import blake2b
from ..signals.terms import Term
from .event_texts import index_terms, is_silent

Connection = psycopg.Connection[tuple[Any, ...]]

# The first statement of every transaction. JIT compilation costs more than any of our queries. Our
# transactions wait for nothing but locks, so an idle one has lost its client.
_BEGIN_WITH = (
    "SELECT set_config('ringbolt.tenant', %(tenant)s, true), set_config('jit', 'off', true),"
    " set_config('lock_timeout', %(wait)s, true),"
    " set_config('idle_in_transaction_session_timeout', '60s', true)"
)
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(current_setting('ringbolt.tenant') || :name, 0))"
# A writer locks the table before it gets an id, and keeps the lock until it commits.
_NEWEST = (
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END, EXISTS (SELECT 1 FROM pg_locks"
    " WHERE relation = CAST('events' AS regclass) AND mode = 'RowExclusiveLock') FROM events_id_seq"
)
_WRITERS = (
    "SELECT virtualtransaction FROM pg_locks"
    " WHERE relation = CAST('events' AS regclass) AND mode = 'RowExclusiveLock'"
)
VECTOR_TYPE = (
    "SELECT atttypid = CAST('bytea' AS regtype) FROM pg_attribute"
    " WHERE attrelid = CAST('vectors' AS regclass) AND attname = 'vector'"
)
_INDEX = "INSERT INTO words (id, terms) VALUES (lastval(), CAST(CAST(:terms AS text) AS tsvector))"
_translated: dict[str, Any] = {}


def translate(sql: str) -> Any:
    """Translate our portable SQL into the form that psycopg and the tenant columns need."""
    if sql not in _translated:
        text = re.sub(r":(\w+)", r"%(\1)s", sql.replace("%", "%%"))
        _translated[sql] = text.replace("ON CONFLICT (", "ON CONFLICT (tenant_id, ")
    return _translated[sql]


class PostgresDatabase:
    """A connection inside a transaction, as a `Database`."""

    lock_row = " FOR UPDATE"
    take_rows = " FOR UPDATE SKIP LOCKED"
    one_of = "= ANY(ARRAY({}))"
    position = "lastval()"
    word_id = "id"
    words = "words_matching(CAST(CAST(:match AS text) AS tsquery), :low, :high, {most}) AS w(id)"
    matches = "TRUE"
    here = ""  # within the definition of a common table expression, a name means the table
    pack = "CAST(json_strip_nulls(json_build_object({})) AS TEXT)"

    def __init__(
        self, connection: Connection, begin: Any, first: Mapping[str, str], once: bool = False
    ) -> None:
        self._connection = connection
        self._begin = begin
        self._first = first
        self._once = once
        self._began = False
        self._compares: bool | None = None
        self.committing = False

    def _execute(
        self, sql: str, params: Mapping[str, Any], prepare: bool | None = None
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        if not self._began:
            self._began = True
            self._connection.execute(self._begin)
            self._connection.execute(_BEGIN_WITH, self._first)
        return self._connection.execute(translate(sql), params, prepare=prepare)

    def unpack(self, table: str, columns: Sequence[str], rows: str) -> str:
        cells = ", ".join(f"r.{name}" for name in columns)
        return f"SELECT {cells} FROM json_populate_recordset(CAST(NULL AS {table}), CAST({rows} AS json)) r"

    def bytes_of(self, value: str) -> str:
        return f"CAST({value} AS bytea)"

    def text_of(self, value: str) -> str:
        return f'CAST({value} AS TEXT) COLLATE "C"'

    def query(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._execute(sql, params).fetchall()

    def query_all(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        with self._connection.pipeline() if self._once else contextlib.nullcontext():
            cursors = [self._execute(sql, params) for sql, params in queries]
            if self._once:  # the commit is sent with the queries: one round trip
                self.commit()
        return [cursor.fetchall() for cursor in cursors]

    def run(self, sql: str, params: Mapping[str, Any]) -> None:
        self._execute(sql, params)

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            self._execute(sql, row)

    def lock(self, name: str) -> None:
        self._execute(_LOCK, {"name": name})

    def nested(self, work: Callable[[], None]) -> Exception | None:
        self._execute("SAVEPOINT nested", {})
        try:
            work()
        except psycopg.Error:
            raise  # the pipeline is broken, and with it the transaction
        except Exception as error:  # noqa: BLE001 - the caller decides
            self._execute("ROLLBACK TO SAVEPOINT nested", {})
            self._execute("RELEASE SAVEPOINT nested", {})
            return error
        self._execute("RELEASE SAVEPOINT nested", {})
        return None

    def index(self, event: Mapping[str, Any]) -> None:
        """Index in the event's own transaction: ids are not committed in order, so a mark could skip some."""
        if not is_silent(event):
            self._execute(_INDEX, {"terms": term_vector(index_terms(event), self._first["tenant"])})

    def settled(self) -> int | None:
        newest, writing = self._execute(_NEWEST, {}).fetchall()[0]
        return None if writing else newest

    def horizon(self) -> tuple[int, frozenset[str]]:
        newest = self._execute(_NEWEST, {}).fetchall()[0][0]
        return newest, frozenset(row[0] for row in self._execute(_WRITERS, {}).fetchall())

    def compares_vectors(self) -> bool:
        if self._compares is None:
            self._compares = not self._execute(VECTOR_TYPE, {}).fetchall()[0][0]
        return self._compares

    def query_fresh(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        # Not prepared: a plan made for any term would be wrong for most terms.
        cursors = [self._execute(sql, params, prepare=False) for sql, params in queries]
        return [cursor.fetchall() for cursor in cursors]

    def matching(self, groups: Sequence[Sequence[Term]]) -> str:
        key = tenant_key(self._first["tenant"])
        every = [Term(word="", stem="")]  # each event has this term
        return " & ".join(
            f"({' | '.join(_lexeme(term, key) for term in group)})" for group in (groups or [every])
        )

    def commit(self) -> None:
        if self._began:
            self._began = False
            self.committing = True
            self._connection.execute("COMMIT")


def _quoted(term: str) -> str:
    """A term for a tsvector or tsquery; inside the quotation marks nothing is syntax."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


@cache
def tenant_key(tenant: str) -> str:
    """What each term of a tenant begins with: two tenants have no term in common."""
    return blake2b(tenant.encode(), digest_size=4).hexdigest()


def term_vector(terms: Iterable[str], tenant: str) -> str:
    """Terms as the text of a tsvector, which is cheaper to send than an array."""
    key = tenant_key(tenant)
    return " ".join([_quoted(f"{key}{term}") for term in ("", *terms)])


def _lexeme(term: Term, key: str) -> str:
    """A term of a search in tsquery syntax."""
    if not term.prefix:
        return _quoted(f"{key}{term.stem}")
    # The index holds stems, so a word with this prefix may be there in a shorter form.
    shorter = (_quoted(f"{key}{term.stem[:size]}") for size in range(4, len(term.stem)))
    return " | ".join((f"{_quoted(f'{key}{term.stem}')}:*", *shorter))
