"""A session whose task another one takes over learns it, once, from its next hook or MCP reply."""

from __future__ import annotations

import asyncio

import pytest

from ringbolt import TaskMemory
from ringbolt.core.draft_tasks import turn_to
from ringbolt.hosts.answers.taken_tasks import call_hooks
from tests.hosts.hosting import Host, QuickHost
from tests.surfaces.mcp_servers import connected, said

REQUEST = "Make the invoices round to whole cents."


@pytest.fixture
def host(tmp_path, monkeypatch):
    return QuickHost(tmp_path, monkeypatch)


def begin(host) -> str:
    host.tell("SessionStart", source="startup")
    host.tell("UserPromptSubmit", prompt=REQUEST)
    return host.task().id


def take_over(host, task: str, session="s-2") -> None:
    """As our MCP server does in another session."""
    with host.memory(session) as memory:
        turn_to(memory, task)
        call_hooks(memory)


def test_the_next_prompt_informs_a_session_once_that_its_task_was_taken_over(host):
    task = begin(host)
    take_over(host, task)
    told = host.context("UserPromptSubmit", prompt="And what about the taxes?")
    assert told.startswith("Task memory: another session")
    assert task in told
    assert "Make the invoices round" in told
    assert host.context("UserPromptSubmit", prompt="Go on with the taxes then.") == ""
    with host.memory("s-2") as memory:
        assert memory.task_get().id == task
    assert host.task().id != task  # what it does next is its own


def test_real_hook_processes_inform_it_too(tmp_path):
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}
    for event, fields in (
        ("UserPromptSubmit", {"prompt": "And what about the taxes?"}),
        ("PostToolUse", {**call, "tool_use_id": "c1"}),
    ):
        folder = tmp_path / event
        folder.mkdir()
        host = Host(folder)
        host.tell("UserPromptSubmit", prompt=REQUEST)
        with host.memory() as memory:
            task = memory.task_get().id
        take_over(host, task)
        told = host.context(event, **fields)
        assert "took over your task" in told, event
        assert task in told
        assert host.context("UserPromptSubmit", prompt="Go on with the taxes then.") == ""


def test_an_agent_at_work_is_informed_after_its_next_tool_call(host):
    take_over(host, begin(host))
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}
    assert "took over your task" in host.context("PostToolUse", tool_use_id="c1", **call)
    assert host.context("PostToolUse", tool_use_id="c2", **call) == ""


def test_a_prompt_that_takes_over_by_id_lets_the_other_session_know(host):
    task = begin(host)
    other = host.other("s-2")
    other.tell("UserPromptSubmit", prompt=f"continue with {task}")
    other.tell("Stop", last_assistant_message="I am on it.")  # drains
    assert "took over your task" in host.context("UserPromptSubmit", prompt="What is the state?")


def test_a_session_that_ended_or_took_its_task_back_gets_no_notice(host):
    task = begin(host)
    take_over(host, task)
    with host.memory() as memory:
        turn_to(memory, task)
    assert "took over your task" not in host.context("UserPromptSubmit", prompt="Round the taxes too.")
    host.tell("SessionEnd", reason="other")
    host.task()
    take_over(host, task)
    assert "took over your task" not in host.context("SessionStart", source="resume")


def test_a_helper_gets_no_notice_about_its_session(host):
    take_over(host, begin(host))
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}
    helper = {"agent_id": "a1", "agent_type": "Explore"}
    assert host.context("PostToolUse", tool_use_id="c1", **call, **helper) == ""
    assert "took over your task" in host.context("PostToolUse", tool_use_id="c2", **call)


def test_a_notice_in_an_mcp_reply_is_not_repeated_by_a_hook(host):
    task = begin(host)
    take_over(host, task)

    async def ask() -> list[str]:
        memory = TaskMemory.open(host.store, workspace=str(host.work), session=host.session)
        try:
            async with connected(memory) as client:
                return [said(await client.call_tool("task_list", {})) for _ in range(2)]
        finally:
            memory.close()

    first, second = asyncio.run(ask())
    assert first.startswith("Task memory: another session")
    assert "took over" not in second
    assert "took over" not in host.context("UserPromptSubmit", prompt="What is the state?")
