"""The SQLite engine: one file, many processes, and a commit that is on disk when a call returns.

Writers queue. The first thread becomes the leader: it takes the process lock, runs its own work and
everything that has queued up behind it, each job in a savepoint, and commits once for all. One fsync serves
many writers, and a lone writer pays nothing for it. Readers have their own connections and never wait for
writers.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# apsw's own type hints name a class that Python 3.11 does not have.

from __future__ import annotations

import os
import time
from _thread import LockType, allocate_lock, get_ident
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

import apsw

from ..model import validate
from ..model.errors import InvalidInput, StoreError
from ..model.results import Problem
from ..model.settings import Settings
from ..system import os_calls
from . import migrate
from .engine import Store
from .event_texts import index_words, is_silent
from .lock import ProcessLock
from .queries.search import Search
from .sqlite_database import SqliteDatabase, single_value
from .sqlite_errors import TypedErrors, foreign_database, typed
from .tx import Tx

Result = TypeVar("Result")

APPLICATION_ID = 0x52494E47  # "RING"
# Older versions can lose committed pages when a checkpoint coincides with a reset of the WAL.
OLDEST_ENGINE = (3, 51, 3)
MOST_IN_A_COMMIT = 256
# A checkpoint is due when the WAL has this many pages.
WAL_PAGES = 1000
# The same at the first commit of a process. Opening a store reads the whole WAL, so processes that write once
# and exit keep it shorter.
FIRST_WAL_PAGES = 200
CHECKPOINT_WAIT_MS = 200
CLOSING_SECONDS = 2.0
INDEX_BATCH, INDEX_PAGE = 64, 1000
INDEX_NOW = -1  # for `_index_at`: index everything that waits at the next commit

# Every open store, by its identity; a forked child gives each new connections.
_stores: dict[int, ref[SqliteStore]] = {}
# Connections that must be neither used nor closed: a parent's after a fork (closing one would drop the
# parent's POSIX locks), and those whose commit failed halfway. Kept here so that they are not
# garbage-collected.
_abandoned: list[apsw.Connection] = []


class _Job:
    """A piece of work in the queue. Its thread sleeps on `turn` until the work is done or it must lead."""

    __slots__ = ("deadline", "done", "error", "result", "turn", "work")

    def __init__(self, work: Callable[[Tx], Any], deadline: float) -> None:
        self.work = work
        self.deadline = deadline
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.turn: LockType | None = None

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result


class SqliteStore(Store):
    """A ledger in one SQLite file."""

    def __init__(self, path: str, settings: Settings, create: bool = True) -> None:
        _check_engine()
        self._settings = settings
        self.path = validate.path("the store", path)
        self.url = f"sqlite:///{self.path.lstrip('/')}"
        self._reset()
        if not create and not os.path.exists(self.path):
            raise migrate.store_not_found(self.url)
        with TypedErrors(self.path):
            _make_file(self.path)
        self._use(self._connect_for_writing())
        place = id(self)
        _stores[place] = ref(self, lambda _: _stores.pop(place, None))
        self._keep_reserve()

    def _use(self, connection: apsw.Connection) -> None:
        self._wal_pages = 0
        self._checkpoint_at = FIRST_WAL_PAGES
        self._index_at = 0  # the first write counts the waiting events
        connection.set_wal_hook(self._note_wal)
        self._writer = connection
        self._writer_tx = Tx(SqliteDatabase(connection))

    def _reset(self) -> None:
        self._mutex = allocate_lock()
        self._queue: deque[_Job] = deque()
        self._leading = False
        self._leader = 0
        self._readers: list[tuple[apsw.Connection, Tx]] = []

    # --- opening ----------------------------------------------------------------------------------

    def _connect_for_writing(self) -> apsw.Connection:
        try:
            return self._connect_and_migrate()
        except StoreError as error:
            # On a full disk even reading fails: SQLite needs room for the index of the WAL.
            if error.code not in ("store_full", "store_unavailable") or not self._spend_reserve():
                raise
        return self._connect_and_migrate()

    def _connect_and_migrate(self) -> apsw.Connection:
        with TypedErrors(self.path):
            connection = self._connect()
            lock = None
            try:
                version = self._schema(connection)
                migrate.check_version(version)
                # Only now, so that a file that is not a store gets no lock files beside it.
                self._lock = lock = ProcessLock(self.path, self._settings.lock_timeout)
                if version < migrate.SCHEMA_VERSION:
                    self._migrate(connection)
                elif single_value(connection, "PRAGMA journal_mode") != "wal":  # a backup, opened as a store
                    self._lock.acquire()
                    try:
                        connection.execute("PRAGMA journal_mode = WAL").fetchall()
                    finally:
                        self._lock.release()
            except BaseException:
                # Leave no WAL file beside a database that is not ours.
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
                connection.close()
                if lock is not None:
                    lock.close()
                raise
            return connection

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(round(self._settings.lock_timeout * 1000))
        # Short-lived processes must not checkpoint at every exit; writers do it when it is due.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # Parameters must not influence plans. Otherwise SQLite prepares a query again for each new value that
        # a partial index or statistics might depend on, which takes ten times as long as running it.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.execute(
            f"PRAGMA synchronous = {self._settings.synchronous}; PRAGMA foreign_keys = ON;"
            # Of effect on macOS only, where a plain fsync leaves the data in the drive's cache.
            "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
            " PRAGMA wal_autocheckpoint = 0; PRAGMA trusted_schema = OFF"
        ).fetchall()
        return connection

    def _schema(self, connection: apsw.Connection, path: str = "") -> int:
        version = single_value(connection, "PRAGMA user_version")
        if version == 0:
            if single_value(connection, "SELECT count(*) FROM sqlite_schema"):
                raise foreign_database(path or self.path)
            return 0
        if single_value(connection, "PRAGMA application_id") != APPLICATION_ID:
            raise foreign_database(path or self.path)
        return version

    def _migrate(self, connection: apsw.Connection) -> None:
        self._lock.acquire()
        try:
            version = self._schema(connection)  # another process may have been faster
            if version == 0:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            else:
                migrate.check_applied("sqlite", _applied(connection))
            for number, name, sql, checksum in migrate.pending("sqlite", version):
                with connection:
                    connection.execute(
                        f"PRAGMA application_id = {APPLICATION_ID};"
                        f"PRAGMA user_version = {number};"
                        "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY,"
                        " name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)"
                    ).fetchall()
                    connection.execute(sql).fetchall()
                    connection.execute(
                        "INSERT INTO schema_migrations VALUES"
                        " (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
                        (number, name, checksum),
                    )
        finally:
            self._lock.release()

    # --- writing ----------------------------------------------------------------------------------

    def write(
        self, work: Callable[[Tx], Result], *, settles: bool = False, patience: float | None = None
    ) -> Result:
        if self.catch_up is not None:
            self.catch_up()
        wait = self._settings.lock_timeout if patience is None else patience
        job = _Job(work, time.monotonic() + wait)
        if self._leader == get_ident():
            raise RuntimeError("a write inside a write would wait for itself forever")
        with self._mutex:
            if leads := not self._leading:
                self._leading = True
            else:
                job.turn = allocate_lock()
                job.turn.acquire()
                self._queue.append(job)
        if not leads and job.turn is not None:
            job.turn.acquire()
        if not job.done:
            self._lead(job)
        return job.outcome()

    def _lead(self, own: _Job) -> None:
        """Commit our own job and all queued ones, then pass the lead to one that came too late.

        Only one thread leads at a time: `_leading` stays true from the first arrival until a leader finds
        the queue empty. A follower never needs to check whether the leader has died, because everything
        here ends with waking the batch and the next leader, whatever the commit raised.
        """
        batch = [own]
        self._leader = get_ident()
        try:
            self._commit(batch)
        except BaseException as error:  # noqa: BLE001 - each caller gets it from outcome()
            for job in batch:
                job.error = error
        self._leader = 0
        with self._mutex:
            following = self._queue.popleft() if self._queue else None
            self._leading = following is not None
        # Set `done` before waking: a woken thread that finds it false takes the lead itself.
        for job in batch:
            job.done = True
            if job is not own and job.turn is not None:
                job.turn.release()
        if following is not None and following.turn is not None:
            following.turn.release()

    def _commit(self, batch: list[_Job]) -> None:
        """Run a batch in one transaction. Jobs are added to `batch` until the transaction ends."""
        self._check_open()
        with TypedErrors(self.path):
            # The leader's own deadline, which began when it queued, not when it got the lead.
            self._lock.acquire(max(0.001, batch[0].deadline - time.monotonic()))
            mark = None
            try:
                connection = self._writer
                connection.execute("BEGIN IMMEDIATE")
                try:
                    self._run(batch)
                    mark = self._writer_tx.last_position()
                    if mark >= self._index_at:
                        self._index_at = self._index_waiting(connection, mark) + INDEX_BATCH
                    self._end(connection)
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                self._checkpoint_if_due(connection)
            finally:
                self._lock.release(mark)

    def _run(self, batch: list[_Job]) -> None:
        """Run our own job and all queued ones: a lone one directly, several each in a savepoint.

        A savepoint costs two statements, so a lone writer goes without. With several, it undoes a job that
        fails and leaves the others in the transaction. Some failures (a full disk, an I/O error) make
        SQLite roll back the whole transaction; then the savepoints are gone and the batch fails together.
        """
        with self._mutex:
            batch.extend(self._queue)
            self._queue.clear()
        if len(batch) == 1:
            batch[0].result = batch[0].work(self._writer_tx)
            return
        execute = self._writer.execute
        for job in batch:
            execute("SAVEPOINT job")
            try:
                job.result = job.work(self._writer_tx)
                execute("RELEASE job")
            except BaseException as error:
                if not self._writer.in_transaction:  # SQLite rolled back everything itself
                    raise
                execute("ROLLBACK TO job; RELEASE job").fetchall()
                if not isinstance(error, Exception):
                    raise
                job.error = typed(error, self.path)
            if job is batch[-1] and len(batch) < MOST_IN_A_COMMIT:
                with self._mutex:  # jobs that arrived in the meantime join this commit: `for` sees them
                    batch.extend(self._queue)
                    self._queue.clear()

    def _end(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.IOError as error:
            # The WAL may or may not have reached the disk. Only a new connection can tell.
            _abandoned.append(connection)
            self._use(self._connect())
            raise StoreError(
                "outcome_unknown",
                f"The disk failed while committing: {error}.",
                "Repeat the call with the same key: it is written exactly once.",
            ) from None

    def _index_waiting(self, connection: apsw.Connection, newest: int) -> int:
        """Add waiting events to the full-text index, once there are enough; returns the last one indexed.

        Indexing each event as it is written would make a write half as expensive again, because FTS5 writes
        a segment of its index at each commit. Searches scan the waiting events directly.
        """
        after: int = single_value(connection, "SELECT up_to FROM words_mark")
        # Another process has indexed them, or this process has just started.
        if newest - after < INDEX_BATCH and self._index_at != INDEX_NOW:
            return after

        while rows := Search(self._writer_tx).texts_after(after, INDEX_PAGE):
            connection.executemany(
                # REPLACE, because the mark can be behind the index, as in a repaired store.
                "INSERT OR REPLACE INTO words (rowid, body) VALUES (?, ?)",
                [(row["id"], index_words(row)) for row in rows if not is_silent(row)],
            )
            after = rows[-1]["id"]
        connection.execute("UPDATE words_mark SET up_to = ?", (after,))
        return after

    def _note_wal(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint_if_due(self, connection: apsw.Connection) -> None:
        """Checkpoint the WAL when it is long, so that SQLite reuses it from the start.

        We hold the process lock, so no other writer interferes. A reader with an old snapshot keeps the WAL
        from being reused; a writer waits for readers only when the WAL has grown past `wal_limit_bytes`, and
        then only briefly.
        """
        due, self._checkpoint_at = self._checkpoint_at, max(self._checkpoint_at, WAL_PAGES)
        if self._wal_pages < due:
            return
        self._checkpoint_at = self._wal_pages + WAL_PAGES
        far = self._wal_size() > self._settings.wal_limit_bytes
        # How far a checkpoint came is lost when the last process closes the store, so processes that write
        # once truncate the WAL.
        cut = far or due < WAL_PAGES
        connection.set_busy_timeout(CHECKPOINT_WAIT_MS if far else 0)
        try:
            connection.wal_checkpoint(
                mode=apsw.SQLITE_CHECKPOINT_TRUNCATE if cut else apsw.SQLITE_CHECKPOINT_PASSIVE
            )
            self._checkpoint_at = WAL_PAGES
        except (apsw.BusyError, apsw.FullError, apsw.IOError):
            return  # committed data is safe in the WAL; a later commit tries again
        finally:
            connection.set_busy_timeout(round(self._settings.lock_timeout * 1000))

    def _wal_size(self) -> int:
        try:
            return os.stat(self.path + "-wal").st_size
        except FileNotFoundError:
            return 0

    # --- reading ----------------------------------------------------------------------------------

    def read(self, work: Callable[[Tx], Result], *, once: bool = False) -> Result:
        self._check_open()
        if self.catch_up is not None:
            self.catch_up()
        with TypedErrors(self.path):
            try:
                connection, tx = self._readers.pop()
            except IndexError:
                connection = self._connect()
                connection.execute("PRAGMA query_only = ON")
                # SQLite's own function only handles ASCII.
                connection.create_scalar_function("lower", _lower, 1, deterministic=True)  # pyright: ignore[reportArgumentType]
                tx = Tx(SqliteDatabase(connection))
            try:
                connection.execute("BEGIN")
                result = work(tx)
            except apsw.Error:
                connection.close()
                raise
            except BaseException:
                connection.execute("ROLLBACK")
                self._readers.append((connection, tx))
                raise
            connection.execute("COMMIT")
            self._readers.append((connection, tx))
            return result

    # --- maintenance ------------------------------------------------------------------------------

    def check(self) -> list[Problem]:
        self._check_open()
        problems: list[Problem] = []
        connection = self._connect()
        try:
            with TypedErrors(self.path):
                for (line,) in connection.execute("PRAGMA integrity_check(20)"):
                    if line != "ok":
                        problems.append(Problem(kind="file", detail=str(line)))
                problems += [
                    Problem(kind="foreign_key", detail=str(row))
                    for row in connection.execute("PRAGMA foreign_key_check")
                ]
                applied = _applied(connection)
                newest = single_value(connection, "SELECT max(id) FROM events") or 0
        finally:
            connection.close()
        problems += [
            Problem(kind="migration", detail=line) for line in migrate.changed_migrations("sqlite", applied)
        ]
        if (mark := self._lock.mark()) > newest:
            problems.append(
                Problem(
                    kind="lost_tail", detail=f"event {mark} was committed, but the newest one is {newest}"
                )
            )
        return problems

    def backup(self, path: str) -> None:
        self._check_open()
        target = validate.path("the backup", path)
        if target in self.files():
            raise InvalidInput(
                "invalid_argument", f"{target} is the store itself.", "Name another file for the backup."
            )
        part = f"{target}.part"
        with TypedErrors(target):
            if os.path.exists(part):  # left behind by a killed backup
                os.unlink(part)
            _make_file(part)
            try:
                copy = apsw.Connection(part)
                source = self._connect()
            except BaseException:
                os.unlink(part)
                raise
            try:
                with copy.backup("main", source, "main") as run:
                    run.step(-1)  # all pages from one snapshot, so writers cannot make it start over
                copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            finally:
                source.close()
                copy.close()
            _sync(part)
            _put_in_place(part, target)

    def restore(self, path: str) -> str:
        # SQLite's backup API does this in one transaction: processes that have the store open see the
        # restored content, and none keeps writing to a file that is no longer the store.
        self._check_open()
        path = validate.path("the backup", path)
        kept = f"{self.path}.before-restore"
        number = 0
        while os.path.exists(kept):
            number += 1
            kept = f"{self.path}.before-restore-{number}"
        with TypedErrors(path):
            source = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
            try:
                if not (version := self._schema(source, path)):
                    hint = "Name a file made by `ringbolt backup`."
                    raise StoreError("not_a_store", f"{path} is not a backup of a store.", hint)
                migrate.check_version(version)
                self.backup(kept)
                self._lock.acquire()
                try:
                    with self._writer.backup("main", source, "main") as run:
                        run.step(-1)
                    self._writer.execute("PRAGMA journal_mode = WAL").fetchall()
                finally:
                    self._lock.release(self._writer_tx.last_position())
            finally:
                source.close()
        if self._schema(self._writer) < migrate.SCHEMA_VERSION:
            self._migrate(self._writer)
        return kept

    def waiting(self, tx: Tx) -> list[dict[str, Any]]:
        return Search(tx).texts_after(tx.cell("SELECT up_to FROM words_mark"), INDEX_PAGE)

    def index(self) -> None:
        def work(_: Tx) -> None:
            self._index_at = INDEX_NOW

        self.write(work)

    def reindex(self) -> None:
        def work(_: Tx) -> None:
            self._writer.execute("DELETE FROM vectors")
            self._writer.execute("DELETE FROM vector_models")
            self._writer.execute("INSERT INTO words (words) VALUES ('delete-all')")
            self._writer.execute("UPDATE words_mark SET up_to = 0")
            self._index_at = INDEX_NOW

        self.write(work)

    def scrub(self) -> bool:
        # Free pages, partly free pages and deleted entries of the full-text index would otherwise keep the
        # content. A reader can prevent it.
        self._check_open()
        with TypedErrors(self.path):
            # A lock of its own, so that this process's writers wait for it like any others.
            lock = ProcessLock(self.path, self._settings.lock_timeout)
            connection = self._connect()
            try:
                lock.acquire()
                try:
                    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
                    connection.execute("VACUUM")
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                    return True
                except apsw.BusyError:
                    return False
                finally:
                    lock.release()
            finally:
                connection.close()
                lock.close()

    def grant(self, role: str) -> None:
        raise InvalidInput(
            "invalid_argument",
            f"{self.url} is a file, and files have no roles.",
            "Name a postgresql:// URL with --store. A file belongs to the user who made it.",
        )

    def refresh_statistics(self) -> None:
        """Nothing to do: the planner statistics are fixed in the schema."""

    def files(self) -> tuple[str, ...]:
        return tuple(self.path + end for end in ("", "-wal", "-shm", ".lock", ".gate", ".reserve"))

    def info(self) -> dict[str, Any]:
        return {
            "engine": f"SQLite {apsw.sqlite_lib_version()}",
            "url": self.url,
            "schema": migrate.SCHEMA_VERSION,
            "bytes": os.stat(self.path).st_size,
            "log_bytes": self._wal_size(),
            "reserve_bytes": _size(self.path + ".reserve"),
        }

    def _keep_reserve(self) -> None:
        """Keep a file of `reserve_bytes`; it is deleted when the disk is full, so that reading still
        works."""
        path = self.path + ".reserve"
        wanted = self._settings.reserve_bytes
        if not wanted or _size(path) >= wanted:
            return
        try:
            file = os_calls.open_file(path, os.O_WRONLY | os.O_CREAT)
            try:
                os_calls.reserve(file, wanted)
            finally:
                os.close(file)
        except OSError:
            self._spend_reserve()  # on a full disk, part of a reserve only wastes space

    def _spend_reserve(self) -> bool:
        try:
            os.unlink(self.path + ".reserve")
        except OSError:
            return False
        return True

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        _stores.pop(id(self), None)
        readers, self._readers = self._readers, []
        for connection, _ in readers:
            connection.close()
        until = time.monotonic() + CLOSING_SECONDS
        while self._leading and time.monotonic() < until:
            time.sleep(0.002)  # a daemon thread is still writing
        if not self._leading:
            self._writer.close()
            self._lock.close()

    def abandon_after_fork(self) -> None:
        """In a forked child: open new connections and leave the parent's alone."""
        _abandoned.append(self._writer)
        _abandoned.extend(connection for connection, _ in self._readers)
        self._reset()
        self._lock.reopen_after_fork()
        self._use(self._connect())


