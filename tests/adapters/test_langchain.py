"""The LangChain middleware in real agents with LangChain's own scripted model."""

from __future__ import annotations

import asyncio
import logging

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from ringbolt.adapters.langchain import RingboltMiddleware
from tests.adapters.ledger import actions, events, task_of

pytestmark = pytest.mark.adapters
REQUEST = "Please deploy the shop to production, and do not touch the database."


class Scripted(GenericFakeChatModel):
    """Says what the test wants, and keeps what it was sent."""

    seen: list = []  # noqa: RUF012 - a field of a pydantic model

    def bind_tools(self, tools, **kwargs):
        self.seen.append(sorted(each.name for each in tools))
        return self

    def _generate(self, messages, *args, **kwargs):
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)


def scripted(*answers):
    return Scripted(messages=iter(answers), seen=[])


def call(name, id, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": id}])


@tool
def deploy(target: str) -> str:
    """Deploy the shop."""
    if target == "nowhere":
        raise RuntimeError("no such host: nowhere")
    return f"deployed to {target}"


def ask(agent, text, thread="T1"):
    return agent.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})


def system_texts(model):
    return [str(seen[0].text) for seen in model.seen if seen and getattr(seen[0], "type", "") == "system"]


def full_run():
    todos = [{"content": "Build", "status": "completed"}, {"content": "Deploy", "status": "in_progress"}]
    return scripted(
        call("write_todos", "c1", todos=todos),
        call("deploy", "c2", target="production"),
        call("task_note", "c3", text="Use the blue cluster", type="decision", why="green is full"),
        AIMessage("The shop runs in production."),
    )


def check_full_run(memory):
    task = task_of(memory, "T1")
    assert task.request == REQUEST
    assert task.sources["request"].channel == "user"
    assert [(step.title, step.status) for step in task.steps] == [
        ("Build", "completed"),
        ("Deploy", "active"),
    ]
    assert [one.summary for one in task.decisions] == ["Use the blue cluster"]
    assert task.actions == 1  # neither the plan nor our own tool is an action
    texts = [(event.type, event.text) for event in events(memory, "T1")]
    assert ("action", "deploy") in texts
    assert texts[-1] == ("message", "The shop runs in production.")


