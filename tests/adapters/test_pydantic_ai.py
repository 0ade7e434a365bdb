"""The PydanticAI capability, with its FunctionModel."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tools import DeferredToolRequests

from ringbolt.adapters.pydantic_ai import RingboltCapability
from tests.adapters.ledger import actions, events, said, task_of

pytestmark = pytest.mark.adapters
REQUEST = "Please deploy the shop to production, and do not touch the database."


def scripted(*answers):
    """A model that gives these answers, and keeps the instructions and tools it was sent."""
    left, seen = list(answers), []

    def answer(messages, info):
        seen.append((info.instructions or "", [tool.name for tool in info.function_tools]))
        part = left.pop(0)
        return ModelResponse(parts=[TextPart(part) if isinstance(part, str) else part])

    model = FunctionModel(answer)
    model.seen = seen
    return model


def call(name, id, **arguments):
    return ToolCallPart(name, arguments, tool_call_id=id)


def agent_with(model, *capabilities, **options):
    agent = Agent(model, capabilities=capabilities, **options)

    @agent.tool_plain
    def deploy(target: str) -> str:
        """Deploy the shop."""
        if target == "nowhere":
            raise ModelRetry("no such host: nowhere")
        if target == "held":
            raise ApprovalRequired
        return f"deployed to {target}"

    @agent.tool_plain
    def write_todos(todos: list[dict[str, str]]) -> str:
        """Keep the plan."""
        return "kept"

    return agent


def test_a_run_becomes_a_task(memory):
    todos = [{"content": "Build", "status": "completed"}, {"content": "Deploy", "status": "in_progress"}]
    model = scripted(
        call("write_todos", "c1", todos=todos),
        call("deploy", "c2", target="nowhere"),
        call("deploy", "c3", target="production"),
        call("task_note", "c4", text="Use blue", type="decision", why="green is full"),
        "The shop runs.",
    )
    result = agent_with(model, RingboltCapability(memory)).run_sync(REQUEST, conversation_id="C1")
    assert result.output == "The shop runs."
    task = task_of(memory, "C1")
    assert (task.request, task.sources["request"].channel) == (REQUEST, "user")
    assert [(step.title, step.status) for step in task.steps] == [
        ("Build", "completed"),
        ("Deploy", "active"),
    ]
    assert [one.summary for one in task.decisions] == ["Use blue"]
    assert actions(memory, "C1") == [("deploy", "failed"), ("deploy", "completed")]
    failed = next(event for event in events(memory, "C1") if event.type == "action")
    assert "no such host" in failed.data["error"]
    assert said(memory, "C1") == ["The shop runs."]
    assert "task_resume" in model.seen[0][1]


def test_a_tool_that_waits_for_approval_did_not_run(memory):
    model = scripted(call("deploy", "c1", target="held"))
    agent = agent_with(model, RingboltCapability(memory), output_type=[str, DeferredToolRequests])
    agent.run_sync(REQUEST, conversation_id="C1")
    assert actions(memory, "C1") == []


def test_an_unexpected_error_is_recorded_and_raised(memory):
    agent = Agent(scripted(call("explode", "c1")), capabilities=[RingboltCapability(memory)])

    @agent.tool_plain
    def explode() -> str:
        """Explode."""
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        agent.run_sync(REQUEST, conversation_id="C1")
    assert actions(memory, "C1") == [("explode", "failed")]


def test_the_packet_comes_when_history_was_cut_and_not_before(memory):
    model = scripted("Staging is done.", call("deploy", "c1", target="a"), "Two.", "Three.")
    agent = agent_with(
        model,
        RingboltCapability(memory),
        ProcessHistory(lambda messages: messages[-1:]),
        instructions="Be brief.",
    )
    history = agent.run_sync(REQUEST, conversation_id="C1").all_messages()
    agent.run_sync("Go on with production.", message_history=history)
    first, *later = [instructions for instructions, _ in model.seen]
    assert first == "Be brief."
    assert len(later) == 2
    assert all(text.startswith("Be brief.") and "do not touch the database" in text for text in later)


def test_a_whole_history_needs_no_packet(memory):
    model = scripted("One.", call("deploy", "c1", target="a"), "Two.")
    agent = agent_with(model, RingboltCapability(memory))
    history = agent.run_sync(REQUEST).all_messages()
    agent.run_sync("Go on with production.", message_history=history)
    assert [instructions for instructions, _ in model.seen] == ["", "", ""]
    (one,) = memory.task_list().tasks
    assert memory.task_get(one.id).instructions[0].summary == "Go on with production."


def test_a_conversation_that_another_process_began_gets_the_packet(memory, another):
    agent_with(scripted("Staging is done."), RingboltCapability(memory)).run_sync(
        REQUEST, conversation_id="C1"
    )
    model = scripted("I go on.")
    agent_with(model, RingboltCapability(another)).run_sync("Please continue.", conversation_id="C1")
    assert "Staging is done." in model.seen[0][0]


def test_a_broken_memory_does_not_stop_a_run(memory):
    agent = agent_with(scripted(call("deploy", "c1", target="a"), "Fine."), RingboltCapability(memory))
    memory.close()
    assert agent.run_sync(REQUEST, conversation_id="C1").output == "Fine."
