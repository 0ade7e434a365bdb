"""Scope: repository × worktree × session × sub-agent; what hooks tell in one place stays there."""

from __future__ import annotations

import subprocess
import time

import pytest

from ringbolt import TaskMemory
from ringbolt.hosts import host_schemas
from ringbolt.hosts.answers.compaction_state import Mark
from ringbolt.hosts.answers.context_injection import Answers
from ringbolt.hosts.capture import events
from ringbolt.hosts.hook_parts.system_calls import set_alarm
from ringbolt.hosts.host_table import HOSTS
from ringbolt.journal.event_files import Journal
from ringbolt.journal.side_files import SideFiles
from ringbolt.model.redaction import Redactor

SHAPE = HOSTS["claude-code"]


def git(*words, at):
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    subprocess.run(["git", *identity, *words], cwd=at, check=True, capture_output=True)


@pytest.fixture
def places(tmp_path):
    """A repository and a second worktree of it."""
    main, other = tmp_path / "shop", tmp_path / "shop-fix"
    main.mkdir()
    git("init", "-q", at=main)
    git("commit", "-q", "--allow-empty", "-m", "begin", at=main)
    git("worktree", "add", "-q", str(other), at=main)
    (main / "src").mkdir()
    return main, other


@pytest.fixture
def tell(tmp_path):
    """Tell an event of a session in a folder, as hooks do; gives what is answered."""
    store, count = str(tmp_path / "store.db"), [0]

    def told(event, session, folder, **fields):
        count[0] += 1
        given = {"session_id": session, "cwd": str(folder), **fields}
        found = events.cleaned(host_schemas.read_event("claude-code", event, given), Redactor())
        with TaskMemory.open(store, workspace=None, agent="claude-code") as memory:
            memory = memory.acting_as(session=events.session_of(found), workspace=str(folder))
            events.apply(memory, found, f"hook/{count[0]}")
            answers = Answers(
                memory, SHAPE, found, Mark(SideFiles(Journal.of(str(store))), session), time.monotonic() + 60
            )
            try:
                return answers.text()
            finally:
                set_alarm(None)

    told.memory = lambda folder, session="": TaskMemory.open(store, workspace=str(folder), session=session)
    return told


def bash(number, command="make"):
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{number}"}


def test_two_sessions_in_one_worktree_do_not_bleed(tell, places):
    main, _ = places
    tell("UserPromptSubmit", "one", main, prompt="Round the invoices to cents.")
    tell("PostToolUseFailure", "one", main, **bash(1, "make lint"), error="Exit code 2\nno rule 'lint'")
    tell("PostToolUse", "two", main, **bash(1, "ls"), tool_response="Makefile")
    tell("UserPromptSubmit", "two", main / "src", prompt="Translate the menu.")
    tell("PostToolUse", "two", main / "src", **bash(2, "cat menu.po"), tool_response="ok")
    tell("Stop", "two", main, last_assistant_message="The menu is translated.")
    with tell.memory(main, "one") as memory:
        memory.task_exclude(what="make lint", why="there is no such rule")
        tasks = {task.session: memory.task_get(task.id) for task in memory.task_list().tasks}
    assert sorted(tasks) == ["one", "two"]
    assert tasks["one"].request == "Round the invoices to cents."
    assert (tasks["one"].actions, tasks["two"].actions) == (1, 2)
    assert "Translate the menu." in (tasks["two"].request, *(e.summary for e in tasks["two"].instructions))
    # After its compaction each is given its own task; only what was ruled out holds for both.
    for session, own, foreign in (("one", "invoices", "menu"), ("two", "menu", "invoices")):
        tell("PreCompact", session, main, trigger="auto")
        packet = tell("SessionStart", session, main, source="compact")
        assert own in packet
        assert foreign not in packet
    assert "make lint" in tell("PreToolUse", "one", main, **bash(3, "make lint"))
    assert "there is no such rule" in tell("PreToolUse", "two", main, **bash(3, "make lint"))


def test_two_worktrees_share_their_repository_and_not_the_current_task(tell, places):
    main, other = places
    tell("UserPromptSubmit", "one", main, prompt="Round the invoices to cents.")
    # The same session goes into another worktree: its work there is another task.
    assert "invoices" not in tell("SessionStart", "one", other, source="resume")
    tell("UserPromptSubmit", "one", other, prompt="Translate the menu.")
    tell("PostToolUse", "one", other, **bash(1), tool_response="ok")
    tell("PostToolUse", "one", main, **bash(2), tool_response="ok")
    with tell.memory(main, "one") as here, tell.memory(other, "one") as there:
        first, second = here.task_get(), there.task_get()
        assert [task.id for task in here.task_list().tasks] == [first.id]
        assert [task.id for task in there.task_list().tasks] == [second.id]
    assert (first.request, second.request) == ("Round the invoices to cents.", "Translate the menu.")
    assert (first.actions, second.actions) == (1, 1)
    assert (first.workspace, second.workspace) == (str(main), str(other))
    assert first.repository == second.repository == str(main / ".git")


def test_a_sub_agent_writes_to_its_own_task_and_its_result_is_on_the_parents(tell, places):
    main, _ = places
    agent = {"agent_id": "a7", "agent_type": "Explore"}
    tell("UserPromptSubmit", "one", main, prompt="Round the invoices to cents.")
    tell("SubagentStart", "one", main, **agent)
    tell("PostToolUse", "one", main, **bash(1, "grep -r cents"), tool_response="src/tax.py", **agent)
    tell("PostToolUse", "one", main, **bash(2, "git status"), tool_response="clean")
    tell("SubagentStop", "one", main, **agent, last_assistant_message="Only src/tax.py rounds.")
    with tell.memory(main) as memory:
        parent, child = (
            memory.task_get(memory.task_list(status=status).tasks[0].id) for status in ("active", "completed")
        )
        said = [event.text for event in memory.events(parent.id) if event.type == "tool_result"]
    assert (parent.actions, child.actions) == (1, 1)
    assert (child.parent, child.status, child.answer) == (parent.id, "completed", "Only src/tax.py rounds.")
    assert said == ["Explore a7 is done: Only src/tax.py rounds."]
    assert parent.status == "active"
