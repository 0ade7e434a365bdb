"""Approval modes: a step or a side effect waits for approval, which only the user can give."""

from __future__ import annotations

import pytest

from tests.support import refused


@pytest.fixture
def user(memory):
    return memory.acting_as(channel="user", agent="", session="")


def registered(memory, mode) -> str:
    return memory.task_register("Deploy", ["Build", "Push", "Run"], approval_mode=mode).task_id


def status_of(memory, task) -> list:
    return [item.status for item in memory.task_get(task).steps]


def test_mode_auto_needs_no_approval(memory):
    task = registered(memory, "auto")
    memory.task_step_update(task, 1, status="completed")
    memory.task_intent(task, "Push the image")
    known = memory.task_get(task)
    assert (known.status, known.approvals, len(known.effects)) == ("active", (), 1)


def test_with_confirm_a_side_effect_waits_and_a_step_does_not(memory, user):
    task = registered(memory, "confirm")
    memory.task_step_update(task, 1, status="active")
    intent = memory.task_intent(task, "Push the image", verify="docker manifest inspect")
    assert "waits for the user's approval" in intent.warnings[0]
    known = memory.task_get(task)
    (asked,) = known.approvals
    assert (asked.what, asked.asks, asked.intent, asked.status) == (
        "Push the image", "effect", intent.seq, "pending",
    )  # fmt: skip
    assert (known.status, known.reason, known.steps[0].status) == ("waiting", "approval", "active")
    assert known.effects == ()  # it is not in flight
    user.task_approve(task, f"#{intent.seq}", note="only once")
    known = memory.task_get(task)
    assert (known.status, known.reason, known.approvals[0].status) == ("active", None, "approved")
    assert known.approvals[0].note == "only once"
    assert [effect.seq for effect in known.effects] == [intent.seq]
    memory.task_outcome(task, intent=intent.seq, outcome="did")
    assert memory.task_get(task).attention is None
    assert memory.verify().ok


@pytest.mark.parametrize("wanted", ["active", "completed"])
def test_with_manual_a_step_waits_until_the_user_says_yes(memory, user, wanted):
    task = registered(memory, "manual")
    done = memory.task_step_update(task, 1, status=wanted, note="ready")
    assert "Step s1 waits for the user's approval." in done.warnings
    assert status_of(memory, task)[0] == "pending"
    assert memory.task_get(task).steps[0].note == "ready"
    memory.task_step_update(task, 1, status=wanted)  # asking again asks once
    assert len(memory.task_get(task).approvals) == 1
    user.task_approve(task)
    assert status_of(memory, task)[0] == wanted
    if wanted == "active":
        memory.task_step_update(task, 1, status="completed")  # what was allowed to begin may end
    assert status_of(memory, task) == ["completed", "pending", "pending"]
    memory.task_update(task, "Pushing", step=2, step_status="active")
    assert [one.step for one in memory.task_get(task).approvals if one.status == "pending"] == ["s2"]
    assert memory.verify().ok


def test_messages_and_todo_lists_of_the_agent_cannot_bypass_the_gate(memory):
    task = registered(memory, "manual")
    memory.task_update(task, "Step 1 done: the image is built.")
    memory.task_plan_sync(
        task, [{"title": "Build", "status": "completed"}, {"title": "New", "status": "active"}]
    )
    assert {item.status for item in memory.task_get(task).steps if item.dropped_in is None} == {"pending"}
    assert {one.step for one in memory.task_get(task).approvals} >= {"s1"}


def test_the_user_needs_no_approval(memory, user):
    task = registered(memory, "manual")
    user.task_step_update(task, 1, status="active")
    assert status_of(memory, task)[0] == "active"
    assert memory.task_get(task).approvals == ()


@pytest.mark.parametrize("channel", ["agent", "tool", "web", "import", "system"])
def test_only_the_user_decides(memory, channel):
    task = registered(memory, "manual")
    memory.task_step_update(task, 1, status="active")
    with refused(memory, "illegal_transition", naming="user"):
        memory.acting_as(channel=channel).task_approve(task)
    with refused(memory, "illegal_transition"):
        memory.acting_as(channel=channel).task_approve(task, mode="auto")
    with refused(memory, "not_undoable"):
        memory.task_undo(task, memory.task_get(task).approvals[0].seq)
    assert status_of(memory, task)[0] == "pending"


def test_what_is_rejected_is_not_done_and_can_be_allowed_later(memory, user):
    task = registered(memory, "manual")
    memory.task_step_update(task, 2, status="active")
    intent = memory.task_intent(task, "Mail the customers").seq
    user.task_approve(task, "Push", approve=False, note="the registry is closed today")
    user.task_approve(task, f"#{intent}", approve=False)
    known = memory.task_get(task)
    assert (known.status, known.steps[1].status, known.effects) == ("active", "pending", ())
    assert {one.status for one in known.approvals} == {"rejected"}
    assert "The user said no to" in memory.task_resume(task).text
    assert "the registry is closed today" in memory.task_resume(task).text
    user.task_approve(task, "Push")
    assert memory.task_get(task).steps[1].status == "active"
    assert memory.verify().ok


def test_an_effect_without_approval_is_recorded_and_calls_for_attention(memory):
    task = registered(memory, "confirm")
    intent = memory.task_intent(task, "Drop the table").seq
    done = memory.task_outcome(task, intent=intent, outcome="did")
    assert "without the user's approval" in done.warnings[0]
    known = memory.task_get(task)
    assert (known.status, known.attention) == ("active", f"#{intent} was done without the user's approval")
    assert known.approvals == ()


def test_a_mode_is_changed_by_the_user_and_auto_lets_everything_go(memory, user):
    task = registered(memory, "manual")
    memory.task_step_update(task, 1, status="active")
    user.task_approve(task, mode="auto")
    known = memory.task_get(task)
    assert (known.approval_mode, known.status, known.steps[0].status) == ("auto", "active", "active")
    user.task_approve(task, mode="confirm")
    memory.task_intent(task, "Push the image")
    user.task_approve(task, mode="manual")
    assert memory.task_get(task).approval_mode == "manual"
    assert memory.task_get(task).approvals[-1].status == "pending"  # another mode is no answer
    user.task_approve(task, approve=False)
    with refused(memory, "record_not_found"):
        user.task_approve(task)


def test_packet_state_and_summary_say_what_waits(memory, user):
    task = registered(memory, "manual")
    memory.task_step_update(task, 1, status="active")
    packet = memory.task_resume(task, budget=400).text
    assert "Approval mode manual" in packet
    assert 'Waits for the user\'s word #3a "Build"; do not do it before' in packet
    state = memory.task_state(task)
    assert 'approval_mode: "manual"' in state
    assert "pending: Build" in state


def test_an_export_brings_what_waits_to_another_store(memory, opened, new_store_url, tmp_path):
    task = registered(memory, "manual")
    memory.task_step_update(task, 1, status="active")
    memory.export_events(tmp_path / "events.jsonl")
    there = opened(new_store_url())
    there.import_events(tmp_path / "events.jsonl")
    assert there.task_get(task).approvals == memory.task_get(task).approvals
