"""The PostgreSQL engine: the same ledger for agents on many machines.

The queries are those of `tx.py`; this module connects, runs transactions, retries, and sets the tenant. Every
transaction sets the tenant, so this also works behind a pooler in transaction mode. Columns default to the
tenant and row-level security enforces it; no query mentions it. Statements are pipelined: a statement without
a result is sent with the next one that has one, or with the commit.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import re
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg import errors as pg
from psycopg import sql as composed
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from ..model import validate
from ..model.errors import InvalidInput, RingboltError, StoreError, shown
from ..model.results import Problem
from ..model.settings import Settings
from . import migrate
from .engine import Store
from .event_texts import index_terms, is_silent
from .locations import without_password
from .postgres_database import VECTOR_TYPE, Connection, PostgresDatabase, term_vector
from .postgres_pool import Pool
from .queries.search import Search
from .tx import Tx

Result = TypeVar("Result")

# The driver logs warnings about problems that we raise as errors anyway.
logging.getLogger("psycopg").addHandler(logging.NullHandler())
# The first version with security_invoker views.
OLDEST_SERVER = 15
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Whether the role owns the tables, and whether it may create tables.
_OWNS = "SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = CAST('events' AS regclass)"
_MAY_CREATE = "SELECT has_schema_privilege(current_schema(), 'CREATE')"
# What an application may do, as the owner grants it: read and write rows, but not change the migrations.
_GRANTS = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC, {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "REVOKE INSERT, UPDATE, DELETE ON {schema}.schema_migrations FROM {role}",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
    "GRANT EXECUTE ON FUNCTION {schema}.words_matching TO {role}",
)
# To erase forgotten content at once; older servers erase it at their next automatic vacuum.
_GRANTS_FROM_17 = ("GRANT MAINTAIN ON ALL TABLES IN SCHEMA {schema} TO {role}",)
# Vectors can be rebuilt from the events, so the column may be replaced.
_PREFER_PGVECTOR = f"""
DO $$ BEGIN
  IF NOT ({VECTOR_TYPE}) THEN RETURN; END IF;
  BEGIN
    CREATE EXTENSION IF NOT EXISTS vector;
  EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_file THEN
    NULL;  -- then the client compares
  END;
  IF to_regtype('halfvec') IS NOT NULL THEN
    TRUNCATE vectors, vector_models;
    ALTER TABLE vectors ALTER COLUMN vector TYPE halfvec USING CAST(NULL AS halfvec);
  END IF;
