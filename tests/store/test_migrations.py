"""An older store is brought up to date when it is opened, and is then as if it had always been new."""

from __future__ import annotations

import apsw
import psycopg
import pytest

from ringbolt.store.migrate import SCHEMA_VERSION, migrations
from tests.packet.tasks import deployment, long_plan
from tests.servers import fresh_database
from tests.support import NOON, contents, open_memory, path_of, rows, server_and_tenant

# What each migration since the first added: undoing these by hand gives a store of that age.
ADDED = {
    2: [
        f"ALTER TABLE {table} DROP COLUMN {column}"
        for table, columns in {
            "heads": "name_seq next_seq blockers_seq attention_seq",
            "extras": "goal_seq",
            "steps": "title_seq note_seq issue_seq",
        }.items()
        for column in columns.split()
    ],
    3: ["DROP TABLE words", "DROP INDEX events_by_time", "DROP TABLE {waiting}"],
    4: ["DROP TABLE vectors", "DROP TABLE vector_models"],
    5: ["DROP TABLE distilled", "DROP TABLE jobs", "DROP TABLE spending"],
    6: [
        "DROP VIEW wait_jobs",  # made anew, with the changes that a wait has seen
        # What Ringbolt itself wrote made a task look alive.
        "UPDATE heads SET updated_at = (SELECT max(timestamp) FROM events e WHERE e.task_id = heads.task_id)",
    ],
}
OLDER = range(1, SCHEMA_VERSION)


def fill(memory) -> None:
    """Tasks in which every text was set, changed and cleared."""
    task = deployment(memory)
    memory.task_item_update(task, "run", note="a note", active_issue="an issue", title="Another title")
    memory.acting_as(channel="web").task_update(task, name="Renamed", goal="g", attention="look", next="x")
    memory.task_update(task, next="", blockers=[])
    other = long_plan(memory, 12)
    memory.task_plan_replace(other, ["Convert table number 1", "Something else"])
    memory.task_register("Without anything")
    memory._clock.forward(60)
    memory.acting_as(agent="ringbolt", channel="system", session="").task_note(task, "a finding")
    assert memory.task_get(task).updated_at == NOON


def test_every_migration_is_known_to_this_test():
    for engine in ("sqlite", "postgres"):
        assert [number for number, _, _ in migrations(engine)] == [1, *ADDED]


@pytest.mark.parametrize("version", OLDER)
def test_an_older_sqlite_store_is_brought_up_to_date(tmp_path, version):
    url = f"sqlite://{tmp_path}/old.db"
    with open_memory(url) as memory:
        fill(memory)
        before = contents(memory)
        found = memory.task_recall("ghcr.io registry")
    connection = apsw.Connection(path_of(url))
    for number in range(SCHEMA_VERSION, version, -1):
        for sql in ADDED[number]:
            connection.execute(sql.format(waiting="words_mark"))
    connection.execute(
        f"DELETE FROM schema_migrations WHERE version > {version}; PRAGMA user_version = {version}"
    )
    connection.close()
    with open_memory(url) as memory:
        assert memory.verify().problems == ()
        assert contents(memory) == before
        assert memory.task_recall("ghcr.io registry") == found
        assert found.hits
    assert [row["version"] for row in rows(url, "SELECT version FROM schema_migrations")] == [
        *range(1, SCHEMA_VERSION + 1)
    ]


@pytest.mark.parametrize("version", OLDER)
def test_an_older_postgresql_store_is_brought_up_to_date_for_every_tenant(
    postgres_server_url, version, worker_id
):
    with fresh_database(postgres_server_url, f"ringbolt_old_{worker_id}") as base:
        urls = [f"{base}&tenant={name}" for name in ("one", "two")]
        before = []
        for url in urls:
            with open_memory(url) as memory:
                fill(memory)
                before.append((contents(memory), memory.task_recall("ghcr.io registry")))
        server, _ = server_and_tenant(urls[0])
        with psycopg.connect(server) as connection:
            for number in range(SCHEMA_VERSION, version, -1):
                for sql in ADDED[number]:
                    connection.execute(sql.format(waiting="words_missing"))
            connection.execute("DELETE FROM schema_migrations WHERE version > %s", (version,))
        for url, content in zip(urls, before, strict=True):
            with open_memory(url) as memory:
                assert memory.verify().problems == ()
                assert (contents(memory), memory.task_recall("ghcr.io registry")) == content
        for url in urls:  # and the policies hold again
            tenants = rows(url, "SELECT DISTINCT tenant_id FROM heads")
            assert [row["tenant_id"] for row in tenants] == [server_and_tenant(url)[1]]
