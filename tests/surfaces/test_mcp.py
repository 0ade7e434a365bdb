"""The MCP server as its clients see it: real clients, both protocol eras, stdio and HTTP, and real kills."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import jsonschema
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from ringbolt import RingboltError, __version__, operations
from ringbolt.config import SETTINGS
from ringbolt.model.capabilities import Grant
from ringbolt.packet import encode, tokens
from ringbolt.surfaces.mcp.handlers import ERROR_META
from ringbolt.surfaces.mcp.http import asgi_app
from ringbolt.surfaces.mcp.texts import INSTRUCTIONS, result_text
from ringbolt.surfaces.mcp.tools import listed, result_schema, structured
from tests.core.calls import ELSEWHERE, ON_A_TASK, READS, REGISTER, prepare
from tests.packet.payloads import UNSEEN, broken_out, hostile
from tests.support import foreign_database, lock_held, open_memory
from tests.surfaces.mcp_servers import ENVELOPE, LEGACY, MODES, connected, said, server_process, stdio_client

ROOT = Path(__file__).parents[2]
# What can call a URL or run a command.
REACHING_OUT = {
    "smart_wait", "wait_update", "task_register", "goal_create", "goal_promote", "goal_update", "goal_check",
}  # fmt: skip
RUNNING_COMMANDS = REACHING_OUT - {"task_register"}  # where the operator allows it
both_eras = pytest.mark.parametrize("mode", MODES)


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "store.db", session="") as opened:
        yield opened


def in_client(memory, work, **options):
    """Run async work with a client of a server in this process."""

    async def run():
        async with connected(memory, **options) as client:
            return await work(client)

    return anyio.run(run)


# --- the deployment story ---------------------------------------------------------------------------

BEFORE = [
    ("task_register", {
        "name": "Deploy the shop", "request": "Deploy the shop to production, please.",
        "plan": ["Build the image", "Push it", "Migrate the database", "Run it", "Check it"],
    }),
    ("task_update", {"message": "The image is built.", "step": 1, "step_status": "completed"}),
    ("task_note", {"kind": "exclusion", "text": "Push to docker.io", "why": "no rights there"}),
    ("task_note", {"kind": "decision", "text": "Push to ghcr.io", "why": "the key works there"}),
    ("task_note", {"kind": "variable", "name": "digest", "value": "sha256:0f3a"}),
    ("task_update", {"message": "About to migrate.", "step": "Migrate", "step_status": "active"}),
]  # fmt: skip
AFTER = [
    "Deploy the shop to production, please.", "Push to docker.io", "no rights there", "ghcr.io",
    "the key works there", "sha256:0f3a", "About to migrate.", "Check it",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "mode"), [("stdio", MODES[0]), ("stdio", MODES[1]), ("http", MODES[1])])
def test_a_task_survives_the_killing_of_the_server(tmp_path, kind, mode):
    async def story(server):
        async with server.client(mode) as client:
            assert (client.protocol_version < "2026-07-28") == (mode == LEGACY)
            for name, arguments in BEFORE:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, said(result)
            server.kill()
            server.restart()
            if kind == "http":  # no session is needed, so the same client just goes on
                packet = await client.call_tool("task_resume", {})
        if kind == "stdio":
            async with server.client(mode) as client:
                packet = await client.call_tool("task_resume", {})
        assert not packet.is_error
        assert [text for text in AFTER if text not in said(packet)] == []
        async with server.client(mode) as client:
            done = await client.call_tool("task_update", {"message": "All runs.", "status": "completed"})
            assert not done.is_error, said(done)

    store = tmp_path / "store.db"
    with server_process(kind, tmp_path, store) as server:
        anyio.run(story, server)
    with open_memory(store, workspace=None) as memory:
        (task,) = memory.task_list(status="completed", workspace=str(tmp_path)).tasks
        agents = {event.origin.agent for event in memory.events()}
        assert memory.verify().ok
    assert task.name == "Deploy the shop"
    # Over HTTP a client of the older era gives its name to no call but the first.
    assert agents == ({"test-client"} if (kind, mode) != ("http", LEGACY) else {""})


# --- what a model is shown --------------------------------------------------------------------------


def test_the_core_tools_cost_a_model_at_most_1500_tokens(memory):
    """All that a client gets counts, output schemas too, but what is for the host's own screen and rules."""
    listed = in_client(memory, lambda client: client.list_tools()).tools
    shown = [one.model_dump(by_alias=True, exclude_none=True) for one in listed]
    for one in shown:
        del one["annotations"], one["icons"]
    cost = tokens.counter(exact_wanted=True)(json.dumps(shown, ensure_ascii=False))
    assert cost <= 1500 - 150 * (8 - len(shown)), "each tool that is still to come needs its room"
    assert len(shown) <= 8


