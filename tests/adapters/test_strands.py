"""The Strands plugin, with a scripted model."""

from __future__ import annotations

import json

import pytest
from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.hooks import BeforeToolCallEvent
from strands.models import Model

from ringbolt.adapters.strands import RingboltPlugin
from tests.adapters.ledger import actions, events, said, task_of

pytestmark = pytest.mark.adapters
REQUEST = "Please deploy the shop to production, and do not touch the database."


class Scripted(Model):
    """A model that gives these answers, and keeps the instructions and tools it was sent."""

    def __init__(self, *answers):
        self.answers, self.seen = list(answers), []

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, output_model, prompt, system_prompt=None, **_):
        raise NotImplementedError
        yield

    async def stream(self, messages, tool_specs=None, system_prompt=None, **_):
        self.seen.append((system_prompt or "", [spec["name"] for spec in tool_specs or ()]))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(answer, str):
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
        else:
            name, id, arguments = answer
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": id}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": arguments}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(answer, str) else "tool_use"}}


def call(name, id, **arguments):
    return name, id, json.dumps(arguments)


@tool
def deploy(target: str) -> str:
    """Deploy the shop."""
    if target == "nowhere":
        raise OSError("no such host: nowhere")
    return f"deployed to {target}"


@tool
def write_todos(todos: list[dict[str, str]]) -> str:
    """Keep the plan."""
    return "kept"


def agent_with(model, plugin, **options):
    return Agent(
        model, tools=[deploy, write_todos], plugins=[plugin], callback_handler=None, retry_strategy=None,
        system_prompt="Be brief.", **options,
    )  # fmt: skip


def test_a_run_becomes_a_task(memory):
    todos = [{"content": "Build", "status": "completed"}, {"content": "Deploy", "status": "in_progress"}]
    model = Scripted(
        call("write_todos", "c1", todos=todos),
        call("deploy", "c2", target="nowhere"),
        call("deploy", "c3", target="production"),
        call("task_note", "c4", text="Use blue", type="decision", why="green is full"),
        "The shop runs.",
    )
    assert str(agent_with(model, RingboltPlugin(memory, "C1"))(REQUEST)).strip() == "The shop runs."
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


def test_a_call_that_was_cancelled_did_not_run(memory):
    def cancel(event: BeforeToolCallEvent):
        event.cancel_tool = "not today"

    agent = agent_with(Scripted(call("deploy", "c1", target="a"), "Fine."), RingboltPlugin(memory, "C1"))
    agent.add_hook(cancel, BeforeToolCallEvent)
    agent(REQUEST)
    assert actions(memory, "C1") == []


def test_the_packet_comes_when_history_was_cut_and_not_before(memory):
    model = Scripted("Staging is done.", "One.", "Two.")
    window = SlidingWindowConversationManager(window_size=2)
    agent = agent_with(model, RingboltPlugin(memory, "C1"), conversation_manager=window)
    agent(REQUEST)
    agent("Go on with production.")
    agent("And now the rest.")
    first, second, third = [prompt for prompt, _ in model.seen]
    assert first == "Be brief."
    assert second == "Be brief."
    assert third.startswith("Be brief.")
    assert "do not touch the database" in third


def test_a_session_that_another_process_began_gets_the_packet(memory, another):
    agent_with(Scripted("Staging is done."), RingboltPlugin(memory, "C1"))(REQUEST)
    model = Scripted("I go on.")
    agent_with(model, RingboltPlugin(another, "C1"))("Please continue.")
    assert "Staging is done." in model.seen[0][0]


def test_a_run_that_breaks_off_is_recorded_and_raises(memory):
    with pytest.raises(RuntimeError, match="429"):
        agent_with(Scripted(RuntimeError("429: usage limit reached")), RingboltPlugin(memory, "C1"))(REQUEST)
    assert "usage limit" in str([event.to_dict() for event in events(memory, "C1")][-1])


def test_without_an_id_the_session_is_the_agents_own(memory):
    agent = agent_with(Scripted("Fine."), RingboltPlugin(memory))
    agent(REQUEST)
    assert task_of(memory, agent.session_id).request == REQUEST


def test_a_broken_memory_does_not_stop_a_run(memory):
    agent = agent_with(Scripted(call("deploy", "c1", target="a"), "Fine."), RingboltPlugin(memory, "C1"))
    memory.close()
    assert str(agent(REQUEST)).strip() == "Fine."
