"""Whatever the clock is set to, nothing is paused, put away or told of by that."""

from __future__ import annotations

import pytest

from ringbolt.ledger.observed_time import MOST_JUMPS, Ages, Observation, observe
from ringbolt.system.clock import is_synchronised
from tests.upkeep.machine import DAY, HOUR


def prepared(memory, machine):
    """Tasks that a day more would pause, put away, or tell of."""
    memory.task_finish(memory.task_register("Done").task_id)
    machine.passes(6.5 * DAY)
    memory.upkeep_run()
    memory.task_register("Idle for a while")
    machine.passes(120)
    memory.upkeep_run()


@pytest.mark.parametrize("days", [1, -1, 400])
def test_a_clock_that_is_set_changes_nothing(kept, machine, days):
    prepared(kept, machine)
    before = tuple(kept.events())
    machine.set_clock(days * DAY)
    report = kept.upkeep_run(rules="all")
    assert report.clock_jumped == pytest.approx(days * DAY)
    assert report.changes == ()
    machine.passes(60)
    machine.set_clock(-days * DAY)  # and is put right
    assert kept.upkeep_run(rules="all").changes == ()
    assert tuple(kept.events()) == before
    machine.passes(2 * HOUR)
    assert [change.rule for change in kept.upkeep_run(rules="all").changes] == ["stuck"]
    machine.passes(DAY)
    assert [change.rule for change in kept.upkeep_run(rules="all").changes] == ["pause", "archive"]


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_stays_where_it_was_set_goes_on_from_there(kept, machine, days):
    prepared(kept, machine)
    machine.set_clock(days * DAY)
    kept.upkeep_run()
    machine.passes(23 * HOUR)
    assert [change.rule for change in kept.upkeep_run().changes] == ["stuck", "archive"]
    machine.passes(2 * HOUR)
    assert [change.rule for change in kept.upkeep_run().changes] == ["pause"]


def test_what_is_written_after_the_clock_was_set_is_as_old_as_it_is(kept, machine):
    machine.set_clock(DAY)
    kept.upkeep_run()
    task = kept.task_register("While the clock is wrong").task_id
    kept.upkeep_run()
    machine.passes(23 * HOUR)
    machine.set_clock(-DAY)
    kept.upkeep_run(rules=["pause"])
    machine.passes(2 * HOUR)
    assert [change.task_id for change in kept.upkeep_run(rules=["pause"]).changes] == [task]


def test_a_clock_that_was_never_seen_is_believed_when_it_has_kept_for_a_minute(memory, machine):
    memory._machine = machine
    task = memory.task_register("Idle").task_id
    machine.passes(3 * DAY)
    report = memory.upkeep_run(rules="all")
    assert (report.changes, report.clock_sure, report.as_of) == ((), False, None)
    assert "trust_clock" in report.warnings[0]
    machine.passes(30)
    assert memory.upkeep_run(rules="all").changes == ()
    machine.passes(30)
    assert [change.task_id for change in memory.upkeep_run(rules="all").changes] == [task]


def test_a_person_may_say_that_the_clock_is_right(memory, machine):
    memory._machine = machine
    task = memory.task_register("Idle").task_id
    machine.passes(3 * DAY)
    assert memory.upkeep_run(dry_run=True).changes == ()
    report = memory.upkeep_run(trust_clock=True)
    assert (report.clock_sure, [change.task_id for change in report.changes]) == (True, [task])


def test_after_a_restart_time_counts_as_far_as_it_was_seen_before(kept, machine):
    seen = kept.task_register("Idle before").task_id
    machine.passes(25 * HOUR)
    later = kept.task_register("Idle later").task_id
    kept.upkeep_run(rules=["lease"])
    machine.restarts(3 * DAY)
    report = kept.upkeep_run(rules=["pause"])
    assert [change.task_id for change in report.changes] == [seen]
    machine.passes(2 * HOUR)
    assert [change.task_id for change in kept.upkeep_run(rules=["pause"]).changes] == [later]


def test_a_machine_that_slept_has_not_had_its_clock_set(kept, machine):
    task = kept.task_register("Idle").task_id
    machine.passes(2 * DAY)  # the steady clock counts sleep, too
    report = kept.upkeep_run(rules=["pause"])
    assert (report.clock_jumped, [change.task_id for change in report.changes]) == (None, [task])


def test_a_lease_does_not_run_out_because_the_clock_is_set(kept, machine):
    task = kept.task_register("Shared").task_id
    kept.task_claim(task)
    machine.set_clock(DAY)
    assert kept.upkeep_run().changes == ()
    kept.task_update(task, "Still mine.")


def test_many_jumps_are_kept_few_and_make_nothing_older():
    state, ages = {}, Ages(as_of=None)
    wall = 1_000_000_000.0
    for number in range(100):
        wall += DAY if number % 2 else -HOUR
        state, ages = observe(
            state, Observation(boot="b", steady=float(number), wall=wall, position=number), True
        )
    assert len(ages.jumps) == MOST_JUMPS
    moment = "2001-09-09T01:46:40.000Z"  # the first observation
    assert ages.age(moment, 0) <= 100


@pytest.mark.parametrize("days", [1, -1])
def test_the_time_of_a_goal_is_not_used_up_by_setting_the_clock(kept, machine, days):
    goal = kept.goal_create("Live", ["ok"], budget={"seconds": HOUR}).task_id
    kept.upkeep_run()
    machine.set_clock(days * DAY)
    machine.passes(60)
    assert kept.goal_check(goal).budget.used["seconds"] == 60
    kept.upkeep_run()
    later = kept.goal_create("After that", ["ok"], budget={"seconds": HOUR}).task_id
    machine.passes(HOUR)
    assert [kept.goal_check(one).reason for one in (goal, later)] == ["budget", "budget"]


def test_a_clock_that_the_kernel_keeps_synchronised_is_believed_at_once():
    seen = {"boot": "b", "steady": 5.0, "wall": 1_000_000_000.0, "position": 0}
    assert not observe({}, Observation(**seen))[1].sure
    ages = observe({}, Observation(**seen, synchronised=True))[1]
    assert (ages.sure, ages.as_of) == (True, 1_000_000_000.0)
    assert is_synchronised() in (True, False)
