"""The gate at Stop: a claim that its check contradicts is held against the agent once, and never again."""

from __future__ import annotations

import json
from functools import partial

import pytest

from ringbolt.hosts.answers.stop_gate import unproven_claims
from ringbolt.journal.event_files import Journal
from ringbolt.journal.side_files import SideFiles
from tests.hosts.hosting import Host

ON = {"RINGBOLT_STOP_GATE": "on"}


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def plan(*statuses):
    titles = ("Write the parser", "Rename the option")
    return [{"content": title, "status": status} for title, status in zip(titles, statuses, strict=True)]


class Turns:
    """A session of tool calls and ends of turns."""

    def __init__(self, host):
        self._host, self._number = host, 0
        host.tell("UserPromptSubmit", prompt="Write the parser and rename the option")
        self.todo("in_progress", "pending")

    def todo(self, *statuses):
        self._tool("TodoWrite", {"todos": plan(*statuses)}, {"newTodos": plan(*statuses)})

    def edit(self, file="parser.py"):
        given = {"file_path": str(self._host.work / file), "old_string": "a", "new_string": "b"}
        self._tool("Edit", given, {"filePath": given["file_path"], "structuredPatch": []})

    def check(self, passes, command="pytest -q"):
        if passes:
            self._tool("Bash", {"command": command}, {"stdout": "1 passed", "stderr": ""})
        else:
            self._tool("Bash", {"command": command}, "Exit code 1\n1 failed", event="PostToolUseFailure")

    def _tool(self, name, given, response, **more):
        self._number += 1
        self._host.tool(name, given, response, self._number, **more)

    def stop(self, message="Next I look at the option.", env=None, **fields):
        given = {"last_assistant_message": message, "stop_hook_active": False, **fields}
        said = self._host.tell("Stop", env=ON if env is None else env, **given)
        return json.loads(said) if said else None


def test_a_step_whose_last_check_failed_is_held_against_the_agent_once(host):
    turns = Turns(host)
    turns.edit()
    turns.check(passes=False)
    turns.todo("completed", "in_progress")
    answer = turns.stop()
    assert set(answer) == {"decision", "reason"}
    assert answer["decision"] == "block"
    assert (
        'Step 1 ("Write the parser") was called done, but its last check failed: "pytest -q"'
        in answer["reason"]
    )
    assert turns.stop() is None
    assert turns.stop(stop_hook_active=True) is None


def test_a_host_that_was_held_before_is_never_held_again(host):
    turns = Turns(host)
    turns.check(passes=False)
    turns.todo("completed", "in_progress")
    assert turns.stop(stop_hook_active=True) is None


def test_a_new_claim_is_another_one(host):
    turns = Turns(host)
    turns.check(passes=False)
    turns.todo("completed", "in_progress")
    assert turns.stop()["decision"] == "block"
    turns.todo("in_progress", "pending")
    turns.check(passes=False)
    turns.todo("completed", "in_progress")
    assert turns.stop()["decision"] == "block"
    assert turns.stop() is None


def test_a_step_that_changed_files_since_the_last_check_that_passed_was_not_checked(host):
    turns = Turns(host)
    turns.check(passes=True)
    turns.edit()
    turns.todo("completed", "in_progress")
    assert "no check has passed since it last changed files" in turns.stop()["reason"]
    assert turns.stop() is None


def test_a_checked_step_passes(host):
    turns = Turns(host)
    turns.edit()
    turns.check(passes=False)
    turns.edit()
    turns.check(passes=True)
    turns.todo("completed", "in_progress")
    turns.edit("option.py")
    assert turns.stop() is None


def test_a_check_in_a_later_step_counts_too(host):
    turns = Turns(host)
    turns.check(passes=True)
    turns.edit()
    turns.todo("completed", "in_progress")
    turns.check(passes=True)
    assert turns.stop() is None


def test_a_task_without_checks_is_not_asked_for_one(host):
    turns = Turns(host)
    turns.edit()
    turns.todo("completed", "in_progress")
    assert turns.stop() is None


def test_a_task_that_is_all_done_is_asked_about_too(host):
    turns = Turns(host)
    turns.check(passes=False)
    turns.todo("completed", "completed")
    assert turns.stop("All done.")["decision"] == "block"
    assert turns.stop("All done.") is None


def test_it_is_off_by_default_and_where_the_host_cannot_be_asked(host, tmp_path):
    turns = Turns(host)
    turns.check(passes=False)
    turns.todo("completed", "in_progress")
    assert turns.stop(env={}) is None
    (tmp_path / "other").mkdir()
    other = Turns(Host(tmp_path / "other", name="vscode"))
    other.check(passes=False)
    other.todo("completed", "in_progress")
    assert other.stop() is None


def test_the_turn_ends_if_the_claims_cannot_be_remembered(host):
    turns = Turns(host)
    turns.check(passes=False)
    turns.todo("completed", "in_progress")
    with host.memory() as memory:
        task = memory.task_get().id
        nowhere, there = SideFiles(Journal([])), SideFiles(host.journal())
        said = [
            memory.store.read(partial(unproven_claims, files=files, task=task)) for files in (nowhere, there)
        ]
    assert said[0] == ""
    assert "its last check failed" in said[1]


def test_a_step_that_a_person_called_done_is_not_questioned(host):
    turns = Turns(host)
    turns.check(passes=False)
    with host.memory() as memory:
        memory.acting_as(channel="user").task_step_update(step=1, status="completed")
    assert turns.stop() is None
