"""The PostgreSQL engine: the same ledger for agents on many machines.

The SQL is that of `tx.py`; here are connecting, transactions, retries, and tenants. A tenant is a session
setting that is made inside every transaction, so it also holds behind a pooler in transaction mode: columns
default to it and row-level security enforces it, and no query knows of it. Statements are pipelined: those
that answer nothing travel with the next one that does, or with the commit.
"""

from __future__ import annotations

import random
import re
import threading
import time

import psycopg
from psycopg import errors as pg
from psycopg_pool import ConnectionPool, PoolTimeout

from .. import checks
from ..errors import HoldfastError, StoreError
from ..types import Problem
from . import migrate
from .tx import Tx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from ..config import Settings

    Result = TypeVar("Result")
    Connection = psycopg.Connection[tuple[Any, ...]]

# Compiling a plan costs more than any of our queries.
_SET_TENANT = "SELECT set_config('holdfast.tenant', %s, true), set_config('jit', 'off', true)"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_CHANNEL = "holdfast"
_RELAY_LOCK = 0x484F4C44
# Worth another try: nothing of the transaction happened.
_AGAIN = (pg.SerializationFailure, pg.DeadlockDetected)
# The server or the way to it is gone, or not there yet.
_LOST = (psycopg.OperationalError, psycopg.InterfaceError)
_translated: dict[str, Any] = {}


def translate(sql: str) -> Any:
    """Our portable SQL as psycopg and a store with tenants want it."""
    if (found := _translated.get(sql)) is None:
        text = re.sub(r":(\w+)", r"%(\1)s", sql.replace("%", "%%"))
        found = _translated[sql] = text.replace("ON CONFLICT (", "ON CONFLICT (tenant_id, ")
    return found