def _lower(text: Any) -> Any:
    # Letter by letter, as PostgreSQL does. İ is the only letter whose lower case is two characters.
    return None if text is None else "".join("i" if letter == "İ" else letter.lower() for letter in text)


def _after_fork() -> None:
    for known in list(_stores.values()):
        if (store := known()) is not None:
            store.abandon_after_fork()


os_calls.after_fork(_after_fork)


def _applied(connection: apsw.Connection) -> dict[int, str]:
    rows: list[Any] = connection.execute("SELECT version, checksum FROM schema_migrations").fetchall()
    return dict(rows)


def _check_engine() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_ENGINE:
        raise StoreError(
            "engine_too_old",
            f"SQLite {apsw.sqlite_lib_version()} can lose committed data.",
            "Install apsw 3.51.3 or newer.",
        )


def _make_file(path: str) -> None:
    """Create an empty file readable by its owner only; SQLite would create it with wider permissions."""
    os_calls.make_private_folders(os.path.dirname(path))
    if not os.path.exists(path):
        os.close(os_calls.open_file(path, os.O_RDWR | os.O_CREAT, follow=True))


def _put_in_place(part: str, target: str) -> None:
    try:
        os_calls.replace(part, target)
    except OSError:
        os.unlink(part)
        raise
    os_calls.sync_folder(os.path.dirname(target))


def _sync(path: str) -> None:
    file = os_calls.open_file(path, os.O_RDWR if os_calls.IS_WINDOWS else os.O_RDONLY, follow=True)
    try:
        os_calls.sync(file)
    finally:
        os.close(file)


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0
