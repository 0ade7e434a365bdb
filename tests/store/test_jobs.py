"""The queue of jobs: one of a name, leased to one worker at a time, with fencing and an end to retries."""

from __future__ import annotations

import threading

import pytest

from ringbolt.model.errors import RingboltError
from ringbolt.model.validate import seconds_of, stamp
from ringbolt.store import jobs
from tests.support import NOON, START, refused

MINUTE = 60.0


class Queue:
    """The queue of a store, each call in a transaction of its own."""

    def __init__(self, memory) -> None:
        self._store = memory.store

    def add(self, key="k", kind="extract", data=None, due=jobs.NOW):
        self._store.write(lambda tx: jobs.add(tx, kind, "T", key, data or {}, due, NOON))

    def lease(self, now=START, limit=10, kinds=("extract",), seconds=MINUTE, holder="w"):
        return self._store.write(lambda tx: jobs.lease(tx, kinds, holder, now, seconds, limit))[0]

    def failed(self, job, now=START, error="it broke"):
        return self._store.write(lambda tx: jobs.failed(tx, job.id, job.token, error, now))

    def __getattr__(self, name):
        return lambda *args: self._store.write(lambda tx: getattr(jobs, name)(tx, *args))

    def done(self, job):
        self._store.write(lambda tx: jobs.done(tx, job.id, job.token))

    def every(self):
        names = ("kind", "key", "data", "status", "attempts", "due_at", "token")
        return self._store.read(
            lambda tx: tx.rows(names, f"SELECT {', '.join(names)} FROM jobs ORDER BY kind, key")
        )


@pytest.fixture
def queue(memory):
    return Queue(memory)


def test_a_job_that_is_done_is_gone(queue):
    queue.add(data={"seq": 3})
    (job,) = queue.lease()
    assert (job.kind, job.task_id, job.key, job.data, job.attempts, job.token, job.holder) == (
        "extract", "T", "k", {"seq": 3}, 1, 1, "w",
    )  # fmt: skip
    assert queue.lease() == []
    queue.done(job)
    assert queue.every() == []


def test_asking_for_what_waits_is_one_job_with_the_newer_data_and_the_earlier_time(queue):
    queue.add(data={"seq": 1}, due=stamp(START + 60))
    queue.add(data={"seq": 2}, due=stamp(START + 30))
    queue.add(data={"seq": 3}, due=stamp(START + 90))
    (row,) = queue.every()
    assert (row["data"], row["due_at"]) == ('{"seq":3}', stamp(START + 30))
    assert queue.lease(START + 29) == []
    assert len(queue.lease(START + 30)) == 1


def test_a_job_that_is_asked_for_while_someone_works_on_it_runs_once_more(queue):
    queue.add()
    (first,) = queue.lease()
    queue.add(data={"seq": 9})
    assert queue.lease() == []
    queue.done(first)
    (again,) = queue.lease()
    assert (again.data, again.attempts, again.token) == ({"seq": 9}, 1, 2)
    queue.done(again)
    assert queue.every() == []


def test_a_lease_that_ran_out_goes_to_another_and_its_holder_is_refused(memory, queue):
    queue.add()
    (slow,) = queue.lease()
    assert queue.lease(START + MINUTE - 1) == []
    (other,) = queue.lease(START + MINUTE, holder="other")
    assert (other.id, other.token, other.attempts) == (slow.id, 2, 2)
    with refused(memory, "stale_token"):
        queue.done(slow)
    with refused(memory, "stale_token"):
        queue.failed(slow)
    queue.extend([slow], START + 2 * MINUTE, MINUTE)  # moves nothing
    queue.release({slow.id: slow.token})
    assert [row["status"] for row in queue.every()] == ["leased"]
    assert queue.every()[0]["due_at"] == stamp(START + 2 * MINUTE)
    queue.done(other)
    with refused(memory, "stale_token"):
        queue.done(other)


