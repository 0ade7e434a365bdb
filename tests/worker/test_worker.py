"""The worker: none, one or many, and each job done once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ringbolt import StoreError
from ringbolt.model.results import WorkerReport
from ringbolt.model.validate import seconds_of
from ringbolt.store import jobs
from ringbolt.worker.worker import HANDLERS, Worker
from tests.support import NOON, START, refused

PROGRAM = Path(__file__).with_name("programs.py")
ROOT = Path(__file__).parents[2]


def ask(memory, *keys, kind="count", task=""):
    def work(tx):
        for key in keys:
            jobs.add(tx, kind, task, str(key), {}, jobs.NOW, NOON)

    memory.store.write(work)


def settled(did=None):
    """A handler that does its job and nothing else; the keys it has seen are in `did`."""

    def handle(memory, job, settle):
        if did is not None:
            did.append(job.key)
        memory.store.write(settle)

    return handle


def test_without_work_nothing_is_done_and_nothing_is_written(memory, worker):
    assert worker.run_once() == WorkerReport()


def test_as_many_jobs_are_done_as_wanted(memory):
    ask(memory, *range(9))
    did = []
    worker = Worker(memory, handlers={"count": settled(did)}, batch=4)
    assert worker.run_once(limit=6) == WorkerReport(done=6)
    assert worker.run_once() == WorkerReport(done=3)
    assert sorted(did) == [str(number) for number in range(9)]


def test_a_handler_that_fails_is_tried_again_later_and_given_up_in_the_end(memory, clock, task):
    ask(memory, "k", task=task)

    def broken(memory, job, settle):
        raise ValueError("the model said \0 nothing \ud800")

    worker = Worker(memory, handlers={"count": broken})
    assert worker.run_once() == WorkerReport(failed=1)
    assert worker.run_once() == WorkerReport()  # it is not due yet
    reports = []
    for _ in range(jobs.MOST_ATTEMPTS - 1):
        clock.forward(jobs.LONGEST_DELAY)
        reports.append(worker.run_once())
    assert reports[-1] == WorkerReport(dead=1)
    status = memory.jobs_status()
    assert (status.waiting, status.dead, status.kinds) == (0, 1, {"count": {"dead": 1}})
    (dead,) = status.given_up
    assert dead.error == "ValueError: the model said  nothing ?"
    line = "1 background jobs were given up; jobs_status says why"
    assert line in memory.task_resume(task).text
    assert memory.jobs_retry(dead.id).status == "waiting"
    assert line not in memory.task_resume(task).text
    assert Worker(memory, handlers={"count": settled()}).run_once() == WorkerReport(done=1)


def test_retrying_what_is_not_dead_is_refused(memory):
    ask(memory, "k")
    with refused(memory, "job_not_found"):
        memory.jobs_retry(1)
    with refused(memory, "invalid_argument"):
        memory.jobs_retry("1")


def test_what_the_handler_wrote_is_undone_when_its_job_is_no_longer_its_own(memory, clock, task):
    ask(memory, "k", task=task)
    other = Worker(memory, handlers={"count": settled()})

    def slow(memory, job, settle):
        clock.forward(3600)
        assert other.run_once() == WorkerReport(done=1)

        def work(tx):
            jobs.add(tx, "what it wrote", task, "", {}, jobs.NOW, NOON)
            settle(tx)

        memory.store.write(work)

    assert Worker(memory, handlers={"count": slow}).run_once() == WorkerReport(lost=1)
    assert memory.jobs_status().kinds == {}


def test_a_handler_that_does_not_settle_its_job_has_failed(memory):
    ask(memory, "k")
    worker = Worker(memory, handlers={"count": lambda memory, job, settle: None})
    assert worker.run_once() == WorkerReport(failed=1)


def test_a_job_of_a_task_that_is_not_there_is_over(memory, worker):
    ask(memory, "s1", kind="extract", task="0000000000")
    assert worker.run_once() == WorkerReport(done=1)


def test_an_extraction_that_was_asked_for_before_it_was_switched_off_is_dropped(
    opened, store_url, memory, task
):
    memory.task_update(task, "x", step=1, step_status="completed")
    off = opened(store_url, extraction="off")
    assert Worker(off).run_once() == WorkerReport(done=1)


def test_a_heartbeat_keeps_the_lease_of_a_long_job(memory, clock):
    ask(memory, "long")
    reports = []
    beats = threading.Semaphore(0)
    beaten = threading.Semaphore(0)
    finished = threading.Event()

    def pause(event, seconds):
        """The heartbeat's waiting: until the handler says that time has passed, in the end for its stop."""
        beaten.release()
        beats.acquire()
        return event.wait() if finished.is_set() else event.is_set()

    def slow(memory, job, settle):
        beaten.acquire()
        for _ in range(5):
            clock.forward(50)
            beats.release()
            beaten.acquire()
            reports.append(rival.run_once())
        finished.set()
        beats.release()
        memory.store.write(settle)

    rival = Worker(memory, handlers={"count": settled()}, pause=lambda event, _: event.wait())
    assert Worker(memory, handlers={"count": slow}, pause=pause).run_once() == WorkerReport(done=1)
    assert reports == [WorkerReport()] * 5


