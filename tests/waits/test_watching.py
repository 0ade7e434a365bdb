"""A worker that keeps its waits in memory: what it notices, what it leaves alone, and what it costs."""

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
from ringbolt.waits.files import MOST_READ
from ringbolt.waits.watcher import Watcher
from ringbolt.worker.worker import Worker
from tests.support import rows, sqlite_only
from tests.waits.test_waiting import ends

SOON = {"poll_interval": 0.05, "timeout": 60, "block": False}


@pytest.fixture
def watcher(memory):
    one = Watcher(memory, "here:0:1")
    yield one
    one.close()


def ticking(watcher, done, seconds=10.0):
    """Let a watcher tick until something is so; how long that took."""
    began = time.monotonic()
    while not done():
        assert time.monotonic() - began < seconds
        time.sleep(min(watcher.tick(), 0.05))
    return time.monotonic() - began


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


def test_nothing_is_written_while_nothing_changes_and_all_is_given_back(memory, task, tmp_path, watcher):
    for number in range(20):
        memory.smart_wait(f"file:{tmp_path}/{number}", task_id=task, **SOON)
    ticking(watcher, lambda: watcher.looks >= 20)
    watcher._next_flush = 0.0
    watcher.tick()
    before = rows(memory.store.url, "SELECT * FROM jobs ORDER BY id"), memory.task_get(task)
    looks = watcher.looks
    ticking(watcher, lambda: watcher.looks >= looks + 100)
    assert (rows(memory.store.url, "SELECT * FROM jobs ORDER BY id"), memory.task_get(task)) == before
    memory._clock.forward(50)
    watcher._next_hold = 0.0
    watcher.tick()
    memory._clock.forward(50)  # the lease would have run out
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
    ticking(dead, lambda: (memory.wait_status(wait.wait_id)[0].said or "").startswith("1 of 2"))
    log.unlink()  # what was true once counts
    heir = Watcher(memory, "here:0:2")
    ticking(heir, lambda: len(heir) == 1)
    memory.wait_update(wait.wait_id, message="yes")
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
    began = time.monotonic()
    while troubles:
        assert time.monotonic() - began < 10
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


def test_a_wait_that_nobody_can_look_at_ends_with_an_error(memory, task, watcher):
    wait = memory.smart_wait("manual:", task_id=task, **SOON)
    for _ in range(jobs.MOST_ATTEMPTS + 1):  # its workers die, one after the other
        memory.store.write(lambda tx: jobs.lease(tx, ("wait",), "x", memory._clock(), 1.0, 10))
        memory._clock.forward(2)
    ticking(watcher, lambda: state_of(memory, wait) == "error")
    (ended,) = ends(memory, task)
    assert "nobody could look: its worker was lost every time" in ended.text
    assert memory.task_get(task).status == "active"


@pytest.mark.parametrize("jump", [86_400, -86_400])
def test_a_clock_that_jumps_ends_nothing_that_is_held(memory, task, tmp_path, watcher, jump):
    path = tmp_path / "x"
    long = memory.smart_wait(f"any(file:{path}, time:1h)", task_id=task, **{**SOON, "timeout": 7200})
    moment = memory.smart_wait("time:2026-03-02T00:00:00Z", task_id=task, **{**SOON, "timeout": 7200})
    ticking(watcher, lambda: len(watcher) == 2)
    memory._clock.forward(jump)
    watcher._next_hold = 0.0
    looks = watcher.looks
    ticking(watcher, lambda: watcher.looks >= looks + 3)
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
def test_a_mount_that_hangs_holds_nobody_up(memory, task, tmp_path, watcher, monkeypatch):
    dead, path = tmp_path / "dead", tmp_path / "x"
    dead.mkdir()
    monkeypatch.setattr("ringbolt.waits.reading.WaitReading._first_state", lambda *_: {"first": None})
    hung = [memory.smart_wait(f"file:{dead}/{number}", task_id=task, **SOON) for number in range(20)]
    monkeypatch.undo()
    wait = memory.smart_wait(f"file:{path}", task_id=task, **SOON)
    watcher._looks._looker._seconds = 0.2
    before = threading.active_count()
    with dead_mount(dead):
        ticking(watcher, lambda: len(watcher) == 21)
        path.touch()
        assert ticking(watcher, lambda: state_of(memory, wait) == "resolved") < 5
        looks = watcher.looks
        ticking(watcher, lambda: watcher.looks > looks + 60)
        assert threading.active_count() <= before + 3
        assert {state_of(memory, one) for one in hung} == {"watching"}
        began = time.monotonic()
        late = memory.smart_wait(f"file:{path}x", task_id=task, timeout=0)
        assert late.state == "timeout"
        assert time.monotonic() - began < 3
    # And when it is gone, they are looked at again.
    ticking(watcher, lambda: {memory.wait_status(one.wait_id)[0].said for one in hung} == {"it is not there"})


def cost(memory, tmp_path, waits, seconds):
    """The share of a processor that a worker takes to look after files that do not change, and how long it
    takes to notice one that does."""
    per = 50
    found = []
    for start in range(0, waits, per):
        task = memory.task_register(f"T{start}").task_id
        found += [
            memory.smart_wait(f"file:{tmp_path}/{start}-{n}", task_id=task, block=False, timeout=9000)
            for n in range(per)
        ]
    stop = threading.Event()
    watcher = Watcher(memory, "here:0:1")
    thread = threading.Thread(target=watcher.run, args=(stop,))
    thread.start()
    try:
        while watcher.looks < 2 * waits:
            assert thread.is_alive()
            time.sleep(0.05)
        began, used = time.monotonic(), time.process_time()
        time.sleep(seconds)
        share = (time.process_time() - used) / (time.monotonic() - began)
        (tmp_path / "0-7").touch()
        began = time.monotonic()
        while state_of(memory, found[7]) != "resolved":
            time.sleep(0.01)
        noticed = time.monotonic() - began
    finally:
        stop.set()
        thread.join()
    assert len(ends(memory, found[7].task_id)) == 1
    return share, noticed


@sqlite_only
def test_many_waits_cost_little_and_a_change_is_noticed_in_time(opened, store_url, tmp_path):
    share, noticed = cost(opened(store_url, clock=time.time), tmp_path, 300, 2.0)
    assert share < 0.05, share  # of what ten thousand may take, with room for a busy machine
    assert noticed < 2 + 1.5, noticed  # their interval


@pytest.mark.reliability
@pytest.mark.timeout(900)
def test_ten_thousand_waits_cost_less_than_a_twentieth_of_a_processor(opened, store_url, tmp_path):
    share, noticed = cost(opened(store_url, clock=time.time), tmp_path, 10_000, 45.0)
    print(f"share {share:.4f}, noticed after {noticed:.2f} s")
    assert share < 0.05
    assert noticed < 2 + 1.5
