"""What only the PostgreSQL engine promises: tenants apart, races without losers, clear refusals, news."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors as pg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from ringbolt import RingboltError, StoreError, TaskMemory
from ringbolt.store import sessions
from ringbolt.store.queries import folder_tasks
from tests.core.calls import ON_A_TASK, ON_TWO_TASKS, REGISTER, WRITES, prepare
from tests.servers import ROLE, fresh_database
from tests.support import all_at_once, contents, open_memory, refused, until

Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def url(postgres_url) -> str:
    """The URL of a store of the test's own, as a tenant of the database of all tests."""
    return f"{postgres_url}&tenant={uuid4().hex}"


@pytest.fixture
def database(postgres_server_url) -> Iterator[str]:
    """The URL of an empty database of the test's own."""
    with fresh_database(postgres_server_url, f"ringbolt_own_{os.getpid()}") as found:
        yield found


@contextmanager
def client(url: str, tenant: str | None = None) -> Iterator[Connection]:
    """Any SQL client with the application's role, on behalf of a tenant."""
    with psycopg.connect(url.partition("&tenant=")[0], autocommit=True) as connection:
        if tenant is not None:
            connection.execute("SELECT set_config('ringbolt.tenant', %s, false)", (tenant,))
        yield connection


@contextmanager
def superuser(server_url: str, url: str) -> Iterator[Connection]:
    """A client of a superuser in the database of a URL."""
    name = conninfo_to_dict(url.partition("&tenant=")[0])["dbname"]
    with psycopg.connect(server_url, dbname=name, autocommit=True) as connection:
        yield connection


def tenant_of(url: str) -> str:
    return url.partition("&tenant=")[2]


def waiting(connection: Connection) -> int:
    """How many wait for a lock in this database."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock'"
    )
    return connection.execute(query).fetchall()[0][0]


@contextmanager
def locked(url: str, *tasks: str) -> Iterator[Connection]:
    """Another transaction that has locked tasks, for the length of the block."""
    with client(url, tenant_of(url)) as connection, connection.transaction():
        for task in tasks:
            connection.execute("SELECT 1 FROM heads WHERE task_id = %s FOR UPDATE", (task,))
        yield connection


# --- tenants ----------------------------------------------------------------------------------------


def do_everything(memory: TaskMemory) -> list[str]:
    """Every operation once, each on a task of its own; returns the tasks."""
    tasks = []
    for call, (arguments, _) in WRITES.items():
        if call in ON_TWO_TASKS:
            continue
        task = memory.task_register(f"task for {call}", ["one", "two", "three"], tags=["t"], key=call).task_id
        prepare(memory, task)
        getattr(memory, call)(task, **arguments)
        memory.task_log_action(task, "done", type="cli", key="the same")
        tasks.append(task)

    # What has no operation yet.
    def add(tx: Any) -> None:
        tx._run(
            "INSERT INTO learned_patterns (pattern_type, pattern_key, data, last_seen, created_at)"
            " VALUES ('t', 'k', '{}', '2026', '2026')", {},
        )  # fmt: skip
        tx._run(
            "INSERT INTO records (task_id, seq, type, status, version, channel)"
            " VALUES (:task_id, 1, 'wait', 'w', 1, 'agent')",
            {"task_id": tasks[0]},
        )
        tx._run(
            "INSERT INTO distilled (task_id, kind, seq, at, state)"
            " VALUES (:task_id, 'test', 1, '2026', '{}')",
            {"task_id": tasks[0]},
        )
        tx._run(
            "INSERT INTO jobs (kind, task_id, key, data, status, attempts, due_at, token, created_at)"
            " VALUES ('test', '', '', '{}', 'dead', 0, '2026', 0, '2026')", {},
        )  # fmt: skip
        tx._run(
            "INSERT INTO spending VALUES (current_setting('ringbolt.tenant'), '2026', '', 'm', 1, 1, 1, 0)",
            {},
        )
        sessions.put(tx, sessions.Session(id="s", started_at="2026", seen_at="2026"))
        folder_tasks.choose(tx, "/shop", tasks[0])

    memory.store.write(add)
    return tasks


class Two:
    """Two tenants of one database that have both done everything."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.names = [f"A{uuid4().hex}", f"B{uuid4().hex}"]
        self.memories = [open_memory(f"{url}&tenant={name}", embedder="static") for name in self.names]
        self.tasks = [do_everything(memory) for memory in self.memories]
        for memory in self.memories:
            assert memory.task_recall("something").semantic  # now there are vectors


