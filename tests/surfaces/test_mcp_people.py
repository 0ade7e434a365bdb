"""What a client does for its user: it shows questions as forms, and takes a wait as a task. The SDK's client,
in both eras, over stdio as hosts start the server."""

from __future__ import annotations

from functools import partial
from typing import Literal

import anyio
import mcp_types as types
import pytest
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError

from ringbolt.surfaces.mcp.protocol import TASKS
from tests.support import open_memory
from tests.surfaces.mcp_servers import LEGACY, MODERN, MODES, connected, said, server_process, stdio_client

both_eras = pytest.mark.parametrize("mode", MODES)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "store.db"


class Person:
    """The user at the client: answers forms in order; without an answer, they close the form."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)
        self.forms: list[types.ElicitRequestFormParams] = []

    async def __call__(self, context, params):
        self.forms.append(params)
        if not self.answers:
            return types.ElicitResult(action="cancel")
        return types.ElicitResult(action="accept", content=self.answers.pop(0))


def talk(store, work, mode, person=None, **options):
    async def run():
        with anyio.fail_after(100):
            if person is not None:
                options["elicitation_callback"] = person
            arguments = options.pop("arguments", ())
            async with stdio_client(store, *arguments, mode=mode, **options) as client:
                return await work(client)

    return anyio.run(run)


def owner(store):
    """The user's own view of the store."""
    return open_memory(store, workspace=str(store.parent), session="", channel="user")


# --- waits for a person -----------------------------------------------------------------------------


@both_eras
def test_a_wait_for_a_person_is_shown_as_a_form_and_ends_with_the_answer(store, mode):
    person = Person({"answer": "Yes, but only eu-west"})

    async def waits(client):
        await client.call_tool("task_register", {"name": "Deploy"})
        return await client.call_tool("smart_wait", {"target": "manual:May I deploy?", "timeout": 600})

    result = talk(store, waits, mode, person)
    assert not result.is_error
    assert "Yes, but only eu-west" in said(result)
    (form,) = person.forms
    assert form.message == "May I deploy?"
    assert list(form.requested_schema["properties"]) == ["answer"]
    with owner(store) as memory:
        (started, decided) = [event for event in memory.events() if event.type.startswith("wait.")][:2]
        assert started.type == "wait.started", "the repeated call started no second wait"
        assert (decided.type, decided.origin.channel) == ("wait.updated", "user")
        assert memory.task_list().tasks[0].status == "active"


@both_eras
def test_a_person_who_closes_the_form_leaves_the_wait_as_it_was(store, mode):
    person = Person()

    async def waits(client):
        await client.call_tool("task_register", {"name": "Deploy"})
        return await client.call_tool("smart_wait", {"target": "manual:May I?", "timeout": 0.5})

    result = talk(store, waits, mode, person)
    assert not result.is_error
    assert len(person.forms) == 1
    with owner(store) as memory:
        kinds = [event.type for event in memory.events() if event.type.startswith("wait.")]
    assert kinds == ["wait.started", "wait.ended"]


def test_a_form_is_withdrawn_when_the_user_has_decided_elsewhere(store):
    async def decides_elsewhere(context, params):
        with owner(store) as memory:
            wait = next(event for event in memory.events() if event.type == "wait.started")
            memory.wait_update(f"{wait.task_id}#{wait.seq}", message="at the terminal")
        await anyio.sleep_forever()

    async def waits(client):
        await client.call_tool("task_register", {"name": "Deploy"})
        return await client.call_tool("smart_wait", {"target": "manual:May I?", "timeout": 600})

    assert "at the terminal" in said(talk(store, waits, LEGACY, decides_elsewhere))


@both_eras
def test_a_client_without_forms_is_asked_nothing(store, mode):
    async def waits(client):
        await client.call_tool("task_register", {"name": "Deploy"})
        return await client.call_tool("smart_wait", {"target": "manual:May I?", "timeout": 0.1})

    assert not talk(store, waits, mode).is_error


# --- approvals and proposals ------------------------------------------------------------------------


@both_eras
@pytest.mark.parametrize("yes", [True, False])
def test_an_approval_is_asked_of_the_user_at_once(store, mode, yes):
    with owner(store) as memory:
        memory.task_register("Deploy", ["Push"], approval_mode="confirm")
    person = Person({"approve": yes, "note": "on Friday"})

    async def intends(client):
        return await client.call_tool("task_intent", {"what": "Push to production"})

    result = talk(store, intends, mode, person, arguments=("--tools", "full"))
    texts = "\n".join(part.text for part in result.content)
    assert ("The user approved" if yes else "The user rejected") in texts
    assert "on Friday" in texts
    assert "Push to production" in person.forms[0].message
    with owner(store) as memory:
        (request,) = [event for event in memory.events() if event.type == "approval.requested"]
        (decided,) = [event for event in memory.events() if event.type == "approval.decided"]
        assert decided.origin.channel == "user"
        assert len([event for event in memory.events() if event.type == "intent"]) == 1
        assert request.seq < decided.seq


