"""Short helpers that many tests share: a clock, opening a memory, refusals, and looking into a store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import apsw
import psycopg
import pytest
from hypothesis import settings
from psycopg.rows import dict_row

from ringbolt import RingboltError, TaskMemory
from ringbolt.model.errors import CODES, StoreError
from tests.processes import START as START
from tests.processes import Clock as Clock
from tests.processes import as_tests_want

NOON = "2026-03-01T12:00:00.000Z"
# For tests that are about what only one engine has: files and backups, or roles and tenants.
sqlite_only = pytest.mark.parametrize("new_store_url", ["sqlite"], indirect=True)
postgres_only = pytest.mark.parametrize("new_store_url", ["postgres"], indirect=True)


def examples(few: int) -> int:
    """How many examples to try of a property whose examples are slow; more in the thorough profile."""
    return few * 10 if settings.get_current_profile_name() == "thorough" else few


def open_memory(url, clock=None, **options) -> TaskMemory:
    """A memory as the tests want it: a workspace, a session, an agent, and a clock that stands still."""
    return TaskMemory.open(url, **as_tests_want(clock, **options))


def until(condition) -> None:
    """Look again and again until a condition holds that other processes bring about.

    The time limit of the test ends what never does.
    """
    while not condition():
        time.sleep(0.01)


def once_free(call):
    """Call again and again until nobody else holds the store.

    A process that is busy with something else may hold it a moment longer than a test's short limit.
    """
    while True:
        try:
            return call()
        except StoreError as error:
            if error.code != "store_busy":
                raise


def all_at_once(works) -> list:
    """Call each in a thread, and return what each returned or raised."""
    results: list = [None] * len(works)
    together = threading.Barrier(len(works))

    def run(number: int) -> None:
        together.wait(100)
        try:
            results[number] = works[number]()
        except BaseException as error:  # noqa: BLE001 - it is judged by the test
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def is_postgres(place) -> bool:
    """Whether a store's path or URL is that of a PostgreSQL database."""
    return str(place).startswith("postgresql://")


def path_of(url: str) -> str:
    """The file of an SQLite URL."""
    assert url.startswith("sqlite://")
    return url.removeprefix("sqlite://")


def server_and_tenant(url: str) -> tuple[str, str]:
    """What a plain client of a PostgreSQL store wants to know: the server's URL, and whose rows."""
    server, separator, tenant = url.partition("&tenant=")
    assert separator
    return server, tenant


@contextmanager
def postgres_client(url: str):
    """A plain SQL client of a PostgreSQL store, in a transaction, with the library's role and tenant."""
    server, tenant = server_and_tenant(url)
    with psycopg.connect(server, row_factory=dict_row) as connection:
        connection.execute("SELECT set_config('ringbolt.tenant', %s, false)", (tenant,))
        yield connection


def contents(memory: TaskMemory) -> tuple:
    """Everything that a store holds: all events, and every task as it stands."""
    events = tuple(memory.events())
    ids = sorted({event.task_id for event in events})
    return events, tuple(memory.task_get(task_id) for task_id in ids)


def newest(memory: TaskMemory) -> int:
    """The place of the newest event of a store: whatever is written moves it."""
    return memory.store.read(lambda tx: tx.last_position())


def complaint(error: Exception) -> str | None:
    """What is wrong with an error: it is none of ours, or it cannot be shown or sent."""
    if not isinstance(error, RingboltError):
        return type(error).__name__
    try:
        str(error).encode()
        json.dumps(error.to_dict())
    except (TypeError, ValueError) as problem:
        return f"cannot be shown: {type(problem).__name__}"
    return None


@contextmanager
def refused(memory: TaskMemory | None, code: str, *, naming: str = ""):
    """The block must raise the error with this code and write nothing (hints: unit/test_types.py)."""
    before = contents(memory) if memory else None
    with pytest.raises(RingboltError) as caught:
        yield caught
    error = caught.value
    shown = ascii(str(error))
    assert error.code == code, shown
    assert error.code in CODES
    assert error.message
    assert naming in str(error), shown
    assert complaint(error) is None, shown
    if memory:
        assert contents(memory) == before, shown


def rows(place, sql: str, *args) -> list[dict]:
    """What a plain SQL client sees of the store at a path or URL, as dicts; each `?` is an argument."""
    if is_postgres(place):
        with postgres_client(place) as client:
            client.execute("SET TRANSACTION READ ONLY")
            return client.execute(sql.replace("%", "%%").replace("?", "%s"), args).fetchall()
    path = str(place).removeprefix("sqlite://")
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        cursor = connection.execute(sql, args)
        return [dict(zip([c[0] for c in cursor.description], row, strict=True)) for row in cursor]
    finally:
        connection.close()


def foreign_database(path, version: int = 0, sql: str = "CREATE TABLE users (id)"):
    """An SQLite database of another program; returns its path."""
    connection = apsw.Connection(str(path))
    connection.execute(f"{sql}; PRAGMA user_version = {version}").fetchall()
    connection.close()
    return path


def run_python(code: str, *args: str, check: bool = True, **environ: str) -> subprocess.CompletedProcess:
    """Run a piece of Python in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        env={**os.environ, **environ},
        timeout=60,
        check=False,
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done


_HOLD = """
import os, sys
from ringbolt.system import os_calls
os_calls.lock(os_calls.open_file(sys.argv[1], os.O_RDWR), wait=True)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def write_held(url: str):
    """Another client keeps writers waiting for the length of the block, and changes nothing.

    An SQLite store has one writer at a time. On PostgreSQL each task has: here all that are there, and for
    those that are not there yet someone builds an index.
    """
    if not is_postgres(url):
        with lock_held(path_of(url)):
            yield
        return
    with postgres_client(url) as client:
        client.execute("SELECT task_id FROM heads FOR UPDATE")
        client.execute("LOCK TABLE heads IN SHARE MODE")
        yield


@contextmanager
def lock_held(path: str):
    """Another process holds the lock of an SQLite store for the length of the block."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, f"{path}.lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.stdin.close()
        holder.wait(timeout=100)
        holder.stdout.close()


def nested(depth: int) -> list:
    """A list in a list in a list …"""
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


# Values that are hard to handle: str() refuses the first, repr() the second.
HUGE = 10**5000
DEEP = nested(10_000)
LONG = "x" * 10_000


def export_lines(memory: TaskMemory, path) -> list[str]:
    """The lines of an export."""
    memory.export_events(path)
    return path.read_text(encoding="utf-8").splitlines(keepends=True)