def test_a_worker_that_is_stopped_finishes_the_job_in_hand_and_gives_the_others_back(memory):
    ask(memory, *range(5))
    stop = threading.Event()

    def stopping(memory, job, settle):
        stop.set()
        memory.store.write(settle)

    assert Worker(memory, handlers={"count": stopping}).run(stop) == WorkerReport(done=1)
    status = memory.jobs_status()
    assert (status.waiting, status.leased) == (4, 0)


def test_an_interrupted_worker_gives_everything_back(memory):
    ask(memory, *range(3))

    def interrupted(memory, job, settle):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Worker(memory, handlers={"count": interrupted}).run_once()
    assert memory.jobs_status().waiting == 3
    ids = memory.store.read(lambda tx: tx.database.query("SELECT attempts FROM jobs", {}))
    assert {row[0] for row in ids} == {0}


def test_an_idle_worker_waits_longer_each_time_and_wakes_for_work_and_for_the_end(memory, clock):
    stop = threading.Event()
    pauses = []
    did = []

    def pause(event, seconds):
        if event is stop:
            pauses.append(round(seconds, 3))
            clock.forward(seconds)
            if len(pauses) == 9:
                ask(memory, "k")
            if len(pauses) == 12:
                stop.set()
            return stop.is_set()
        return event.wait()

    report = Worker(memory, handlers={"count": settled(did)}, pause=pause).run(stop)
    assert report == WorkerReport(done=1)
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.05, 0.1, 0.2]


def test_a_worker_waits_no_longer_than_until_the_next_job_is_due(memory, clock):
    stop = threading.Event()
    pauses, due = [], []
    failing = [True]

    def once(memory, job, settle):
        if failing.pop() if failing else False:
            raise ValueError("not yet")
        memory.store.write(settle)
        stop.set()

    def pause(event, seconds):
        if event is not stop:
            return event.wait()
        if not pauses:
            due.append(memory.store.read(lambda tx: jobs.next_due(tx, ["count"], 4e9)))
        pauses.append(seconds)
        clock.forward(seconds)
        return stop.is_set()

    ask(memory, "k")
    assert Worker(memory, handlers={"count": once}, pause=pause).run(stop) == WorkerReport(done=1, failed=1)
    assert sum(pauses) == pytest.approx(seconds_of(due[0]) - START, abs=0.06)


def test_a_store_that_cannot_serve_for_a_while_is_waited_for_and_a_closed_one_is_not(memory, monkeypatch):
    stop = threading.Event()
    read = memory.store.read
    answers = [StoreError("store_busy", "busy"), StoreError("store_closed", "closed")]

    def failing(work, **options):  # asked for jobs, and for waits
        raise answers.pop(0) if len(answers) > 1 else answers[0]

    monkeypatch.setattr(memory.store, "read", failing)
    with pytest.raises(StoreError, match="closed"):
        Worker(memory, handlers=HANDLERS, pause=lambda event, _: event.is_set()).run(stop)
    monkeypatch.setattr(memory.store, "read", read)


@pytest.mark.parametrize("many", [500, pytest.param(1000, marks=pytest.mark.reliability)])
def test_two_processes_drain_many_jobs_and_none_is_done_twice_or_lost(memory, store_url, many):
    ask(memory, *range(many))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    workers = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), "drain", store_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    did = [worker.communicate()[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert all(did), "one has done it all: they never met"
    assert sorted(map(int, did[0] + did[1])) == list(range(many))
    assert memory.jobs_status().kinds == {}


@pytest.mark.parametrize("many", [150, pytest.param(1000, marks=pytest.mark.reliability)])
def test_pools_of_which_one_is_killed_do_each_job_once(opened, store_url, many):
    """What the killed one held is done by the other when its leases have run out, and by nobody else."""
    memory = opened(store_url, clock=time.time)
    ask(memory, *range(many))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    words = [sys.executable, str(PROGRAM), "pool", store_url]
    pools = [subprocess.Popen(words, stdout=subprocess.PIPE, env=environ)]
    try:
        pools[0].stdout.read(10)
        pools.append(subprocess.Popen(words, stdout=subprocess.PIPE, env=environ))
        pools[0].kill()
        while memory.jobs_status().kinds.keys() != {"did"}:
            assert pools[1].poll() is None
        pools[1].send_signal(signal.SIGTERM)
        assert pools[1].wait(100) == 0
    finally:
        for one in pools:
            one.kill()
            one.communicate()
    rows = memory.store.read(lambda tx: tx.database.query("SELECT key FROM jobs WHERE kind = 'did'", {}))
    assert sorted(int(key.partition("/")[0]) for (key,) in rows) == list(range(many))
    status = memory.jobs_status()
    assert status.totals["count"]["done"] <= many  # what the killed one had not told yet is missing
    assert [one.ended_at is None for one in status.workers].count(True) == 1


def test_threads_drain_a_queue_and_no_job_is_done_twice(memory):
    ask(memory, *range(200))
    did: list[str] = []
    workers = [Worker(memory, handlers={"count": settled(did)}, batch=3) for _ in range(4)]
    threads = [threading.Thread(target=worker.run_once) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(map(int, did)) == list(range(200))
    assert len({worker.holder for worker in workers}) == 4