@pytest.mark.parametrize("tools", ["core", "full"])
def test_arguments_are_flat_and_every_tool_says_what_it_does(memory, tools):
    found = in_client(memory, lambda client: client.list_tools(), tools=tools).tools
    assert [one.name for one in found] == list(listed(tools))
    for one in found:
        operation = operations.OPERATIONS[one.name]
        assert len(one.description) <= 2000
        assert one.input_schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & one.input_schema.keys()
        if tools == "core":
            assert one.output_schema is None, "every session of a host would pay for it"
        else:
            assert one.output_schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(one.output_schema)
        for schema in one.input_schema["properties"].values():
            assert not {"anyOf", "oneOf", "allOf", "$ref", "properties"} & schema.keys(), one.name
            assert "items" in schema or "array" not in schema.get("type", ()), one.name
        hints = one.annotations
        assert one.title
        reads = operation.scope == "read" and one.name not in ("active_tasks", "task_resume")
        assert hints.read_only_hint == reads
        runs_commands = {"smart_wait"} if tools == "core" else RUNNING_COMMANDS
        assert hints.destructive_hint == (one.name in runs_commands), "nothing of ours is lost by any call"
        assert one.icons[0].src.startswith("data:image/svg+xml;base64,")
        reaches_out = {"smart_wait"} if tools == "core" else REACHING_OUT
        assert hints.open_world_hint == (one.name in reaches_out)
        assert hints.idempotent_hint == operation.repeatable


@both_eras
def test_the_instructions_are_short_and_reach_every_client(memory, mode):
    async def told(client):
        return client.instructions

    assert in_client(memory, told, mode=mode) == INSTRUCTIONS
    assert len(INSTRUCTIONS.encode()) <= 1536
    assert all(name in INSTRUCTIONS for name in listed("core"))


# --- results ----------------------------------------------------------------------------------------


def test_what_every_tool_answers_fits_its_schema(memory):
    """All operations that are tools, with arguments that work."""
    agent, memory = memory.acting_as(session="S"), memory.acting_as(session="S", channel="user")
    task = memory.task_register("x", ["one", "two", "three"]).task_id
    prepare(memory, task)
    wait = memory.smart_wait("manual:", task_id=task, block=False).wait_id
    goal = memory.goal_create("reach it", ["c"]).task_id
    proposed = [agent.goal_decide(goal, 2, status).seq for status in ("met", "waived")]
    asked = memory.task_remember(task, "Now this.", type="user_instruction").seq
    other = memory.task_register("another").task_id
    calls = {**READS, **ON_A_TASK, **ELSEWHERE, "task_register": REGISTER}
    special = {
        "task_release": {"item": "s3", "token": 1},
        "task_heartbeat": {"item": "s3", "token": 1},
        "task_note": {"text": "t", "kind": "decision"},
        "pattern_record": {"text": "t"},
        "task_accept": {"task_id": goal, "proposal": proposed[0]},
        "task_reject": {"task_id": goal, "proposal": proposed[1]},
        "task_split": {"task_id": task, "at": asked},
        "task_merge": {"task_id": task, "other": other},
        "active_tasks_complete": {"label": "l"},
        "task_update": {"message": "m", "query": "what is next?"},
        "wait_update": {"wait_id": wait, "message": "yes"},
        "wait_cancel": {"wait_id": wait},
        "goal_check": {"goal_id": goal},
        "goal_decide": {"goal_id": goal, "criterion": 2, "status": "failed"},
        "goal_update": {"goal_id": goal, "spent": {"tokens": 1}},
        "goal_finish": {"goal_id": goal, "despite": "d"},
    }
    seen = set()
    late = ("task_plan_replace", "task_plan_sync", "active_tasks_complete", "task_finish")
    order = sorted(listed("full"), key=lambda name: late.index(name) if name in late else -1)
    for name in order:
        arguments = {"task_id": task} if name in ON_A_TASK else {}
        given = {**special.get(name, calls.get(name, {})), **arguments}
        data, error = answer_or_error(memory, name, given)
        assert error is None, name
        jsonschema.validate(structured(data), result_schema(name))
        assert result_text(name, given, data), name
        seen.add(name)
    assert seen == set(listed("full"))