@pytest.fixture(scope="module")
def two(postgres_url) -> Iterator[Two]:
    found = Two(postgres_url)
    yield found
    for memory in found.memories:
        memory.close()


def relations(connection: Connection, kinds: str) -> list[str]:
    query = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = ANY(%s)"
        " AND relname NOT IN ('schema_migrations', 'words_missing') ORDER BY relname"
    )
    return [row[0] for row in connection.execute(query, (list(kinds),)).fetchall()]


def test_no_operation_reaches_the_task_of_another_tenant(two):
    theirs = two.tasks[0][3]
    _, memory = two.memories
    calls: dict[str, Callable[[], object]] = {
        call: lambda call=call, given=given: getattr(memory, call)(theirs, **given)
        for call, given in ON_A_TASK.items()
    }
    calls["events"] = lambda: list(memory.events(theirs))
    calls["parent"] = lambda: memory.task_register("child", parent=theirs)
    calls["target"] = lambda: memory.task_link(two.tasks[1][0], target=theirs)
    calls["short"] = lambda: memory.task_get(theirs[:-1])
    before = [contents(each) for each in two.memories]
    for call, make in calls.items():
        with pytest.raises(RingboltError) as caught:
            make()
        assert caught.value.code == "task_not_found", call
    assert [contents(each) for each in two.memories] == before


def test_what_reads_the_whole_store_reads_that_of_one_tenant(two, tmp_path):
    for memory, own, others in zip(two.memories, two.tasks, reversed(two.tasks), strict=True):
        listed = memory.task_list(status="all", workspace=None, kind=None, archived=True, limit=1000)
        assert {card.id for card in listed.tasks} == set(own)
        assert {event.task_id for event in memory.events()} == set(own)
        memory.export_events(tmp_path / own[0])
        exported = (tmp_path / own[0]).read_text()
        assert all(task in exported for task in own)
        assert not any(task in exported for task in others)
        assert memory.verify(own[1]).ok
        assert memory.task_get(own[1]).name == "task for task_finish"


def test_no_table_and_no_view_shows_a_row_of_another_tenant(two, postgres_server_url):
    a, b = two.names
    with client(two.url, a) as own, superuser(postgres_server_url, two.url) as admin:
        for table in relations(own, "rp"):
            found = own.execute(f"SELECT DISTINCT tenant_id FROM {table}").fetchall()
            assert found == [(a,)], table
            for name in (a, b):
                there = admin.execute(f"SELECT 1 FROM {table} WHERE tenant_id = %s LIMIT 1", (name,))
                assert there.fetchall(), f"{table}: the control, there are rows of both"
        views = relations(own, "vm")
        assert len(views) >= 8
        for view in views:
            shown = str(own.execute(f"SELECT * FROM {view}").fetchall())
            name = {"tasks": "id", "action_logs": "split_part(id, '#', 1)"}.get(view, "task_id")
            there = f"SELECT 1 FROM {view} WHERE {name} = ANY(%s) LIMIT 1"
            assert any(task in shown for task in two.tasks[0]), view
            assert admin.execute(there, (list(two.tasks[1]),)).fetchall(), f"{view}: the control"
            assert not any(task in shown for task in two.tasks[1]), view