class _PostgresDatabase:
    """A connection inside a transaction, as `Tx` wants it."""

    lock_row = " FOR UPDATE"

    def __init__(self, connection: Connection, begin: Any, tenant: str, once: bool = False) -> None:
        self._connection = connection
        self._begin = begin
        self._tenant = tenant
        self._once = once
        self.began = False

    def _execute(self, sql: str, params: Mapping[str, Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        if not self.began:
            self.began = True
            self._connection.execute(self._begin)
            self._connection.execute(_SET_TENANT, (self._tenant,))
        return self._connection.execute(translate(sql), params)

    def query(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._execute(sql, params).fetchall()

    def query_all(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        cursors = [self._execute(sql, params) for sql, params in queries]
        if self._once:  # the commit travels with the question: one way there and back
            self.end()
        return [cursor.fetchall() for cursor in cursors]

    def run(self, sql: str, params: Mapping[str, Any]) -> None:
        self._execute(sql, params)

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            self._execute(sql, row)

    def end(self) -> None:
        if self.began:
            self.began = False
            self._connection.execute("COMMIT")


class PostgresStore:
    """A ledger in a PostgreSQL database."""

    def __init__(self, url: str, settings: Settings) -> None:
        self._settings = settings
        self._conninfo, self._tenant = _split_tenant(url, settings.tenant)
        self.url = _without_password(url)
        self._closed = False
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self._conninfo,
            min_size=1,
            max_size=settings.pool_size,
            timeout=settings.lock_timeout,
            kwargs={"autocommit": True, "connect_timeout": 5, **_prepared(settings)},
            open=False,
            reconnect_timeout=settings.lock_timeout,
            name="holdfast",
        )
        self._pool.open()
        try:
            self._check_role()
            self._migrate()
        except BaseException:
            self.close()
            raise

    # --- opening ----------------------------------------------------------------------------------

    def _check_role(self) -> None:
        def work(connection: Connection) -> tuple[Any, ...]:
            row = connection.execute(
                "SELECT current_user, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
            return row or ("", False)

        role, unbound = self._attempts(work)
        if unbound and self._settings.superuser != "allow":
            raise StoreError(
                "unsafe_role",
                f"The role {role} is bound by no row-level security: it would see every tenant.",
                "Connect as a role without SUPERUSER and BYPASSRLS that owns the database, or, for a"
                " database of your own, set superuser to allow.",
            )

    def _migrate(self) -> None:
        def work(connection: Connection) -> None:
            with connection.transaction():
                # One process migrates, the others wait and find it done.
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_RELAY_LOCK + 1,))
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY,"
                    " name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)"
                )
                version = _version(connection)
                migrate.check_version(version)
                if version:
                    migrate.refuse_changed("postgres", _applied(connection))
                for number, name, sql, checksum in migrate.pending("postgres", version):
                    connection.execute(_fitted(connection, sql))
                    connection.execute(
                        "INSERT INTO schema_migrations VALUES (%s, %s, %s, to_char(now() AT TIME ZONE 'UTC',"
                        ' \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\'))',
                        (number, name, checksum),
                    )

        def current(connection: Connection) -> int:
            found = connection.execute("SELECT to_regclass('schema_migrations')").fetchone()
            return _version(connection) if found and found[0] else 0

        version = self._attempts(current)
        migrate.check_version(version)
        if version < migrate.SCHEMA_VERSION:
            self._attempts(work)

    # --- transactions -----------------------------------------------------------------------------

    def write(self, work: Callable[[Tx], Result], *, settles: bool = False) -> Result:
        """Run `work` in a transaction and return when it is committed.

        `settles`: the work finds out by its key whether it was done before, so it may be repeated even
        after a commit whose outcome is unknown.
        """
        return self._attempts(lambda connection: self._transact(connection, work), settles)

    def _transact(self, connection: Connection, work: Callable[[Tx], Result]) -> Result:
        database = _PostgresDatabase(connection, "BEGIN", self._tenant)
        self._local.committing = False
        with connection.pipeline():
            result = work(Tx(database))
            self._local.committing = True
            database.end()
        self._local.committing = False
        return result

    _local = threading.local()

    def read(self, work: Callable[[Tx], Result], *, once: bool = False) -> Result:
        """Run `work` on one consistent snapshot; with `once`, on one for each batch of questions."""

        def snapshot(connection: Connection) -> Result:
            database = _PostgresDatabase(connection, _READ, self._tenant, once)
            with connection.pipeline():
                result = work(Tx(database))
                database.end()
            return result

        return self._attempts(snapshot)

    def _attempts(self, work: Callable[[Connection], Result], settles: bool = True) -> Result:
        """Run work on a connection, again and again while the server is away, until the time is up."""
        self._check_open()
        until = time.monotonic() + self._settings.lock_timeout
        pause = 0.01
        while True:
            committing = False
            try:
                return self._once(work)
            except _AGAIN as error:
                trouble: Exception = error
            except (*_LOST, PoolTimeout) as error:
                trouble = error
                committing = getattr(self._local, "committing", False)
                self._local.committing = False
            if committing and not settles:
                raise StoreError(
                    "outcome_unknown",
                    f"The connection was lost while committing: {_said(trouble)}",
                    "Repeat the call with a key, or look whether it was written.",
                ) from trouble
            if time.monotonic() + pause > until:
                raise _typed(trouble, self.url) from trouble
            # Writers that met once should not meet again in step.
            self._wait(pause * (0.5 + random.random()))  # noqa: S311
            pause = min(pause * 2, 1.0)

    _wait = staticmethod(time.sleep)

    def _once(self, work: Callable[[Connection], Result]) -> Result:
        connection = self._pool.getconn()
        try:
            try:
                return work(connection)
            except BaseException:
                if not connection.closed and connection.info.transaction_status:
                    _roll_back(connection)
                raise
        except psycopg.Error as error:
            if isinstance(error, (*_AGAIN, *_LOST)):
                raise
            raise _typed(error, self.url) from error
        finally:
            self._pool.putconn(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("store_closed", "The store was closed.", "Open it again.")

    # --- news -------------------------------------------------------------------------------------

    def relay(self, stop: threading.Event, interval: float = 0.1) -> None:
        """Tell listeners of new events until stopped: one process for all, not every transaction.

        A NOTIFY in each transaction makes commits wait for one another; this looks for news a few times
        a second instead. Of several relays one is at work, and another takes over when it goes.
        """
        last = 0
        with psycopg.connect(self._conninfo, autocommit=True) as connection:
            while not stop.is_set():
                held = connection.execute("SELECT pg_try_advisory_lock(%s)", (_RELAY_LOCK,)).fetchone()
                if held and held[0]:
                    row = connection.execute("SELECT last_value FROM events_id_seq").fetchone()
                    newest = int(row[0]) if row else 0
                    if newest != last:
                        connection.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, str(newest)))
                        last = newest
                stop.wait(interval)

    def news(self, timeout: float) -> Iterator[int]:
        """Positions of new events as the relay tells them, until nothing came for `timeout` seconds."""
        with psycopg.connect(self._conninfo, autocommit=True) as connection:
            connection.execute(f"LISTEN {_CHANNEL}")
            for note in connection.notifies(timeout=timeout):
                yield int(note.payload)

    # --- looking after the store ------------------------------------------------------------------

    def check(self) -> list[Problem]:
        """What the migrations say about the store; PostgreSQL looks after its files itself."""
        self._check_open()
        applied = self._attempts(_applied)
        return [Problem(kind="migration", detail=line) for line in migrate.check_applied("postgres", applied)]

    def files(self) -> tuple[str, ...]:
        """None: the store is a database."""
        return ()

    def backup(self, path: str) -> None:
        """A database is backed up by its own tools, or event by event."""
        raise _not_here("backup")

    def restore(self, path: str) -> str:
        """As `backup`."""
        raise _not_here("restore")

    def info(self) -> dict[str, Any]:
        """Facts about the store."""

        def work(connection: Connection) -> dict[str, Any]:
            row = connection.execute(
                "SELECT current_setting('server_version'), current_user, current_database(),"
                " pg_database_size(current_database())"
            ).fetchone() or ("", "", "", 0)
            return {
                "engine": f"PostgreSQL {row[0]}",
                "url": self.url,
                "schema": _version(connection),
                "bytes": row[3],
                "database": row[2],
                "role": row[1],
                "tenant": self._tenant,
            }

        return self._attempts(work)

    def close(self) -> None:
        """Let go of the connections; safe to call twice."""
        if not self._closed:
            self._closed = True
            self._pool.close()


