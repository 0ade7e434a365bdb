"""Waits of a task: they survive whoever waits, end once, and say so in the task's history."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ringbolt.model.errors import InvalidInput
from ringbolt.worker.worker import Worker
from tests.files.forged import rehashed
from tests.support import newest, open_memory, refused, until
from tests.waits.support import ends

SOON = {"poll_interval": 0.05, "timeout": 20}


def row_of(memory, wait):
    """The wait as plain SQL shows it."""
    sql = "SELECT id, target_type, target_id, criteria, status, result_message FROM wait_jobs WHERE id = :id"
    return memory.store.read(lambda tx: tx.database.query(sql, {"id": wait.wait_id}))[0]


def test_a_wait_holds_its_task_and_lets_it_go_on_and_the_history_says_so(memory, task, tmp_path, clock):
    path = tmp_path / "done"
    wait = memory.smart_wait(f"file:{path}", task_id=task, block=False, message="the build runs", **SOON)
    assert (wait.state, wait.wait_id, wait.until) == ("watching", f"{task}#{wait.seq}", "exists")
    held = memory.task_get(task)
    assert held.status == "waiting"
    assert held.metadata == {"active_wait_ids": [wait.wait_id], "last_wait_state": "watching"}
    assert f'Waiting for\n#2a "file:{path}" until "exists"' in memory.task_resume(task).text
    assert Worker(memory).run_once().done == 1
    assert memory.task_get(task).seq == wait.seq  # a look that finds nothing new writes nothing
    path.touch()
    clock.forward(60)
    assert Worker(memory).run_once().done == 1
    (ended,) = ends(memory, task)
    assert ended.text == f"[Wait resolved] file:{path} exists → it exists"
    assert (ended.ref, ended.origin.channel) == (wait.seq, "tool")
    assert f'Waits that are over\n#{ended.seq}t "[Wait resolved] file:{path}' in memory.task_resume(task).text
    free = memory.task_get(task)
    assert free.status == "active"
    assert free.metadata == {
        "active_wait_ids": [], "last_wait_state": "resolved", "last_wait_event_at": clock(),
    }  # fmt: skip
    (found,) = memory.wait_status(wait.wait_id)
    assert (found.state, found.result, found.ended_at) == ("resolved", "it exists", ended.at)
    assert row_of(memory, wait) == (wait.wait_id, "file", f"file:{path}", "exists", "resolved", "it exists")
    assert memory.wait_status() == ()
    assert memory.jobs_status().kinds == {}
    assert memory.verify().ok


@pytest.mark.parametrize("end", ["timeout", "cancelled", "error"])
def test_a_timeout_a_cancellation_and_an_error_are_told_too(memory, task, end):
    target = "http://127.0.0.1:1/" if end == "error" else "manual:"
    wait = memory.smart_wait(
        target, task_id=task, timeout=0 if end == "timeout" else 9, block=end == "timeout"
    )
    if end == "cancelled":
        wait = memory.wait_cancel(wait.wait_id, "no longer needed")
        assert memory.wait_cancel(wait.wait_id) == wait  # and stays so
    elif end == "error":
        Worker(memory).run_once()
        (wait,) = memory.wait_status(wait.wait_id)
    assert wait.state == end
    (ended,) = ends(memory, task)
    texts = {"timeout": "not within 0 s", "cancelled": "no longer needed", "error": "must not be called"}[end]
    assert ended.text.startswith(f"[Wait {end}] {target}")
    assert texts in ended.text
    got = memory.task_get(task)
    assert (got.status, got.metadata["last_wait_state"], got.metadata["active_wait_ids"]) == (
        "active",
        end,
        [],
    )
    assert memory.verify().ok


def test_a_blocking_wait_returns_when_it_is_so(memory, task, tmp_path):
    path = tmp_path / "done"
    timer = threading.Timer(0.15, path.touch)
    timer.start()
    assert memory.smart_wait(f"file:{path}", **SOON).result == "it exists"
    timer.join()
    assert memory.smart_wait("time:0.1s", **SOON).state == "resolved"
    assert len(ends(memory, task)) == 2


def test_a_blocking_wait_notices_that_someone_else_ended_it(memory, task, store_url):
    with ThreadPoolExecutor(1) as threads, open_memory(store_url) as other:
        waiting = threads.submit(memory.smart_wait, "manual:", poll_interval=3600, timeout=100)
        until(other.wait_status)
        resolved = other.acting_as(channel="user").wait_update(
            other.wait_status()[0].wait_id, message="approved"
        )
        assert resolved.state == "resolved"
        assert waiting.result(100) == resolved
    assert ends(memory, task)[0].text == "[Wait resolved] manual: decided → approved"


def test_a_task_goes_on_when_its_last_wait_is_over_and_only_if_it_waits_for_that(memory, task):
    one, two = (memory.smart_wait("manual:", task_id=task, block=False) for _ in range(2))
    assert memory.task_get(task).metadata["active_wait_ids"] == [one.wait_id, two.wait_id]
    memory.wait_cancel(one.wait_id)
    assert memory.task_get(task).status == "waiting"
    memory.wait_cancel(two.wait_id)
    assert memory.task_get(task).status == "active"
    memory.task_update(task, status="waiting", reason="approval")
    memory.wait_cancel(memory.smart_wait("manual:", task_id=task, block=False).wait_id)
    assert memory.task_get(task).status == "waiting"
    last = memory.smart_wait("manual:", task_id=task, block=False)
    memory.task_finish(task, answer="a")
    assert memory.wait_status(last.wait_id)[0].due  # a reader ends nothing
    Worker(memory).run_once()
    assert memory.wait_status(last.wait_id)[0].state == "cancelled"
    assert memory.task_get(task).status == "completed"
    with refused(memory, "illegal_transition"):
        memory.smart_wait("manual:", task_id=task, block=False)


def test_a_waiter_that_is_killed_leaves_its_wait_to_the_worker(memory, task, store_url, tmp_path, clock):
    path = tmp_path / "done"
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.waits.programs", "block", store_url, task, f"file:{path}"],
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root}/src"},
    )
    until(lambda: memory.task_get(task).status == "waiting" or process.poll() is not None)
    clock.now = time.time()
    assert Worker(memory).run_once().done == 0  # it is looked after
    os.kill(process.pid, signal.SIGKILL)
    assert process.communicate()[0] == b"ready\n"
    path.touch()
    clock.forward(60)
    assert Worker(memory).run_once().done == 1
    assert Worker(memory).run_once().done == 0
    assert len(ends(memory, task)) == 1
    assert memory.task_get(task).status == "active"
    assert memory.verify().ok


def test_however_many_look_at_once_there_is_one_wake(opened, store_url, tmp_path):
    memories = [opened(store_url) for _ in range(6)]
    task = memories[0].task_register("T").task_id
    for number in range(4):
        path = tmp_path / str(number)
        wait = memories[0].smart_wait(f"file:{path}", task_id=task, block=False, **SOON)
        path.touch()
        start = threading.Barrier(len(memories))

        def check(memory, wait=wait, start=start):
            start.wait()
            if memory is memories[0]:
                Worker(memory).run_once()
            elif memory is memories[1]:
                memory.wait_cancel(wait.wait_id)
            return memory.wait_status(wait.wait_id)[0].state

        with ThreadPoolExecutor(len(memories)) as threads:
            # One that looks while a worker does is told that it is watched.
            assert len(set(threads.map(check, memories)) - {"watching"}) == 1
        assert len(ends(memories[0], task)) == number + 1
    assert memories[0].task_get(task).status == "active"
    assert memories[0].verify().ok


def test_looks_become_rarer_while_nothing_changes_and_changes_are_told_once(memory, task, tmp_path, clock):
    path = tmp_path / "x"
    memory.smart_wait(f"file:{path}", until="stable for 1h", task_id=task, poll_interval=1, block=False)
    checks = []
    for second in range(60):
        if second == 40:
            path.touch()
        checks += [second] * Worker(memory).run_once().done
        clock.forward(1)
    # A file costs next to nothing, and is looked at as often as was asked for; a group by its quickest part.
    assert checks == [*range(60)]
    told = [event.text for event in memory.events(task) if event.type == "wait.changed"]
    assert told == [f"[Wait] file:{path} stable for 1h → it is changing"]
    port = memory.smart_wait("port:127.0.0.1:1", task_id=task, poll_interval=1, timeout=9e6, block=False)
    memory.wait_cancel(f"#{port.seq - 2}")
    checks = []
    for second in range(40):
        checks += [second] * Worker(memory).run_once().done
        clock.forward(1)
    assert checks == [0, 1, 3, 7, 15, 23, 31, 39]


@pytest.mark.parametrize("jump", [86_400, -86_400])
def test_a_clock_that_jumps_ends_no_wait_and_loses_none(memory, task, tmp_path, clock, jump):
    path = tmp_path / "x"
    wait = memory.smart_wait(f"any(file:{path}, time:1h)", task_id=task, timeout=7200, block=False)
    Worker(memory).run_once()
    clock.forward(jump)
    assert Worker(memory).run_once().done == 1
    assert memory.wait_status(wait.wait_id)[0].state == "watching"
    path.touch()
    clock.forward(60)
    Worker(memory).run_once()
    assert memory.wait_status(wait.wait_id)[0].state == "resolved"


def test_a_wait_on_a_task_or_a_step_of_it_goes_by_its_status(memory, task, clock):
    other = memory.task_register("Other", ["One", "Two"]).task_id
    step = memory.smart_wait(f"task:{other[:12]}/Two", task_id=task, block=False)
    whole = memory.smart_wait(f"task:{other}", until="completed", task_id=task, block=False)
    assert (step.target, whole.target) == (f"task:{other}/s2", f"task:{other}")
    memory.task_item_update(other, item="Two", status="completed")
    Worker(memory).run_once()
    assert [wait.wait_id for wait in memory.wait_status()] == [whole.wait_id]
    memory.task_finish(other, answer="a")
    clock.forward(60)
    Worker(memory).run_once()
    assert memory.wait_status() == ()
    assert [wait.state for one in (step, whole) for wait in memory.wait_status(one.wait_id)] == [
        "resolved"
    ] * 2
    with refused(memory, "task_not_found"):
        memory.smart_wait("task:zzzz", task_id=task)
    with refused(memory, "dependency_cycle"):
        memory.smart_wait(f"any(task:{task}, time:1h)", task_id=task)


def test_a_wait_is_changed_while_it_is_watched(opened, store_url, tmp_path):
    memory = opened(store_url, wait_folders=str(tmp_path))
    task = memory.task_register("T").task_id
    path = tmp_path / "x"
    path.write_text("a")
    wait = memory.smart_wait(f"file:{path}", until="contains b", task_id=task, block=False)
    longer = memory.wait_update(wait.wait_id, until="contains c", timeout=9, message="give it time")
    assert (longer.state, longer.timeout, longer.until) == ("watching", 9, "contains c")
    # Wherever it is shown, it is shown as it is now.
    assert row_of(memory, wait)[3] == "contains c"
    assert '"contains c"' in memory.task_resume(task).text
    assert memory.wait_update(f"#{wait.seq}", until="contains a").state == "resolved"
    with refused(memory, "illegal_transition"):
        memory.wait_update(wait.wait_id, timeout=1)
    with refused(memory, "not_undoable"):
        memory.task_undo(task, wait.seq)
    group = memory.smart_wait("any(manual:, time:1h)", task_id=task, block=False)
    with refused(memory, "invalid_argument"):
        memory.wait_update(group.wait_id, until="decided")
    user = memory.acting_as(channel="user")
    assert user.wait_update(group.wait_id, message="yes").result == "manual: decided: yes"


def test_what_cannot_be_meant_is_refused(memory, task):
    for bad in [
        {"poll_interval": 0},
        {"poll_interval": -1},
        {"poll_interval": 1e-9},
        {"timeout": 10**12},
        {"timeout": -1},
        {"timeout": float("nan")},
        {"until": "turns blue"},
        {"target": "file:a\0b"},
        {"target": 'command:["true"]'},
    ]:
        before = newest(memory)
        with pytest.raises(InvalidInput):
            memory.smart_wait(**{"target": "manual:", "task_id": task, **bad})
        assert newest(memory) == before


def test_the_same_key_is_one_wait(memory, task):
    call = {"target": "manual:", "task_id": task, "block": False, "key": "k"}
    first = memory.smart_wait(**call)
    assert memory.smart_wait(**call) == first
    with refused(memory, "key_reused"):
        memory.smart_wait(**{**call, "timeout": 9})


def test_a_wait_that_was_imported_is_not_looked_at_here(memory, task, opened, new_store_url, tmp_path):
    (tmp_path / "x").touch()
    wait = memory.smart_wait(f"file:{tmp_path}/x", task_id=task, timeout=60, block=False)
    memory.export_events(tmp_path / "events.jsonl")
    there = opened(new_store_url())
    there.import_events(tmp_path / "events.jsonl")
    assert Worker(there).run_once().done == 0
    assert there.wait_status(wait.wait_id)[0].state == "watching"
    there._clock.forward(61)
    there = there.acting_as(channel="user")
    assert there.wait_update(wait.wait_id, message="taken over").state == "resolved"  # now it is
    assert there.verify().ok


def test_a_forged_wait_can_be_shown_and_cancelled(memory, task, opened, new_store_url, tmp_path):
    wait = memory.smart_wait("manual:", task_id=task, block=False)
    memory.export_events(tmp_path / "events.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    lines[-1]["data"].update(timeout="long", target=["a"])
    (tmp_path / "forged.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rehashed(lines)))
    there = opened(new_store_url())
    there.import_events(tmp_path / "forged.jsonl")
    assert there.wait_cancel(wait.wait_id, "forged").state == "cancelled"
    assert there.wait_status(wait.wait_id)[0].target == "['a']"
    assert there.verify().ok
