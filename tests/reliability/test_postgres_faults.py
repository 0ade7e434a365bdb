"""Faults between a memory and its PostgreSQL server: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ringbolt import StoreError, TaskMemory
from ringbolt.store import migrate
from tests.reliability.postgres_programs import CLIENT, SERVER, Proxy
from tests.servers import ROLE, Server, fresh_database, postgres_server
from tests.support import all_at_once, run_python, until

PROGRAMS = Path(__file__).with_name("postgres_programs.py")
# What a caller may be told while the server comes and goes.
TROUBLES = {"store_unavailable", "store_busy", "outcome_unknown"}


def start(calls: list[list[object]]) -> list[subprocess.Popen[str]]:
    """Programs of our own with their arguments; all are ready for work when this returns."""
    processes = [
        subprocess.Popen(
            [sys.executable, str(PROGRAMS), *map(str, call)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for call in calls
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    return processes


def open_memory(url: str, **options: object) -> TaskMemory:
    return TaskMemory.open(url, workspace=None, agent="test", **options)  # type: ignore[arg-type]


def messages(memory: TaskMemory, *tasks: str) -> Counter[str]:
    return Counter(
        event.text or "" for task in tasks for event in memory.events(task) if event.type == "message"
    )


# --- 1: a server that comes and goes ----------------------------------------------------------------


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def restart(server: Server, how: signal.Signals) -> None:
    """Stop a server and start it again; of one that was killed, first wait for what it left behind."""
    postmaster = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    family = children_of(postmaster)
    server.stop(how)
    deadline = time.monotonic() + 10
    while left := [pid for pid in family if alive(pid)]:
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    server.start()


def read_notes(paths: list[Path]) -> dict[str, list[list[str]]]:
    notes: dict[str, list[list[str]]] = {"ok": [], "unknown": [], "refused": [], "error": [], "raw": []}
    for path in paths:
        for line in path.read_text().splitlines():
            kind, *words = line.split(" ")
            notes[kind].append(words)
    return notes


def check_chaos(folder: Path, restarts: int, pause: float, count: int = 8) -> dict[str, object]:
    """Restart a server under some writers; then every text must be there as often as it was promised."""
    with postgres_server() as server, fresh_database(server.url, "chaos") as url:
        with open_memory(url) as memory:
            shared = memory.task_register("shared", ["one"]).task_id
            tasks = [memory.task_register(f"own {number}", ["one"]).task_id for number in range(count)]
        paths = [folder / f"writer{number}" for number in range(count)]
        # Some wait through a restart, some are told of it.
        waits = cycle((20, 0.3))
        writers = start(
            [
                ["write_on", url, f"w{number}", shared, task, path, next(waits)]
                for number, (task, path) in enumerate(zip(tasks, paths, strict=True))
            ]
        )

        def acknowledged() -> int:
            return sum(path.read_bytes().count(b"ok ") for path in paths if path.exists())

        began = time.monotonic()
        try:
            for number, how in zip(
                range(restarts), cycle((signal.SIGINT, signal.SIGKILL, signal.SIGQUIT)), strict=False
            ):
                before = acknowledged()
                until(lambda before=before: acknowledged() > before + 50)
                threading.Event().wait(pause * (0.5 + number % 3 / 2))
                restart(server, how)
            before = acknowledged()
            until(lambda: acknowledged() > before + 50)
        finally:
            for writer in writers:
                assert writer.stdin is not None
                writer.stdin.write("stop\n")
                writer.stdin.flush()
            for writer in writers:
                writer.communicate(timeout=90)
                assert writer.returncode == 0
        seconds = time.monotonic() - began
        with open_memory(url) as memory:
            written = messages(memory, shared, *tasks)
            report = memory.verify()
    notes = read_notes(paths)
    codes = Counter(words[0] for words in notes["error"])
    figures: dict[str, object] = {
        "restarts": restarts,
        "seconds": round(seconds, 1),
        "acknowledged": len(notes["ok"]),
        "unknown": len(notes["unknown"]),
        "unknown and there": sum(written[text] for (text,) in notes["unknown"]),
        "refused": len(notes["refused"]),
        "errors": dict(codes),
    }
    print(json.dumps(figures))
    assert not notes["raw"], notes["raw"][:3]
    assert set(codes) <= TROUBLES, codes
    lost = [text for (text,) in notes["ok"] if not written[text]]
    assert not lost, f"{len(lost)} acknowledged writes were lost: {lost[:5]}"
    twice = [text for text, times in written.items() if times > 1]
    assert not twice, f"{len(twice)} writes are there twice: {twice[:5]}"
    there = [text for (text,) in notes["refused"] if written[text]]
    assert not there, f"{len(there)} writes are there though an error said that they are not: {there[:5]}"
    assert report.ok, report.problems[:5]
    assert codes, "the restarts were not noticed: they showed nothing"
    return figures


def test_a_server_that_restarts_under_writers_loses_and_doubles_nothing(tmp_path):
    check_chaos(tmp_path, restarts=2, pause=0.2, count=4)


@pytest.mark.reliability
def test_a_server_that_restarts_all_the_time_loses_and_doubles_nothing(tmp_path):
    figures = check_chaos(tmp_path, restarts=24, pause=3)
    assert {"store_unavailable", "outcome_unknown"} <= set(figures["errors"]), figures  # type: ignore[call-overload]


# --- 2: a connection that is cut at any moment ------------------------------------------------------


@pytest.fixture
def proxy(postgres_server_url) -> Iterator[Proxy]:
    """A proxy before the server that the tests share."""
    parts = conninfo_to_dict(postgres_server_url)
    host, port = str(parts.get("host", "127.0.0.1")), int(parts.get("port", 5432))
    found = Proxy(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port))
    yield found
    found.close()


@pytest.fixture
def through(proxy, postgres_url) -> str:
    """The URL of a store of its own behind the proxy."""
    name = conninfo_to_dict(postgres_url)["dbname"]
    address = f"{ROLE}:test@127.0.0.1:{proxy.port}/{name}"
    return f"postgresql://{address}?sslmode=disable&gssencmode=disable&tenant={uuid4().hex}"


def nth(who: str, number: int) -> Callable[[str, str, bytes], bool]:
    """A rule that cuts at a message of one side, given by its number."""
    numbers = count(1)
    return lambda sender, _letter, _message: sender == who and next(numbers) == number


class Cutting:
    """Writes through a proxy that cuts, and what must follow from each cut."""

    def __init__(self, proxy: Proxy, url: str, **options: object) -> None:
        self.proxy = proxy
        # One connection, so that what is cut is the one that writes.
        self.memory = open_memory(url, pool_size=1, lock_timeout=15, **options)
        self.task = self.memory.task_register("cut", ["one"]).task_id
        self.results: Counter[str] = Counter()
        self._numbers = count()

    def write(self, keyed: bool, **arm: object) -> bool:
        """Write once with a cut prepared; returns whether the cut took place."""
        proxy, text = self.proxy, f"text {next(self._numbers)}"
        self.memory.task_get(self.task)  # a connection that is established and works
        proxy.reset()
        vars(proxy).update(arm)
        result = "written"
        try:
            self.memory.task_update(self.task, text, key=text if keyed else None)
        except StoreError as error:
            result = error.code
        finally:
            proxy.rule = proxy.bytes_left = None
        cut, sent, done = proxy.cuts > 0, proxy.commit_sent, proxy.commit_done
        there = [event.text for event in self.memory.task_thread(self.task, limit=5).events].count(text)
        self.results[f"{result} {there}"] += 1
        case = f"{keyed=} {cut=} {sent=} {done=} {result=} {there=}"
        if result == "outcome_unknown" and cut and not keyed:
            # Cut within a message, nobody can say what of it arrived; a prepared COMMIT has no such name.
            assert there == 1 if done else there <= (sent or "bytes_left" in arm), case
        else:
            assert (result, there) == ("written", 1), case
        return cut

    def check(self) -> None:
        assert set(messages(self.memory, self.task).values()) == {1}
        report = self.memory.verify()
        assert report.ok, report.problems
        self.memory.close()


def check_every_message(proxy: Proxy, url: str, first: int, step: int) -> None:
    """Cut instead of each message of a write, or of some, of either side, unkeyed and keyed."""
    cutting = Cutting(proxy, url, prepared_statements="off")
    for keyed in (False, True):
        for who in (CLIENT, SERVER):
            for number in count(first, step):
                if not cutting.write(keyed, rule=nth(who, number)):
                    assert number > 25, "a write has more messages than that"
                    break
    cutting.check()
    # The positive control: all that can happen did; of a sample, at least that some outcome was unknown.
    possible = {"written 1", "outcome_unknown 0", "outcome_unknown 1"}
    assert {"written 1"} < set(cutting.results) <= possible, cutting.results
    assert step > 1 or set(cutting.results) == possible, cutting.results


@pytest.mark.parametrize(("hard", "first"), [(False, 1), (True, 2)], ids=["hung-up", "reset"])
def test_a_write_that_loses_its_connection_on_the_way_is_settled(proxy, through, hard, first):
    proxy.hard = hard
    check_every_message(proxy, through, first, step=7)


@pytest.mark.reliability
@pytest.mark.parametrize("hard", [False, True], ids=["hung-up", "reset"])
def test_a_write_that_loses_its_connection_at_any_message_is_settled(proxy, through, hard):
    proxy.hard = hard
    check_every_message(proxy, through, first=1, step=1)


def test_a_write_that_has_not_come_to_its_commit_is_just_made_again(proxy, through):
    """Cut in the first question or its answer: no caller hears of it."""
    cutting = Cutting(proxy, through, prepared_statements="off")
    said: list[str] = []
    proxy.rule = lambda who, letter, _message: bool(said.append(who + letter))
    cutting.memory.task_update(cutting.task, "to count")
    question = said.index(f"{CLIENT}H") + 1
    answer = next(number for number, word in enumerate(said[question:]) if word.startswith(CLIENT))
    for who, most in ((CLIENT, question), (SERVER, answer)):
        for number in range(1, most + 1, 2):
            assert cutting.write(keyed=False, rule=nth(who, number))
    assert set(cutting.results) == {"written 1"}, cutting.results
    cutting.check()


def test_a_commit_that_never_arrived_and_one_whose_answer_never_arrived_are_both_unknown(proxy, through):
    cutting = Cutting(proxy, through, prepared_statements="off")

    def before_it_is_sent(who: str, letter: str, message: bytes) -> bool:
        return who == CLIENT and letter == "P" and b"\0COMMIT\0" in message

    def before_it_is_answered(who: str, letter: str, message: bytes) -> bool:
        return who == SERVER and letter == "C" and message[5:] == b"COMMIT\0"

    for rule, there in ((before_it_is_sent, 0), (before_it_is_answered, 1)):
        cutting.results.clear()
        assert cutting.write(keyed=False, rule=rule)
        assert dict(cutting.results) == {f"outcome_unknown {there}": 1}
        assert cutting.write(keyed=True, rule=rule)
        assert cutting.results["written 1"] == 1, "a keyed write is settled"
    cutting.check()


def check_every_byte(proxy: Proxy, url: str, step: int) -> None:
    """Cut after a number of bytes, of both sides together, with statements prepared and not."""
    cutting = Cutting(proxy, url)
    for keyed in (False, True):
        sizes = count(1, step)
        while cutting.write(keyed, bytes_left=next(sizes)):
            pass
        assert next(sizes) > 1500, "a write has more bytes than that"
    cutting.check()


def test_a_write_that_loses_its_connection_in_the_middle_of_a_message_is_settled(proxy, through):
    check_every_byte(proxy, through, step=997)


@pytest.mark.reliability
def test_a_write_that_loses_its_connection_at_any_byte_is_settled(proxy, through):
    check_every_byte(proxy, through, step=7)


def openings(proxy: Proxy, url: str, step: int) -> Iterator[TaskMemory]:
    """Open a memory again and again, each time with another message of opening cut, of either side."""
    proxy.even_new = True
    for who in (CLIENT, SERVER):
        for number in count(1, step):
            proxy.reset()
            proxy.rule = nth(who, number)
            with open_memory(url, lock_timeout=15) as memory:
                memory.store.check()
                proxy.rule = None
                if not proxy.cuts:
                    assert number > 5, "to open a store takes more messages than that"
                    break
                yield memory


def test_opening_that_loses_its_connection_at_any_message_is_tried_again(proxy, through):
    with open_memory(through) as memory:
        task = memory.task_register("there", ["one"]).task_id
    for memory in openings(proxy, through, step=3):
        assert memory.task_get(task).name == "there"


def check_migrations(proxy: Proxy, server_url: str, step: int) -> None:
    """Cut instead of some messages of the first opening of an empty database."""
    name = f"ringbolt_migrated_{os.getpid()}"
    with fresh_database(server_url, name) as url:
        behind = f"postgresql://{ROLE}:test@127.0.0.1:{proxy.port}/{name}?sslmode=disable&gssencmode=disable"
        for memory in openings(proxy, behind, step):
            assert memory.store.info()["schema"] == migrate.SCHEMA_VERSION
            assert memory.store.check() == []
            memory.task_register("works", ["one"])
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")


def test_a_migration_that_loses_its_connection_is_made_once(proxy, postgres_server_url):
    check_migrations(proxy, postgres_server_url, step=40)


@pytest.mark.reliability
def test_a_migration_that_loses_its_connection_at_any_message_is_made_once(proxy, postgres_server_url):
    check_migrations(proxy, postgres_server_url, step=1)


def test_a_reconnection_that_fails_does_not_keep_a_caller_waiting_for_seconds(proxy, through, monkeypatch):
    """The server is there again at once: the time in which it was away is what may be waited for."""
    cutting = Cutting(proxy, through)
    pauses: list[float] = []
    monkeypatch.setattr("ringbolt.store.postgres.time.sleep", pauses.append)
    assert cutting.write(keyed=False, rule=nth(CLIENT, 1), refuse=2)
    monkeypatch.undo()
    assert sum(pauses) < 1
    cutting.check()


def test_a_caller_is_not_told_of_a_full_pool_when_the_server_was_away(proxy, through):
    with open_memory(through, lock_timeout=0.4, pool_size=1) as memory:
        task = memory.task_register("away", ["one"]).task_id
        proxy.rule, proxy.refuse = nth(CLIENT, 1), 1
        said = "written"
        try:
            memory.task_update(task, "now or never")
        except StoreError as error:
            said = str(error)
        assert "pool_size" not in said


# --- 3: round trips ---------------------------------------------------------------------------------


def round_trips(proxy: Proxy, call: Callable[[], object]) -> int:
    for _ in range(20):  # until the connections are there and the statements prepared
        call()
    counts: list[int] = []
    for _ in range(5):  # on a busy machine one way may come in two pieces, but not each time
        proxy.reset()
        call()
        counts.append(proxy.bursts)
    return min(counts)


@pytest.mark.parametrize("prepared", ["on", "off"])
def test_reading_a_task_is_one_round_trip(proxy, through, prepared):
    with open_memory(through, prepared_statements=prepared) as memory:
        task = memory.task_register("near", ["one", "two"]).task_id
        assert round_trips(proxy, lambda: memory.task_get(task)) == 1


@pytest.mark.parametrize("prepared", ["on", "off"])
def test_a_message_is_two_round_trips(proxy, through, prepared):
    with open_memory(through, prepared_statements=prepared) as memory:
        task = memory.task_register("near", ["one", "two"]).task_id
        assert round_trips(proxy, lambda: memory.task_update(task, "hello")) == 2


# --- 5: races of processes --------------------------------------------------------------------------


def test_the_same_keyed_registration_from_many_processes_is_one_task(postgres_url):
    url = f"{postgres_url}&tenant={uuid4().hex}"
    processes = start([["register", url, "the same", "the same key"]] * 4)
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert len(told) == 1
    with open_memory(url) as memory:
        assert [card.id for card in memory.task_list(workspace=None).tasks] == list(told)
        assert memory.verify().ok


# --- 6: who may come in -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that these tests may restart, and that asks one of its roles for a password."""
    with postgres_server(fsync="off") as server:
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text("local all asked scram-sha-256\n" + rules.read_text())
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("CREATE ROLE asked LOGIN PASSWORD 'right@/:?%'")
            admin.execute("CREATE DATABASE asked OWNER asked")
            admin.execute("SELECT pg_reload_conf()")
        yield server