END $$
"""
_MIGRATION_LOCK = 0x484F4C45  # the name of an advisory lock: an arbitrary number
# Errors after which a transaction is repeated: it was rolled back and may succeed the next time. A unique
# violation means that another writer was first with a key or an id; the repetition finds its row. One that
# stays after several attempts is a real contradiction.
_MOST_COLLISIONS = 8
_RETRIED = (pg.SerializationFailure, pg.DeadlockDetected, pg.UniqueViolation)
# The server went away, is starting up, or has no connection left. Network errors have no SQLSTATE.
_LOST_STATES = ("08", "57P01", "57P02", "57P03", "57P05", "53300", "25P03")
# Messages of a server that will be back in a moment. Other errors while connecting (a wrong password,
# database or option) would only be repeated.
_TEMPORARY = re.compile(
    r"refused|no such file|starting up|shutting down|in recovery|not yet accepting|too many|remaining"
    r" connection|closed the connection|terminating connection|connection reset|timed? ?out|timeout"
    r"|broken pipe",
    re.IGNORECASE,
)
# How long opening a store waits for such a server. Not long: a wrong address looks the same.
_OPENING_SECONDS = 5.0
INDEX_PAGE = 500
# The tables from which forgetting and purging delete.
_SCRUBBED = (
    "events", "heads", "extras", "steps", "records", "labels", "files", "links", "claims", "keys", "words",
    "vectors", "past_rows", "distilled", "jobs", "learned_patterns",
)  # fmt: skip


class _CommitLost(Exception):
    """The connection was lost during a commit, so its outcome is unknown."""


class PostgresStore(Store):
    """A ledger in a PostgreSQL database."""

    def __init__(self, url: str, settings: Settings, create: bool = True) -> None:
        self._settings = settings
        self._create = create
        self._server, self._tenant = _parse(url, settings.tenant)
        self.url = without_password(url)
        self._first = {"tenant": self._tenant, "wait": f"{round(settings.lock_timeout * 1000)}ms"}
        self._inside = threading.local()
        self._opening = threading.Lock()
        self._open_pool()
        try:
            self._attempts(lambda: self._pooled(self._prepare), patience=_OPENING_SECONDS)
        except BaseException:
            self._pool.close()
            raise

    # --- opening ----------------------------------------------------------------------------------

    def _prepare(self, connection: Connection) -> None:
        """Check that the server and role are suitable, and migrate the schema."""
        if connection.info.server_version < OLDEST_SERVER * 10_000:
            raise StoreError(
                "engine_too_old",
                f"{self.url} is PostgreSQL {connection.info.server_version // 10_000}.",
                f"Ringbolt needs PostgreSQL {OLDEST_SERVER} or newer.",
            )
        if connection.info.parameter_status("server_encoding") != "UTF8":
            raise StoreError(
                "store_unavailable",
                f"{self.url} is a database in {connection.info.parameter_status('server_encoding')}.",
                "Use a database that was created with ENCODING 'UTF8'.",
            )
        role, unbound = _row(
            connection,
            "SELECT current_user, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user",
        )
        if unbound and self._settings.superuser != "allow":
            raise StoreError(
                "unsafe_role",
                f"The role {role} bypasses row-level security: it would see every tenant.",
                "Connect as a role without SUPERUSER and BYPASSRLS that owns the database, or, for a"
                " database of your own, set superuser to allow.",
            )
        version = _version(connection, self.url)
        migrate.check_version(version)
        if not version and not self._create:
            raise migrate.store_not_found(self.url)
        if version < migrate.SCHEMA_VERSION:
            if not _row(connection, _MAY_CREATE)[0]:
                raise StoreError(
                    "owner_needed",
                    f"The role {role} may not create or change the tables of {self.url}.",
                    f"Let the database's owner run: ringbolt --store URL-OF-THE-OWNER store grant {role}",
                )
            self._migrate(connection)

    def _migrate(self, connection: Connection) -> None:
        with connection.transaction():
            # One process migrates; the others wait here and then find nothing pending.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY,"
                " name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)"
            )
            version = _version(connection, self.url)
            migrate.check_version(version)
            migrate.check_applied("postgres", _applied(connection))
            for number, name, sql, checksum in migrate.pending("postgres", version):
                connection.execute(_fitted(connection, sql))
                connection.execute(
                    "INSERT INTO schema_migrations VALUES (%s, %s, %s, to_char(now() AT TIME ZONE 'UTC',"
                    ' \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\'))',
                    (number, name, checksum),
                )
            connection.execute(_PREFER_PGVECTOR)

    def _open_pool(self) -> None:
        options: dict[str, Any] = {**self._server, "autocommit": True}
        if self._settings.prepared_statements == "off":
            options["prepare_threshold"] = None
        self._pool = Pool(
            lambda: psycopg.connect(**options), self._settings.pool_size, self._settings.lock_timeout
        )

    def _own_pool(self) -> Pool:
        if self._pool.process != os.getpid():
            # After a fork the connections are the parent's; the child must not even close them.
            with self._opening:
                if self._pool.process != os.getpid():
                    _inherited.append(self._pool)
                    self._open_pool()
        return self._pool

    # --- transactions -----------------------------------------------------------------------------

    def write(
        self, work: Callable[[Tx], Result], *, settles: bool = False, patience: float | None = None
    ) -> Result:
        # Work is repeated when another writer won or the connection was lost.
        if self.catch_up is not None:
            self.catch_up()
        first = self._first if patience is None else {**self._first, "wait": f"{round(patience * 1000)}ms"}

        def transaction(connection: Connection) -> Result:
            database = PostgresDatabase(connection, _WRITE, first)
            try:
                with connection.pipeline():
                    result = work(Tx(database))
                    database.commit()
                return result
            except psycopg.Error as error:
                if database.committing and _lost(error):
                    raise _CommitLost(_message(error)) from error
                raise

        return self._transact(transaction, settles, patience, writing=True)

    def read(self, work: Callable[[Tx], Result], *, once: bool = False) -> Result:
        if self.catch_up is not None:
            self.catch_up()

        def snapshot(connection: Connection) -> Result:
            database = PostgresDatabase(connection, _READ, self._first, once)
            with contextlib.nullcontext() if once else connection.pipeline():
                result = work(Tx(database))
                database.commit()
            return result

        return self._transact(snapshot)

    def _transact(
        self,
        work: Callable[[Connection], Result],
        settles: bool = False,
        patience: float | None = None,
        writing: bool = False,
    ) -> Result:
        if getattr(self._inside, "now", False):
            raise RuntimeError("a transaction inside a write or a read would wait for itself")
        self._inside.now = True
        try:
            return self._attempts(lambda: self._pooled(work, writing), settles, patience)
        finally:
            self._inside.now = False

    def _pooled(self, work: Callable[[Connection], Result], writing: bool = False) -> Result:
        pool = self._own_pool()
        connection = pool.take(writing)
        if connection is None:
            use = "writing" if writing else "reading"
            raise StoreError(
                "store_busy",
                f"All of the {self._settings.pool_size} connections to {self.url} that are for {use} were in"
                " use.",
                "Nothing was written. Try again, or raise pool_size.",
            )
        try:
            return work(connection)
        except BaseException as error:
            _roll_back(connection, failed=isinstance(error, psycopg.Error))
            raise
        finally:
            pool.give_back(connection, writing)

    def _attempts(
        self, work: Callable[[], Result], settles: bool = False, patience: float | None = None
    ) -> Result:
        """Run work, and repeat it while the server is away or other writers win, until the time is up."""
        wait = self._settings.lock_timeout
        until = time.monotonic() + (wait if patience is None else min(wait, patience))
        pause, collisions = 0.005, 0
        while True:
            self._check_open()
            try:
                return work()
            except _CommitLost as error:
                if not settles:
                    raise StoreError(
                        "outcome_unknown",
                        f"The connection was lost while committing: {error}",
                        "Check whether it was written. Calls with a `key` are repeated safely by themselves.",
                    ) from error
                trouble: Exception = error
            except psycopg.Error as error:
                collisions += isinstance(error, pg.UniqueViolation)
                if collisions > _MOST_COLLISIONS or not (isinstance(error, _RETRIED) or _lost(error)):
                    raise self._typed(error) from error
                trouble = error
            if not isinstance(trouble, _RETRIED):
                self._own_pool().clear()  # the other connections are dead too
            if time.monotonic() + pause > until:
                raise self._typed(trouble) from trouble
            # Writers that collided must not collide again in step.
            time.sleep(pause * (0.5 + random.random()))  # noqa: S311
            pause = min(pause * 2, 0.5)

    # --- maintenance ------------------------------------------------------------------------------

    def check(self) -> list[Problem]:
        applied = self._transact(_applied)
        return [
            Problem(kind="migration", detail=line) for line in migrate.changed_migrations("postgres", applied)
        ]

    def waiting(self, tx: Tx) -> list[dict[str, Any]]:
        # Events are indexed as they are written; these are left over from an unfinished `reindex`.
        sql = "SELECT id FROM words_missing ORDER BY id DESC LIMIT :page"
        return Search(tx).texts(tx.column(sql, page=INDEX_PAGE))

    def index(self) -> None:
        def work(tx: Tx) -> bool:
            rows = self.waiting(tx)
            for row in rows:
                terms = [] if is_silent(row) else index_terms(row)
                tx.database.run(
                    "INSERT INTO words (id, terms) VALUES (:id, CAST(CAST(:terms AS text) AS tsvector))"
                    " ON CONFLICT DO NOTHING",
                    {"id": row["id"], "terms": term_vector(terms, self._tenant)},
                )
                tx.database.run("DELETE FROM words_missing WHERE id = :id", {"id": row["id"]})
            return bool(rows)

        while self.write(work, settles=True):
            pass

    def reindex(self) -> None:
        def work(tx: Tx) -> None:
            if tx.cell(_OWNS):
                tx.database.run(_PREFER_PGVECTOR, {})
            tx.database.run("DELETE FROM vectors", {})
            tx.database.run("DELETE FROM vector_models", {})
            tx.database.run("DELETE FROM words w USING events e WHERE w.id = e.id", {})
            tx.database.run("INSERT INTO words_missing (id) SELECT id FROM events ON CONFLICT DO NOTHING", {})

        self.write(work, settles=True)
        self.index()

    def grant(self, role: str) -> None:
        """Let another role use the store: it may read and write rows, and neither alter nor drop anything."""

        def work(connection: Connection) -> None:
            known = connection.execute(
                "SELECT rolsuper OR rolbypassrls, pg_has_role(rolname, (SELECT relowner FROM pg_class"
                " WHERE oid = CAST('events' AS regclass)), 'MEMBER') FROM pg_roles WHERE rolname = %s",
                (role,),
            ).fetchall()
            if not known:
                raise InvalidInput(
                    "invalid_argument", f"There is no role {shown(role)}.", "Make it first with CREATE ROLE."
                )
            if any(known[0]):
                raise StoreError(
                    "unsafe_role",
                    f"The role {role} is a superuser, bypasses row-level security, or owns the tables.",
                    "Name a role that is none of these.",
                )
            names = {"schema": _row(connection, "SELECT current_schema()")[0], "role": role}
            with connection.transaction():
                newer = connection.info.server_version >= 170_000
                for statement in (*_GRANTS, *(_GRANTS_FROM_17 if newer else ())):
                    connection.execute(
                        composed.SQL(statement).format(
                            **{key: composed.Identifier(name) for key, name in names.items()}
                        )
                    )

        self._transact(work)

    def scrub(self) -> bool:
        # The server's WAL and its replicas are out of our reach.
        self._transact(lambda connection: connection.execute(f"VACUUM {', '.join(_SCRUBBED)}"))
        return True

    def refresh_statistics(self) -> None:
        # Autovacuum would refresh the planner statistics only a minute later.
        def work(connection: Connection) -> None:
            with contextlib.suppress(pg.InsufficientPrivilege):
                connection.execute("ANALYZE")

        self._transact(work)

    def files(self) -> tuple[str, ...]:
        return ()

    def backup(self, path: str) -> None:
        raise self._not_here("backup")

    def restore(self, path: str) -> str:
        raise self._not_here("restore")

    def info(self) -> dict[str, Any]:
        def work(connection: Connection) -> dict[str, Any]:
            row = _row(
                connection,
                "SELECT current_setting('server_version'), current_user, current_database(),"
                " pg_database_size(current_database())",
            )
            return {
                "engine": f"PostgreSQL {row[0]}",
                "url": self.url,
                "schema": migrate.SCHEMA_VERSION,
                "bytes": row[3],
                "database": row[2],
                "role": row[1],
                "tenant": self._tenant,
            }

        return self._transact(work)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._pool.process == os.getpid():
                self._pool.close()

    def _not_here(self, what: str) -> StoreError:
        self._check_open()
        return StoreError(
            "not_supported",
            f"`{what}` does not work on a PostgreSQL store.",
            "Use pg_dump and pg_restore, or `ringbolt store copy` into a SQLite file.",
        )

    def _typed(self, error: BaseException) -> RingboltError:
        if isinstance(error, (pg.ReadOnlySqlTransaction, pg.InsufficientPrivilege)):
            return StoreError(
                "store_readonly",
                f"{self.url} cannot be written: {_message(error)}",
                "Use a role that may write, and the server that takes writes.",
            )
        if isinstance(error, (pg.DiskFull, pg.OutOfMemory)):
            return StoreError(
                "store_full",
                f"{self.url} has no room left: {_message(error)}",
                "Nothing was written and reading still works. Make room, then repeat the call.",
            )
        if isinstance(error, pg.LockNotAvailable):
            return StoreError(
                "store_busy",
                f"Another writer held a task of {self.url} for more than {self._settings.lock_timeout:g} s.",
                "Nothing was written. Try again, or raise lock_timeout.",
            )
        if isinstance(error, pg.CheckViolation):
            return StoreError(
                "store_unavailable",
                f"{self.url} rejected a row: {_message(error)}",
                "If the events are partitioned, make the next partition (docs/explanation/scale.md).",
            )
        if isinstance(error, (pg.DuplicateTable, pg.DuplicateObject)):
            return _foreign(self.url, _message(error))
        if isinstance(error, psycopg.IntegrityError):
            return migrate.contradicting_event(_message(error))
        if isinstance(error, (*_RETRIED, pg.QueryCanceled)):
            return StoreError(
                "store_busy",
                f"Too many writers at once on {self.url}: {_message(error)}",
                "Nothing was written. Try again.",
            )
        return StoreError(
            "store_unavailable",
            f"{self.url} cannot be used: {_message(error)}",
            "Check that the server runs and that the address, role and database are right.",
        )


# Pools of a parent process, kept because collecting them would close the parent's connections.
_inherited: list[Pool] = []


def _roll_back(connection: Connection, failed: bool) -> None:
    """Make a connection ready for the next transaction, or close it.

    After an error in a pipeline the driver may assume prepared statements that the server skipped, so such a
    connection is not used again.
    """
    status = connection.info.transaction_status
    if not failed and status == TransactionStatus.INTRANS:
        with contextlib.suppress(psycopg.Error):
            connection.execute("ROLLBACK")
            return
    if failed or status != TransactionStatus.IDLE:
        connection.close()  # the server rolls back


def _row(connection: Connection, sql: Any) -> tuple[Any, ...]:
    row = connection.execute(sql).fetchone()
    if row is None:
        raise StoreError("store_unavailable", "The server returned no row.", "Check the server's log.")
    return row


def _version(connection: Connection, url: str) -> int:
    """The schema version of the store; other programs also have a table schema_migrations."""
    if _row(connection, "SELECT to_regclass('schema_migrations')")[0] is None:
        return 0
    try:
        rows = connection.execute(
            "SELECT version, name, checksum FROM schema_migrations ORDER BY version"
        ).fetchall()
    except pg.UndefinedColumn:
        raise _foreign(url, "its table schema_migrations is not ours") from None
    if rows and rows[0][1] != migrate.FIRST:
        raise _foreign(url, f"its first migration is {rows[0][1]}")
    return rows[-1][0] if rows else 0


def _foreign(url: str, why: str) -> StoreError:
    return StoreError(
        "not_a_store",
        f"{url} is a database of another program: {why}.",
        "Use a database, or a schema named by search_path, of its own.",
    )


def _applied(connection: Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT version, checksum FROM schema_migrations").fetchall())


def _fitted(connection: Connection, sql: str) -> Any:
    """A migration with the server's best collation for matching words regardless of case."""
    known = {row[0] for row in connection.execute("SELECT collname FROM pg_collation").fetchall()}
    best = next((name for name in ("pg_c_utf8", "und-x-icu") if name in known), "C")
    return sql.replace("{words}", f'"{best}"')