@pytest.mark.parametrize("state", ["never-set", "set-and-gone", "empty"])
def test_without_a_tenant_nothing_is_read_and_nothing_is_written(two, state):
    with client(two.url) as connection:
        if state == "set-and-gone":
            with connection.transaction():
                connection.execute("SELECT set_config('ringbolt.tenant', %s, true)", (two.names[0],))
                assert connection.execute("SELECT count(*) FROM heads").fetchall() != [(0,)]
        elif state == "empty":
            connection.execute("SELECT set_config('ringbolt.tenant', '', false)")
        for relation in relations(connection, "rpvm"):
            assert connection.execute(f"SELECT count(*) FROM {relation}").fetchall() == [(0,)], relation
        for table in relations(connection, "rp"):
            assert connection.execute(f"DELETE FROM {table}").rowcount == 0
        insert = "INSERT INTO learned_patterns (pattern_type, pattern_key, data, last_seen, created_at{})"
        with pytest.raises((pg.UndefinedObject, pg.InsufficientPrivilege, pg.CheckViolation)):
            connection.execute(insert.format("") + " VALUES ('x', 'x', '{}', '', '')")
        for name in ("", two.names[0], "anyone"):
            with pytest.raises((pg.InsufficientPrivilege, pg.CheckViolation)):
                connection.execute(
                    insert.format(", tenant_id") + " VALUES ('x', 'x', '{}', '', '', %s)", (name,)
                )


def test_no_row_can_be_given_to_or_taken_from_another_tenant(two):
    a, b = two.names
    before = contents(two.memories[1])
    with client(two.url, a) as connection:
        for table in relations(connection, "rp"):
            query = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            columns = [row[0] for row in connection.execute(query, (table,)).fetchall()]
            others = ", ".join(name for name in columns if name != "tenant_id")
            with pytest.raises(pg.InsufficientPrivilege, match="row-level security"):
                connection.execute(
                    f"INSERT INTO {table} (tenant_id, {others}) SELECT %s, {others} FROM {table} LIMIT 1",
                    (b,),
                )
            with pytest.raises(pg.InsufficientPrivilege, match="row-level security"):
                connection.execute(f"UPDATE {table} SET tenant_id = %s", (b,))
            for change in (f"UPDATE {table} SET tenant_id = %s", f"DELETE FROM {table}"):
                given = (a,) if "%s" in change else ()
                assert connection.execute(f"{change} WHERE tenant_id = %s", (*given, b)).rowcount == 0
    assert contents(two.memories[1]) == before


def test_two_tenants_may_have_the_same_ids_and_keys_and_never_meet(postgres_url):
    numbers = [count(), count()]

    def same(number: int) -> Callable[[int], bytes]:
        return lambda size: next(numbers[number]).to_bytes(size, "big")

    urls = [f"{postgres_url}&tenant={uuid4().hex}" for _ in range(2)]
    with open_memory(urls[0], random=same(0)) as one, open_memory(urls[1], random=same(1)) as other:
        tasks = do_everything(one)
        before = contents(one)
        assert do_everything(other) == tasks, "the control: the ids are the same"
        assert contents(one) == before
        for memory in (one, other):
            memory.task_update(tasks[0], "more", key="both")
        other.task_update(tasks[0], "only the other", key="another")
        assert one.task_get(tasks[0]).messages == other.task_get(tasks[0]).messages - 1
        assert other.task_finish(tasks[5], key="end").status == "completed"
        assert one.task_get(tasks[5]).status == "active"


@pytest.mark.parametrize(
    "name", ["ünïcode 試", "x' OR '1'='1", "a%sb%(c)s:d", 'q"\\', "default", "a&b=c?d#e"]
)
def test_any_name_can_be_a_tenants(postgres_url, name):
    quoted = f"{quote(name, safe='')}-{uuid4().hex}"
    with (
        open_memory(f"{postgres_url}&tenant={quoted}") as memory,
        open_memory(f"{postgres_url}&tenant=o") as other,
    ):
        task = memory.task_register("mine", ["one"]).task_id
        assert memory.store.info()["tenant"].startswith(name)
        assert memory.task_get(task).name == "mine"
        with refused(None, "task_not_found"):
            other.task_get(task)


