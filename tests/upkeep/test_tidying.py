"""Reconcile and hygiene: sessions that are gone, duplicates, failed tasks that nobody took up."""

from __future__ import annotations

import pytest

from ringbolt.model.rules import SESSION_ENDED
from tests.upkeep.machine import DAY, HOUR


def changed(report) -> dict:
    return {change.task_id: (change.rule, change.after) for change in report.changes}


def say_that_it_ended(memory) -> None:
    memory.acting_as(channel="tool").task_update(None, f"{SESSION_ENDED}: logout.")


def test_a_task_whose_session_ended_needs_a_review(kept, machine):
    task = kept.task_register("Worked on", ["One", "Two"]).task_id
    kept.task_update(task, step=1, step_status="completed")
    say_that_it_ended(kept)
    machine.passes(0.5 * HOUR)
    assert kept.tasks_reconcile().changes == ()  # the time of grace
    machine.passes(HOUR)
    assert changed(kept.tasks_reconcile()) == {task: ("reconcile", "paused")}
    assert kept.task_get(task).status == "active"  # nothing is done unless asked for
    (change,) = kept.tasks_reconcile(dry_run=False).changes
    found = kept.task_get(task)
    assert (found.status, found.reason, found.done) == ("paused", "session gone", 1)
    assert "needs review" in found.attention
    assert kept.tasks_reconcile(dry_run=False).changes == ()
    kept.task_undo(task, change.seq)
    found = kept.task_get(task)
    assert (found.status, found.reason, found.attention) == ("active", None, None)
    assert kept.verify().ok


def test_a_task_without_work_is_abandoned_with_its_session(kept, machine):
    task = kept.task_register("Never begun", ["One"]).task_id
    say_that_it_ended(kept)
    machine.passes(2 * HOUR)
    assert changed(kept.tasks_reconcile(dry_run=False)) == {task: ("reconcile", "abandoned")}
    assert kept.task_get(task).status == "abandoned"


@pytest.mark.parametrize("how", ["writes elsewhere", "claim", "wait", "another works on it", "goes on"])
def test_a_session_that_shows_any_sign_of_life_is_not_gone(kept, machine, how):
    task = kept.task_register("Worked on").task_id
    kept.task_update(task, "At work.")
    if how == "wait":
        kept.smart_wait("manual:", timeout=10 * DAY, task_id=task, block=False)
    if how == "another works on it":
        kept.task_set(task, "related_session", "helper")
    say_that_it_ended(kept)
    machine.passes(2 * HOUR)
    if how == "claim":
        kept.acting_as(session="T").task_claim(task)
    elif how == "writes elsewhere":
        kept.task_register("Another one")
    elif how == "another works on it":
        kept.acting_as(session="helper").task_register("Of the helper")
    elif how == "goes on":
        kept.task_update(task, "The session was resumed.")
    assert task not in changed(kept.tasks_reconcile(dry_run=False))
    assert kept.task_get(task).status in ("active", "waiting")


def test_a_session_that_is_silent_for_days_is_gone(kept, machine):
    task = kept.task_register("Worked on").task_id
    kept.task_update(task, "At work.")
    machine.passes(2 * DAY)
    kept.upkeep_run()
    assert kept.task_get(task).reason == "idle"
    assert kept.tasks_reconcile(dry_run=False).changes == ()
    machine.passes(2 * DAY)
    assert changed(kept.tasks_reconcile(dry_run=False)) == {task: ("reconcile", "paused")}
    assert kept.task_get(task).reason == "session gone"


def test_a_task_that_a_person_paused_or_that_has_no_session_is_left_alone(kept, machine):
    rested = kept.task_register("Rested").task_id
    kept.task_update(rested, "Later.", status="paused")
    kept.acting_as(session="").task_register("Of nobody")
    machine.passes(30 * DAY)
    assert rested not in changed(kept.tasks_reconcile(dry_run=False))
    assert len(kept.tasks_reconcile(dry_run=False).changes) == 0


