"""The program that the tests of the worker start, and kill."""

from __future__ import annotations

import os
import signal
import sys
import threading

from ringbolt import TaskMemory
from ringbolt.store import jobs
from ringbolt.store.postgres_database import PostgresDatabase
from ringbolt.store.queries import distilled
from ringbolt.store.sqlite_database import SqliteDatabase
from ringbolt.worker.worker import HANDLERS, Worker, extraction
from tests.worker.stand_in import StandIn


def opened(url: str) -> TaskMemory:
    return TaskMemory.open(url, workspace="/w", principal="owner", reserve_bytes=0, synchronous="off")


def drain(url: str) -> None:
    """Do all the jobs of kind `count`, and say the number of each."""
    with opened(url) as memory:

        def count(memory, job, settle):
            memory.store.write(settle)
            os.write(1, f"{job.key}\n".encode())

        print("ready", flush=True)
        sys.stdin.readline()
        Worker(memory, handlers={"count": count}).run_once(limit=10_000)


def pool(url: str) -> None:
    """Do jobs of kind `count` with short leases until it is told to end; each leaves a row of its own."""
    from ringbolt.worker.pool import Pool

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with opened(url) as memory:

        def count(memory, job, settle):
            def work(tx):
                settle(tx)
                own = f"{job.key}/{os.getpid()}/{job.token}"
                jobs.add(tx, "did", "", own, {}, jobs.NOW, memory._now())

            memory.store.write(work)
            os.write(1, b".")

        Pool(memory, handlers={"count": count}, lease_seconds=1).run(stop)


def die_at(number: int):
    """Count what is asked of the store, and die without a word at the given one; returns the count so far."""
    asked = [0]

    def counted(method):
        def call(*args):
            asked[0] += 1
            if asked[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*args)

        return call

    for database in (SqliteDatabase, PostgresDatabase):
        for name in ("query", "query_all", "run", "run_many"):
            setattr(database, name, counted(getattr(database, name)))
    return asked


def work(url: str, how: str, at: str) -> int:
    """Extract until all is done, or it dies; returns how much was asked of the store."""
    asked = die_at(int(at))
    memory = opened(url)

    def early(memory, job, settle):
        """Ends its job first; and the others of the task, which would do its work, too."""
        memory.store.write(lambda tx: tx.database.run("DELETE FROM jobs WHERE key <> :key", {"key": job.key}))
        memory.store.write(settle)
        memory._extract(job.task_id, extractor=StandIn)

    def late(memory, job, settle):
        """Forgets how far it came; what it writes is recognised, but what it counts is not."""
        memory._extract(job.task_id, extractor=StandIn)
        if job.key == "s1":
            memory.store.write(lambda tx: distilled.drop(tx, job.task_id, "extraction"))
            memory._extract(job.task_id, extractor=StandIn)
        memory.store.write(settle)

    handler = {"whole": extraction(StandIn), "early": early, "late": late}[how]
    Worker(memory, handlers={**HANDLERS, "extract": handler}).run_once()
    return asked[0]


def victims() -> None:
    each_in_a_child(work)


def each_in_a_child(work) -> None:
    """For each line a child that works and may die; says the status of each, and what it asked the store."""
    for line in sys.stdin:
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            os.write(writing, str(work(*line.split())).encode())
            os._exit(0)
        os.close(writing)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), os.read(reading, 100).decode() or 0, flush=True)
        os.close(reading)


if __name__ == "__main__":
    {"drain": drain, "pool": pool, "victims": victims}[sys.argv[1]](*sys.argv[2:])