def test_every_table_is_bound_to_its_tenant_and_every_key_begins_with_it(postgres_url, two):
    with client(postgres_url) as connection:
        tables = connection.execute(
            "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        ).fetchall()
        unbound = [name for name, enabled, forced in tables if not (enabled and forced)]
        assert unbound == ["schema_migrations"]
        assert len(tables) >= 13
        first = connection.execute(
            "SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i"
            " JOIN pg_class c ON c.oid = i.indrelid"
            " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'schema_migrations'"
            " AND i.indisunique"
        ).fetchall()
        assert len(first) >= 12
        assert {column for _, column in first} == {"tenant_id"}, first
        policies = connection.execute(
            "SELECT tablename, permissive, cmd, roles::text, qual, with_check FROM pg_policies"
            " WHERE schemaname = 'public'"
        ).fetchall()
        # Only the owner, as whom the function that searches runs, may read all of the full-text index.
        searching = [row for row in policies if row[0] == "words" and row[2] == "SELECT"]
        assert [(row[3], row[4]) for row in searching] == [("{ringbolt_test}", "true")]
        policies = [row for row in policies if row not in searching]
        assert sorted(row[0] for row in policies) == sorted(name for name, enabled, _ in tables if enabled)
        assert {row[2:4] for row in policies} == {("ALL", "{public}")}
        assert all("ringbolt.tenant" in row[4] and row[4] == row[5] for row in policies)
        views = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind IN ('v', 'm') AND NOT coalesce(reloptions, '{}') @> '{security_invoker=true}'"
        ).fetchall()
        assert views == [], "a view with the rights of its owner"


def test_nothing_of_a_transaction_stays_on_its_connection(url):
    """As behind a pooler in transaction mode, where the next transaction is somebody else's."""
    with open_memory(url, pool_size=1) as memory:
        task = memory.task_register("first", ["one"]).task_id
        memory.task_update(task, "hello", key="k")
        memory.task_get(task)
        memory.task_list()
        with refused(None, "task_not_found"):
            memory.task_update("zzzzzzzzzz", "no such task")

        def ask(query: str) -> list[tuple[Any, ...]]:
            return memory.store._transact(lambda connection: connection.execute(query).fetchall())  # type: ignore[attr-defined]

        assert ask("SELECT coalesce(current_setting('ringbolt.tenant', true), '')") == [("",)]
        assert ask("SHOW lock_timeout") == ask("SHOW idle_in_transaction_session_timeout") == [("0",)]
        assert ask("SELECT count(*) FROM heads") == [(0,)]
        assert ask(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        ) == [(0,)]


def test_tenants_that_share_one_connection_stay_apart(postgres_url):
    urls = [f"{postgres_url}&tenant={uuid4().hex}" for _ in range(2)]
    with open_memory(urls[0], pool_size=1) as one, open_memory(urls[1], pool_size=1) as other:
        own = other.store._pool  # type: ignore[attr-defined]
        other.store._pool = one.store._pool  # type: ignore[attr-defined]
        try:
            mine = one.task_register("mine", ["one"]).task_id
            theirs = other.task_register("theirs", ["one"]).task_id
            for _ in range(10):  # until statements are prepared, too
                one.task_update(mine, "m")
                other.task_update(theirs, "t")
                assert one.task_get(mine).name == "mine"
                for memory, task in ((one, theirs), (other, mine)):
                    with refused(None, "task_not_found"):
                        memory.task_update(task, "not mine")
            assert [card.name for card in one.task_list().tasks] == ["mine"]
            assert [card.name for card in other.task_list().tasks] == ["theirs"]
        finally:
            other.store._pool = own  # type: ignore[attr-defined]


