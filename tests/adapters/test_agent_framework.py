"""The context provider for Microsoft Agent Framework, with a scripted chat client."""

from __future__ import annotations

import asyncio
import json

import pytest
from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    tool,
)

from ringbolt.adapters.agent_framework import RingboltProvider
from tests.adapters.ledger import actions, events, said, task_of

pytestmark = pytest.mark.adapters
REQUEST = "Please deploy the shop to production, and do not touch the database."


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A chat client that gives these answers, and keeps the instructions and tools it was sent."""

    def __init__(self, *answers):
        super().__init__()
        self.answers, self.seen = list(answers), []

    async def _inner_get_response(self, *, messages, stream, options, **_):
        self.seen.append(
            (options.get("instructions") or "", [each.name for each in options.get("tools") or ()])
        )
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        content = (
            answer
            if isinstance(answer, str)
            else Content.from_function_call(*answer[:2], arguments=answer[2])
        )
        return ChatResponse(messages=[Message("assistant", [content])])


def call(name, id, **arguments):
    return id, name, json.dumps(arguments)


@tool
def deploy(target: str) -> str:
    """Deploy the shop."""
    if target == "nowhere":
        raise OSError("no such host: nowhere")
    return f"deployed to {target}"


@tool(approval_mode="always_require")
def release(version: str) -> str:
    """Release the shop."""
    return f"released {version}"


@tool
def write_todos(todos: list[dict[str, str]]) -> str:
    """Keep the plan."""
    return "kept"


class Forgetful(InMemoryHistoryProvider):
    """Shows only the last message of the history."""

    async def get_messages(self, *arguments, **options):
        return (await super().get_messages(*arguments, **options))[-1:]


def run(provider, client, *prompts, session=None, history=None):
    providers = [history or InMemoryHistoryProvider(), provider]
    agent = Agent(client, "Be brief.", tools=[deploy, release, write_todos], context_providers=providers)
    session = session or AgentSession(session_id="C1")

    async def story():
        for prompt in prompts:
            last = await agent.run(prompt, session=session)
        return last

    return asyncio.run(story())


def test_a_run_becomes_a_task(memory):
    todos = [{"content": "Build", "status": "completed"}, {"content": "Deploy", "status": "in_progress"}]
    client = Scripted(
        call("write_todos", "c1", todos=todos),
        call("deploy", "c2", target="nowhere"),
        call("deploy", "c3", target="production"),
        call("task_note", "c4", text="Use blue", type="decision", why="green is full"),
        "The shop runs.",
    )
    assert run(RingboltProvider(memory), client, REQUEST).text == "The shop runs."
    task = task_of(memory, "C1")
    assert (task.request, task.sources["request"].channel) == (REQUEST, "user")
    assert [(step.title, step.status) for step in task.steps] == [
        ("Build", "completed"),
        ("Deploy", "active"),
    ]
    assert [one.summary for one in task.decisions] == ["Use blue"]
    assert actions(memory, "C1") == [("deploy", "failed"), ("deploy", "completed")]
    failed, done = [event for event in events(memory, "C1") if event.type == "action"]
    assert "no such host" in failed.data["error"]
    assert done.data["output"] == "deployed to production"
    assert said(memory, "C1") == ["The shop runs."]
    assert "task_resume" in client.seen[0][1]


def test_a_tool_that_waits_for_approval_did_not_run(memory):
    answer = run(RingboltProvider(memory), Scripted(call("release", "c1", version="1.2")), REQUEST)
    assert answer.user_input_requests
    assert actions(memory, "C1") == []
    assert said(memory, "C1") == []


def test_the_packet_comes_when_history_was_cut_and_not_before(memory):
    client = Scripted("Staging is done.", call("deploy", "c1", target="a"), "Two.", "Three.")
    history = Forgetful()
    run(RingboltProvider(memory), client, REQUEST, "Go on with production.", "And the rest.", history=history)
    first, *later = [instructions for instructions, _ in client.seen]
    assert "database" not in first
    assert all("Be brief." in text and "do not touch the database" in text for text in later)


def test_a_whole_history_needs_no_packet(memory):
    client = Scripted("One.", call("deploy", "c1", target="a"), "Two.")
    run(RingboltProvider(memory), client, REQUEST, "Go on with production.")
    assert not any("database" in instructions for instructions, _ in client.seen)
    (one,) = memory.task_list().tasks
    assert memory.task_get(one.id).instructions[0].summary == "Go on with production."


def test_a_session_that_another_process_began_gets_the_packet(memory, another):
    run(RingboltProvider(memory), Scripted("Staging is done."), REQUEST)
    client = Scripted("I go on.")
    run(RingboltProvider(another), client, "Please continue.")
    assert "Staging is done." in client.seen[0][0]


def test_a_run_that_breaks_off_is_recorded_and_raises(memory):
    with pytest.raises(RuntimeError, match="429"):
        run(RingboltProvider(memory), Scripted(RuntimeError("429: usage limit reached")), REQUEST)
    assert "usage limit" in str([event.to_dict() for event in events(memory, "C1")][-1])


def test_a_broken_memory_does_not_stop_a_run(memory):
    provider = RingboltProvider(memory)
    memory.close()
    assert run(provider, Scripted(call("deploy", "c1", target="a"), "Fine."), REQUEST).text == "Fine."
