"""S1.9: each call of the source's memory manager is one call here."""

from __future__ import annotations

import json
from pathlib import Path

from ringbolt.model.foreign_statuses import write_task_status
from tests.support import refused


def bank_status(task) -> str:
    return write_task_status("bank", task.status, task.phase, task.reason)


def test_create_task_memory(memory):
    task = memory.task_register("Research", request="Find out about X, please.").task_id
    seen = memory.task_get(task)
    assert (seen.request, bank_status(seen)) == ("Find out about X, please.", "RECEIVED")
    assert seen.timestamps.created_at == seen.timestamps.last_updated_at


def test_save_plan(memory):
    task = memory.task_register("Research").task_id
    step = {"stepDescription": "Search", "toolName": "web", "sub_task_input": {"q": 1}, "narrative_step": "…"}
    memory.task_plan_replace(task, [{"stage": 1, "steps": [step]}])
    (item,) = memory.task_get(task).steps
    assert (item.title, item.stage) == ("Search", "1")
    assert item.detail == {"tool": "web", "input": {"q": 1}, "narrative": "…"}
    memory.task_plan_replace(task, [{"stage": 1, "steps": ["Search again"]}], reason="replan_1")
    assert [plan.reason for plan in memory.task_plans(task)] == [None, "replan_1"]


def test_update_task_status(memory):
    task = memory.task_register("Research").task_id
    for word in (
        "PLANNING",
        "PLANNING_COMPLETED",
        "EXECUTING_PLAN",
        "EXECUTING_REPLAN",
        "SYNTHESIZING_ANSWER",
        "FAILED_SYNTHESIS",
    ):
        memory.task_update(task, status=word)
        assert bank_status(memory.task_get(task)) == word
    memory.task_update(task, status="active")
    memory.task_update(task, status="COMPLETED_SUCCESS")
    assert bank_status(memory.task_get(task)) == "COMPLETED_SUCCESS"


def test_update_timestamp(memory, clock):
    task = memory.task_register("Research").task_id
    for phase, name in (
        ("planned", "plan_generated_at"),
        ("executing", "execution_started_at"),
        ("synthesizing", "synthesis_started_at"),
    ):
        clock.forward(60)
        memory.task_update(task, phase=phase)
        stamps = memory.task_get(task).timestamps
        assert getattr(stamps, name) == stamps.last_updated_at
    clock.forward(60)
    memory.task_update(task, status="completed")
    stamps = memory.task_get(task).timestamps
    assert stamps.completed_at == stamps.last_updated_at == "2026-03-01T12:04:00.000Z"


def test_save_context_snapshot(memory):
    task = memory.task_register("Research").task_id
    memory.task_snapshot(task, "the whole context", label="01_after_summarization_initial", summarized=True)
    (snapshot,) = memory.task_history(task, type="snapshot")
    assert snapshot.summary == "the whole context"
    assert snapshot.data == {"label": "01_after_summarization_initial", "summarized": True}
    assert snapshot.at


def test_append_to_execution_log(memory):
    task = memory.task_register("Research").task_id
    seq = memory.task_log_action(
        task,
        "Context was summarised",
        status="SYSTEM_ACTION",
        stage="System",
        sub_task_id="11111111",
        tool="System",
        input={"length": 9000},
        output={"length": 500},
        error={"message": "none", "details": None},
        duration_ms=12,
    ).seq
    action = memory.task_drill_down(task, action=seq).action
    assert (action.type, action.status, action.summary) == ("system", "completed", "Context was summarised")
    assert (action.stage, action.sub_task_id, action.tool) == ("System", "11111111", "System")
    assert (action.input, action.output, action.duration_ms) == ({"length": 9000}, {"length": 500}, 12)
    assert action.error == {"message": "none", "details": None}


def test_save_final_answer(memory):
    task = memory.task_register("Research").task_id
    memory.task_finish(task, "# The answer\n\n42\n")
    seen = memory.task_get(task)
    assert (seen.answer, bank_status(seen)) == ("# The answer\n\n42\n", "COMPLETED_SUCCESS")
    assert seen.timestamps.completed_at


def test_save_error_summary(memory):
    task = memory.task_register("Research").task_id
    memory.task_finish(
        task,
        status="FAILED_EXECUTION",
        error={"failedAtStage": 2, "failedStepNarrative": "Pushing", "errorMessage": "denied"},
    )
    seen = memory.task_get(task)
    assert seen.error.to_dict() == {"message": "denied", "stage": "2", "step": "Pushing"}
    assert bank_status(seen) == "FAILED_EXECUTION"


def test_the_caller_gives_the_id_and_a_label_for_a_replan(memory, tmp_path):
    """createTaskMemory(parentTaskId, …), and savePlan(parentTaskId, segment, "replan_1")."""
    own = "3f2b8c1e-0d4a-4b5c-9e6f-7a8b9c0d1e2f"
    task = memory.task_register("Compare", ["Read A"], request="Compare the offers", id=own).task_id
    memory.task_update(own, status="EXECUTING_PLAN")
    memory.task_update(own, "Reading A")
    memory.task_plan_replace(own, ["Read A", "Read B"], label="replan_1", reason="A is not enough")
    assert memory.task_get(own).id == task
    assert memory.task_get(task).messages == 1
    assert [plan.label for plan in memory.task_plans(own)] == [None, "replan_1"]
    with refused(memory, "key_reused"):
        memory.task_register("Another", id=own)
    folder = memory.export_bank(tmp_path, own).path
    assert json.loads((Path(folder) / "metadata.json").read_text())["parentTaskId"] == own
    with refused(memory, "invalid_argument"):
        memory.task_decide(own)  # an id is not a choice