def test_a_role_that_sees_every_tenant_is_refused_unless_allowed(postgres_server_url, database):
    name = conninfo_to_dict(database)["dbname"]
    host = conninfo_to_dict(database)["host"]
    role = f"bypass_{uuid4().hex}"
    with psycopg.connect(postgres_server_url, autocommit=True) as admin:
        admin.execute(
            sql.SQL("CREATE ROLE {} LOGIN BYPASSRLS PASSWORD 'test' IN ROLE {}").format(
                sql.Identifier(role), sql.Identifier(ROLE)
            )
        )
        try:
            parts = conninfo_to_dict(postgres_server_url)
            users = [f"{role}:test", f"{parts['user']}:{parts.get('password', '')}"]
            for user in users:
                unsafe = f"postgresql://{user}@/{name}?host={host}&port={parts.get('port', 5432)}"
                with refused(None, "unsafe_role", naming=user.partition(":")[0]):
                    open_memory(unsafe)
                with open_memory(unsafe, superuser="allow") as memory:
                    task = memory.task_register("allowed", ["one"]).task_id
                    assert memory.task_get(task).name == "allowed"
        finally:
            with superuser(postgres_server_url, database) as inside:
                inside.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(sql.Identifier(role)))
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


# --- races ------------------------------------------------------------------------------------------


def test_a_keyed_call_that_is_made_several_times_at_once_happens_once(url):
    """All have looked for the key before any has written it: a retry that overtakes the first call."""
    with open_memory(url) as memory, client(url) as looking:
        for call in (name for name in WRITES if name not in ON_TWO_TASKS):
            happens_once(url, memory, looking, call)
        assert memory.verify().ok


def happens_once(url, memory, looking, call) -> None:
    task = memory.task_register("race", ["one", "two", "three"]).task_id
    prepare(memory, task)
    before = memory.task_get(task).seq
    results: list[Any] = []
    key = f"key of {call}"

    def work() -> None:
        results.extend(all_at_once([lambda: getattr(memory, call)(task, **WRITES[call][0], key=key)] * 3))

    thread = threading.Thread(target=work)
    with locked(url, task):
        thread.start()
        until(lambda: waiting(looking) >= 3)
    thread.join()
    first = getattr(memory, call)(task, **WRITES[call][0], key=key)
    assert results == [first] * 3, call
    assert memory.task_get(task).seq == before + 1, call


@pytest.mark.parametrize("calls", [0, 4, 5, 6])
def test_a_race_that_was_lost_does_not_spoil_the_connection(url, calls):
    """A failed statement takes along those that were sent behind it, though some had just been prepared."""
    with (
        open_memory(url, pool_size=1) as winner,
        open_memory(url, pool_size=1) as loser,
        client(url) as looking,
    ):
        task = winner.task_register("race", ["one"]).task_id
        with refused(None, "task_not_found"):
            loser.task_update("zzzzzzzzzz", "a first call that is rolled back")
        for number in range(calls):
            loser.task_update(task, "m", key=f"before {number}")
        results: list[Any] = []

        def write(memory: TaskMemory) -> None:
            try:
                results.append(memory.task_update(task, "m", key="k").seq)
            except RingboltError as error:
                results.append(str(error))

        threads = [threading.Thread(target=write, args=(memory,)) for memory in (winner, loser)]
        with locked(url, task):
            for number, thread in enumerate(threads, 1):
                thread.start()
                until(lambda number=number: waiting(looking) == number)
        for thread in threads:
            thread.join()
        assert results == [calls + 2] * 2
        for number in range(10):
            loser.task_update(task, "m", key=f"after {number}")
        assert loser.task_get(task).messages == calls + 11


def test_the_same_keyed_update_from_many_threads_is_one_event(url):
    with open_memory(url) as memory:
        task = memory.task_register("race", ["one"]).task_id
        for number in range(5):
            named = [lambda n=number: memory.task_update(task, f"named {n}", key=f"named {n}")] * 8
            current = [lambda n=number: memory.task_update(message=f"current {n}", key=f"current {n}")] * 8
            for calls in (named, current):
                results = all_at_once(calls)
                assert not [str(result) for result in results if isinstance(result, Exception)]
                assert len({result.seq for result in results}) == 1
        assert memory.task_get(task).messages == 10


def test_the_same_keyed_registration_from_many_threads_is_one_task(url):
    with open_memory(url) as memory:
        for number in range(5):
            calls = [lambda n=number: memory.task_register(**{**REGISTER, "name": f"n{n}"}, key=f"k{n}")] * 8
            results = all_at_once(calls)
            assert not [str(result) for result in results if isinstance(result, Exception)]
            assert len({result.task_id for result in results}) == 1
        assert len(memory.task_list().tasks) == 5
        assert memory.verify().ok