SCENARIOS = [
    ("task_register", {"name": "Deploy", "plan": ["Build", "Push"], "request": "Deploy it."}),
    ("task_update", {"message": "built", "step": "1", "step_status": "done", "blockers": '["no key"]'}),
    ("task_note", {"kind": "value", "text": "port = 8080"}),
    ("task_plan", {"steps": "Check it", "append": "true"}),
    ("task_update", {"query": "what is next?"}),
    ("task_recall", {"query": "built", "limit": "3"}),
    ("task_list", {"status": "open", "text": None}),
    ("task_resume", {"budget": 500.0}),
    ("task_resume", {"bugdet": 500}),
    ("task_update", {"message": "x", "step": "no such step"}),
    ("task_update", {"task_id": "nope", "message": "x"}),
    ("task_register", {}),
]


def answer_or_error(memory, name, arguments):
    try:
        return operations.call(memory, name, arguments), None
    except RingboltError as error:
        return None, error.to_dict()


@both_eras
def test_a_tool_answers_what_the_operation_answers(tmp_path, mode):
    """The same calls on two stores with the same clock and chance: by hand, and through a client."""
    memories = [
        open_memory(tmp_path / f"{number}.db", session="", random=lambda size: b"\1" * size)
        for number in range(2)
    ]

    async def through(client):
        return [await client.call_tool(name, arguments) for name, arguments in SCENARIOS]

    for (name, arguments), result in zip(
        SCENARIOS, in_client(memories[0], through, mode=mode, tools="full"), strict=True
    ):
        wanted, error = answer_or_error(memories[1], name, arguments)
        assert result.is_error == bool(error), said(result)
        if error:
            assert result.meta[ERROR_META] == error
            assert all(encode.prompt(error[part]) in said(result) for part in ("code", "message", "hint"))
        else:
            assert result.structured_content == json.loads(json.dumps(wanted))
    for memory in memories:
        memory.close()


def test_a_write_is_told_in_a_line(memory):
    async def work(client):
        await client.call_tool("task_register", {"name": "Deploy", "plan": ["Build", "Push", "Run"]})
        return await client.call_tool("task_update", {"message": "ok", "step": 1, "step_status": "done"})

    told = said(in_client(memory, work))
    assert told.startswith("#2 written to task ")
    assert told.endswith("; 1 of 3 steps done; next: s2.")


def test_a_write_without_an_id_says_which_task_it_took(memory):
    nobody = memory.acting_as(session="")
    nobody.task_register("First")
    other = nobody.task_register("Second").task_id

    async def work(client):
        return said(await client.call_tool("task_note", {"text": "Two ports are free"}))

    text = in_client(nobody, work)
    assert f"task {other}" in text
    assert "Warning: 2 tasks are open here. This is “Second”: it was worked on last." in text


