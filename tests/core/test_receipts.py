"""Evidence: a completed step is reported, and verified only by a check after its last edit."""

from __future__ import annotations

import pytest

from tests.support import refused


def evidence(memory, task, step="Build"):
    return next(item for item in memory.task_get(task).steps if item.title == step).evidence


def test_a_completed_step_is_only_reported(memory, task):
    memory.task_update(task, "done, I swear: verified!", step="Build", step_status="completed")
    assert evidence(memory, task) == "reported"


def test_a_receipt_verifies_a_completed_step(memory, task):
    memory.task_update(task, step="Build", step_status="completed")
    written = memory.task_receipt(task, "make test", exit_code=0, output="12 passed", item="Build")
    assert evidence(memory, task) == "verified"
    action = memory.task_drill_down(task, action=written.seq).action
    assert action.type == "cli"
    assert action.input == {"command": "make test"}
    assert action.output == {"exit_code": 0, "output": "12 passed"}


def test_an_action_that_is_a_receipt_verifies_its_step(memory, task):
    memory.task_update(task, step="Build", step_status="active")
    memory.task_log_action(task, "make test", type="cli", tool="Bash", output="12 passed", receipt=True)
    memory.task_update(task, step="Build", step_status="completed")
    assert evidence(memory, task) == "verified"
    memory.task_log_action(task, "make test", item="Build", status="failed", error="1 failed", receipt=True)
    assert evidence(memory, task) == "contradicted"
    memory.task_log_action(task, "make test", item="Build", receipt=True)
    memory.task_log_action(task, "make lint", item="Build")
    assert evidence(memory, task) == "verified"


def test_a_step_that_was_checked_before_it_was_called_completed_is_verified(memory, task):
    memory.task_update(task, step="Build", step_status="active")
    memory.task_receipt(task, "make test")
    memory.task_update(task, step="Build", step_status="completed")
    assert evidence(memory, task) == "verified"


def test_a_check_that_failed_verifies_nothing(memory, task):
    memory.task_update(task, step="Build", step_status="completed")
    memory.task_receipt(task, "make test", exit_code=1, item="Build")
    assert evidence(memory, task) == "contradicted"
    memory.task_receipt(task, "make test", exit_code=0, item="Build")
    assert evidence(memory, task) == "verified"
    memory.task_receipt(task, "make test", exit_code=2, item="Build")
    assert evidence(memory, task) == "contradicted"


def test_a_step_called_done_while_its_last_check_failed_says_so_everywhere(memory, task):
    memory.task_update(task, step="Build", step_status="active")
    memory.task_receipt(task, "pytest tests/test_build.py", exit_code=1)
    memory.task_log_action(task, "one more change", files=["a.py"])  # nobody has run the check since
    memory.task_update(task, step="Build", step_status="completed")
    assert evidence(memory, task) == "contradicted"
    assert "its last check failed" in memory.task_resume(task).text
    assert "evidence: contradicted" in memory.task_state(task)
    assert "its last check failed" in memory.task_ask(task, "is Build done?").text
    assert memory.task_get(task).verified == 0


def test_a_contradiction_ends_when_the_same_check_or_all_checks_of_its_kind_pass(memory, task):
    def contradicted():
        memory.task_receipt(task, "pytest tests/test_build.py", exit_code=1, item="Build")
        assert evidence(memory, task) == "contradicted"

    memory.task_update(task, step="Build", step_status="completed")
    memory.task_update(task, step="Push", step_status="active")
    for command in ("pytest tests/test_build.py", "pytest -q"):
        contradicted()
        memory.task_receipt(task, command)
        assert evidence(memory, task) == "reported"
    contradicted()
    for command in ("ruff check .", "pytest tests/test_other.py"):
        memory.task_receipt(task, command)
        assert evidence(memory, task) == "contradicted"
    assert memory.verify(task).ok