def test_tasks_that_are_linked_crosswise_at_once_are_both_linked(database, postgres_server_url):
    with superuser(postgres_server_url, database) as admin:
        admin.execute(f"ALTER DATABASE {conninfo_to_dict(database)['dbname']} SET deadlock_timeout = '20ms'")
    with open_memory(f"{database}&tenant=t") as memory, client(database) as looking:
        one, other = (memory.task_register(name, ["one"]).task_id for name in ("one", "other"))
        for _ in range(20):
            results = all_at_once(
                [lambda: memory.task_link(one, target=other), lambda: memory.task_link(other, target=one)]
            )
            assert not [error for error in results if isinstance(error, Exception)], results
        # And surely a deadlock: each has one of the two when it asks for the other.
        results = []
        backward = threading.Thread(target=lambda: results.append(memory.task_link(other, target=one)))
        forward = threading.Thread(target=lambda: results.append(memory.task_link(one, target=other)))
        with locked(f"{database}&tenant=t", other):
            backward.start()
            until(lambda: waiting(looking) == 1)
            forward.start()
            until(lambda: waiting(looking) == 2)
        backward.join()
        forward.join()
        assert len(results) == 2
        assert memory.verify().ok
        memory.close()  # and with it the server's processes, which count
        query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        until(lambda: looking.execute(query).fetchall()[0][0] > 0)


def test_an_empty_database_is_migrated_once_by_many_who_open_it_at_once(database):
    memories = all_at_once([lambda: open_memory(f"{database}&tenant=t", pool_size=2)] * 8)
    try:
        assert [error for error in memories if isinstance(error, Exception)] == []
        tasks = all_at_once([lambda m=memory: m.task_register("x", ["one"]).task_id for memory in memories])
        assert len({*tasks}) == 8
        assert len(memories[0].task_list().tasks) == 8
        with client(database) as connection:
            applied = connection.execute("SELECT version FROM schema_migrations ORDER BY version").fetchall()
        assert applied == [(version,) for version in range(1, len(applied) + 1)]
        assert memories[0].store.check() == []
    finally:
        for memory in memories:
            if isinstance(memory, TaskMemory):
                memory.close()


def test_one_connection_serves_many_threads(url):
    name = f"only-{uuid4().hex}"
    with open_memory(f"{url}&application_name={name}", pool_size=1) as memory, client(url) as looking:
        task = memory.task_register("pool", ["one"]).task_id

        def work() -> None:
            for _ in range(10):
                memory.task_update(task, "m")
                memory.task_get(task)

        assert all_at_once([work] * 8) == [None] * 8
        assert memory.task_get(task).messages == 80
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        assert looking.execute(query, (name,)).fetchall() == [(1,)]


@pytest.mark.parametrize("key", [None, "k"], ids=["unkeyed", "keyed"])
def test_a_lock_that_is_held_too_long_is_reported_in_time_and_nothing_is_written(url, key):
    with open_memory(url, lock_timeout=0.4) as memory:
        task = memory.task_register("busy", ["one"]).task_id
        with locked(url, task):
            began = time.monotonic()
            with refused(memory, "store_busy"):
                memory.task_update(task, "too early", key=key)
            assert time.monotonic() - began > 0.35  # it waited as long as the setting says
        memory.task_update(task, "now", key=key)
        assert memory.task_get(task).messages == 1


@contextmanager
def connections_taken(memory: TaskMemory, number: int) -> Iterator[None]:
    """Threads that have a transaction open, for the length of the block."""
    begun, end = threading.Barrier(number + 1), threading.Event()

    def work(_tx: object) -> None:
        begun.wait(100)
        end.wait(100)

    threads = [threading.Thread(target=memory.store.read, args=(work,)) for _ in range(number)]
    for thread in threads:
        thread.start()
    begun.wait(100)
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join()


