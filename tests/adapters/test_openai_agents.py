"""The adapter for the OpenAI Agents SDK, with its own scripted model."""

from __future__ import annotations

import asyncio

import pytest
from agents import Agent, RunConfig, Runner, SessionSettings, function_tool, handoff
from agents.run import ModelInputData
from agents.testing import ScriptedModel, assistant_message, function_call

from ringbolt.adapters.openai_agents import RingboltRuns, RingboltSession
from tests.adapters.ledger import actions, events, said, task_of

pytestmark = pytest.mark.adapters
REQUEST = "Please deploy the shop to production, and do not touch the database."


@pytest.fixture(autouse=True)
def no_tracing(monkeypatch):
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")


@function_tool
def deploy(target: str) -> str:
    """Deploy the shop."""
    if target == "nowhere":
        raise RuntimeError("no such host: nowhere")
    return f"deployed to {target}"


@function_tool(strict_mode=False)
def update_plan(plan: list[dict[str, str]]) -> str:
    """Keep the plan."""
    return "kept"


def run(agent, text, runs, config=None, session=None):
    return asyncio.run(
        Runner.run(agent, text, hooks=runs.hooks, run_config=runs.run_config(config), session=session)
    )


def test_a_run_becomes_a_task(memory):
    runs = RingboltRuns(memory, "C1")
    plan = [{"step": "Build", "status": "completed"}, {"step": "Deploy", "status": "in_progress"}]
    model = ScriptedModel(
        [
            [function_call("update_plan", {"plan": plan}, call_id="c1")],
            [function_call("deploy", {"target": "production"}, call_id="c2")],
            [function_call("deploy", {"target": "nowhere"}, call_id="c3")],
            [function_call("task_note", {"text": "Use blue", "type": "decision", "why": "x"}, call_id="c4")],
            [assistant_message("The shop runs.")],
        ]
    )
    agent = Agent(name="a", model=model, tools=[update_plan, deploy, *runs.tools])
    result = run(agent, REQUEST, runs)
    assert result.final_output == "The shop runs."
    task = task_of(memory, "C1")
    assert (task.request, task.sources["request"].channel) == (REQUEST, "user")
    assert [(step.title, step.status) for step in task.steps] == [
        ("Build", "completed"),
        ("Deploy", "active"),
    ]
    assert [one.summary for one in task.decisions] == ["Use blue"]
    assert actions(memory, "C1") == [("deploy", "completed"), ("deploy", "failed")]
    failed = [event for event in events(memory, "C1") if event.type == "action"][-1]
    assert "no such host" in failed.data["error"]
    assert said(memory, "C1") == ["The shop runs."]


def test_a_handoff_does_not_repeat_the_users_words(memory):
    runs = RingboltRuns(memory, "C1")
    second = Agent(name="second", model=ScriptedModel([[assistant_message("Done by the second.")]]))
    first = Agent(
        name="first",
        tools=[deploy],
        handoffs=[handoff(second)],
        model=ScriptedModel(
            [
                [function_call("deploy", {"target": "staging"}, call_id="c1")],
                [function_call("transfer_to_second", {}, call_id="c2")],
            ]
        ),
    )
    run(first, REQUEST, runs)
    task = task_of(memory, "C1")
    assert (task.request, task.instructions) == (REQUEST, ())
    assert said(memory, "C1") == ["Done by the second."]


def test_the_packet_comes_when_the_input_was_cut_and_when_a_conversation_is_continued(memory, another):
    runs = RingboltRuns(memory, "C1")

    def last_two(data):
        return ModelInputData(input=data.model_data.input[-2:], instructions=data.model_data.instructions)

    model = ScriptedModel(
        [
            [function_call("deploy", {"target": "a"}, call_id="c1")],
            [function_call("deploy", {"target": "b"}, call_id="c2")],
            [assistant_message("Staging is done.")],
        ]
    )
    agent = Agent(name="a", instructions="Be brief.", model=model, tools=[deploy])
    run(agent, REQUEST, runs, RunConfig(call_model_input_filter=last_two))
    first, *later = [call.system_instructions for call in model.calls]
    assert first == "Be brief."
    assert all(text.startswith("Be brief.") and "do not touch the database" in text for text in later)
    again = RingboltRuns(another, "C1")
    model = ScriptedModel([[assistant_message("I go on.")]])
    run(Agent(name="a", model=model), "Please go on with production.", again)
    assert "Staging is done." in model.calls[0].system_instructions
    fresh = ScriptedModel([[assistant_message("Hello.")]])
    run(Agent(name="a", model=fresh), "Write a poem.", RingboltRuns(another, "C2"))
    assert fresh.calls[0].system_instructions is None


def test_the_session_keeps_items_across_processes(memory, another):
    runs = RingboltRuns(memory, "C1")
    model = ScriptedModel(
        [[function_call("deploy", {"target": "a"}, call_id="c1")], [assistant_message("One.")]]
    )
    run(Agent(name="a", model=model, tools=[deploy]), REQUEST, runs, session=runs.session)
    later = RingboltRuns(another, "C1")
    model = ScriptedModel([[assistant_message("Two.")]])
    run(Agent(name="a", model=model), "What was my request?", later, session=later.session)
    sent = model.calls[0].input
    assert [item.get("role") or item["type"] for item in sent] == [
        "user", "function_call", "function_call_output", "assistant", "user",
    ]  # fmt: skip
    assert [one.summary for one in task_of(memory, "C1").instructions] == ["What was my request?"]


def test_the_session_does_what_its_protocol_says(memory):
    async def steps():
        session, other = RingboltSession(memory, "C1"), RingboltSession(memory, "C2")
        assert await session.get_items() == []
        assert await session.pop_item() is None
        items = [{"role": "user", "content": f"{number} ü"} for number in range(5)]
        await session.add_items(items[:2])
        await session.add_items(items[2:])
        await session.add_items([])
        await other.add_items(items[:1])
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[-2:]
        assert await session.get_items(limit=0) == []
        session.session_settings = SessionSettings(limit=1)
        assert await session.get_items() == items[-1:]
        session.session_settings = None
        assert await session.pop_item() == items[-1]
        assert await session.get_items() == items[:-1]
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items(items[:1])
        assert await session.get_items() == items[:1]
        assert await other.get_items() == items[:1]

    asyncio.run(steps())


def test_a_broken_memory_does_not_stop_a_run(memory):
    runs = RingboltRuns(memory, "C1")
    memory.close()
    model = ScriptedModel(
        [[function_call("deploy", {"target": "a"}, call_id="c1")], [assistant_message("Fine.")]]
    )
    assert run(Agent(name="a", model=model, tools=[deploy]), REQUEST, runs).final_output == "Fine."