@both_eras
def test_a_proposal_is_shown_to_the_user_and_stays_open_if_nobody_answers(store, mode):
    with owner(store) as memory:
        task = memory.task_register("Deploy").task_id

    async def proposes(client, name):
        return await client.call_tool("active_task_propose_goal", {"task_label": task, "name": name})

    for name, person in (("Left open", Person()), ("Sell more", Person({"approve": True}))):
        result = talk(store, partial(proposes, name=name), mode, person, arguments=("--tools", "full"))
        assert not result.is_error
        assert name in person.forms[0].message
    with owner(store) as memory:
        (decided,) = [event for event in memory.events() if event.type == "proposal.accepted"]
        assert decided.origin.channel == "user"
        (left,) = memory.task_proposals(task)
        assert "Left open" in left.text


def test_over_http_nobody_is_asked_because_a_token_of_an_agent_is_no_person(tmp_path):
    person = Person({"answer": "yes"})
    with open_memory(tmp_path / "store.db", session="") as memory:
        memory.task_register("Deploy")

        async def run():
            async with connected(memory, elicitation_callback=person) as client:
                return await client.call_tool("smart_wait", {"target": "manual:May I?", "timeout": 0.1})

        assert not anyio.run(run).is_error
    assert person.forms == []


def test_a_state_that_the_server_did_not_send_is_refused(store):
    async def repeats(client):
        await client.call_tool("task_register", {"name": "Deploy"})
        params = types.CallToolRequestParams(name="task_list", arguments={}, request_state='{"about": 1}')
        with pytest.raises(MCPError, match="requestState"):
            await client.session.send_request(types.CallToolRequest(params=params), types.CallToolResult)

    talk(store, repeats, MODERN, Person())


# --- waits as tasks ---------------------------------------------------------------------------------


class Handle(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    ttl_ms: int | None
    poll_interval_ms: int


class Found(Handle):
    result_type: Literal["complete"] = "complete"
    result: types.CallToolResult | None = None


class Empty(types.Result):
    """An acknowledgement."""


def call(method, task_id):
    return types.Request(method=method, params=types.GetTaskRequestParams(task_id=task_id))


class Tasks(ClientExtension):
    """The client's side of the extension: asks for a task until it has ended."""

    identifier = TASKS

    def __init__(self, between) -> None:
        self.seen: list[str] = []
        self._between = between

    def claims(self):
        return (ResultClaim(result_type="task", model=Handle, resolve=self._resolve),)

    async def _resolve(self, handle, context):
        await self._between(handle, context.session)
        while True:
            found = await context.session.send_request(call("tasks/get", handle.task_id), Found)
            self.seen.append(found.status)
            if found.status != "working":
                return found.result or types.CallToolResult(content=[])
            await anyio.sleep(0.01)


both_transports = pytest.mark.parametrize("kind", ["stdio", "http"])


def talk_over(kind, store, work, tasks):
    async def run(server):
        with anyio.fail_after(100):
            async with server.client(MODERN, extensions=[tasks]) as client:
                return await work(client)

    with server_process(kind, store.parent, store) as server:
        return anyio.run(run, server)


@both_transports
def test_a_wait_is_a_task_for_a_client_that_takes_tasks(store, kind):
    flag = store.parent / "built"

    async def build(handle, session):
        assert (await session.send_request(call("tasks/get", handle.task_id), Found)).status == "working"
        flag.write_text("")

    async def waits(client):
        await client.call_tool("task_register", {"name": "Build"})
        return await client.call_tool("smart_wait", {"target": f"file:{flag}", "timeout": 600})

    tasks = Tasks(build)
    result = talk_over(kind, store, waits, tasks)
    assert tasks.seen[-1] == "completed"
    assert '"state":"resolved"' in said(result).replace(" ", "")


@both_transports
def test_a_task_that_is_cancelled_cancels_the_wait(store, kind):
    async def cancel(handle, session):
        await session.send_request(call("tasks/cancel", handle.task_id), Empty)
        await session.send_request(call("tasks/update", handle.task_id), Empty)

    async def waits(client):
        await client.call_tool("task_register", {"name": "Build"})
        await client.call_tool("smart_wait", {"target": "time:1h", "timeout": 7200})

    tasks = Tasks(cancel)
    talk_over(kind, store, waits, tasks)
    assert tasks.seen == ["cancelled"]
    with owner(store) as memory:
        assert memory.wait_status() == ()


@both_transports
def test_a_task_that_is_not_there_is_an_error(store, kind):
    async def asks(client):
        with pytest.raises(MCPError, match="task_not_found"):
            await client.session.send_request(call("tasks/get", "7#2"), Found)

    talk_over(kind, store, asks, Tasks(None))