def test_when_all_connections_are_in_use_the_setting_is_named(url):
    with open_memory(url, pool_size=2, lock_timeout=0.4) as memory:
        task = memory.task_register("full", ["one"]).task_id
        with connections_taken(memory, 2):
            for call in (lambda: memory.task_update(task, "m"), lambda: memory.task_get(task)):
                began = time.monotonic()
                with refused(None, "store_busy", naming="pool_size") as caught:
                    call()
                assert "2" in caught.value.message
                assert time.monotonic() - began > 0.35
        memory.task_update(task, "now")
        assert memory.task_get(task).messages == 1


def test_a_call_that_fails_leaves_the_connection_fit_for_the_next(url):
    with open_memory(url, pool_size=1) as memory:
        task = memory.task_register("fit", ["one"]).task_id

        def broken(tx: Any) -> None:
            tx._run("INSERT INTO learned_patterns (pattern_type) VALUES ('x')", {})
            tx._query("SELECT 1", {})

        def unfinished(tx: Any) -> None:
            tx._run("INSERT INTO learned_patterns (pattern_type) VALUES ('x')", {})

        def interrupted(tx: Any) -> None:
            tx.head(task)
            raise KeyboardInterrupt

        wrong = (broken, RingboltError), (unfinished, RingboltError), (interrupted, KeyboardInterrupt)
        for work, error in wrong:
            for store_call in (memory.store.write, memory.store.read):
                with pytest.raises(error):
                    store_call(work)
                memory.task_update(task, "on")
        assert memory.task_get(task).messages == 6


# --- opening ----------------------------------------------------------------------------------------


def everything_said(error: BaseException) -> str:
    """All that a log could have of an error."""
    details = error.to_dict() if isinstance(error, RingboltError) else ""
    return "".join(traceback.format_exception(error)) + f"{error!r} {error} {details}"


WRONG = {
    "role": ("postgresql://nobody-here:hush@/{name}?host={host}&port={port}", "nobody-here"),
    "database": ("postgresql://{role}:hush@/not-there?host={host}&port={port}", "not-there"),
    "port": ("postgresql://{role}:hush@127.0.0.1:1/{name}", "refused"),
    "host": ("postgresql://{role}:hush@not-there.invalid/{name}", "not-there.invalid"),
    "socket": ("postgresql://{role}:hush@/{name}?host=/not/there", "No such file"),
}


@pytest.fixture
def attempts(monkeypatch):
    """The connections that were tried, one entry each."""
    tried: list[object] = []
    connect = psycopg.connect
    monkeypatch.setattr(
        psycopg, "connect", lambda *given, **named: (tried.append(named), connect(*given, **named))[1]
    )
    return tried


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_address_is_reported_at_once(postgres_url, what, attempts):
    parts = conninfo_to_dict(postgres_url)
    given, named = WRONG[what]
    wrong = given.format(role=ROLE, name=parts["dbname"], host=parts["host"], port=parts["port"])
    may_be_starting = what in ("port", "host", "socket")
    with pytest.raises(StoreError) as caught:
        open_memory(wrong, lock_timeout=0.3 if may_be_starting else 30)
    assert may_be_starting or len(attempts) == 1  # a server that has refused is not asked again
    assert caught.value.code == "store_unavailable"
    assert named in caught.value.message
    assert "\t" not in caught.value.message
    assert "hush" not in everything_said(caught.value)


MALFORMED = [
    "postgresql://u:hush@[::1/d",
    "postgresql://u:hush%zz@h/d",
    "postgresql://u@h/d?password=hush%zz",
    "postgresql://u:hush@h/d?nosuch=1",
    "postgresql://u:hush@h/d?novalue",
    "postgresql://u:hush@h/%zz",
    "postgresql://u:hush@h/d?connect_timeout=soon",
    "postgresql://u:hush@h/d?tenant=",
]


@pytest.mark.parametrize("given", MALFORMED)
def test_a_malformed_address_is_refused_without_showing_its_password(given):
    with pytest.raises(RingboltError) as caught:
        open_memory(given, lock_timeout=0.3)
    assert caught.value.code in ("invalid_argument", "store_unavailable"), caught.value
    assert "hush" not in everything_said(caught.value)


