"""kill -9 in the middle of an extraction: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from ringbolt.worker.worker import HANDLERS, Worker, extraction
from tests.support import is_postgres, open_memory, rows, sqlite_only, until
from tests.worker.stand_in import StandIn
from tests.worker.victims import victims

PROGRAM = Path(__file__).with_name("programs.py")
ROOT = Path(__file__).parents[2]
STEPS = 3
_AT_WORK = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL"
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


def begin(url: str) -> tuple[str, Counter]:
    """A task whose steps are all over, and what must be found in it, each once."""
    wanted: Counter = Counter({"discovery the same": 1})
    with open_memory(url) as memory:
        task = memory.task_register("kills", [f"Step {number}" for number in range(STEPS)]).task_id
        for number in range(STEPS):
            told = f"DECIDED: d{number} because r{number}"
            memory.task_update(task, told, step=number + 1, step_status="active")
            error = f"ERROR: e{number}\nNOTE: the same"
            memory.task_log_action(task, "make", status="failed", input={"command": "make all"}, error=error)
            memory.task_log_action(task, "make", input={"command": "make all"}, output=f"NOTE: n{number}")
            memory.task_update(task, f"FIXED: f{number}", step=number + 1, step_status="completed")
            wanted.update([f"decision d{number}", f"error e{number}", f"discovery n{number}"])
            wanted.update([f"entry.closed f{number}"])
    return task, wanted


def found(memory, task) -> Counter:
    own = (event for event in memory.events(task) if event.origin.agent == "ringbolt")
    return Counter(f"{event.type} {event.text}" for event in own)


def check_kills(new_store_url, rounds: int, how: str = "whole") -> Counter:
    """Kill a worker in so many stores; another one ends its work. Counts what the kills met and broke."""
    seen: Counter = Counter()
    url = new_store_url()
    begin(url)
    with victims(PROGRAM) as killed:
        statements = killed(url, how, 1 << 30)  # how many there are in all
        assert statements > 20
        for at in random.Random(6).sample(range(1, statements + 1), min(rounds, statements)):
            url = new_store_url()
            task, wanted = begin(url)
            # On a slow machine the first one may have asked more, to keep its lease or to try again.
            assert killed(url, how, at) < at
            seen.update(broken_after(url, task, wanted))
    return seen


def broken_after(url: str, task: str, wanted: Counter) -> Counter:
    """What a kill has met, and what is wrong when another worker has done the rest."""
    seen: Counter = Counter()
    if is_postgres(url):  # the server may be a little later to end the transaction of the one who was killed
        until(lambda: not rows(url, _AT_WORK))
    with open_memory(url, clock=lambda: 4e9) as memory:  # every lease has run out
        left = memory.jobs_status().kinds.get("extract", {})
        seen["before"] += left.get("waiting") == STEPS
        seen["in the middle"] += "leased" in left
        seen["after"] += not left
        Worker(memory, handlers={**HANDLERS, "extract": extraction(StandIn)}).run_once()
        seen["lost or twice"] += found(memory, task) != wanted
        seen["left over"] += "extract" in memory.jobs_status().kinds
        made = memory.learned_patterns("make", types="model_failure", workspace=None)
        seen["patterns wrong"] += [pattern.frequency for pattern in made] != [STEPS]
        assert memory.verify(task).ok
    return seen


def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_does_nothing_twice(new_store_url):
    seen = check_kills(new_store_url, rounds=8)
    assert (seen["lost or twice"], seen["left over"], seen["patterns wrong"]) == (0, 0, 0), seen
    assert seen["in the middle"] >= 2, seen


@sqlite_only
@pytest.mark.parametrize(("how", "broken"), [("early", "lost or twice"), ("late", "patterns wrong")])
def test_a_worker_that_does_its_work_in_two_parts_would_be_caught(new_store_url, how, broken):
    """The positive control of the test above."""
    assert check_kills(new_store_url, rounds=8, how=how)[broken]


@pytest.mark.reliability
@pytest.mark.timeout(900)
def test_a_kill_at_every_statement_of_an_extraction(new_store_url):
    seen = check_kills(new_store_url, rounds=1000)
    print(dict(seen))
    assert (seen["lost or twice"], seen["left over"], seen["patterns wrong"]) == (0, 0, 0), seen
