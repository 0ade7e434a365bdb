"""The upkeep as a job, on the command line, and as others see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from ringbolt.model.results import WorkerReport
from ringbolt.store import jobs
from ringbolt.upkeep.job import add_upkeep_job
from ringbolt.worker.pool import Pool
from ringbolt.worker.webhooks import message
from ringbolt.worker.worker import Worker
from tests.support import Clock, sqlite_only
from tests.surfaces.command_line import data, run
from tests.upkeep.machine import DAY, HOUR


@pytest.fixture
def worker(kept):
    return Worker(kept)


def test_the_job_asks_for_the_next_one_and_there_is_only_one(kept, machine, worker):
    task = kept.task_register("Idle").task_id
    add_upkeep_job(kept)
    add_upkeep_job(kept)
    assert kept.jobs_status().kinds == {"upkeep": {"waiting": 1}}
    assert worker.run_once() == WorkerReport(done=1)
    assert worker.run_once() == WorkerReport()  # not for a minute
    machine.passes(25 * HOUR)
    assert worker.run_once() == WorkerReport(done=1)
    assert kept.task_get(task).status == "paused"
    assert kept.jobs_status().kinds == {"upkeep": {"waiting": 1}}
    machine.set_clock(-DAY)  # the next one seems to be due tomorrow
    assert worker.run_once() == WorkerReport(done=1)


def test_a_worker_with_much_to_tidy_does_other_jobs_in_between(kept, machine, worker, monkeypatch):
    monkeypatch.setattr("ringbolt.upkeep.job.MOST_CHANGES", 2)
    monkeypatch.setattr("ringbolt.upkeep.operations.BATCH", 1)
    for number in range(5):
        kept.task_register(f"Idle {number}")
    machine.passes(25 * HOUR)
    add_upkeep_job(kept)
    assert worker.run_once() == WorkerReport(done=3)
    assert {card.status for card in kept.task_list().tasks} == {"paused"}


def test_a_crew_asks_for_it_unless_it_is_off(opened, store_url):
    with opened(store_url, upkeep_every="off") as off:
        assert Pool(off).run_once() == WorkerReport()
    memory = opened(store_url)
    assert Pool(memory).run_once() == WorkerReport(done=1)
    assert memory.jobs_status().kinds == {"upkeep": {"waiting": 1}}
    assert Pool(memory).run_once() == WorkerReport()


def test_the_callback_of_a_stuck_task_is_called(opened, store_url, machine):
    memory = machine.known_to(opened(store_url))
    task = memory.task_register("Deploy", callback_url="https://hooks.example/x").task_id
    machine.passes(600)
    (change,) = memory.upkeep_run().changes
    assert memory.jobs_status().kinds == {"webhook": {"waiting": 1}}
    job = memory.store.read(lambda tx: jobs.find(tx, "webhook", task, str(change.seq)))
    assert message(memory, job, "d")["type"] == "task.stuck"


def test_the_files_follow(opened, store_url, machine, tmp_path):
    memory = machine.known_to(opened(store_url, workspace=str(tmp_path), mirrors="active-tasks"))
    memory.task_register("Left behind")
    machine.passes(25 * HOUR)
    memory.upkeep_run()
    memory.close()
    assert "**Status:** Stalled" in (tmp_path / "ACTIVE-TASKS.md").read_text()


PROGRAM = """
import sys, time
from ringbolt import TaskMemory
from ringbolt.worker.pool import Pool
url, offsets = sys.argv[1], sys.argv[2]

def clock():
    with open(offsets) as file:
        return time.time() + float(file.read() or 0)

memory = TaskMemory.open(url, workspace="/w", upkeep_every="1m", reserve_bytes=0, clock=clock)
memory.upkeep_run(trust_clock=True)
for line in sys.stdin:
    memory.store.write(lambda tx: tx.database.run("DELETE FROM jobs", {}))
    report = Pool(memory).run_once()
    print(report.done, report.failed, flush=True)
"""


def test_a_real_worker_does_nothing_when_the_clock_of_its_machine_is_set(opened, store_url, tmp_path):
    memory = opened(store_url, clock=time.time)
    task = memory.task_register("At work").task_id
    memory.task_finish(memory.task_register("Done").task_id)
    memory.task_claim(task)
    before = tuple(memory.events())
    offsets = tmp_path / "offset"
    offsets.write_text("0")
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, store_url, str(offsets)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ},
    ) as process:  # fmt: skip
        for days in (0, 1, 10, -1, 0):
            offsets.write_text(str(days * DAY))
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "1 0\n"
        process.stdin.close()
        assert process.wait(timeout=30) == 0
    assert tuple(memory.events()) == before


@sqlite_only
def test_the_command_line_maintains_a_store(opened, store_url, tmp_path):
    clock = Clock(time.time() - 30 * DAY)
    memory = opened(store_url, clock=clock, workspace=str(tmp_path))
    idle = memory.task_register("Idle \x1b[2J").task_id
    twin = memory.task_register("idle 2j").task_id
    done = memory.task_register("Done").task_id
    memory.task_finish(done)
    common = ("--store", store_url, "--workspace", str(tmp_path))
    told = data("active-tasks", "maintain", *common)
    assert (told["clock_sure"], told["changes"]) == (False, [])
    shown = run("active-tasks", "maintain", "--dry-run", "--trust-clock", *common).stdout
    assert "\x1b" not in shown
    assert memory.task_get(done).archived is False
    told = data("active-tasks", "maintain", "--trust-clock", "--render", *common)
    assert told["failures"] == {}
    assert {change["after"] for change in told["changes"]} == {"abandoned", "archived"}
    assert told["render"]["applied"]
    assert memory.task_get(done).archived
    assert {memory.task_get(task).status for task in (idle, twin)} == {"abandoned"}
    assert data("active-tasks", "hygiene", *common)["dry_run"]
    (tmp_path / "ACTIVE-TASKS.md").write_text("# Mine\n")
    partly = run("active-tasks", "maintain", "--render", "--json", *common)
    assert partly.exit_code == 2  # the file is not ours to write
    assert json.loads(partly.stdout)["data"]["render"]["error"]["code"] == "stale_version"
    assert "Nothing to do" in run("active-tasks", "reconcile", "--everywhere", *common).stdout
