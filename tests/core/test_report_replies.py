"""Messages of task_update move the plan: what the reply says about it, and who has the last word."""

from __future__ import annotations

import pytest

from ringbolt.model.types import StepMove
from ringbolt.surfaces.mcp.texts import result_text

# The deployment of the first source document, word for word.
COURSEFOLIO = ["Build Docker image", "Push to registry", "SSH into server", "Pull image and run container"]


@pytest.fixture
def task(memory):
    return memory.task_register("Deploy coursefolio", COURSEFOLIO).task_id


def moves(written):
    return {move.number: move.status for move in written.moved}


def test_the_story_of_the_source_moves_what_it_says(memory, task):
    told = [
        ("Step 1 done — image built as v1.2.3", {1: "completed"}),
        ("Step 2 done — pushed to ghcr.io", {2: "completed"}),
        ("Step 3 done — SSH connected to server", {3: "completed"}),
    ]
    for message, moved in told:
        written = memory.task_update(task, message)
        assert (moves(written), written.asks) == (moved, ())
    answer = memory.task_update(task, query="where was I?").answer.text
    assert answer.startswith("Completed steps 1-3")
    assert "Pull image and run container" in answer


def test_context_messages_of_the_source_move_the_plan_in_the_same_way(memory, task):
    told = [
        ("Starting deployment. Step 1: Building Docker image...", {1: "active"}),
        ("Image built. Step 2: Pushing to registry...", {1: "completed", 2: "active"}),
        ("Pushed. Step 3: SSHing into server...", {2: "completed", 3: "active"}),
        ("Connected. Step 4: Pulling image...", {3: "completed", 4: "active"}),
    ]
    for message, moved in told:
        assert moves(memory.task_update(task, message)) == moved


def test_signs_that_only_look_like_digits_are_read_as_text(memory, task):
    for sign in ("²", "①", "３²", "¹/²", "²-³ of ⁹", "step ²", "⑴ done"):
        memory.task_update(task, sign)
        memory.task_update(task, f"{sign} done, in {sign} s")
        assert memory.task_ask(task, f"what happened in the last {sign} hours?").text


def test_the_reply_names_each_step_that_moved(memory, task):
    written = memory.task_update(task, "image built as v1.2.3")
    assert written.moved == (StepMove(step="s1", number=1, title="Build Docker image", status="completed"),)
    item = memory.task_get(task).steps[0]
    assert (item.status, item.basis, item.cause) == ("completed", "inferred", written.seq)


def test_what_may_have_finished_a_step_is_asked_and_changes_nothing(memory, task):
    written = memory.task_update(task, "I think the image is built")
    assert written.moved == ()
    assert written.asks == ("Did this finish step 1, Build Docker image? It stays open.",)
    assert memory.task_get(task).done == 0


def test_steps_that_a_report_jumps_across_stay_open_and_are_asked_about(memory, task):
    written = memory.task_update(task, "Moving on to step 3.")
    assert moves(written) == {3: "active"}
    assert written.asks == ("Are steps 1-2 finished? They stay open.",)
    assert memory.task_update(task, "step 2 done").asks == ()


def test_an_explicit_status_stands_and_the_reply_asks(memory, task):
    memory.task_update(task, step=1, step_status="active")
    written = memory.task_update(task, "image built as v1.2.3")
    assert written.moved == ()
    assert written.asks == ("Did this finish step 1, Build Docker image? It stays open.",)


def test_a_message_with_an_explicit_status_moves_what_it_sets_and_what_else_it_says(memory, task):
    written = memory.task_update(task, "pushed to ghcr.io as well", step=1, step_status="completed")
    assert moves(written) == {2: "completed"}
    assert [item.basis for item in memory.task_get(task).steps[:2]] == ["explicit", "inferred"]


def test_what_a_report_moved_can_be_undone_and_stays_undone(memory, task):
    seq = memory.task_update(task, "image built as v1.2.3").seq
    memory.task_undo(task, seq + 1)
    assert memory.task_update(task, "the image is built").moved == ()
    assert memory.task_get(task).done == 0


def test_messages_can_fail_skip_and_reopen_a_step(memory, task):
    memory.task_update(task, "Step 1 done")
    assert moves(memory.task_update(task, "Step 2 failed: denied")) == {2: "failed"}
    assert moves(memory.task_update(task, "pushed to ghcr.io now")) == {2: "completed"}
    assert moves(memory.task_update(task, "step 2 is not done after all")) == {2: "active"}
    assert moves(memory.task_update(task, "skipping step 3"))[3] == "skipped"
    assert memory.verify().ok


def test_a_finished_plan_can_be_reopened(memory, task):
    assert len(memory.task_update(task, "All done.").moved) == 4
    assert moves(memory.task_update(task, "step 3 is not done after all")) == {3: "active"}


def test_a_repeated_call_gets_the_same_moves_and_questions(memory, task):
    first = memory.task_update(task, "Step 1 done. I think it is pushed to the registry.", key="k")
    assert moves(first) == {1: "completed"}
    assert first.asks
    assert memory.task_update(task, "Step 1 done. I think it is pushed to the registry.", key="k") == first


@pytest.mark.parametrize("channel", ["user", "tool", "web", "import"])
def test_messages_of_others_are_not_reports(memory, task, channel):
    written = memory.acting_as(channel=channel).task_update(task, "image built, pushed to the registry")
    assert (written.moved, written.asks) == ((), ())


def test_a_model_reads_in_the_reply_what_moved_and_how_to_correct_it(memory, task):
    written = memory.task_update(task, "Step 1 done. I think it is pushed to the registry.")
    text = result_text("task_update", {"message": "x"}, written.to_dict())
    assert 'step 1 "Build Docker image" is completed' in text
    assert "If that is wrong, set step and step_status." in text
    assert "Did this finish step 2, Push to registry? It stays open." in text
