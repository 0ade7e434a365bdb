"""`doctor` says what upkeep is waiting for."""

from __future__ import annotations

from ringbolt.store import jobs
from ringbolt.surfaces import doctor
from ringbolt.upkeep.waiting import upkeep_waits_for
from tests.upkeep.machine import DAY


def test_upkeep_says_what_it_is_waiting_for(memory, machine, clock):
    memory._machine = machine
    assert "has not run since this machine started" in upkeep_waits_for(memory).reason
    assert doctor.upkeep(memory).message.startswith("no run yet; ")
    memory.upkeep_run()
    machine.passes(20)
    waits = upkeep_waits_for(memory)
    assert "clock to run 40 s more" in waits.reason
    assert (waits.is_wrong, "--trust-clock" in waits.remedy) == (False, True)
    machine.passes(41)
    memory.upkeep_run()
    assert upkeep_waits_for(memory).reason is None
    assert doctor.upkeep(memory).message.startswith("every 1m, last run ")
    machine.passes(DAY)
    assert "no worker has run it for 86,400 s" in upkeep_waits_for(memory).reason
    assert doctor.upkeep(memory).state == "warning"
    machine.restarts()
    assert "since this machine started" in upkeep_waits_for(memory).reason


def test_a_job_that_was_given_up_is_named(memory, machine, store_url):
    machine.known_to(memory)
    memory.store.write(lambda tx: jobs.add(tx, "upkeep", "", "", {}, jobs.NOW, memory._now()))
    memory.store.write(lambda tx: tx.database.run("UPDATE jobs SET status = 'dead', error = 'disk full'", {}))
    waits = upkeep_waits_for(memory)
    assert (waits.is_wrong, "disk full" in waits.reason) == (True, True)


def test_upkeep_that_is_off_says_so(opened, store_url):
    memory = opened(store_url, upkeep_every="off")
    assert doctor.upkeep(memory).message.startswith("off: ")


def test_idle_tasks_are_paused_and_stuck_ones_reported_within_two_minutes_of_the_first_run(memory, machine):
    memory._machine = machine
    old = memory.task_register("Idle for long").task_id
    machine.passes(3 * DAY)
    stuck = memory.task_register("Idle for minutes").task_id
    machine.passes(301)
    memory.upkeep_run()  # the first that this machine ever sees
    machine.passes(60)
    changes = {change.task_id: change.rule for change in memory.upkeep_run().changes}
    assert changes == {old: "pause", stuck: "stuck"}