def test_an_edit_after_the_check_takes_the_proof_away(memory, task):
    memory.task_update(task, step="Build", step_status="completed")
    memory.task_receipt(task, "make test", item="Build")
    memory.task_log_action(task, "read a file", item="Build")
    assert evidence(memory, task) == "verified"
    edit = memory.task_log_action(task, "one more change", item="Build", files=["a.py"]).seq
    assert evidence(memory, task) == "reported"
    memory.task_undo(task, edit)
    assert evidence(memory, task) == "verified"


def test_an_edit_that_ends_after_the_check_counts_as_after_it(memory, task):
    memory.task_update(task, step="Build", step_status="active")
    edit = memory.task_log_action(task, "editing", status="started").seq
    memory.task_receipt(task, "make test")
    memory.task_log_action(task, action=edit, files=["a.py"])
    memory.task_update(task, step="Build", step_status="completed")
    assert evidence(memory, task) == "reported"


def test_an_edit_of_the_same_file_for_another_step_takes_the_proof_away_too(memory, task):
    memory.task_log_action(task, "the fix", item="Build", files=["src/a.py"])
    memory.task_update(task, step="Build", step_status="completed")
    memory.task_receipt(task, "make test", item="Build")
    memory.task_update(task, step="Push", step_status="active")
    memory.task_log_action(task, "elsewhere", files=["src/b.py"])
    assert evidence(memory, task) == "verified"
    memory.task_log_action(task, "once more", files=["src/a.py"])
    assert evidence(memory, task) == "reported"
    assert memory.verify(task).ok


def test_edits_for_other_steps_leave_a_proof_alone(memory, task):
    memory.task_update(task, step="Build", step_status="completed")
    memory.task_receipt(task, "make test", item="Build")
    memory.task_log_action(task, "for the next step", item="Push", files=["b.py"])
    assert evidence(memory, task) == "verified"


def test_a_step_that_is_opened_again_has_no_evidence_until_it_is_completed(memory, task):
    memory.task_update(task, step="Build", step_status="completed")
    memory.task_receipt(task, "make test", item="Build")
    memory.task_update(task, step="Build", step_status="active")
    assert evidence(memory, task) is None
    memory.task_log_action(task, "change", files=["a.py"])
    memory.task_update(task, step="Build", step_status="completed")
    assert evidence(memory, task) == "reported"


def test_a_receipt_can_be_undone(memory, task):
    memory.task_update(task, step="Build", step_status="completed")
    receipt = memory.task_receipt(task, "make test", item="Build").seq
    memory.task_undo(task, receipt)
    assert evidence(memory, task) == "reported"
    assert memory.verify().ok


def test_a_bad_receipt_is_refused(memory, task):
    for arguments, code in [
        ({"command": ""}, "invalid_argument"),
        ({"command": "x", "exit_code": "0"}, "invalid_argument"),
        ({"command": "x", "exit_code": True}, "invalid_argument"),
        ({"command": "x", "item": "none"}, "step_not_found"),
        ({"command": "x"}, "invalid_argument"),
        ({"command": "x", "output": float("nan"), "item": 1}, "invalid_json"),
    ]:
        with refused(memory, code):
            memory.task_receipt(task, **arguments)


@pytest.mark.parametrize(
    "title",
    [
        "Write a failing test for the parser",
        "Add a test that fails without the fix",
        "Reproduce the crash with a small script",
        "Watch the new spec fail",
    ],
)
def test_a_step_that_wants_something_to_fail_is_not_contradicted_when_it_does(memory, title):
    task = memory.task_register("x", [title, "Fix the parser so that no test fails"]).task_id
    for number in (1, 2):
        memory.task_update(task, step=number, step_status="active")
        memory.task_receipt(task, "pytest tests/test_parser.py", exit_code=1, output="1 failed", item=number)
        memory.task_update(task, step=number, step_status="completed")
    assert evidence(memory, task, title) == "reported"
    assert evidence(memory, task, "Fix the parser so that no test fails") == "contradicted"