def test_a_wrong_password_is_told_at_once_and_is_not_repeated(own_server, monkeypatch):
    monkeypatch.setattr("ringbolt.store.postgres.time.sleep", lambda _: pytest.fail("it was tried again"))
    with pytest.raises(StoreError) as caught:
        open_memory(f"postgresql://asked:hush-hush@/asked?host={own_server.folder}")
    assert caught.value.code == "store_unavailable"
    assert "password authentication failed" in str(caught.value)
    assert "hush" not in str(caught.value) + repr(caught.value.to_dict())


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://asked:{}@/asked?host={}&tenant=t",
        "postgresql://asked@/asked?password={}&host={}&tenant=t",
    ],
    ids=["before-the-host", "as-a-parameter"],
)
def test_a_password_with_odd_characters_works_and_is_shown_nowhere(own_server, given):
    password = quote("right@/:?%", safe="")
    with open_memory(given.format(password, own_server.folder)) as memory:
        memory.task_register("in", ["one"])
        shown = memory.store.url + repr(memory.store.info()) + repr(memory.store)
    assert "right" not in shown


# --- 8: fork ----------------------------------------------------------------------------------------

FORK = """
import os, sys, threading
from ringbolt import TaskMemory
from ringbolt.store import migrate
memory = TaskMemory.open(sys.argv[1], workspace=None, pool_size=4)
task = memory.task_register("fork", ["one"]).task_id
def use(name):
    for count in range(4):
        memory.task_update(task, f"{name}:{count}")
        memory.task_get(task)
def use_all(name):
    threads = [threading.Thread(target=use, args=(f"{name}{n}",)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
use_all("before")
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        if number < 2:
            use_all(f"child{number}")
        if number == 0:
            memory.close()
        if number < 2:
            sys.exit(0)   # as a program ends, with everything thrown away that it has
        os._exit(0)
    children.append(child)
use_all("parent")
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
use_all("after")
assert memory.task_get(task).messages == 16 * 5, memory.task_get(task).messages
assert memory.verify().ok
memory.close()
"""


