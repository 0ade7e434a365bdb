"""kill -9 at any statement, in every state of a wait: one wake, not none, not two."""

from __future__ import annotations

import random
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from ringbolt.worker.worker import Worker
from tests.support import open_memory
from tests.waits.programs import OPTIONS, decide
from tests.waits.support import ends
from tests.worker.victims import victims

PROGRAM = Path(__file__).with_name("programs.py")


def begin(url, folder) -> tuple[str, list]:
    """A task with a wait for each way to end, and one that goes on: what it sees changes."""
    with open_memory(url, **OPTIONS, clock=lambda: 2e9) as memory:
        task = memory.task_register("kills").task_id

        numbers = count(1)

        def wait(target, until=None, timeout=3600.0):
            command = ["sh", "-c", f"echo $RINGBOLT_WAIT_STATE >> {folder}/told{next(numbers)}"]
            return memory.smart_wait(
                target, until=until, task_id=task, timeout=timeout, block=False, command=command,
                poll_interval=0.05,
            )  # fmt: skip

        changing = folder / "changing"
        waits = [
            wait("manual:"),
            wait("manual:"),
            wait(f"file:{folder}"),
            wait(f"file:{folder}/never", timeout=0.0),
            wait("http://127.0.0.1:1/"),
            wait(f"file:{changing}", until="stable for 1h"),
        ]
        changing.touch()
    return task, waits


WAYS = ["resolved", "cancelled", "resolved", "timeout", "error"]


def broken_after(url, folder, task, waits) -> Counter:
    """What is wrong when another has done the rest."""
    seen: Counter = Counter()
    with open_memory(url, **OPTIONS, clock=lambda: 4e9) as memory:  # every lease has run out
        over = [memory.wait_status(wait.wait_id)[0].state != "watching" for wait in waits[:5]]
        seen["before"] += not any(over)
        seen["in the middle"] += any(over) and not all(over)
        seen["after"] += all(over)
        decide(memory, [wait.wait_id for wait in waits[:2]])
        Worker(memory).run_once()
        woken = Counter(event.ref for event in ends(memory, task))
        seen["wakes wrong"] += woken != Counter(wait.seq for wait in waits[:5])
        states = [memory.wait_status(wait.wait_id)[0].state for wait in waits]
        seen["states wrong"] += states != [*WAYS, "watching"]
        told = [(folder / f"told{number}").read_text().split() for number in range(1, 6)]
        seen["untold"] += [one[0] for one in told] != WAYS  # a kill may have it told once more
        seen["told more than twice"] += any(len(one) > 2 for one in told)
        left = memory.jobs_status().kinds
        seen["left over"] += left != {"wait": {"waiting": 1}}
        found = memory.task_get(task)
        last = waits[5].wait_id
        seen["task wrong"] += (found.status, found.metadata["active_wait_ids"]) != ("waiting", [last])
        memory.wait_cancel(last)
        seen["task wrong"] += memory.task_get(task).status != "active"
        assert memory.verify(task).ok
    return seen


def check_kills(new_store_url, tmp_path, how, rounds) -> Counter:
    """Kill one who looks after waits in so many stores."""
    seen: Counter = Counter()

    def one(at):
        url, folder = new_store_url(), tmp_path / f"{how}{at}"
        folder.mkdir()
        task, waits = begin(url, folder)
        decided = ",".join(wait.wait_id for wait in waits[:2])
        asked = killed(url, how, decided, at)
        seen.update(broken_after(url, folder, task, waits))
        return asked

    with victims(PROGRAM) as killed:
        statements = one(1 << 30)  # how many there are in all
        assert statements > 40
        for at in random.Random(9).sample(range(1, statements + 1), min(rounds, statements)):
            one(at)
    return seen


GOOD = ("wakes wrong", "states wrong", "untold", "told more than twice", "left over", "task wrong")


@pytest.mark.parametrize("how", ["worker", "watcher"])
def test_whoever_is_killed_while_it_looks_there_is_one_wake(new_store_url, tmp_path, how):
    seen = check_kills(new_store_url, tmp_path, how, rounds=3)
    assert not any(seen[name] for name in GOOD), seen


@pytest.mark.reliability
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("how", ["worker", "watcher"])
def test_a_kill_at_every_statement_of_waiting(new_store_url, tmp_path, how):
    seen = check_kills(new_store_url, tmp_path, how, rounds=400)
    print(how, dict(seen))
    assert seen["in the middle"] > 10
    assert not any(seen[name] for name in GOOD), seen
