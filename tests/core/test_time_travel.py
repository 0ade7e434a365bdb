"""A task as it stood after any event or at any time."""

from __future__ import annotations

import pytest

from tests.support import START, refused


def a_long_life(memory, task, clock) -> dict[int, object]:
    """A task that goes through everything; what it looked like after each event."""
    seen = {1: memory.task_get(task)}

    def note(written):
        seen[written.seq] = memory.task_get(task)
        clock.forward(60)
        return written.seq

    clock.forward(60)
    note(memory.task_update(task, "begin", step=1, step_status="active"))
    action = note(memory.task_log_action(task, "build", status="started", files=["a.py"]))
    note(memory.task_log_append(task, action=action, content="output"))
    note(memory.task_log_action(task, action=action, output={"ok": True}))
    note(memory.task_update(task, "built", step=1, step_status="completed", metadata={"a": 1}))
    first = note(memory.task_decide(task, choice="docker.io", tags=["registry"]))
    note(memory.task_exclude(task, what="docker.io", why="no rights"))
    note(memory.task_decide(task, choice="ghcr.io", supersedes=first))
    note(memory.task_set(task, "version", "v1"))
    note(memory.task_set(task, "version", "v2"))
    note(memory.task_plan_replace(task, ["Run", "Check"], reason="shorter"))
    note(memory.task_plan_append(task, ["Tell"], after="Run"))
    note(memory.task_item_update(task, "Check", depends_on=["Run"], note="carefully"))
    intent = note(memory.task_intent(task, what="docker run", verify="docker ps"))
    note(memory.task_outcome(task, intent=intent, outcome="unknown"))
    error = note(memory.task_remember(task, "slow", type="error", relevance_to=["s3"]))
    note(memory.task_remember(task, resolves=error))
    note(memory.task_snapshot(task, "the context"))
    note(memory.task_claim(task))
    note(memory.task_release(task, reason="done"))
    note(memory.task_link(task, target="a goal", kind="goal"))
    note(memory.task_update(task, name="Deployed", goal="other", blockers=["x"], next="y"))
    note(memory.task_undo(task))
    note(memory.task_finish(task, "It runs."))
    note(memory.task_update(task, archived=True))
    return seen


def test_every_earlier_state_can_be_seen_by_the_number_of_its_event(memory, task, clock):
    seen = a_long_life(memory, task, clock)
    assert len(seen) > 25
    for seq, state in seen.items():
        assert memory.task_get(task, at=seq) == state, seq


def test_every_earlier_state_can_be_seen_by_its_time(memory, task, clock):
    seen = a_long_life(memory, task, clock)
    for seq, state in seen.items():
        moment = START + 60 * (seq - 1)
        assert memory.task_get(task, at=float(moment)) == state, seq
        assert memory.task_get(task, at=state.updated_at) == state, seq
        assert memory.task_get(task, at=moment + 59.999) == state, seq


def test_looking_back_changes_nothing(memory, task, clock):
    a_long_life(memory, task, clock)
    events, now = list(memory.events()), memory.task_get(task)
    memory.task_get(task, at=3)
    assert (list(memory.events()), memory.task_get(task)) == (events, now)


def test_the_current_task_can_be_seen_as_it_was(memory, task):
    memory.task_update(task, name="Other")
    assert memory.task_get(at=1).name == "Deploy"


def test_a_time_with_another_zone_is_the_same_moment(memory, task, clock):
    clock.forward(60)
    memory.task_update(task, name="Later")
    assert memory.task_get(task, at="2026-03-01T14:00:30+02:00").name == "Deploy"
    assert memory.task_get(task, at="2026-03-01T14:01:00+02:00").name == "Later"


def test_before_its_beginning_a_task_was_not_there(memory, task):
    with refused(memory, "task_not_found", naming="did not exist yet"):
        memory.task_get(task, at="2026-03-01T11:59:59Z")


def test_the_history_is_in_the_order_of_its_numbers_even_when_the_clock_goes_back(memory, task, clock):
    clock.forward(-3600)
    memory.task_update(task, name="Earlier by the clock")
    clock.forward(7200)
    memory.task_update(task, name="Last")
    assert memory.task_get(task, at=2).name == "Earlier by the clock"
    assert memory.task_get(task, at="2026-03-01T12:30:00Z").name == "Earlier by the clock"
    assert [event.seq for event in memory.task_thread(task).events] == [1, 2, 3]


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (0, "invalid_argument"),
        (-1, "invalid_argument"),
        (2, "invalid_argument"),
        (2**63, "invalid_argument"),
        ("soon", "invalid_time"),
        ("1", "invalid_time"),
        (True, "invalid_time"),
        ([1], "invalid_time"),
        (float("nan"), "invalid_time"),
        ("1969-12-31", "invalid_time"),
        ("9999-01-01", "invalid_time"),
        (1_772_366_400_000.0, "invalid_time"),
    ],
)
def test_a_moment_that_cannot_be_is_refused(memory, task, at, code):
    with refused(memory, code):
        memory.task_get(task, at=at)