@pytest.mark.parametrize(
    "secret",
    ["{}:hush@", "{}:hu@hush@", "{}:hu?hush@", "{}@&password=hush", "{}@&sslpassword=hush", ":hush@&user={}"],
)
def test_the_shown_url_contains_no_part_of_a_password(postgres_url, secret):
    parts = conninfo_to_dict(postgres_url)
    before, _, after = secret.format(ROLE).partition("@&")
    before = before.rstrip("@")
    more = f"&{after}" if after else ""
    given = (
        f"postgresql://{before}@/{parts['dbname']}?host={parts['host']}&port={parts['port']}{more}&tenant=t"
    )
    try:
        with open_memory(given, lock_timeout=0.1) as memory:
            said = memory.store.url + repr(memory.store.info())
    except RingboltError as error:
        said = everything_said(error)
    assert "hush" not in said


def test_the_password_is_in_no_later_message_of_a_store(url, postgres_server_url):
    secret = url.replace(":test@", ":hush@")
    with open_memory(secret, lock_timeout=0.2) as memory:
        task = memory.task_register("said", ["one"]).task_id
        with locked(url, task), refused(None, "store_busy") as caught:
            memory.task_update(task, "m")
        assert "hush" not in everything_said(caught.value)
        assert "hush" not in memory.store.url + repr(memory.store.info())
        assert ROLE in memory.store.url


def test_a_store_of_a_newer_version_is_refused_at_once(database, attempts):
    open_memory(database).close()
    with client(database) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (999, 'later', 'sum', '2030')")
    attempts.clear()
    with refused(None, "schema_newer", naming="999"):
        open_memory(database)
    assert len(attempts) == 1


def test_a_migration_that_is_not_ours_is_found(database):
    with open_memory(database) as memory, client(database) as connection:
        assert memory.verify().ok
        connection.execute("UPDATE schema_migrations SET checksum = 'another' WHERE version = 1")
        assert [problem.kind for problem in memory.verify().problems] == ["migration"]


def test_a_database_that_cannot_hold_every_text_is_refused(postgres_server_url):
    name = f"ringbolt_ascii_{os.getpid()}"
    with psycopg.connect(postgres_server_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(
            f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE template0 ENCODING 'SQL_ASCII'"
            " LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        try:
            parts = conninfo_to_dict(postgres_server_url)
            given = f"postgresql://{ROLE}:test@/{name}?host={parts['host']}&port={parts.get('port', 5432)}"
            with refused(None, "store_unavailable", naming="SQL_ASCII") as caught:
                open_memory(given)
            assert "UTF8" in caught.value.hint
            with psycopg.connect(given) as connection:
                query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
                assert connection.execute(query).fetchall() == [(0,)], "nothing was made in it"
        finally:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


# --- commits ----------------------------------------------------------------------------------------


def test_no_transaction_notifies_because_that_would_make_commits_wait(database):
    with open_memory(database) as memory, client(database) as looking:
        looking.execute("LISTEN ringbolt")
        task = memory.task_register("silent", ["one"]).task_id
        for number in range(3):
            memory.task_update(task, "silent", key=str(number))
        memory.task_decide(task, choice="c")
        memory.task_finish(task)
        assert list(looking.notifies(timeout=0.3)) == []
        looking.execute("SELECT pg_notify('ringbolt', '1')")
        assert len(list(looking.notifies(timeout=100, stop_after=1))) == 1, "the control"


# --- prepared statements ----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["on", "off"])
def test_statements_are_prepared_only_where_that_is_wanted(url, setting):
    with open_memory(url, pool_size=1, prepared_statements=setting) as memory:
        task = memory.task_register("prepared", ["one"]).task_id
        for number in range(12):
            memory.task_update(task, "m", key=str(number))
            memory.task_get(task)
            memory.task_list()
        query = "SELECT count(*) FROM pg_prepared_statements"
        found = memory.store.read(lambda tx: tx._query(query, {}))[0][0]
    assert (found > 5) if setting == "on" else (found == 0)