def test_recorded_text_stays_data(memory):
    """Whatever stands in tasks, no text ends the fence that it is in, begins a tag or hides anything."""
    payloads = [text for text in hostile(130) if text.strip()][:100]
    short = [text.strip()[:100].strip() for text in payloads]
    for text, name in zip(payloads, short, strict=True):
        tool = memory.acting_as(channel="tool")
        task = tool.task_register(name, [name], request=text).task_id
        tool.task_exclude(task, what=text, why=text)
        tool.task_update(task, text, next=name, blockers=[name])

    async def work(client):
        results = [
            await client.call_tool("task_recall", {"limit": 100, "types": ["exclusion", "message"]}),
            await client.call_tool("task_list", {"limit": 100}),
            await client.call_tool("task_resume", {"task_id": task}),
            await client.call_tool("task_get", {"task_id": task}),
            await client.call_tool("task_update", {"task_id": task, "query": "what failed?"}),
            await client.call_tool("task_update", {"task_id": task, "message": "x", "step": payloads[0]}),
            await client.call_tool("task_resume", {}),
        ]
        prompt = await client.get_prompt("handoff", {"task_id": task})
        listed = await client.list_resources()
        return [
            *map(said, results),
            prompt.messages[0].content.text,
            *(one.title for one in listed.resources),
        ]

    texts = in_client(memory, work, tools="full")
    assert sum("<ringbolt-" in text for text in texts) == 5
    for text in texts:
        if block := re.search(r"<(ringbolt-\w{8})>\n.*", text, re.DOTALL):
            assert broken_out(block[0], block[1]) == []
            text = text[: block.start()]
        assert not UNSEEN.search(text)
        assert not re.search(r"<[\w/!?|<%$]", text)


# --- errors -----------------------------------------------------------------------------------------


def test_a_store_that_cannot_be_opened_is_told_to_the_model(tmp_path):
    async def run():
        async with stdio_client(foreign_database(tmp_path / "other.db")) as connection:
            failed = await connection.call_tool("task_list", {})
            with pytest.raises(MCPError, match="not_a_store"):
                await connection.read_resource("tasks://active")
            return failed

    failed = anyio.run(run)
    assert failed.is_error
    assert failed.meta[ERROR_META]["code"] == "not_a_store"


def test_a_tool_that_does_not_exist_is_refused_by_the_protocol(memory):
    async def work(client):
        with pytest.raises(MCPError, match="Unknown tool: 'rm'") as caught:
            await client.call_tool("rm", {})
        assert caught.value.error.code == types.INVALID_PARAMS
        with pytest.raises(MCPError, match="--tools full"):
            await client.call_tool("task_get", {})

    in_client(memory, work)


_SURPRISE = """
import functools, sys
from ringbolt.core.tasks import Tasks
from ringbolt.surfaces.cli.main import main
@functools.wraps(Tasks.task_list)
def task_list(self, **_):
    print("noise")
    raise RuntimeError("a secret")
Tasks.task_list = task_list
main(["mcp", *sys.argv[1:]])
"""


