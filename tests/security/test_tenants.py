"""PostgreSQL: the application's role owns nothing, and a tenant learns nothing of another."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest
from psycopg import errors as pg

from ringbolt import RingboltError, TaskMemory
from ringbolt.store.postgres_database import tenant_key
from tests.servers import APPLICATION, application_url, fresh_database
from tests.support import open_memory, refused


@pytest.fixture
def connection(postgres_url):
    """A connection of the application, as somebody with its password could make."""
    with (
        open_memory(f"{postgres_url}&tenant={uuid4().hex}"),
        psycopg.connect(postgres_url, autocommit=True) as found,
    ):
        yield found


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE events",
        "ALTER TABLE words DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE events NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON events",
        "CREATE POLICY mine ON events USING (true)",
        "CREATE TABLE mine (id int)",
        "DROP FUNCTION words_matching",
        "TRUNCATE events",
        "DELETE FROM schema_migrations",
        "SET ROLE ringbolt_test",
    ],
)
def test_the_application_can_neither_alter_nor_drop(connection, statement):
    with pytest.raises((pg.InsufficientPrivilege, pg.InvalidParameterValue)):
        connection.execute(statement)


def test_what_the_owner_may_the_test_itself_could_do(postgres_server_url):
    """The control: as the owner, the same statements work."""
    with (
        fresh_database(postgres_server_url, f"owned_{uuid4().hex[:8]}") as url,
        open_memory(url),
        psycopg.connect(url, autocommit=True) as owner,
    ):
        owner.execute("CREATE TABLE mine (id int)")
        owner.execute("ALTER TABLE events NO FORCE ROW LEVEL SECURITY")


def test_the_words_of_one_tenant_cannot_be_read_or_found_by_another(postgres_url):
    one, other = uuid4().hex, uuid4().hex
    with open_memory(f"{postgres_url}&tenant={one}") as memory:
        memory.task_register("The zebracrossing of the quagga")
        assert memory.task_recall("zebracrossing").hits
    with (
        open_memory(f"{postgres_url}&tenant={other}") as memory,
        psycopg.connect(postgres_url, autocommit=True) as connection,
    ):
        memory.task_register("Something else")
        assert not memory.task_recall("zebracrossing").hits
        connection.execute("SELECT set_config('ringbolt.tenant', %s, false)", (other,))
        found = connection.execute("SELECT DISTINCT tenant_id FROM words").fetchall()
        assert found == [(other,)]
        theirs = f"'{tenant_key(one)}zebracross'"
        search = "SELECT * FROM words_matching(CAST(%s AS tsquery), 0, 9223372036854775807, NULL)"
        assert connection.execute(search, (theirs,)).fetchall() == []
        connection.execute("SELECT set_config('ringbolt.tenant', %s, false)", (one,))
        assert connection.execute(search, (f"'{tenant_key(one)}':*",)).fetchall(), "the control"


def test_no_term_is_shared_by_two_tenants(postgres_url, postgres_server_url):
    names = [uuid4().hex, uuid4().hex]
    for name in names:
        with open_memory(f"{postgres_url}&tenant={name}") as memory:
            memory.task_register("The same words in both")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        terms = []
        for name in names:
            connection.execute("SELECT set_config('ringbolt.tenant', %s, false)", (name,))
            query = "SELECT DISTINCT unnest(tsvector_to_array(terms)) FROM words"
            terms.append({row[0] for row in connection.execute(query).fetchall()})
    assert all(terms)
    assert not terms[0] & terms[1]


def test_a_role_that_may_not_create_tables_is_told_who_may(postgres_server_url):
    with fresh_database(postgres_server_url, f"empty_{uuid4().hex[:8]}") as url:
        with pytest.raises(RingboltError) as caught:
            TaskMemory.open(url.replace("//ringbolt_test:", f"//{APPLICATION}:"), workspace="/w")
        assert caught.value.code == "owner_needed"
        assert f"store grant {APPLICATION}" in caught.value.hint
        with TaskMemory.open(application_url(url), workspace="/w") as memory:
            assert memory.task_register("It works now").task_id


def test_only_a_role_that_is_bound_can_be_granted(postgres_server_url):
    with fresh_database(postgres_server_url, f"granted_{uuid4().hex[:8]}") as url, open_memory(url) as memory:
        with refused(None, "unsafe_role"):
            memory.store.grant("postgres")
        with refused(None, "unsafe_role"):
            memory.store.grant("ringbolt_test")
        with refused(None, "invalid_argument"):
            memory.store.grant("no'body\"; DROP TABLE events")


def test_a_file_has_no_roles(tmp_path):
    with open_memory(tmp_path / "store.db") as memory, refused(None, "invalid_argument"):
        memory.store.grant("anybody")
