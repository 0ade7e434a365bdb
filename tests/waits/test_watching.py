"""A worker that keeps its waits in memory: what it notices, and what it leaves alone."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from ringbolt.ledger.base import Draft
from ringbolt.model.errors import StoreError
from ringbolt.store import jobs
from ringbolt.waits.file_targets import MOST_READ
from ringbolt.waits.loop import Watcher
from ringbolt.worker.worker import Worker
from tests.support import rows, sqlite_only
from tests.waits.support import ends

SOON = {"poll_interval": 0.05, "timeout": 60, "block": False}


@pytest.fixture
def watcher(memory):
    one = Watcher(memory, "here:0:1")
    yield one
    one.close()


def ticking(watcher, done):
    """Let a watcher tick until a condition holds; the time limit of the test ends what never does."""
    while not done():
        time.sleep(min(watcher.tick(), 0.05))


def state_of(memory, wait):
    return memory.wait_status(wait.wait_id)[0].state


def test_what_happens_to_a_wait_is_noticed_whoever_does_it(opened, store_url, tmp_path):
    memory, other = (opened(store_url, wait_folders=str(tmp_path), extraction="off") for _ in range(2))
    watcher = Watcher(memory, "here:0:1")
    task = memory.task_register("Effect").task_id
    cause = memory.task_register("Cause").task_id
    log = tmp_path / "log"
    log.touch()
    made, changed, task_over, process, huge = (
        memory.smart_wait(target, until=until, task_id=task, **SOON)
        for target, until in (
            (f"file:{tmp_path}/made", None),
            (f"file:{log}", "contains END"),
            (f"task:{cause}", None),
            ("manual:", None),
            (f"log:{log}", "contains END"),
        )
    )
    sleeper = subprocess.Popen(["sleep", "60"])
    exits = memory.smart_wait(f"process:{sleeper.pid}", task_id=task, **SOON)
    last = memory.smart_wait("manual:", task_id=cause, **SOON)
    ticking(watcher, lambda: len(watcher) == 7)
    (tmp_path / "made").touch()
    ticking(watcher, lambda: state_of(memory, made) == "resolved")
    other.wait_cancel(process.wait_id)
    ticking(watcher, lambda: len(watcher) == 5)
    other.wait_update(changed.wait_id, until="contains half")
    log.write_text("half")
    ticking(watcher, lambda: state_of(memory, changed) == "resolved")
    with log.open("ab") as file:
        file.write(b"x" * (2 * MOST_READ) + b"\nEND\n")  # more than one look reads
    ticking(watcher, lambda: state_of(memory, huge) == "resolved")
    sleeper.kill()  # and nobody takes note of its end
    ticking(watcher, lambda: state_of(memory, exits) == "resolved")
    sleeper.wait()
    other.task_finish(cause, answer="a")
    ticking(watcher, lambda: state_of(memory, task_over) == "resolved")
    ticking(watcher, lambda: state_of(memory, last) == "cancelled")
    assert (len(watcher), len(ends(memory, task)), len(ends(memory, cause))) == (0, 6, 1)
    assert memory.jobs_status().kinds == {}
    assert memory.verify().ok
    watcher.close()


def test_nothing_is_written_while_nothing_changes_and_all_is_given_back(
    memory, task, tmp_path, watcher, clock
):
    for number in range(20):
        memory.smart_wait(f"file:{tmp_path}/{number}", task_id=task, **SOON)
    ticking(watcher, lambda: watcher.checks >= 20)
    watcher.flush_soon()
    watcher.tick()
    before = rows(memory.store.url, "SELECT * FROM jobs ORDER BY id"), memory.task_get(task)
    checks = watcher.checks
    ticking(watcher, lambda: watcher.checks >= checks + 100)
    assert (rows(memory.store.url, "SELECT * FROM jobs ORDER BY id"), memory.task_get(task)) == before
    clock.forward(50)
    watcher.flush_soon()
    watcher.tick()
    clock.forward(50)  # the lease would have run out
    assert Worker(memory).run_once().done == 0
    watcher.close()
    assert memory.jobs_status().kinds == {"wait": {"waiting": 20}}
    assert Worker(memory).run_once().done == 20


def test_what_a_dead_worker_held_is_taken_over_at_once_and_what_it_saw_counts(memory, task, tmp_path):
    log = tmp_path / "log"
    log.touch()
    wait = memory.smart_wait(f"all(log:{log} until grows, manual:)", task_id=task, **SOON)
    process = subprocess.Popen(["sleep", "60"])
    assert not jobs.is_dead_process(f"{os.uname().nodename}:{process.pid}:1")
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # nobody takes note of its end
    dead = Watcher(memory, f"{os.uname().nodename}:{process.pid}:1")
    ticking(dead, lambda: len(dead) == 1)
    log.write_text("x\n")
    ticking(dead, lambda: (memory.wait_status(wait.wait_id)[0].last_check or "").startswith("1 of 2"))
    log.unlink()  # what was true once counts
    heir = Watcher(memory, "here:0:2")
    ticking(heir, lambda: len(heir) == 1)
    memory.acting_as(channel="user").wait_update(wait.wait_id, message="yes")
    ticking(heir, lambda: state_of(memory, wait) == "resolved")
    ticking(dead, lambda: len(dead) == 0)  # it comes back, and finds that all is over
    heir.close()
    assert len(ends(memory, task)) == 1
    process.wait()
    assert jobs.is_dead_process(f"{os.uname().nodename}:{process.pid}:1")


def test_a_store_in_trouble_and_a_wait_that_cannot_be_read_cost_no_other(memory, task, tmp_path, watcher):
    path = tmp_path / "x"
    waits = [memory.smart_wait(f"file:{path}", task_id=task, **SOON) for _ in range(3)]
    odd = memory.smart_wait("manual:", task_id=task, **SOON)
    ticking(watcher, lambda: len(watcher) == 4)
    write = memory.store.write
    troubles = [StoreError("store_busy", "busy") for _ in range(6)]

    def failing(work, **options):
        if troubles:
            raise troubles.pop()
        return write(work, **options)

    memory.store.write = failing
    path.touch()
    while troubles:
        with suppress(StoreError):
            time.sleep(min(watcher.tick(), 0.05))
    del memory.store.write
    ticking(watcher, lambda: {state_of(memory, wait) for wait in waits} == {"resolved"})
    assert len(ends(memory, task)) == 3
    # What this worker cannot read is left to others, and is an error in the end.
    spoilt = {"until": "turns blue", "timeout": 60.0, "target": "manual:"}
    memory._write("wait_update", task, lambda *_: Draft("wait.updated", data=spoilt, ref=odd.seq))
    ticking(watcher, lambda: len(watcher) == 0)
    assert "turns blue" in rows(memory.store.url, "SELECT error FROM jobs")[0]["error"]


def test_a_wait_that_nobody_can_look_at_ends_with_an_error(memory, task, watcher, clock):
    wait = memory.smart_wait("manual:", task_id=task, **SOON)
    for _ in range(jobs.MOST_ATTEMPTS + 1):  # its workers die, one after the other
        memory.store.write(lambda tx: jobs.lease(tx, ("wait",), "x", clock(), 1.0, 10))
        clock.forward(2)
    ticking(watcher, lambda: state_of(memory, wait) == "error")
    (ended,) = ends(memory, task)
    assert "it could not be checked: every worker that tried it was lost" in ended.text
    assert memory.task_get(task).status == "active"


@pytest.mark.parametrize("jump", [86_400, -86_400])
def test_a_clock_that_jumps_ends_nothing_that_is_held(memory, task, tmp_path, watcher, jump, clock):
    path = tmp_path / "x"
    long = memory.smart_wait(f"any(file:{path}, time:1h)", task_id=task, **{**SOON, "timeout": 7200})
    moment = memory.smart_wait("time:2026-03-02T00:00:00Z", task_id=task, **{**SOON, "timeout": 7200})
    ticking(watcher, lambda: len(watcher) == 2)
    clock.forward(jump)
    watcher.flush_soon()
    checks = watcher.checks
    ticking(watcher, lambda: watcher.checks >= checks + 3)
    assert state_of(memory, long) == "watching"
    path.touch()
    ticking(watcher, lambda: state_of(memory, long) == "resolved")
    if jump > 0:  # a moment is one of the clock on the wall, and by that it has come
        ticking(watcher, lambda: state_of(memory, moment) == "resolved")
    else:
        assert state_of(memory, moment) == "watching"


@contextmanager
def dead_mount(folder):
    """A file system whose server never answers."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        server = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: /dev/fuse: {error.strerror}")
    options = f"fd={server},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    if libc.mount(b"dead", str(folder).encode(), b"fuse", 0, options.encode()):
        os.close(server)
        pytest.skip(f"no file system can be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(server)  # whoever hangs there is let go
        libc.umount2(str(folder).encode(), 2)


@sqlite_only
def test_a_mount_that_hangs_holds_nobody_up(memory, task, tmp_path, monkeypatch):
    watcher = Watcher(memory, "here:0:1", file_seconds=0.2)
    dead, path = tmp_path / "dead", tmp_path / "x"
    dead.mkdir()
    monkeypatch.setattr("ringbolt.waits.operations.Waiting._first_state", lambda *_: {"first": None})
    hung = [memory.smart_wait(f"file:{dead}/{number}", task_id=task, **SOON) for number in range(20)]
    monkeypatch.undo()
    wait = memory.smart_wait(f"file:{path}", task_id=task, **SOON)
    before = threading.active_count()
    with dead_mount(dead):
        ticking(watcher, lambda: len(watcher) == 21)
        path.touch()
        ticking(watcher, lambda: state_of(memory, wait) == "resolved")
        checks = watcher.checks
        ticking(watcher, lambda: watcher.checks > checks + 60)
        assert threading.active_count() <= before + 3
        assert {state_of(memory, one) for one in hung} == {"watching"}
        assert memory.smart_wait(f"file:{path}x", task_id=task, timeout=0).state == "timeout"
    # And when it is gone, they are looked at again.
    ticking(
        watcher,
        lambda: {memory.wait_status(one.wait_id)[0].last_check for one in hung} == {"it does not exist"},
    )
