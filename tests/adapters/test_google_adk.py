"""The Google ADK plugin and memory service, with a scripted model."""

from __future__ import annotations

import asyncio

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.genai.types import Content, FunctionCall, Part

from ringbolt.adapters.google_adk import RingboltMemoryService, RingboltPlugin
from tests.adapters.ledger import actions, events, said, task_of

pytestmark = pytest.mark.adapters
REQUEST = "Please deploy the shop to production, and do not touch the database."


class Scripted(BaseLlm):
    """A model that gives these answers, and keeps the instructions and tools it was sent."""

    model: str = "scripted"
    answers: list
    seen: list

    async def generate_content_async(self, llm_request, stream=False):
        tools = [each.name for tool in llm_request.config.tools or () for each in tool.function_declarations]
        self.seen.append((llm_request.config.system_instruction or "", tools))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        part = Part(text=answer) if isinstance(answer, str) else Part(function_call=answer)
        yield LlmResponse(content=Content(role="model", parts=[part]))


def call(name, id, **arguments):
    return FunctionCall(name=name, args=arguments, id=id)


def deploy(target: str) -> dict:
    """Deploy the shop."""
    if target == "nowhere":
        raise OSError("no such host: nowhere")
    if target == "full":
        return {"status": "error", "error_message": "the disk of full is full"}
    return {"status": "success", "report": f"deployed to {target}"}


def write_todos(todos: list[dict[str, str]]) -> str:
    """Keep the plan."""
    return "kept"


class Forgiving(BasePlugin):
    """Replaces errors of tools, as applications do."""

    async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
        return {"note": "Something went wrong."}


class Trimming(BasePlugin):
    """Keeps only the last message of a request."""

    async def before_model_callback(self, *, callback_context, llm_request):
        llm_request.contents = llm_request.contents[-1:]


def run(plugin, answers, *prompts, session="C1", others=(), sessions=None):
    """Run an agent; returns its last words, and what its model was sent."""
    sessions = sessions or InMemorySessionService()
    model = Scripted(answers=list(answers), seen=[])
    agent = LlmAgent(
        name="shop", model=model, instruction="Be brief.", tools=[deploy, write_todos, *plugin.tools]
    )
    app = App(name="app", root_agent=agent, plugins=[*others, plugin, Forgiving("forgiving")])
    runner = Runner(app=app, session_service=sessions)

    async def story():
        if not await sessions.get_session(app_name="app", user_id="u", session_id=session):
            await sessions.create_session(app_name="app", user_id="u", session_id=session)
        last = ""
        for prompt in prompts:
            message = Content(role="user", parts=[Part(text=prompt)])
            async for event in runner.run_async(user_id="u", session_id=session, new_message=message):
                if event.is_final_response() and event.content:
                    last = event.content.parts[0].text
        return last

    return asyncio.run(story()), model.seen


def test_a_run_becomes_a_task(memory):
    todos = [{"content": "Build", "status": "completed"}, {"content": "Deploy", "status": "in_progress"}]
    last, seen = run(
        RingboltPlugin(memory),
        [
            call("write_todos", "c1", todos=todos),
            call("deploy", "c2", target="nowhere"),
            call("deploy", "c3", target="full"),
            call("deploy", "c4", target="production"),
            call("task_note", "c5", text="Use blue", type="decision", why="green is full"),
            "The shop runs.",
        ],
        REQUEST,
    )
    assert last == "The shop runs."
    task = task_of(memory, "C1")
    assert (task.request, task.sources["request"].channel) == (REQUEST, "user")
    assert [(step.title, step.status) for step in task.steps] == [
        ("Build", "completed"),
        ("Deploy", "active"),
    ]
    assert [one.summary for one in task.decisions] == ["Use blue"]
    assert actions(memory, "C1") == [("deploy", "failed"), ("deploy", "failed"), ("deploy", "completed")]
    nowhere, full, _ = [event.data.get("error") for event in events(memory, "C1") if event.type == "action"]
    assert "no such host" in nowhere
    assert "the disk of full is full" in full
    assert said(memory, "C1") == ["The shop runs."]
    assert "task_resume" in seen[0][1]


def test_the_packet_comes_when_history_was_cut_and_not_before(memory):
    _, seen = run(
        RingboltPlugin(memory),
        ["Staging is done.", call("deploy", "c1", target="a"), "Two."],
        REQUEST,
        "Go on with production.",
        others=[Trimming("trimming")],
    )
    first, *later = [instructions for instructions, _ in seen]
    assert "database" not in first
    assert all("Be brief." in text and "do not touch the database" in text for text in later)


def test_a_whole_history_needs_no_packet(memory):
    answers = ["One.", call("deploy", "c1", target="a"), "Two."]
    _, seen = run(RingboltPlugin(memory), answers, REQUEST, "Go on with production.")
    assert not any("database" in instructions for instructions, _ in seen)
    (one,) = memory.task_list().tasks
    assert memory.task_get(one.id).instructions[0].summary == "Go on with production."


def test_a_session_that_another_process_began_gets_the_packet(memory, another):
    sessions = InMemorySessionService()
    run(RingboltPlugin(memory), ["Staging is done."], REQUEST, sessions=sessions)
    _, seen = run(RingboltPlugin(another), ["I go on."], "Please continue.", sessions=sessions)
    assert "Staging is done." in seen[0][0]


def test_a_run_that_breaks_off_is_recorded_and_raises(memory):
    with pytest.raises(RuntimeError, match="429"):
        run(RingboltPlugin(memory), [RuntimeError("429: usage limit reached")], REQUEST)
    assert "usage limit" in str([event.to_dict() for event in events(memory, "C1")][-1])


def test_a_broken_memory_does_not_stop_a_run(memory):
    plugin = RingboltPlugin(memory)
    memory.close()
    assert run(plugin, [call("deploy", "c1", target="a"), "Fine."], REQUEST)[0] == "Fine."


def said_in_a_session(*texts):
    said = [
        Event(id=f"e{number}", author="shop", timestamp=1.0, content=Content(parts=[Part(text=text)]))
        for number, text in enumerate(texts)
    ]
    return Session(id="C1", app_name="app", user_id="u", events=said)


def test_the_memory_service_finds_what_was_said_by_its_words(memory):
    service = RingboltMemoryService(memory)

    async def story():
        session = said_in_a_session("The port of staging is 8081.", "We chose Redis.")
        await service.add_session_to_memory(session)
        await service.add_session_to_memory(session)  # as ADK does after each turn
        own = MemoryEntry(content=Content(parts=[Part(text="Redis listens on 6380.")]), id="own")
        await service.add_memory(app_name="app", user_id="u", memories=[own])
        find = {"app_name": "app", "user_id": "u"}
        found = (await service.search_memory(query="which port has staging?", **find)).memories
        redis = (await service.search_memory(query="redis", **find)).memories
        other = (await service.search_memory(app_name="app", user_id="somebody else", query="redis")).memories
        await service.delete_memory(memory_id=redis[0].id, **find)
        return found, redis, other, (await service.search_memory(query="redis", **find)).memories

    found, redis, other, left = asyncio.run(story())
    assert [entry.content.parts[0].text for entry in found] == ["The port of staging is 8081."]
    assert {entry.content.parts[0].text for entry in redis} == {"We chose Redis.", "Redis listens on 6380."}
    assert (other, len(left)) == ([], 1)
