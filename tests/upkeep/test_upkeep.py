"""Upkeep: what becomes of tasks that nobody looks after, in plain sight and undoable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ringbolt.model.validate import stamp
from ringbolt.store import sessions
from ringbolt.store.sessions import INTERRUPTED, WAITING, WORKING, Session
from ringbolt.system import processes
from tests.upkeep.machine import DAY, HOUR


def changed(report) -> dict:
    return {change.task_id: (change.rule, change.after) for change in report.changes}


def test_a_task_without_activity_for_a_day_is_paused_and_can_be_taken_back(kept, machine):
    idle = kept.task_register("Idle", ["One", "Two"]).task_id
    machine.passes(23 * HOUR)
    busy = kept.task_register("Busy").task_id
    assert "pause" not in {change.rule for change in kept.upkeep_run().changes}
    machine.passes(2 * HOUR)
    report = kept.upkeep_run(rules=["pause"])
    assert changed(report) == {idle: ("pause", "paused")}
    task = kept.task_get(idle)
    assert (task.status, task.reason) == ("paused", "idle")
    event = kept.task_event(idle, report.changes[0].seq)
    assert event.data["rule"] == "pause"
    assert event.data["threshold"] == "24h"
    assert (event.origin.agent, event.origin.channel) == ("ringbolt", "system")
    assert kept.task_get(busy).status == "active"
    kept.task_undo(idle)
    assert kept.task_get(idle).status == "active"
    assert kept.upkeep_run(rules=["pause"]).changes == ()  # whoever undoes it is at work
    assert kept.verify().ok


WRITES = {
    "a message": lambda memory, task: memory.task_update(task, "At it again."),
    "a next step": lambda memory, task: memory.task_update(task, next="Push"),
    "blockers": lambda memory, task: memory.task_update(task, blockers=["no key"]),
    "metadata": lambda memory, task: memory.task_update(task, metadata={"a": 1}),
    "a decision": lambda memory, task: memory.task_decide(task, "Use ghcr.io"),
    "a value": lambda memory, task: memory.task_set(task, "port", 80),
    "an action": lambda memory, task: memory.task_log_action(task, "Ran the tests", type="cli"),
    "a step": lambda memory, task: memory.task_step_update(task, 1, note="half done"),
    "a plan": lambda memory, task: memory.task_plan(task, ["One", "Two"]),
    "a claim": lambda memory, task: memory.task_claim(task),
    "a wait": lambda memory, task: memory.smart_wait("manual:", task_id=task, block=False),
    "the user": lambda memory, task: memory.acting_as(channel="user").task_update(task, "Go on."),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_task_that_was_paused_as_idle_goes_on_with_any_write(kept, machine, what):
    task = kept.task_register("Idle", ["One"]).task_id
    machine.passes(2 * DAY)
    assert changed(kept.upkeep_run(rules=["pause"])) == {task: ("pause", "paused")}
    WRITES[what](kept, task)
    assert (kept.task_get(task).status, kept.task_get(task).reason) == ("active", None)
    assert kept.verify().ok


def test_what_is_not_work_leaves_a_paused_task_paused(kept, machine):
    task = kept.task_register("Idle", ["One"]).task_id
    machine.passes(2 * DAY)
    kept.upkeep_run()
    kept.acting_as(channel="tool").task_update(task, "The session ended: logout.")
    kept.acting_as(session="another").task_focus(task)
    kept.upkeep_run()
    assert (kept.task_get(task).status, kept.task_get(task).reason) == ("paused", "idle")
    kept.task_update(task, status="paused")
    kept.task_update(task, "At work all the same.")
    assert kept.task_get(task).status == "paused"  # what someone else has paused stays so


def test_many_runs_at_once_do_everything_once(opened, store_url, machine):
    memories = [machine.known_to(opened(store_url)) for _ in range(4)]
    for number in range(30):
        memories[0].task_register(f"Idle {number}")
    machine.passes(2 * DAY)
    with ThreadPoolExecutor(4) as threads:
        reports = list(threads.map(lambda memory: memory.upkeep_run(), memories))
    assert sum(report.counts["pause"] for report in reports) == 30
    assert [event.type for event in memories[0].events()].count("task.upkeep") == 30
    assert all(not report.failures for report in reports)


def test_what_ringbolt_itself_writes_does_not_make_a_task_look_alive(kept, machine):
    kept.memory_store(entity="shop", key="task_updated", value="2026-01-01T00:00:00Z")
    (row,) = kept.active_tasks_stale()
    machine.passes(600)
    task = kept.upkeep_run().changes[0].task_id
    assert kept.task_get(task).seq > row.seq
    assert kept.active_tasks_stale()[0].updated == row.updated == "2026-01-01T00:00:00.000Z"
    kept.task_update(task, "I'll use alpine instead of debian because the image is smaller.")
    at = kept.task_get(task).updated_at
    machine.passes(600)
    assert kept.task_extract(task).entries
    assert kept.task_get(task).updated_at == at
    assert kept.verify().ok


@pytest.mark.parametrize("how", ["wait", "claim", "part", "approval"])
def test_what_is_alive_is_not_paused(kept, machine, how):
    task = kept.task_register("Alive").task_id
    if how == "wait":
        kept.smart_wait("manual:", timeout=10 * DAY, task_id=task, block=False)
    elif how == "part":
        part = kept.task_register("Part", parent=task).task_id
        deep = kept.task_register("Part of a part", parent=part).task_id
    elif how == "approval":
        kept.task_update(task, status="waiting_approval")
    machine.passes(25 * HOUR)
    if how == "claim":
        kept.task_claim(task)  # and heartbeats leave no event
        machine.passes(1)
    elif how == "part":
        kept.task_update(deep, "Still at it.")
    kept.upkeep_run(rules=["pause", "stuck"])
    assert kept.task_get(task).status == ("waiting" if how in ("wait", "approval") else "active")


def test_a_task_that_ended_a_week_ago_is_put_away_found_and_brought_back(kept, machine):
    done = kept.task_register("Ship the lighthouse").task_id
    kept.task_finish(done, "It shines.")
    failed = kept.task_register("Failing").task_id
    kept.task_finish(failed, error="no lamp")
    machine.passes(8 * DAY)
    assert changed(kept.upkeep_run(rules=["archive"])) == {done: ("archive", "archived")}
    assert kept.task_get(done).archived
    assert done not in {card.id for card in kept.task_list(status="all").tasks}
    assert done in {card.id for card in kept.task_list(status="all", archived=True).tasks}
    assert done in {hit.task_id for hit in kept.task_recall("lighthouse").hits}
    assert kept.task_get(failed).status == "failed"  # somebody has to look at it
    kept.task_update(done, archived=False)
    assert kept.upkeep_run(rules=["archive"]).changes == ()
    assert kept.task_get(done).status == "completed"


def test_a_stuck_task_is_reported_once_until_it_continues(kept, machine):
    task = kept.task_register("Deploy", ["Build", "Push"]).task_id
    kept.task_update(task, "Working on it.", step=1, step_status="active")
    before = kept.task_get(task)
    machine.passes(600)
    (change,) = kept.upkeep_run().changes
    event = kept.task_event(task, change.seq)
    assert (event.type, change.rule) == ("task.stuck", "stuck")
    assert "Build" in event.data["packet"]
    assert event.data["progress"] == {"completed": 0, "current": "s1", "remaining": 2, "pct": 0}
    assert event.data["suggested"] == "Build"
    after = kept.task_get(task)
    assert after.metadata["last_stuck_alert_at"] == machine.clock()
    assert after.updated_at == before.updated_at  # an alert is no activity
    for _ in range(5):
        machine.passes(600)
        assert kept.upkeep_run().changes == ()
    kept.task_update(task, "Going on.")
    machine.passes(600)
    assert [change.rule for change in kept.upkeep_run().changes] == ["stuck"]
    machine.passes(DAY)  # told of or not, in the end it is paused
    assert changed(kept.upkeep_run()) == {task: ("pause", "paused")}


def test_alerts_about_one_task_keep_their_distance(opened, store_url, machine):
    memory = machine.known_to(opened(store_url, stuck_cooldown="1h"))
    memory.task_register("Deploy")
    found = []
    for _ in range(12):
        memory.task_update(None, "Going on.")
        machine.passes(600)
        found += memory.upkeep_run().changes
    assert len(found) == 2


def test_a_lease_that_ran_out_is_released_with_a_reason(kept, machine):
    task = kept.task_register("Shared", ["One"]).task_id
    token = kept.task_claim(task, item=1, holder="robot", lease_seconds=60).token
    machine.passes(120)
    assert kept.upkeep_run(rules=["lease"]).changes == ()  # it may only be late
    machine.passes(600)
    report = kept.upkeep_run(rules=["lease"])
    assert changed(report) == {task: ("lease", "released")}
    assert kept.task_get(task).claims == ()
    assert "robot" in kept.task_event(task, report.changes[0].seq).text
    assert kept.task_claim(task, item=1, holder="other").token > token
    assert kept.upkeep_run(rules=["lease"]).changes == ()
    assert kept.verify().ok


def test_all_of_it_can_be_turned_off(opened, store_url, machine):
    memory = machine.known_to(opened(store_url, pause_after="off", archive_after="off", stuck_after="off"))
    memory.task_register("Idle")
    memory.task_finish(memory.task_register("Done").task_id)
    machine.passes(30 * DAY)
    assert memory.upkeep_run().counts == {"lease": 0}


def test_a_dry_run_says_the_same_and_writes_nothing(kept, machine):
    task = kept.task_register("Idle").task_id
    machine.passes(2 * DAY)
    before = tuple(kept.events())
    foretold = kept.upkeep_run(rules="all", dry_run=True)
    assert tuple(kept.events()) == before
    report = kept.upkeep_run(rules="all")
    assert changed(foretold) == changed(report) == {task: ("pause", "paused")}
    assert (foretold.changes[0].seq, report.changes[0].seq) == (None, 2)


def test_goals_and_logs_are_left_alone(kept, machine):
    goal = kept.goal_create("Shop is live", ["it is up"]).task_id
    reached = kept.goal_create("Reached", ["it is up"]).task_id
    kept.goal_finish(reached, despite="we moved on")
    task = kept.task_register("Shop is live").task_id  # the same name, and open
    kept.task_link(task, target=goal, kind="goal")
    old = kept.task_register("Purged").task_id
    kept.task_finish(old)
    kept.purge(task_id=old, confirm=kept.purge(task_id=old).token)
    kept.memory_store("the shop sells tea", category="fact")
    before = {name: kept.task_get(name) for name in {event.task_id for event in kept.events()} - {task}}
    assert {one.kind for one in before.values()} == {"goal", "log", "facts"}
    machine.passes(30 * DAY)
    touched = {change.task_id for _ in range(2) for change in kept.upkeep_run(rules="all").changes}
    assert touched == {task}  # it was paused
    assert {name: kept.task_get(name) for name in before} == before


def reported(memory, clock, name, **told):
    """What a host reported of a session; its process is this one."""
    now = stamp(clock())
    fields = {"process": processes.ancestors()[0], "machine": processes.boot(), "turn": WORKING, **told}
    row = Session(id=name, started_at=now, seen_at=now, **fields)
    memory.store.write(lambda tx: sessions.put(tx, row))


def test_only_a_live_session_in_the_middle_of_a_turn_is_stuck(kept, machine, clock):
    told = {
        "working": {},
        "waiting": {"turn": WAITING},
        "held up": {"turn": INTERRUPTED},
        "ended": {"ended_at": stamp(clock())},
        "killed": {"process": "1:0"},
    }
    tasks = {}
    for name, fields in told.items():
        tasks[name] = kept.acting_as(session=name).task_register(f"The task {name}").task_id
        reported(kept, clock, name, **fields)
    tasks["unknown"] = kept.acting_as(session="unknown").task_register("The task of nobody").task_id
    machine.passes(23 * HOUR)
    found = kept.upkeep_run(rules=["stuck"]).changes
    assert {change.task_id for change in found} == {tasks["working"], tasks["unknown"]}
    stand = {card.id: card.life for card in kept.task_list(status="all").tasks}
    assert [stand[tasks[name]] for name in told] == [
        "stuck", "waiting for you", "held up", "resting", "resting",
    ]  # fmt: skip


def test_a_session_that_lives_is_not_gone_and_one_that_was_over_needs_no_review(kept, machine, clock):
    told = {"alive": {}, "ended": {"ended_at": stamp(clock()), "turn": ""}, "killed": {"process": "1:0"}}
    tasks = {}
    for name, fields in told.items():
        own = kept.acting_as(session=name)
        tasks[name] = own.task_register(f"The task {name}", ["One"]).task_id
        own.task_log_action(None, "Ran the tests", type="cli")
        reported(kept, clock, name, **fields)
    machine.passes(30 * DAY)
    found = kept.upkeep_run(rules=["reconcile"])
    assert {change.task_id for change in found.changes} == {tasks["ended"], tasks["killed"]}
    assert kept.task_get(tasks["ended"]).attention is None
    assert kept.task_get(tasks["killed"]).attention.startswith("needs review: session killed")
