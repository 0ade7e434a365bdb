"""Redis: a copy for readers that equals the ledger in the end, each event once, whatever happens between."""

from __future__ import annotations

import json
import tempfile

import pytest

from ringbolt.sinks.redis_copy import RedisCopy
from ringbolt.sinks.sink import Ledger
from ringbolt.surfaces.doctor import sinks
from ringbolt.worker.pool import Pool
from ringbolt.worker.publishing import publishing
from tests.sinks.redis_server import redis_server
from tests.sinks.story import begin, go_on
from tests.support import sqlite_only

pytestmark = pytest.mark.sinks


@pytest.fixture
def server():
    with (
        tempfile.TemporaryDirectory() as folder,
        redis_server(folder) as running,
    ):  # a socket's path must be short
        yield running


def redis_settings(server, **more):
    return {"publish": "redis", "redis_url": server.url, "extraction": "off", "summary_every": 0, **more}


@pytest.fixture
def shop(opened, store_url, server):
    return opened(store_url, **redis_settings(server))


def work(memory):
    return Pool(memory, handlers={"publish": publishing()}).run_once()


def fresh(server, memory, *tasks):
    """What publishing the tasks to an empty server gives."""
    server.client.flushall()
    sink = RedisCopy(memory.settings)
    for task in tasks:
        sink.publish(Ledger(memory.store, task), {})
    return server.contents()


def seqs(server, task):
    return [int(name.partition("-")[0]) for name, _ in server.client.xrange(f"ringbolt:{{{task}}}:events")]


def test_a_task_is_a_hash_a_json_text_and_a_stream(shop, server):
    task = begin(shop)
    work(shop)
    go_on(shop, task)
    work(shop)
    now = shop.task_get(task)
    shown = server.client.hgetall(f"ringbolt:{{{task}}}")
    assert (shown["status"], shown["done"], shown["total"], shown["seq"]) == (
        "active",
        "1",
        "4",
        str(now.seq),
    )
    text = json.loads(server.client.get(f"ringbolt:{{{task}}}:json"))
    assert (text["variables"], len(text["decisions"]), text["seq"]) == ({"port": 5432}, 1, now.seq)
    stream = server.client.xrange(f"ringbolt:{{{task}}}:events")
    assert [name for name, _ in stream] == [f"{event.seq}-0" for event in shop.events(task)]
    assert [fields["type"] for _, fields in stream] == [event.type for event in shop.events(task)]
    assert server.contents() == fresh(server, shop, task)


def test_publishing_twice_doubles_no_event(shop, server):
    task = begin(shop)
    sink = RedisCopy(shop.settings)
    sink.publish(Ledger(shop.store, task), {})
    before = server.contents()
    sink.publish(Ledger(shop.store, task), {})
    assert server.contents() == before


def test_readers_are_woken_with_what_happened(shop, server):
    task = begin(shop)
    work(shop)
    listener = server.client.pubsub(ignore_subscribe_messages=True)
    listener.subscribe("ringbolt:wake")
    listener.get_message(timeout=5)
    go_on(shop, task)
    work(shop)
    wake = json.loads(listener.get_message(timeout=5)["data"])
    listener.close()
    assert (wake["task"], wake["seq"]) == (task, shop.task_get(task).seq)
    assert wake["events"] == [event.type for event in shop.events(task)][-len(wake["events"]) :]


def test_redis_itself_says_how_far_behind_it_is(shop, server, clock):
    task = begin(shop)
    work(shop)
    clock.forward(60)
    work(shop)
    status = server.client.hgetall("ringbolt:status")
    newest = shop.store.read(lambda tx: tx.last_position())
    assert (status["behind"], status["newest"], status["checked_at"]) == ("0", str(newest), shop._now())
    assert int(server.client.hget(f"ringbolt:{{{task}}}", "seq")) == shop.task_get(task).seq


def test_a_server_that_was_down_gets_what_it_missed(shop, server, clock):
    task = begin(shop)
    work(shop)
    server.stop()
    go_on(shop, task)
    for _ in range(20):
        clock.forward(1800)
        work(shop)
    assert shop.jobs_status().dead
    server.start()  # empty
    clock.forward(120)
    work(shop)
    work(shop)
    assert server.contents() == fresh(server, shop, task)
    assert shop.jobs_status().dead == 0


def test_a_server_that_lost_everything_is_filled_again_although_nothing_happens(shop, server, clock):
    tasks = [begin(shop), begin(shop)]
    work(shop)
    server.client.flushall()
    clock.forward(60)
    work(shop)
    work(shop)
    assert server.contents() == fresh(server, shop, *tasks)