def _roll_back(connection: Connection) -> None:
    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()  # the pool throws it away; the server has rolled back by itself


def _version(connection: Connection) -> int:
    row = connection.execute("SELECT max(version) FROM schema_migrations").fetchone()
    return row[0] or 0 if row else 0


def _applied(connection: Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT version, checksum FROM schema_migrations").fetchall())


def _fitted(connection: Connection, sql: str) -> Any:
    """A migration with the best collation of this server for finding words whatever their case."""
    known = {row[0] for row in connection.execute("SELECT collname FROM pg_collation").fetchall()}
    best = next((name for name in ("pg_c_utf8", "und-x-icu") if name in known), "C")
    return sql.replace("{words}", f'"{best}"')


def _prepared(settings: Settings) -> dict[str, Any]:
    return {} if settings.prepared_statements == "on" else {"prepare_threshold": None}


def _split_tenant(url: str, default: str) -> tuple[str, str]:
    """A URL without our own parameter `tenant`, and that tenant."""
    base, mark, query = url.partition("?")
    parts = [part.partition("=") for part in query.split("&") if part]
    given = [value for name, _, value in parts if name == "tenant"]
    rest = "&".join(f"{name}={value}" for name, _, value in parts if name != "tenant")
    tenant = checks.line("tenant", given[-1] if given else default, 200)
    return (f"{base}{mark}{rest}" if rest else base), tenant


def _without_password(url: str) -> str:
    return re.sub(r"(//[^:/@]*):[^@]*@", r"\1@", url)


def _said(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _not_here(what: str) -> StoreError:
    return StoreError(
        "not_supported",
        f"A PostgreSQL store has no {what} of its own.",
        "Use pg_dump and pg_restore, or copy the store into a SQLite file with store_copy.",
    )


def _typed(error: BaseException, url: str) -> BaseException:
    if isinstance(error, HoldfastError):
        return error
    if isinstance(error, (pg.ReadOnlySqlTransaction, pg.InsufficientPrivilege)):
        return StoreError(
            "store_readonly",
            f"{url} cannot be written: {_said(error)}",
            "Use a role that may write, and write in a write transaction.",
        )
    if isinstance(error, (pg.DiskFull, pg.InsufficientResources)):
        return StoreError(
            "store_full",
            f"There is no room left for {url}.",
            "Nothing was written and reading still works. Make room, then repeat the call.",
        )
    if isinstance(error, _AGAIN):
        return StoreError(
            "store_busy",
            f"{url} is in use by too many at once: {_said(error)}",
            "Nothing was written. Try again.",
        )
    return StoreError(
        "store_unavailable",
        f"{url} cannot be used: {_said(error)}",
        "Look whether the server runs, and whether the address, role and database are right.",
    )