def test_nothing_but_the_protocol_is_on_standard_output(tmp_path):
    """Even if an operation prints, and fails as nobody thought of; and the server ends with its client."""
    first = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": first},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "task_list", "arguments": {}}},
        {"id": 3, "method": "no/such/method"},
    ]
    server = subprocess.Popen(
        [sys.executable, "-c", _SURPRISE, "--store", str(tmp_path / "store.db")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for message in messages:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.write("this is no JSON\n")
    server.stdin.flush()
    answers = {}
    while not {1, 2, 3} <= answers.keys():
        answer = json.loads(server.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        answers[answer.get("id")] = answer
    rest, log = server.communicate(timeout=100)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert server.returncode == 0
    assert answers[2]["result"]["isError"]
    assert "internal_error" in answers[2]["result"]["content"][0]["text"]
    assert "secret" not in json.dumps(answers)
    assert "a secret" in log
    assert "noise" in log
    assert answers[3]["error"]["code"] == types.METHOD_NOT_FOUND


def test_an_interrupt_ends_the_server_at_once(tmp_path):
    command = [sys.executable, "-m", "ringbolt", "mcp", "--store", str(tmp_path / "store.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=100) == -signal.SIGINT


def test_the_server_over_stdio_needs_no_package_of_an_extra(tmp_path):
    code = """
import sys
for name in ("mcp", "mcp_types", "anyio", "pydantic", "starlette", "uvicorn", "httpx2"):
    sys.modules[name] = None
sys.argv = ["ringbolt", "mcp", "--store", sys.argv[1]]
from ringbolt.__main__ import run
run()
"""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "task_list", "_meta": {**ENVELOPE}}
    answered = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store.db")],
        input=json.dumps(call) + "\n", capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    assert json.loads(answered.stdout)["result"]["content"][0]["text"] == "No tasks."


def test_a_call_that_waits_holds_up_no_other_and_can_be_cancelled(tmp_path):
    path = tmp_path / "store.db"
    with open_memory(path, session="") as memory:
        task = memory.task_register("x", ["one"]).task_id

        async def work(client):
            with lock_held(str(path)):
                with anyio.move_on_after(0.2) as scope:
                    await client.call_tool("task_update", {"message": "held up"})
                assert scope.cancelled_caught
                assert not (await client.call_tool("task_list", {})).is_error
            async with anyio.create_task_group() as group:
                for number in range(20):
                    group.start_soon(client.call_tool, "task_update", {"message": f"message {number}"})

        in_client(memory, work, mode=LEGACY)
        found = {event.text for event in memory.task_thread(task, limit=100).events}
        assert {f"message {number}" for number in range(20)} <= found
        assert memory.verify().ok


# --- where a client works ---------------------------------------------------------------------------


def test_the_first_root_of_a_client_is_its_workspace(tmp_path):
    folder = tmp_path / "a project"
    folder.mkdir()
    asked = []

    async def roots(_):
        asked.append(1)
        return types.ListRootsResult(
            roots=[types.Root(uri="file:///no/such/folder"), types.Root(uri=folder.as_uri())]
        )

    async def workspace(given, **options):
        arguments = ["--workspace", given] if given else []
        async with stdio_client(tmp_path / "store.db", *arguments, **options) as connection:
            await connection.call_tool("task_list", {})
            result = await connection.call_tool("task_register", {"name": "x"})
        with open_memory(tmp_path / "store.db") as memory:
            return memory.task_get(re.search(r"task (\w{10})", said(result))[1]).workspace

    def refuse(_):
        raise RuntimeError("no roots today")

    here = open_memory(tmp_path / "other.db", workspace="").workspace
    assert anyio.run(lambda: workspace("", mode=LEGACY, list_roots_callback=roots)) == str(folder)
    assert asked == [1], "it is asked once"
    assert anyio.run(lambda: workspace("", mode=LEGACY)) == here
    assert anyio.run(lambda: workspace("", mode=LEGACY, list_roots_callback=refuse)) == here
    assert anyio.run(lambda: workspace("", list_roots_callback=roots)) == here
    assert anyio.run(lambda: workspace("/given", mode=LEGACY, list_roots_callback=roots)) == "/given"


# --- resources and prompts --------------------------------------------------------------------------


@both_eras
def test_tasks_can_be_read_as_resources(memory, mode):
    task = memory.task_register("Deploy", ["Build"], request="Deploy it.").task_id

    async def work(client):
        listed = {one.uri for one in (await client.list_resources()).resources}
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        texts = {uri: (await client.read_resource(uri)).contents[0].text for uri in listed}
        current = (await client.read_resource("task://current/resume")).contents[0].text
        for wrong in ("task://nope/resume", "task://current/other", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="not_found"):
                await client.read_resource(wrong)
        return listed, templates, texts, current

    listed, templates, texts, current = in_client(memory, work, mode=mode)
    state, resume = f"task://{task}/state.yaml", f"task://{task}/resume"
    assert listed == {"tasks://active", state, resume}
    assert templates == {"task://{id}/state.yaml", "task://{id}/resume"}
    assert texts[state] == memory.task_state(task)
    assert texts[resume] == memory.task_resume(task).text == current
    assert task in texts["tasks://active"]


@both_eras
def test_prompts_begin_with_what_to_do_and_end_with_the_task(memory, mode):
    async def work(client):
        names = [one.name for one in (await client.list_prompts()).prompts]
        empty = (await client.get_prompt("resume")).messages[0].content.text
        task = memory.task_register("Deploy", ["Build"]).task_id
        texts = [
            (await client.get_prompt(name, {"task_id": task})).messages[0].content.text for name in names
        ]
        completed = await client.complete(
            types.PromptReference(name="resume"), {"name": "task_id", "value": task[:4]}
        )
        with pytest.raises(MCPError, match="There is no prompt"):
            await client.get_prompt("other")
        return task, names, empty, texts, completed.completion.values

    task, names, empty, texts, completed = in_client(memory, work, mode=mode)
    assert names == ["resume", "handoff"]
    assert "No task is open" in empty
    assert all(text.endswith(memory.task_resume(task).text) for text in texts)
    assert completed == [task]


# --- HTTP -------------------------------------------------------------------------------------------


def test_over_http_only_what_may_come_in_is_answered(tmp_path):
    """Names of this machine alone, nothing but posts, and what the mounting server says of the caller."""
    with open_memory(tmp_path / "store.db", session="") as memory:
        app = asgi_app(memory)
        reader = memory.acting_as(agent="reader", grant=Grant(access="read"))

        async def mounted(scope, receive, send):
            mine = {"ringbolt.memory": reader}
            named = dict(scope["headers"]).get(b"authorization")
            await app({**scope, **(mine if named else {})}, receive, send)

        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        register = {**call, "params": {"name": "task_register", "arguments": {"name": "x"}}}
        look = {**call, "params": {"name": "task_list", "arguments": {}}}
        accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}

        async def run():
            async with (
                app.router.lifespan_context(app),
                httpx2.AsyncClient(
                    transport=httpx2.ASGITransport(mounted), base_url="http://127.0.0.1:1", headers=accept
                ) as http,
            ):
                assert (await http.get("/mcp")).status_code == 405
                assert (await http.delete("/mcp")).status_code == 405
                for wrong in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
                    assert (await http.post("/mcp", json=look, headers=wrong)).status_code in (403, 421)
                token = {"authorization": "Bearer x"}
                refused = (await http.post("/mcp", json=register, headers=token)).json()["result"]
                assert refused["isError"]
                assert "wrong_scope" in refused["content"][0]["text"]
                assert not (await http.post("/mcp", json=look, headers=token)).json()["result"]["isError"]
                named = {"ringbolt-workspace": "/über".encode(), "ringbolt-agent": "coder"}
                made = (await http.post("/mcp", json=register, headers=named)).json()["result"]
                return re.search(r"task (\w{10})", made["content"][0]["text"])[1]

        task = memory.task_get(anyio.run(run))
        (event,) = memory.task_thread(task.id).events
    assert task.workspace == "/w"  # whatever a header says
    assert event.origin.agent == "coder"
    assert event.origin.channel == "agent"


def test_the_registry_entry_is_of_this_version():
    entry = json.loads((ROOT / "server.json").read_text())
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == __version__
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text()


def test_the_registry_entry_says_what_its_schema_asks_for_and_nothing_else():
    """The fields of the schema 2025-12-11, and its bounds: names, lengths, kinds of arguments."""
    entry = json.loads((ROOT / "server.json").read_text())
    assert entry["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    optional = {"$schema", "title", "websiteUrl", "repository", "icons", "remotes", "_meta"}
    assert (
        {"name", "description", "version", "packages"}
        <= set(entry)
        <= ({"name", "description", "version", "packages"} | optional)
    )
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert set(package) == {
        "registryType", "registryBaseUrl", "identifier", "version", "runtimeHint", "packageArguments",
        "transport", "environmentVariables",
    }  # fmt: skip
    assert (package["registryType"], package["identifier"]) == ("pypi", "ringbolt")
    assert (package["runtimeHint"], package["transport"]) == ("uvx", {"type": "stdio"})
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    for variable in package["environmentVariables"]:
        assert set(variable) == {"name", "description", "isRequired", "isSecret"}
        assert variable["name"].removeprefix("RINGBOLT_").lower() in {*SETTINGS, "session", "agent"}
    assert package["environmentVariables"][0]["isSecret"]  # the URL of a store may hold a password