def _parse(url: str, tenant: str) -> tuple[dict[str, Any], str]:
    """The connection parameters of a URL, and the tenant, which the URL may name."""
    base, mark, query = url.partition("?")
    rest: list[str] = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name == "tenant":
            tenant = unquote(value)
        elif part:
            rest.append(part)
    try:
        parameters = conninfo_to_dict(f"{base}{mark}{'&'.join(rest)}" if rest else base)
    except psycopg.Error:
        # The driver's message may contain the password.
        raise InvalidInput(
            "invalid_argument",
            f"{without_password(url)} is not the URL of a database.",
            "For example postgresql://user@host:5432/database?tenant=team; special characters in a name or"
            " password must be percent-encoded.",
        ) from None
    # These detect within a minute that a server has silently vanished.
    ours = {"connect_timeout": 5, "keepalives_idle": 20, "tcp_user_timeout": 60_000}
    return {**ours, "application_name": "ringbolt", **parameters}, validate.line("tenant", tenant, 200)


def _lost(error: psycopg.Error) -> bool:
    """Whether the connection was lost and may come back."""
    if error.sqlstate:
        return error.sqlstate.startswith(_LOST_STATES)
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return False
    message = str(error)
    connecting = message.startswith(("connection failed", "connection is bad", "connection timeout"))
    return not connecting or bool(_TEMPORARY.search(message))


def _message(error: BaseException) -> str:
    """The message of an error, in one line."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return primary or (str(error).strip() or type(error).__name__).splitlines()[0]
