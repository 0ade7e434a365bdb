"""No sequence of runs of the upkeep ever makes a success of what was none, or loses anything."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringbolt import RingboltError
from ringbolt.model.rules import SESSION_ENDED, TASK_STATUSES
from ringbolt.upkeep.operations import ALL
from tests.support import Clock, open_memory
from tests.upkeep.machine import DAY, HOUR, Machine

TABLES = "heads extras events steps records labels files links claims keys".split()
NAMES = st.sampled_from(["Deploy", "deploy!", "Write", "Test"])
NUMBERS = st.integers(0, 7)
TIMES = st.sampled_from([60, 600, HOUR, 5 * HOUR, 26 * HOUR, 4 * DAY, 8 * DAY])
STEPS = st.one_of(
    st.tuples(st.just("register"), NAMES, st.booleans()),
    st.tuples(st.just("status"), NUMBERS, st.sampled_from(TASK_STATUSES)),
    st.tuples(st.just("work"), NUMBERS, st.booleans()),
    st.tuples(st.just("wait"), NUMBERS, st.booleans()),
    st.tuples(st.just("claim"), NUMBERS, st.booleans()),
    st.tuples(st.just("end"), NUMBERS, st.booleans()),
    st.tuples(st.just("passes"), TIMES, st.booleans()),
    st.tuples(st.just("passes"), TIMES, st.booleans()),
    st.tuples(st.just("set"), st.sampled_from([-DAY, DAY, -9 * DAY, 9 * DAY]), st.booleans()),
    st.tuples(st.just("restarts"), TIMES, st.booleans()),
    st.tuples(st.just("run"), st.sampled_from(["automatic", "all", *ALL]), st.booleans()),
    st.tuples(st.just("run"), st.just("all"), st.booleans()),
    st.tuples(st.just("reconcile"), NUMBERS, st.booleans()),
    st.tuples(st.just("hygiene"), NUMBERS, st.booleans()),
)


class World:
    """A store, what was done to it, and what must hold after each run."""

    def __init__(self, url) -> None:
        self.clock = Clock()
        self.machine = Machine(self.clock)
        self.memory = open_memory(url, self.clock)
        self.memory._machine = self.machine
        self.tasks: list[str] = []
        self.changed = 0

    def states(self) -> dict:
        found = {}
        for name in self.tasks:
            task = self.memory.task_get(name)
            found[name] = (task.status, task.reason, task.attention, task.archived, task.links)
        return found

    def counts(self) -> dict:
        def work(tx):
            return {name: tx.database.query(f"SELECT count(*) FROM {name}", {})[0][0] for name in TABLES}

        return self.memory.store.read(work)

    def step(self, what, value, flag) -> None:
        if what == "register":
            parent = self.tasks[-1] if flag and self.tasks else None
            self.tasks.append(self.memory.task_register(value, ["One", "Two"], parent=parent).task_id)
        elif what in ("passes", "restarts"):
            getattr(self.machine, what)(value)
        elif what == "set":
            self.machine.set_clock(value)
        elif what == "run":
            self.run(lambda: self.memory.upkeep_run(rules=value, trust_clock=flag))
        elif what == "reconcile":
            self.run(lambda: self.memory.tasks_reconcile(workspace=None, dry_run=flag))
        elif what == "hygiene":
            self.run(lambda: self.memory.tasks_hygiene(workspace=None, dry_run=flag, older_than="1h"))
        elif self.tasks:
            with suppress(RingboltError):  # not every change is legal in every state
                self.work(what, self.tasks[value % len(self.tasks)], flag)

    def work(self, what, task, flag) -> None:
        if what == "status":
            self.memory.task_update(task, status=flag)
        elif what == "work":
            self.memory.task_update(task, "At work.", step=1, step_status="completed" if flag else "active")
        elif what == "wait":
            self.memory.smart_wait("manual:", task_id=task, block=False)
        elif what == "claim":
            self.memory.acting_as(session="T").task_claim(task)
        else:
            self.memory.acting_as(channel="tool").task_update(task, f"{SESSION_ENDED}.")

    def run(self, call) -> None:
        """Run something of the upkeep, and see that it did nothing that it may not do."""
        states, counts = self.states(), self.counts()
        report = call()
        after, rows = self.states(), self.counts()
        for name, (status, *_) in states.items():
            assert (after[name][0] == "completed") == (status == "completed")
        assert all(rows[name] >= counts[name] for name in TABLES)
        written = sum(report.counts.values())
        assert rows["events"] - counts["events"] == (0 if report.dry_run else written)
        if report.dry_run:
            assert after == states
        self.changed += written
        if rows["events"] % 2:  # not always: whoever undoes is at work
            self.take_back(states, report)

    def take_back(self, states, report) -> None:
        """What a run did to a task is undone, and done again."""
        for change in report.changes:
            if report.dry_run or change.rule in ("lease", "stuck"):
                continue
            before, now = states[change.task_id], self.states()[change.task_id]
            assert before != now
            undone = self.memory.task_undo(change.task_id, change.seq)
            assert self.states()[change.task_id] == before
            self.memory.task_undo(change.task_id, undone.seq)
            assert self.states()[change.task_id] == now


def checked(new_store_url, steps) -> int:
    world = World(new_store_url())
    with world.memory:
        for step in steps:
            world.step(*step)
        assert world.memory.verify().ok
    return world.changed


def sequences(most):
    begun = st.lists(st.tuples(st.just("register"), NAMES, st.booleans()), min_size=1, max_size=4)
    return st.builds(lambda first, rest: [*first, *rest], begun, st.lists(STEPS, min_size=4, max_size=most))


HOW = {"suppress_health_check": list(HealthCheck)}


@settings(max_examples=8, **HOW)
@given(steps=sequences(14))
def test_nothing_becomes_completed_or_gets_lost(new_store_url, steps):
    checked(new_store_url, steps)


@pytest.mark.reliability
@pytest.mark.timeout(900)
@settings(max_examples=200, **HOW)
@given(steps=sequences(40))
def test_nothing_becomes_completed_or_gets_lost_at_length(new_store_url, steps):
    checked(new_store_url, steps)


def test_the_property_is_about_something(new_store_url):
    """A positive control: such sequences do change tasks."""
    steps = [
        ("register", "Deploy", False), ("register", "deploy!", False), ("work", 0, True),
        ("run", "all", True), ("passes", 26 * HOUR, True), ("run", "all", True),
        ("passes", 8 * DAY, True), ("run", "all", True),
    ]  # fmt: skip
    assert checked(new_store_url, steps) >= 3
