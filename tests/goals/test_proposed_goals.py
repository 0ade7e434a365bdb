"""An agent may propose a goal; only a person makes it one."""

from __future__ import annotations

import pytest

from ringbolt.model.errors import Conflict, NotFound


def test_a_proposed_goal_is_made_when_a_person_accepts(memory):
    task = memory.active_tasks_add("shop", "Deploy the shop").task_id
    made = memory.active_task_propose_goal("shop", name="The shop is live", criteria=["the owner is content"])
    assert made.task_id == task
    assert "until the user accepts it, nothing changes" in made.warnings[0]
    assert memory.goal_status() == ()
    (proposal,) = memory.task_proposals(task)
    assert proposal.operation == "goal_promote"
    assert "The shop is live · the owner is content" in proposal.text
    again = memory.active_task_propose_goal(task, name="The shop is live", criteria=["the owner is content"])
    assert again.seq == made.seq
    with pytest.raises(Conflict) as refused:
        memory.task_accept(task, proposal=proposal.seq)
    assert refused.value.code == "needs_user"
    memory.acting_as(channel="user").task_accept(task, proposal=proposal.seq)
    (goal,) = memory.goal_status()
    assert goal.name == "The shop is live"
    assert [one.text for one in goal.criteria] == ["the owner is content"]
    assert memory.task_proposals(task) == ()


def test_a_rejected_proposal_changes_nothing(memory, task):
    seq = memory.active_task_propose_goal().seq
    memory.acting_as(channel="user").task_reject(task, proposal=seq, reason="too small")
    assert memory.goal_status() == ()
    assert memory.task_proposals(task) == ()


def test_only_a_task_can_be_proposed(memory):
    with pytest.raises(NotFound):
        memory.active_task_propose_goal("nothing")
    goal = memory.goal_create("Live").task_id
    with pytest.raises((Conflict, NotFound)):
        memory.active_task_propose_goal(goal)
