"""`ringbolt task`: requests, split and merge on the command line."""

from __future__ import annotations

import pytest

from tests.surfaces.command_line import data, run


@pytest.fixture
def task(monkeypatch, tmp_path):
    """A task with an instruction, #2, that asks for something else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "tasks.db"))
    task = data("register", "Invoices", "--request", "Round the invoices.", "--as-user")["task_id"]
    assert data("note", "Translate the manual.", "--kind", "instruction", "--as-user")["seq"] == 2
    run("decide", "formal")
    return task


def test_a_task_is_split_and_merged_again(task):
    new = data("task", "split", "2", "--task", task, "--as-user")["task_id"]
    assert new != task
    assert "Translate the manual." in run("task", "--task", new).output
    assert data("show", new)["decisions"][0]["summary"] == "formal"
    assert data("show", task)["decisions"] == []
    assert run("undo", "--task", task, "--as-user").exit_code == 0
    assert data("show", task)["decisions"][0]["summary"] == "formal"
    again = data("task", "split", "2", "--task", task, "--name", "Manual", "--as-user")["task_id"]
    assert run("task", "merge", again, "--task", task, "--as-user").exit_code == 0
    assert [one["text"] for one in data("show", task)["requests"]] == [
        "Round the invoices.",
        "Translate the manual.",
    ]
    assert data("show", again)["status"] == "superseded"


def test_a_number_that_is_no_instruction_is_refused(task):
    refused = run("task", "split", "3", "--task", task)
    assert refused.exit_code != 0
    assert "#2" in refused.output