def test_two_workers_at_once_leave_the_newer_state(shop, server):
    """The second one publishes between the reading and the writing of the first."""
    task = begin(shop)
    sink, other = RedisCopy(shop.settings), RedisCopy(shop.settings)
    sink.publish(Ledger(shop.store, task), {})
    overtaken = []

    class Slow(Ledger):
        def events(self, after, limit):
            if not overtaken:
                overtaken.append(after)
                go_on(shop, task)
                other.publish(Ledger(shop.store, task), {})
            return super().events(after, limit)

    go_on(shop, task, 2)
    sink.publish(Slow(shop.store, task), {})
    assert overtaken
    assert server.contents() == fresh(server, shop, task)


def test_a_worker_that_lost_its_lease_asks_for_another_publication(shop, server, clock, opened, store_url):
    task = begin(shop)
    done = []

    class Late(RedisCopy):
        def publish(self, ledger, mark):
            published = super().publish(ledger, mark)
            if not done:
                done.append(published)
                clock.forward(120)
                work(opened(store_url, **redis_settings(server), clock=clock))
            return published

    pool = Pool(shop, handlers={"publish": publishing(lambda name, settings: Late(settings))})
    report = pool.run_once()
    assert (report.lost, report.failed) == (1, 0)
    work(shop)
    assert server.contents() == fresh(server, shop, task)


def test_the_stream_keeps_the_newest_events(opened, store_url, server):
    memory = opened(store_url, **redis_settings(server, redis_events=5))
    task = begin(memory)
    work(memory)
    for number in (1, 2, 3):
        go_on(memory, task, number)
        work(memory)
    last = memory.task_get(task).seq
    assert seqs(server, task) == list(range(last - 4, last + 1))
    assert server.contents() == fresh(server, memory, task)


def test_what_is_forgotten_leaves_the_stream_too(shop, server):
    task = begin(shop)
    seq = shop.task_update(task, "the word is swordfish").seq
    work(shop)
    assert "swordfish" in str(server.contents())
    owner = shop.acting_as(channel="user")
    token = owner.forget(f"event:{task}#{seq}").token
    owner.forget(f"event:{task}#{seq}", confirm=token)
    work(shop)
    assert "swordfish" not in str(server.contents())
    assert server.contents() == fresh(server, shop, task)


def test_a_purged_task_leaves_no_keys(shop, server, clock):
    task = begin(shop)
    work(shop)
    shop.task_finish(task)
    work(shop)
    owner = shop.acting_as(channel="user")
    owner.purge(task_id=task, confirm=owner.purge(task_id=task).token)
    clock.forward(60)
    work(shop)
    work(shop)
    assert server.contents() == {}


def test_a_store_that_was_restored_is_published_as_it_is_now(opened, new_store_url, server):
    memory = opened(new_store_url(), **redis_settings(server))
    task = begin(memory)
    # What a copy of another history looks like, which had gone further.
    server.client.hset(f"ringbolt:{{{task}}}", mapping={"seq": "99", "check": "00000000"})
    server.client.xadd(f"ringbolt:{{{task}}}:events", {"type": "old"}, id="99-0")
    work(memory)
    assert seqs(server, task) == [event.seq for event in memory.events(task)]
    assert server.contents() == fresh(server, memory, task)


@sqlite_only
def test_a_store_that_was_replaced_by_a_backup_is_published_as_it_is_now(shop, server, tmp_path):
    task, other = begin(shop), begin(shop)
    backup = str(tmp_path / "backup")
    shop.backup(backup)
    for each in (task, other):
        go_on(shop, each)
    shop.task_finish(other)
    work(shop)
    shop.acting_as(channel="user").restore(backup)
    work(shop)
    assert shop.task_get(other).status == "active"
    assert server.contents() == fresh(server, shop, task, other)


def test_errors_are_visible_to_operators(shop, server, clock):
    begin(shop)
    work(shop)
    assert (sinks(shop).state, "redis: tasks published: 1, waiting: 0" in sinks(shop).message) == ("ok", True)
    server.stop()
    begin(shop)
    clock.forward(60)
    work(shop)
    found = sinks(shop)
    assert (found.state, "waiting: 1" in found.message, "2 failed" in found.message) == (
        "warning",
        True,
        True,
    )
    assert "ConnectionError" in found.message
    assert {job.kind for job in shop.jobs_status().failing} == {"publish"}


def test_a_wrong_url_is_an_error_that_quotes_no_password(opened, store_url):
    memory = opened(store_url, publish="redis", redis_url="redis//:hunter2@somewhere")
    begin(memory)
    work(memory)
    (error,) = {job.error for job in memory.jobs_status().failing}
    assert error.startswith("InvalidInput: redis_url is not the URL of a Redis server.")
    assert "hunter2" not in error
