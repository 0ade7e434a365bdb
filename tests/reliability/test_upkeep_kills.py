"""The upkeep of a large store is killed anywhere, and done again: each task is changed once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections import Counter

import pytest

from tests.support import open_memory
from tests.upkeep.machine import DAY, Machine

PROGRAM = """
import sys, time
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], workspace="/w", reserve_bytes=0, clock=lambda: time.time() + 86400 * 2)
print("ready", flush=True)
memory.upkeep_run(rules="all", trust_clock=True)
"""


@pytest.mark.reliability
@pytest.mark.timeout(600)
def test_a_run_that_is_killed_anywhere_is_done_again_and_changes_each_task_once(store_url):
    import time

    tasks = 2000
    with open_memory(store_url, time.time, session="", extraction="off") as memory:
        for number in range(tasks):
            memory.task_register(f"Task {number}")
        dice = random.Random(7)
        kills = 0
        while kills < 8:
            process = subprocess.Popen([sys.executable, "-c", PROGRAM, store_url], stdout=subprocess.PIPE)
            assert process.stdout.readline() == b"ready\n"
            threading.Event().wait(dice.uniform(0.0, 0.4))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
        subprocess.run([sys.executable, "-c", PROGRAM, store_url], check=True, stdout=subprocess.DEVNULL)
        events = Counter(event.task_id for event in memory.events() if event.type == "task.upkeep")
        assert set(events.values()) == {1}
        assert len(events) == tasks
        assert {card.status for card in memory.task_list(limit=1000).tasks} == {"paused"}
        assert memory.verify().ok


@pytest.mark.reliability
def test_the_clock_of_a_machine_is_set_again_and_again(memory, clock):
    """Clock jumps of up to days, at every moment of a week (11 of the design's list)."""
    machine = Machine(clock)
    machine.known_to(memory)
    dice = random.Random(11)
    task = memory.task_register("At work").task_id
    memory.task_finish(memory.task_register("Done").task_id)
    off = 0.0
    for _ in range(300):
        if off:
            machine.set_clock(-off)
            off = 0.0
        elif dice.random() < 0.3:
            off = dice.choice([-3, -1, 1, 3]) * DAY
            machine.set_clock(off)
        machine.passes(dice.uniform(60, 1200))
        assert memory.upkeep_run(rules=["lease", "pause", "archive"]).changes == ()
        memory.task_update(task, "At work.")
        memory.upkeep_run(rules=["lease"])
    assert memory.verify().ok