def test_duplicates_give_way_to_the_one_worked_on_last(kept, machine):
    first = kept.task_register("Fix the  Login!").task_id
    failed = kept.task_register("fix the login").task_id
    kept.task_finish(failed, error="no")
    machine.passes(DAY)
    last = kept.task_register("Fix the login").task_id
    elsewhere = kept.acting_as(workspace="/other").task_register("Fix the login").task_id
    part = kept.task_register("Fix the login", parent=last).task_id
    machine.passes(2 * HOUR)
    report = kept.tasks_hygiene(dry_run=False)
    assert changed(report) == {first: ("duplicate", "superseded"), failed: ("duplicate", "superseded")}
    event = kept.task_event(first, report.changes[0].seq)
    assert event.data["superseded_by"] == last
    assert [(link.kind, link.target) for link in kept.task_get(first).links] == [("related", last)]
    assert {kept.task_get(task).status for task in (last, elsewhere, part)} == {"active"}
    kept.task_undo(first)
    found = kept.task_get(first)
    assert (found.status, found.timestamps.completed_at, found.links) == ("active", None, ())
    assert kept.task_get(last).updated_at == kept.task_get(last).created_at
    assert kept.verify().ok


def test_live_tasks_and_other_names_are_not_duplicates(kept, machine):
    kept.active_tasks_add("shop", "Deploy")
    kept.active_tasks_add("blog", "Deploy")
    waiting = kept.task_register("Watch").task_id
    kept.smart_wait("manual:", timeout=10 * DAY, task_id=waiting, block=False)
    kept.task_register("Watch")
    done = kept.task_register("Write").task_id
    kept.task_finish(done)
    kept.task_register("Write")
    machine.passes(3 * DAY)
    report = kept.tasks_hygiene(dry_run=False)
    # Of the two that watch, the one with a live wait stays; what is done neither gives way nor makes others.
    assert [(change.rule, change.name) for change in report.changes] == [("duplicate", "Watch")]
    assert kept.task_get(waiting).status == "waiting"
    assert kept.task_get(done).status == "completed"


def test_labels_that_mean_the_same_are_duplicates(kept, machine):
    kept.active_tasks_add("Shop-deploy", "Deploy the shop")
    kept.active_tasks_add("shop_deploy", "Deploy it all")
    machine.passes(2 * DAY)
    kept.active_tasks_add("shop_deploy", "Deploy it all")
    (change,) = kept.tasks_hygiene().changes
    assert (change.rule, change.name) == ("duplicate", "Deploy the shop")


def test_a_failed_task_that_was_not_resumed_is_abandoned(kept, machine):
    task = kept.task_register("Failing").task_id
    kept.task_finish(task, error="no lamp")
    ended = kept.task_get(task).timestamps.completed_at
    machine.passes(2 * DAY)
    assert kept.tasks_hygiene(older_than="7d").changes == ()
    assert changed(kept.tasks_hygiene(dry_run=False)) == {task: ("failed", "abandoned")}
    found = kept.task_get(task)
    assert (found.status, found.timestamps.completed_at, found.error.message) == (
        "abandoned",
        ended,
        "no lamp",
    )
    machine.passes(6 * DAY)
    assert kept.upkeep_run().changes == ()  # put away a week after that, not after it failed
    machine.passes(2 * DAY)
    assert changed(kept.upkeep_run()) == {task: ("archive", "archived")}


def test_the_names_of_very_many_tasks_are_compared_in_parts(kept, machine, monkeypatch):
    from ringbolt.upkeep import rules

    monkeypatch.setattr(rules, "MOST_KEYS", 10)
    monkeypatch.setattr(rules, "PAGE", 3)
    for number in range(40):
        kept.task_register(f"Task {number % 20}")
    machine.passes(2 * DAY)
    report = kept.tasks_hygiene(dry_run=False)
    assert report.counts == {"duplicate": 20, "failed": 0}
    assert len({change.name for change in report.changes}) == 20
