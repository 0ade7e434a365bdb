"""Drafts: tasks that began with a prompt, and what registering and taking over do with them."""

from __future__ import annotations

import pytest


@pytest.fixture
def draft(memory):
    """A task as hooks begin it for the user's first prompt, with some work in it."""
    user = memory.acting_as(channel="user")
    task = user.task_register(
        "Round the", request="Round the invoices to cents.", metadata={"draft": True}
    ).task_id
    memory.task_log_action(task, "pytest", status="completed")
    return task


def test_registering_gives_the_draft_its_name_and_plan_and_loses_nothing(memory, draft):
    written = memory.task_register(
        "Round invoices", ["Find it", "Fix it"], request="in other words", tags=["x"]
    )
    assert written.task_id == draft
    assert written.total == 2
    assert draft in written.warnings[0]
    task = memory.task_get(draft)
    assert (task.name, task.request, task.tags) == ("Round invoices", "Round the invoices to cents.", ("x",))
    assert [item.title for item in task.steps] == ["Find it", "Fix it"]
    assert not task.instructions
    assert "draft" not in task.metadata
    assert [card.id for card in memory.task_list().tasks] == [draft]


def test_a_second_registration_begins_another_task(memory, draft):
    memory.task_register("Round invoices")
    assert memory.task_register("Another").task_id != draft


def test_a_plan_that_the_draft_had_is_kept_where_its_steps_are_named_again(memory, draft):
    memory.task_plan_sync(draft, [{"title": "Find it", "status": "completed"}, {"title": "Fix it"}])
    memory.task_register("Round invoices", ["Find it", "Fix it", "Tell them"])
    items = memory.task_get(draft).steps
    assert [(item.title, item.status) for item in items if item.dropped_in is None] == [
        ("Find it", "completed"),
        ("Fix it", "pending"),
        ("Tell them", "pending"),
    ]


def test_a_draft_without_a_request_gets_the_one_that_the_agent_gives(memory):
    draft = memory.task_update(message="first of all").task_id
    memory.task_register("Round invoices", request="Round the invoices.")
    task = memory.task_get(draft)
    assert task.name == "Round invoices"
    assert [entry.summary for entry in task.reported] == ["Round the invoices."]  # it was the agent's call


def test_a_repeated_registration_with_a_key_is_answered_as_the_first_time(memory, draft):
    first = memory.task_register("Round invoices", ["Find it"], key="k")
    again = memory.task_register("Round invoices", ["Find it"], key="k")
    assert (again.task_id, again.seq) == (first.task_id, first.seq)
    assert memory.task_get(draft).seq == first.seq


def test_parts_goals_and_other_sessions_leave_the_draft_alone(memory, draft):
    assert memory.task_register("part", parent=draft).task_id != draft
    assert memory.task_register("goal", kind="goal").task_id != draft
    assert memory.acting_as(session="T").task_register("theirs").task_id != draft
    assert "draft" in memory.task_get(draft).metadata


def test_taking_over_a_task_folds_away_a_draft_with_nothing_but_its_prompt(memory, task):
    there = memory.acting_as(session="T")
    prompt = there.acting_as(channel="user").task_register(
        "go on", request="Go on with the deployment.", metadata={"draft": True}
    )
    there.task_focus(task)
    assert there.task_get().id == task
    assert memory.task_get(prompt.task_id).status == "superseded"
    (said,) = memory.task_get(task).instructions
    assert (said.summary, said.origin.channel) == ("Go on with the deployment.", "user")
    assert memory.task_update(message="mine").task_id != task  # the first session has lost it


def test_a_draft_with_work_in_it_stays_when_its_session_turns_to_another_task(memory, task, draft):
    memory.task_focus(task)
    assert memory.task_get(draft).status == "active"
    assert not memory.task_get(task).instructions