def test_forked_children_and_their_parent_all_go_on_writing(postgres_url):
    done = run_python(FORK, f"{postgres_url}&tenant={uuid4().hex}")
    assert not done.stderr, done.stderr


# --- 10: a server that restarts while nobody looks --------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_after_a_restart_in_idle_hours_every_call_just_works(own_server, how):
    with (
        fresh_database(own_server.url, "idle") as url,
        open_memory(url, pool_size=8, lock_timeout=10) as memory,
    ):
        task = memory.task_register("idle", ["one"]).task_id

        def connected() -> int:
            with psycopg.connect(own_server.url) as admin:
                query = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'idle'"
                return admin.execute(query).fetchall()[0][0]

        def fill() -> bool:
            all_at_once([lambda: memory.task_get(task)] * 8)
            return connected() == 8

        until(fill)
        restart(own_server, how)
        results = all_at_once(
            [lambda: memory.task_get(task).name] * 4 + [lambda: memory.task_update(task, "after").status] * 4
        )
        assert results == ["idle"] * 4 + ["active"] * 4
        assert memory.task_get(task).messages == 4
        assert memory.verify().ok


@pytest.mark.reliability
def test_after_an_outage_a_call_is_served_at_once(own_server):
    """However long the server was away, and however many calls waited for it in vain."""
    with fresh_database(own_server.url, "outage") as url, open_memory(url, lock_timeout=60) as memory:
        task = memory.task_register("outage", ["one"]).task_id
        own_server.stop()
        waiting = threading.Thread(target=lambda: memory.task_update(task, "in the dark"))
        waiting.start()
        threading.Event().wait(4)
        own_server.start()
        began = time.monotonic()
        memory.task_update(task, "in the light")
        waiting.join()
        assert time.monotonic() - began < 1
        assert memory.task_get(task).messages == 2
