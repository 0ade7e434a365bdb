"""Migrations run once each, in order, whoever opens the store; an unknown or changed one stops the opening.

The package has one migration, so these tests add made-up later ones.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import apsw
import psycopg
import pytest

from ringbolt.store import migrate
from tests.packet.tasks import deployment
from tests.servers import fresh_database
from tests.support import contents, is_postgres, open_memory, path_of, refused, rows, run_python

# Each depends on the one before it: out of order they fail.
SECOND = "ALTER TABLE heads ADD COLUMN colour TEXT DEFAULT 'red'"
THIRD = "CREATE TABLE painted AS SELECT task_id, colour FROM heads"
BROKEN = f"{THIRD}; SELECT colour FROM nowhere"
# A program that opens a store and dies after its first migration, before the second one.
DYING = """
import os, sys
from ringbolt.store import migrate
from tests.processes import open_rooms

def dying(engine, version, pending=migrate.pending):
    for number, one in enumerate(pending(engine, version)):
        if number:
            os._exit(9)
        yield one

migrate.FOLDER, migrate.SCHEMA_VERSION, migrate.pending = sys.argv[2], 3, dying
open_rooms(sys.argv[1])
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path, worker_id):
    """A store of schema 1 in a database of its own, with a task in it."""
    if request.param == "sqlite":
        yield f"sqlite://{tmp_path}/store.db"
    else:
        server = request.getfixturevalue("postgres_server_url")
        with fresh_database(server, f"ringbolt_migrated_{worker_id}") as base:
            yield f"{base}&tenant=one"


@pytest.fixture
def before(url):
    """What the store contains before it is migrated."""
    with open_memory(url) as memory:
        deployment(memory)
        return contents(memory)


@pytest.fixture
def later(tmp_path, monkeypatch):
    """A function that adds made-up migrations after the real one."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.FOLDER, folder)
    monkeypatch.setattr(migrate, "FOLDER", str(folder))

    def add(*migrations: str):
        for number, sql in enumerate(migrations, 2):
            for engine in ("sqlite", "postgres"):
                (folder / engine / f"{number:04}_later.sql").write_text(sql)
        monkeypatch.setattr(migrate, "SCHEMA_VERSION", 1 + len(migrations))
        return folder

    return add


def applied(url: str) -> list[int]:
    """The migrations that a store has recorded."""
    return [row["version"] for row in rows(url, "SELECT version FROM schema_migrations ORDER BY version")]


def change(url: str, sql: str) -> None:
    """Change a store by plain SQL."""
    if is_postgres(url):
        with psycopg.connect(url.partition("&tenant=")[0]) as connection:
            connection.execute(sql)
    else:
        connection = apsw.Connection(path_of(url))
        connection.execute(sql)
        connection.close()


def test_both_engines_have_the_same_migrations_up_to_the_schema_version():
    for engine in ("sqlite", "postgres"):
        found = migrate.migrations(engine)
        assert [number for number, _, _ in found] == [*range(1, migrate.SCHEMA_VERSION + 1)]
        assert found[0][1] == migrate.FIRST


def test_an_older_store_is_migrated_when_it_is_opened(url, before, later):
    later(SECOND, THIRD)
    for _ in range(2):  # and only once
        with open_memory(url) as memory:
            assert memory.verify().problems == ()
            assert contents(memory) == before
            assert memory.store.info()["schema"] == 3
    assert applied(url) == [1, 2, 3]
    assert [row["colour"] for row in rows(url, "SELECT colour FROM heads")] == ["red"]


def test_migrations_are_added_one_after_the_other(url, before, later):
    for migrations in ((SECOND,), (SECOND, THIRD)):
        later(*migrations)
        with open_memory(url) as memory:
            assert contents(memory) == before
    assert applied(url) == [1, 2, 3]


def test_a_new_store_gets_every_migration(url, later):
    later(SECOND, THIRD)
    with open_memory(url) as memory:
        deployment(memory)
        assert memory.verify().problems == ()
    assert applied(url) == [1, 2, 3]


def test_a_migration_that_fails_leaves_nothing_behind(url, before, later):
    later(SECOND, BROKEN)
    with pytest.raises(Exception, match="nowhere"):
        open_memory(url)
    # On SQLite each migration commits by itself; on PostgreSQL all of an opening commit together.
    assert applied(url) == ([1] if is_postgres(url) else [1, 2])
    later(SECOND, THIRD)
    with open_memory(url) as memory:
        assert memory.verify().problems == ()
        assert contents(memory) == before
    assert applied(url) == [1, 2, 3]


def test_a_process_that_dies_between_migrations_leaves_a_store_that_opens(url, before, later):
    folder = later(SECOND, THIRD)
    assert run_python(DYING, url, str(folder), check=False).returncode == 9
    assert applied(url) == ([1] if is_postgres(url) else [1, 2])
    with open_memory(url) as memory:
        assert memory.verify().problems == ()
        assert contents(memory) == before
    assert applied(url) == [1, 2, 3]


def test_of_many_that_open_a_store_at_once_one_migrates_it(url, before, later):
    later(SECOND, THIRD)

    def read(_: int) -> tuple:
        with open_memory(url) as memory:
            return contents(memory)

    with ThreadPoolExecutor(8) as pool:
        assert set(map(repr, pool.map(read, range(8)))) == {repr(before)}
    assert applied(url) == [1, 2, 3]


def test_a_newer_store_is_not_opened(url, before, later, monkeypatch):
    later(SECOND)
    open_memory(url).close()
    monkeypatch.setattr(migrate, "SCHEMA_VERSION", 1)
    with refused(None, "schema_newer", naming="schema 2"):
        open_memory(url)
    assert applied(url) == [1, 2]


def test_a_store_made_by_another_migration_is_found_and_not_migrated(url, before, later):
    change(url, "UPDATE schema_migrations SET checksum = 'another' WHERE version = 1")
    with open_memory(url) as memory:  # it works, and `verify` says so
        assert [problem.kind for problem in memory.verify().problems] == ["migration"]
    later(SECOND)
    with refused(None, "migration_changed", naming=migrate.FIRST):
        open_memory(url)
    assert applied(url) == [1]
