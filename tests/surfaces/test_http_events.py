"""Events over HTTP: pages and streams; none is lost and none comes twice, whatever happens in between."""

from __future__ import annotations

import threading

import pytest

from ringbolt.store.queries.feed import Horizon
from tests.support import open_memory, postgres_client, postgres_only
from tests.surfaces.event_streams import Stream
from tests.surfaces.http_support import serving


@pytest.fixture
def ask(memory, tmp_path):
    with serving(memory, tmp_path / "tokens.json", heartbeat=0.05) as client:
        yield client


def numbers(events):
    return [(event["task_id"], event["seq"]) for event in events]


def wanted(memory, *tasks):
    return [(event.task_id, event.seq) for task in tasks for event in memory.events(task)]


def test_pages_follow_one_another(ask, memory):
    one, two = (memory.task_register(name).task_id for name in "ab")
    for number in range(7):
        memory.task_update((one, two)[number % 2], f"message {number}")
    for path, tasks in ((f"/api/tasks/{one}/events", [one]), ("/api/events", [one, two])):
        found, after = [], 0
        while True:
            page = ask("GET", f"{path}?after={after}&limit=2", token="read").data
            assert len(page["events"]) <= 2
            found += page["events"]
            after = page["next"]
            if not page["more"]:
                break
        assert sorted(numbers(found)) == sorted(wanted(memory, *tasks))
        assert ask("GET", f"{path}?after={after}").data == {"events": [], "next": after, "more": False}
    positions = [event["position"] for event in found]
    assert positions == sorted(set(positions))


def test_a_stream_tells_what_is_written_here_and_by_others(ask, memory, opened, store_url):
    task = memory.task_register("x").task_id
    stream, every = Stream(ask, f"/api/tasks/{task}/events?after=1"), Stream(ask, "/api/events")
    ask.call("task_update", task_id=task, message="here\nid: 99\ndata: forged")
    with_seq = stream.take(1)
    opened(store_url, session="T").task_update(task, "elsewhere")
    with_seq += stream.take(1)
    assert [number for number, _ in with_seq] == [2, 3]
    assert with_seq[0][1]["text"] == "here\nid: 99\ndata: forged"
    told = every.take(3)
    assert [number for number, _ in told] == [event["position"] for _, event in told]
    assert numbers(event for _, event in told) == wanted(memory, task)
    while stream.next() is not None:
        pass  # a heartbeat comes when nothing else does
    stream.close()
    every.close()


def test_over_restarts_nothing_is_lost_and_nothing_comes_twice(opened, store_url, tmp_path):
    memory = opened(store_url)
    tasks = [memory.task_register(name).task_id for name in "abc"]
    stop = threading.Event()

    def write(task):
        number = 0
        while not stop.is_set() and number < 3000:
            memory.task_update(task, f"message {number}")
            number += 1

    writers = [threading.Thread(target=write, args=(task,)) for task in tasks]
    for writer in writers:
        writer.start()
    found, last, of_one, seen = [], 0, [], 0
    for _ in range(4):
        with serving(memory, tmp_path / "tokens.json") as ask:
            every, one = Stream(ask, "/api/events", last), Stream(ask, f"/api/tasks/{tasks[0]}/events", seen)
            for number, event in every.take(25):
                last = number
                found.append(event)
            for number, event in one.take(10):
                seen = number
                of_one.append(event)
            every.close()
            one.close()
    stop.set()
    for writer in writers:
        writer.join()
    with serving(memory, tmp_path / "tokens.json") as ask:
        while (page := ask("GET", f"/api/events?after={last}&limit=500").data)["events"]:
            found += page["events"]
            last = page["next"]
    assert len(set(numbers(found))) == len(found)
    assert sorted(numbers(found)) == sorted(wanted(memory, *tasks))
    assert numbers(of_one) == [(tasks[0], number + 1) for number in range(len(of_one))]


def test_streams_end_with_the_server_and_are_counted(memory, tmp_path):
    memory.task_register("x")
    with serving(memory, tmp_path / "tokens.json") as ask:
        streams = [Stream(ask, "/api/events") for _ in range(3)]
        for stream in streams:
            stream.take(1)
        assert b"\nringbolt_http_streams 3\n" in ask("GET", "/metrics").body
        ask.server.should_exit = True
        assert [stream.next() for stream in streams] == [False] * 3
        for stream in streams:
            stream.close()


def test_whoever_knows_more_than_the_store_is_told(ask, memory):
    task = memory.task_register("x").task_id
    answer = ask("GET", f"/api/tasks/{task}/events", Last_Event_ID="7", Accept="text/event-stream")
    assert (answer.status, answer.error["code"]) == (409, "stale_version")


@postgres_only
def test_an_event_that_is_being_written_holds_up_those_after_it(memory, store_url):
    """A position is given out before it is committed: it must not be passed over."""
    task = memory.task_register("x").task_id
    other = memory.task_register("y").task_id
    horizon = Horizon()
    look = lambda: memory.store.read(horizon.advance)  # noqa: E731
    begun = look()
    with postgres_client(store_url) as slow:
        slow.execute(
            "INSERT INTO events (task_id, seq, event_type, timestamp, data, origin_id, correlation_id, hash)"
            " SELECT task_id, 2, 'message', timestamp, data, origin_id, '', hash FROM events"
            " WHERE task_id = %s",
            (task,),
        )
        later = memory.task_update(other, "after it")
        assert look() == look() == begun
        slow.rollback()
    assert look() > begun
    assert later.seq == 2


@postgres_only
def test_writers_who_take_turns_hold_up_nothing(memory, store_url):
    """There is always someone writing, but never the same one for long."""
    task = memory.task_register("x").task_id
    horizon = Horizon()
    insert = (
        "INSERT INTO events (task_id, seq, event_type, timestamp, data, origin_id, correlation_id, hash)"
        " SELECT task_id, %s, 'message', timestamp, data, origin_id, '', hash FROM events"
        " WHERE task_id = %s AND seq = 1"
    )
    seen = []
    with postgres_client(store_url) as one, postgres_client(store_url) as two:
        one.execute(insert, (50, task))
        for number, (old, new) in enumerate([(one, two), (two, one), (one, two), (two, one)]):
            new.execute("SELECT set_config('ringbolt.tenant', current_setting('ringbolt.tenant'), false)")
            new.execute(insert, (60 + number, task))
            seen.append(memory.store.read(horizon.advance))
            old.rollback()
        one.rollback()
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]


def test_a_store_that_was_put_back_begins_anew(tmp_path):
    horizon = Horizon()
    with open_memory(tmp_path / "s.db") as memory:
        memory.backup(tmp_path / "empty")
        memory.task_register("x")
        assert memory.store.read(horizon.advance) == 1
        memory.acting_as(channel="user").restore(tmp_path / "empty")
        assert memory.store.read(horizon.advance) == 0
