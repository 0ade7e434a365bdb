"""A PostgreSQL store as its operator meets it: what is refused and why, and who waits for whom."""

from __future__ import annotations

import os

import psycopg
import pytest

from ringbolt.store import postgres
from tests.servers import ROLE, fresh_database
from tests.support import contents, open_memory, postgres_client, postgres_only, refused, rows

pytestmark = postgres_only


@pytest.fixture
def database(new_store_url, worker_id):
    """The name of a database for the test alone."""
    return f"ringbolt_own_{worker_id}_{os.getpid()}"


@pytest.fixture
def own_url(database, postgres_server_url):
    """The URL of a store in the database of the test alone."""
    with fresh_database(postgres_server_url, database) as url:
        yield f"{url}&tenant=t"


@pytest.fixture
def admin(database, own_url, postgres_server_url):
    """A superuser in the same database."""
    with psycopg.connect(postgres_server_url, dbname=database, autocommit=True) as connection:
        yield connection


def layout(url: str) -> list[dict]:
    """What an operator sees of a database: the columns of its tables and views."""
    return rows(
        url,
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " ORDER BY table_name, ordinal_position",
    )


# --- what cannot be opened --------------------------------------------------------------------------


def test_a_store_of_a_newer_version_is_refused_and_left_alone(own_url):
    with open_memory(own_url) as memory:
        task = memory.task_register("x").task_id
    with postgres_client(own_url) as client:
        client.execute("INSERT INTO schema_migrations VALUES (99, '0099_later', 'sum', '2027')")
    before = layout(own_url), rows(own_url, "SELECT * FROM schema_migrations")
    with refused(None, "schema_newer", naming="99") as caught:
        open_memory(own_url)
    assert "pgrade" in caught.value.hint
    assert caught.value.details["schema"] == 99
    assert (layout(own_url), rows(own_url, "SELECT * FROM schema_migrations")) == before
    with postgres_client(own_url) as client:
        client.execute("DELETE FROM schema_migrations WHERE version = 99")
    with open_memory(own_url) as memory:
        assert memory.task_get(task).name == "x"


def test_a_database_where_another_program_has_a_table_of_ours_is_refused_and_left_alone(own_url):
    with postgres_client(own_url) as client:
        client.execute("CREATE TABLE keys (id INTEGER)")  # which is made late in our migration
    with refused(None, "not_a_store", naming='"keys"'):
        open_memory(own_url)
    assert layout(own_url) == [{"table_name": "keys", "column_name": "id"}]


def test_tables_of_another_program_are_left_alone(own_url):
    with postgres_client(own_url) as client:
        client.execute("CREATE TABLE users AS SELECT 7 AS id")
    with open_memory(own_url) as memory:
        memory.task_register("x")
        assert memory.verify().ok
    assert rows(own_url, "SELECT * FROM users") == [{"id": 7}]


def test_a_server_that_is_too_old_is_refused(store_url, monkeypatch):
    monkeypatch.setattr(postgres, "OLDEST_SERVER", 99)
    with refused(None, "engine_too_old", naming="PostgreSQL 99"):
        open_memory(store_url)


# --- what an operator may want ----------------------------------------------------------------------


def test_a_backup_is_refused_and_the_tools_for_it_are_named(memory, task, tmp_path):
    user = memory.acting_as(channel="user")  # nobody else may restore, whatever the engine
    for call in (user.backup, user.restore):
        with refused(memory, "not_supported", naming=call.__name__) as caught:
            call(tmp_path / "copy.db")
        assert "pg_dump" in caught.value.hint
        assert "ringbolt store copy" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_role_reads_and_gets_a_reason_when_it_writes(own_url, admin):
    with open_memory(own_url) as memory:
        task = memory.task_register("Deploy", ["A"]).task_id
        before = contents(memory)
    reader = admin.info.dbname
    admin.execute(f"CREATE ROLE {reader} LOGIN PASSWORD 'test'")
    admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}")
    try:
        with open_memory(own_url.replace(f"//{ROLE}:", f"//{reader}:")) as memory:
            assert contents(memory) == before
            assert memory.verify().ok
            for write in (lambda: memory.task_update(task, "x"), lambda: memory.task_register("x")):
                with refused(memory, "store_readonly", naming="permission denied"):
                    write()
    finally:
        admin.execute(f"DROP OWNED BY {reader}")
        admin.execute(f"DROP ROLE {reader}")


# --- waiting for others -----------------------------------------------------------------------------


def test_a_write_waits_for_another_to_the_same_task_and_for_no_other(opened, store_url):
    memory = opened(store_url, lock_timeout=0.05)
    held = memory.task_register("held").task_id
    other = memory.task_register("other").task_id
    with postgres_client(store_url) as client:
        client.execute("SELECT task_id FROM heads WHERE task_id = %s FOR UPDATE", (held,))
        with refused(memory, "store_busy"):
            memory.task_update(held, "too long")
        assert memory.task_update(other, "at once").seq == 2
        assert memory.task_register("another").seq == 1
        assert memory.task_get(held).name == "held"  # readers wait for nobody
    assert memory.task_update(held, "now").seq == 2
    assert memory.verify().ok


def test_tenants_with_the_same_task_do_not_wait_for_one_another(opened, new_store_url, tmp_path):
    ours, theirs = new_store_url(), new_store_url()
    memory, there = opened(ours), opened(theirs, lock_timeout=0.05)
    task = memory.task_register("Deploy").task_id
    memory.export_events(tmp_path / "export.jsonl")
    there.import_events(tmp_path / "export.jsonl")
    with postgres_client(ours) as client:
        client.execute("SELECT task_id FROM heads FOR UPDATE")
        assert there.task_update(task, "at once").seq == 2
    assert memory.task_get(task).seq == 1