def test_a_heartbeat_keeps_a_lease(queue):
    queue.add()
    (job,) = queue.lease()
    queue.extend([job], START + 50, MINUTE)
    assert queue.lease(START + MINUTE) == []
    assert len(queue.lease(START + 50 + MINUTE)) == 1


def test_a_lease_from_before_the_clock_was_set_back_does_not_last_for_ever(queue):
    queue.add()
    assert len(queue.lease(START + 86_400)) == 1
    assert len(queue.lease(START)) == 1


def test_what_was_asked_for_at_once_is_due_whatever_the_clock_says(queue):
    queue.add()
    assert len(queue.lease(1.0)) == 1


def test_failures_wait_longer_each_time_and_end_as_a_dead_letter(memory, queue):
    queue.add()
    now, waits = START, []
    for attempt in range(1, jobs.MOST_ATTEMPTS + 1):
        (job,) = queue.lease(now)
        assert job.attempts == attempt
        assert queue.failed(job, now, "no " * 5000) == (attempt == jobs.MOST_ATTEMPTS)
        queue.add()  # asking again does not cut the wait short …
        if attempt < jobs.MOST_ATTEMPTS:
            due = memory.store.read(lambda tx: jobs.next_due(tx, ["extract"], 4e9))
            assert queue.lease(now) == []
            waits.append(seconds_of(due) - now)
            now += 3600
    for wait, least in zip(waits, [5, 10, 20, 40, 80, 160, 320], strict=True):
        assert least <= wait <= (1 + jobs.JITTER) * least
    # … but gives one that was given up another chance.
    assert [(row["status"], row["attempts"]) for row in queue.every()] == [("waiting", 0)]


def test_a_dead_job_is_seen_and_can_be_revived(memory, queue):
    queue.add()
    for _ in range(jobs.MOST_ATTEMPTS):
        (job,) = queue.lease(START + 1e6)
        queue.failed(job, START, "no luck")
    assert queue.lease(START + 1e6) == []
    assert [(each.id, each.status, each.error) for each in queue.dead(10)] == [(job.id, "dead", "no luck")]
    assert queue.dead_count() == 1
    assert queue.counts(START) == [
        {"kind": "extract", "status": "dead", "count": 1, "oldest": NOON, "due": 0, "due_since": None}
    ]
    assert queue.retry(job.id).status == "waiting"
    with refused(memory, "job_not_found"):
        queue.retry(job.id)
    (revived,) = queue.lease()
    assert (revived.attempts, revived.token) == (1, jobs.MOST_ATTEMPTS + 1)


def test_a_job_that_kills_each_of_its_workers_is_given_up(queue):
    queue.add()
    for attempt in range(jobs.MOST_ATTEMPTS):
        assert len(queue.lease(START + attempt * MINUTE)) == 1
    assert queue.lease(START + 1e6) == []
    assert queue.dead(1)[0].error == "every worker that tried it was lost"


def test_a_job_that_was_not_begun_goes_back_without_counting(queue):
    queue.add()
    (job,) = queue.lease()
    queue.release({job.id: job.token})
    (row,) = queue.every()
    assert (row["status"], row["attempts"], row["token"]) == ("waiting", 0, 1)


def test_only_the_wanted_kinds_are_taken_as_many_as_wanted_the_earliest_first(queue):
    for number in range(5):
        queue.add(f"k{number}", due=stamp(START + 10 - number))
    queue.add("other", kind="summary")
    assert [job.key for job in queue.lease(START + 10, limit=3)] == ["k4", "k3", "k2"]
    assert [job.key for job in queue.lease(START + 10, kinds=("summary", "extract"))] == ["other", "k1", "k0"]


def test_many_threads_never_get_the_same_job(memory, queue):
    for number in range(60):
        queue.add(f"k{number}")
    taken: list[int] = []
    problems: list[RingboltError] = []

    def take(holder):
        try:
            while batch := queue.lease(limit=3, holder=holder):
                taken.extend(job.id for job in batch)
        except RingboltError as error:
            problems.append(error)

    threads = [threading.Thread(target=take, args=(f"w{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert len(taken) == len(set(taken)) == 60