def test_a_run_becomes_a_task(memory):
    model = full_run()
    agent = create_agent(
        model,
        [deploy],
        middleware=[TodoListMiddleware(), RingboltMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    ask(agent, REQUEST)
    check_full_run(memory)
    assert {"task_resume", "task_recall", "task_note", "smart_wait"} <= set(model.seen[0])


def test_the_same_run_on_an_event_loop(memory):
    agent = create_agent(
        full_run(),
        [deploy],
        middleware=[TodoListMiddleware(), RingboltMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    asyncio.run(agent.ainvoke({"messages": [("user", REQUEST)]}, {"configurable": {"thread_id": "T1"}}))
    check_full_run(memory)


def test_a_tool_that_raises_is_a_failed_action_and_the_error_is_the_hosts(memory):
    agent = create_agent(
        scripted(call("deploy", "c1", target="nowhere")),
        [deploy],
        middleware=[RingboltMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    with pytest.raises(RuntimeError, match="no such host"):
        ask(agent, REQUEST)
    assert actions(memory, "T1") == [("deploy", "failed")]
    assert "no such host" in events(memory, "T1")[-1].data["error"]


def test_a_retry_that_works_is_recorded_beside_the_failure(memory):
    tries = []

    @tool
    def flaky() -> str:
        """Work the second time."""
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("reset by peer")
        return "fine"

    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
    agent = create_agent(
        scripted(call("flaky", "c1"), AIMessage("Done.")),
        [flaky],
        middleware=[retry, RingboltMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    ask(agent, REQUEST)
    assert actions(memory, "T1") == [("flaky", "failed"), ("flaky", "completed")]


def test_the_packet_is_there_once_history_was_summarized(memory):
    model = scripted(
        call("deploy", "c1", target="staging"),
        AIMessage("Staging is done."),
        AIMessage("Still at work."),
        AIMessage("End."),
    )
    summarizer = SummarizationMiddleware(
        model=Scripted(messages=iter([AIMessage("They talked about a shop.")]), seen=[]),
        trigger=("messages", 5),
        keep=("messages", 1),
    )
    agent = create_agent(
        model,
        [deploy],
        middleware=[summarizer, RingboltMiddleware(memory, tools=False)],
        checkpointer=InMemorySaver(),
    )
    ask(agent, REQUEST)
    assert system_texts(model) == []
    ask(agent, "Go on with production.")
    (packet,) = system_texts(model)
    assert "do not touch the database" in packet
    assert "Staging is done." in packet
    task = task_of(memory, "T1")
    assert [one.summary for one in task.instructions] == [
        "Go on with production."
    ]  # the summary is not the user's
    assert any("They talked about a shop" in (event.text or "") for event in events(memory, "T1"))
    ask(agent, "And now the docs.")
    assert len(system_texts(model)) == 2  # the history stays cut


def test_a_thread_that_another_process_began_gets_the_packet(memory, another):
    first = create_agent(
        scripted(call("deploy", "c1", target="staging"), AIMessage("Staging is done.")),
        [deploy],
        middleware=[RingboltMiddleware(memory)],
    )
    ask(first, REQUEST)
    model = scripted(AIMessage("I continue."))
    second = create_agent(
        model, [deploy], system_prompt="Be brief.", middleware=[RingboltMiddleware(another)]
    )
    ask(second, "Please continue.")
    (text,) = system_texts(model)
    assert text.startswith("Be brief.")
    assert "do not touch the database" in text
    model = scripted(AIMessage("Hello."))
    third = create_agent(model, [deploy], middleware=[RingboltMiddleware(another)])
    ask(third, "Write a poem.", thread="T2")
    assert system_texts(model) == []


def test_trimming_inside_the_model_call_is_noticed(memory):
    class LastTwo(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            return handler(request.override(messages=request.messages[-2:]))

    model = scripted(call("deploy", "c1", target="a"), call("deploy", "c2", target="b"), AIMessage("Done."))
    agent = create_agent(
        model, [deploy], middleware=[LastTwo(), RingboltMiddleware(memory)], checkpointer=InMemorySaver()
    )
    ask(agent, REQUEST)
    assert len(system_texts(model)) == 2  # not the first request, which had everything


def test_an_interrupted_tool_is_not_a_failed_one(memory):
    @tool
    def approve() -> str:
        """Ask a person."""
        return str(interrupt("May I?"))

    agent = create_agent(
        scripted(call("approve", "c1"), AIMessage("Done.")),
        [approve],
        middleware=[RingboltMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    thread = {"configurable": {"thread_id": "T1"}}
    agent.invoke({"messages": [("user", REQUEST)]}, thread)
    assert actions(memory, "T1") == []
    agent.invoke(Command(resume="yes"), thread)
    assert actions(memory, "T1") == [("approve", "completed")]


def test_secrets_are_not_recorded_and_a_broken_memory_does_not_stop_the_run(memory, caplog):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    agent = create_agent(
        scripted(
            call("deploy", "c1", target=secret), AIMessage(f"I used {secret}."), AIMessage("Still here.")
        ),
        [deploy],
        middleware=[RingboltMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    ask(agent, f"Deploy with {secret}, please.")
    task = task_of(memory, "T1")
    everything = [task.request, *(f"{event.text} {event.data}" for event in events(memory, "T1"))]
    assert "redacted" in task.request
    assert not [text for text in everything if secret in text]
    memory.close()
    with caplog.at_level(logging.ERROR, "ringbolt.adapters"):
        result = ask(agent, "And again, please.")
    assert result["messages"][-1].text == "Still here."
    assert len(caplog.records) == 1
