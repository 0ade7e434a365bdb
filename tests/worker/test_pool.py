"""A pool: threads by class of kind, what it finds to do by itself, how it is seen, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from ringbolt.model.errors import Conflict, StoreError
from ringbolt.model.results import WorkerReport
from ringbolt.model.validate import stamp
from ringbolt.store import jobs, workers
from ringbolt.waits import loop
from ringbolt.worker import pool as pool_module
from ringbolt.worker import schedule
from ringbolt.worker.pool import Pool, lanes
from ringbolt.worker.worker import HANDLERS
from tests.support import NOON, START, open_memory, postgres_only

SOON = 30  # seconds that a test waits for what should come at once


@pytest.fixture(autouse=True)
def brisk(monkeypatch):
    """A pool that looks around as often as a test wants to see it."""
    monkeypatch.setattr(pool_module, "TICK", 0.02)
    monkeypatch.setattr(schedule, "GRACE", 0.02)


def ask(memory, *keys, kind="count", task=""):
    def work(tx):
        for key in keys:
            jobs.add(tx, kind, task, str(key), {}, jobs.NOW, NOON)

    memory.store.write(work)


def settled(memory, job, settle):
    memory.store.write(settle)


@contextmanager
def running(pool):
    """A pool that runs for the length of the block; gives where its report will be."""
    stop = threading.Event()
    reports = []
    thread = threading.Thread(target=lambda: reports.append(pool.run(stop)))
    thread.start()
    try:
        yield reports
    finally:
        stop.set()
        thread.join(SOON)
        assert not thread.is_alive()


def test_a_model_that_thinks_for_long_keeps_no_wait_and_no_callback_waiting(memory):
    """The slow job ends only when the others are done: in one thread they would never be."""
    thinking, done = threading.Event(), threading.Semaphore(0)

    def slow(memory, job, settle):
        thinking.set()
        assert done.acquire(timeout=SOON)
        assert done.acquire(timeout=SOON)
        memory.store.write(settle)

    def quick(memory, job, settle):
        memory.store.write(settle)
        done.release()

    ask(memory, "s1", kind="extract")
    pool = Pool(memory, handlers={"extract": slow, "wait": quick, "webhook": quick})
    with running(pool) as reports:
        assert thinking.wait(SOON)
        ask(memory, "w", kind="wait")
        ask(memory, "c", kind="webhook")
        while memory.jobs_status().kinds:
            pass
    assert reports == [WorkerReport(done=3)]


def test_waits_have_a_thread_of_their_own_and_each_kind_has_one():
    found = lanes({**HANDLERS, "mine": settled})
    assert ("wait",) in found
    assert ("upkeep", "prune") in found
    assert sorted(kind for lane in found for kind in lane) == sorted([*HANDLERS, "mine"])
    assert {"mirror", "mine"} in [set(lane) for lane in found]


def test_waits_are_kept_in_memory_counted_when_they_end_and_given_back(memory, tmp_path, monkeypatch, clock):
    monkeypatch.setattr(loop, "DEAD_SECONDS", 0.1)
    task = memory.task_register("T").task_id
    some = {"task_id": task, "block": False, "poll_interval": 0.05, "timeout": 600}
    lost = memory.smart_wait("manual:", **some)
    for _ in range(jobs.MOST_ATTEMPTS):  # its workers die, one after the other
        memory.store.write(lambda tx: jobs.lease(tx, ("wait",), "x", clock(), 1.0, 1))
        clock.forward(2)
    made = memory.smart_wait(f"file:{tmp_path}/made", **some)
    memory.smart_wait("manual:", **some)
    with running(Pool(memory, handlers={"wait": HANDLERS["wait"]})) as reports:
        while memory.jobs_status().leased < 2:
            pass
        (tmp_path / "made").touch()
        while memory.jobs_status().totals != {"wait": {"done": 1, "dead": 1}}:
            pass
    assert reports == [WorkerReport(done=1, dead=1)]
    assert memory.jobs_status().kinds == {"wait": {"waiting": 1}}
    assert [memory.wait_status(one.wait_id)[0].state for one in (made, lost)] == ["resolved", "error"]


def test_what_a_killed_process_held_is_done_at_once_by_the_next(memory, clock):
    ask(memory, "a", "b")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = os.uname().nodename
    for holder in (f"{here}:{gone.pid}:1/quick", f"{here}:{os.getpid()}:1/quick"):
        memory.store.write(lambda tx, h=holder: jobs.lease(tx, ("count",), h, clock(), 60.0, 1))
    pool = Pool(memory, handlers={"count": settled})
    assert pool.run_once() == WorkerReport(done=1)  # the other one is held by someone who lives
    assert memory.jobs_status().leased == 1


def test_a_store_that_is_busy_when_the_pool_ends_is_no_failure(memory, monkeypatch):
    memory.smart_wait("manual:", task_id=memory.task_register("T").task_id, block=False)

    def busy(work, **options):
        raise StoreError("store_busy", "busy")

    with running(Pool(memory, handlers={"wait": HANDLERS["wait"]})) as reports:
        while memory.jobs_status().leased < 1:
            pass
        monkeypatch.setattr(memory.store, "write", busy)
    monkeypatch.undo()
    assert reports == [WorkerReport()]
    assert memory.jobs_status().leased == 1  # until the lease has run out


def test_a_job_that_does_not_end_is_given_back_in_time_and_its_worker_is_refused(memory):
    begun, going_on, refused_with = threading.Event(), threading.Event(), []

    def endless(memory, job, settle):
        begun.set()
        assert going_on.wait(SOON)
        try:
            memory.store.write(settle)
        except Conflict as error:
            refused_with.append(error.code)
            going_on.clear()
            raise

    ask(memory, *range(3))
    with running(Pool(memory, handlers={"count": endless}, stop_seconds=0.05)):
        assert begun.wait(SOON)
        assert memory.jobs_status().leased == 3
    status = memory.jobs_status()
    assert (status.waiting, status.leased) == (3, 0)
    assert Pool(memory, handlers={"count": settled}).run_once() == WorkerReport(done=3)
    going_on.set()
    while going_on.is_set():
        pass
    assert refused_with == ["stale_token"]


def test_who_works_and_what_became_of_jobs_can_be_seen(memory, clock, caplog):
    ask(memory, *range(4))
    ask(memory, "x", kind="broken", task="0123456789")

    def broken(memory, job, settle):
        raise ValueError("no\nroute \x1b[31mto host")

    pool = Pool(memory, handlers={"count": settled, "broken": broken})
    with running(pool):
        while memory.jobs_status().totals != {"count": {"done": 4}, "broken": {"failed": 1}}:
            pass
        (seen,) = memory.jobs_status().workers
        assert (seen.holder, seen.alive, set(seen.kinds)) == (pool.holder, True, {"count", "broken"})
        assert (seen.started_at, seen.ended_at) == (NOON, None)
    (seen,) = memory.jobs_status().workers
    assert (seen.alive, seen.ended_at) == (False, NOON)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "ringbolt.worker"]
    assert line.endswith("(broken of 0123456789) failed (attempt 1 of 8): ValueError: no route to host")
    clock.forward(60)
    Pool(memory, handlers={"broken": broken}).run_once()
    status = memory.jobs_status()
    assert status.totals["broken"] == {"failed": 2}
    assert len(status.workers) == 1  # those before it are forgotten


def test_a_worker_that_is_killed_is_no_longer_alive_after_a_minute(memory, clock):
    memory.store.write(lambda tx: workers.begin(tx, "gone", ["wait"], clock()))
    assert memory.jobs_status().workers[0].alive
    clock.forward(61)
    (seen,) = memory.jobs_status().workers
    assert (seen.alive, seen.ended_at, seen.seen_at) == (False, None, NOON)


def test_what_is_due_is_told_from_what_only_waits(memory, clock):
    def work(tx):
        jobs.add(tx, "count", "", "later", {}, stamp(START + 60), NOON)
        jobs.add(tx, "count", "", "first", {}, stamp(START - 30), NOON)
        jobs.add(tx, "count", "", "now", {}, jobs.NOW, NOON)

    memory.store.write(work)
    status = memory.jobs_status()
    assert (status.waiting, status.due, status.due_since) == (3, 2, stamp(START - 30))


def test_a_lane_that_breaks_ends_the_pool_and_is_told(memory, monkeypatch):
    pool = Pool(memory, handlers={"count": settled, "wait": settled})
    monkeypatch.setattr(pool._workers[0], "_is_due", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        pool.run(threading.Event())
    assert not memory.jobs_status().workers[0].alive


@postgres_only
def test_workers_on_postgresql_do_not_wait_for_each_other(memory, store_url):
    """One is in the middle of taking its jobs while another takes, does and ends others."""
    ask(memory, *range(10))
    with open_memory(store_url, lock_timeout=20) as other:

        def work(tx):
            held, _ = jobs.lease(tx, ["count"], "first", START, 60, 4)
            assert Pool(other, handlers={"count": settled}).run_once() == WorkerReport(done=6)
            return held

        assert len(memory.store.write(work)) == 4
    assert memory.jobs_status().leased == 4


# --- what it finds to do ----------------------------------------------------------------------------


def test_texts_get_their_vectors_in_the_background(opened, store_url):
    memory = opened(store_url, embedder="static", upkeep_every="off")
    task = memory.task_register("Notes").task_id
    memory.task_update(task, "We bought a new car yesterday")
    assert Pool(memory).run_once().done == 1
    assert Pool(memory).run_once() == WorkerReport()  # none is missing: nothing is asked for
    model = memory.store.read(
        lambda tx: tx.database.query("SELECT done_from, done_to FROM vector_models", {})
    )
    assert model == [(0, memory.store.read(lambda tx: tx.last_position()))]
    without = opened(store_url)
    assert "embed" not in Pool(without)._handlers  # another worker may have no embedder


def test_an_embedder_that_fails_is_tried_again_and_again_and_rests_when_it_was_given_up(
    opened, store_url, clock
):
    memory = opened(
        store_url,
        embedder="endpoint",
        embedding_url="http://127.0.0.1:9/v1",
        embedding_model="m",
        upkeep_every="off",
    )
    memory.task_register("Notes")
    assert Pool(memory).run_once() == WorkerReport(failed=1)
    for _ in range(jobs.MOST_ATTEMPTS - 1):
        clock.forward(jobs.LONGEST_DELAY / 2)
        report = Pool(memory).run_once()
    assert report == WorkerReport(dead=1)
    assert "127.0.0.1" in memory.jobs_status().given_up[0].error
    clock.forward(jobs.DEAD_REST / 2)
    assert Pool(memory).run_once() == WorkerReport()
    clock.forward(jobs.DEAD_REST)
    assert Pool(memory).run_once() == WorkerReport(failed=1)


@pytest.fixture
def mirrored(opened, store_url, tmp_path):
    """A memory with files, and one that writes to the same store and is gone before it sees to them."""
    place = tmp_path / "project"
    place.mkdir()
    memory = opened(store_url, workspace=str(place), mirrors="resume,active-tasks", upkeep_every="off")
    return memory, opened(store_url, workspace=str(place)), place


def stale(memory):
    return [one.path for one in memory.mirrors_status() if one.stale]


def test_files_that_a_killed_writer_left_behind_are_brought_up_to_date(mirrored):
    memory, writer, _ = mirrored
    task = writer.task_register("Deploy").task_id
    writer.task_update(task, "begun")
    assert len(stale(memory)) == 2
    assert Pool(memory).run_once() == WorkerReport(done=2)
    assert stale(memory) == []
    assert Pool(memory).run_once() == WorkerReport()
    writer.task_update(task, "and more")
    with running(Pool(memory)):
        while stale(memory):
            pass


def test_a_file_that_cannot_be_written_is_a_job_that_failed(mirrored, clock):
    memory, writer, place = mirrored
    writer.task_register("Deploy")
    (place / ".ringbolt").write_text("in the way")
    pool = Pool(memory)
    assert pool.run_once() == WorkerReport(failed=2)
    (place / ".ringbolt").unlink()
    clock.forward(60)
    assert pool.run_once() == WorkerReport(done=2)
    assert stale(memory) == []
