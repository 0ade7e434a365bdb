"""Arguments are those that were declared, of the types that were declared, through every door."""

from __future__ import annotations

import inspect
import json

import anyio
import pytest
from mcp import Client

from ringbolt.model.capabilities import LOCAL
from ringbolt.model.errors import InvalidInput
from ringbolt.operations import OPERATIONS, input_schema, parameters, prepare, read_arguments
from ringbolt.surfaces.mcp.handlers import ERROR_META, Caller
from ringbolt.surfaces.mcp.server import make_server
from ringbolt.surfaces.mcp.tools import listed, tool
from tests.security.doors import OVER_HTTP, arguments_for, door
from tests.support import contents, newest, open_memory
from tests.surfaces.command_line import run

# A value of every type of JSON; each is wrong for some types.
VALUES = {
    "array": [[], [1], ["x"], [[]], [{}]],
    "object": [{}, {"a": 1}],
    "boolean": [True, False],
    "integer": [0, 1, -1],
    "number": [0.5],
    "string": ["", "x", "[]", "{}"],
}


def types_of(schema) -> set[str]:
    named = schema.get("type", list(VALUES))
    return set(named if isinstance(named, list) else [named])


def wrong_values(schema):
    """Values that a parameter does not declare, and that nobody could mean for one that it does."""
    wanted = types_of(schema)
    for kind, values in VALUES.items():
        if kind in wanted or (kind == "integer" and "number" in wanted):
            continue
        # A single value may stand for a list of such values, and a text for anything that it can be read as.
        if kind == "string" or ("array" in wanted and kind != "object"):
            continue
        yield from values


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "s.db", workspace=str(tmp_path)) as memory:
        yield memory


def test_no_argument_takes_a_value_of_another_type():
    """Every parameter of every operation, with a value of every type that it does not declare."""
    tried = 0
    for name in OPERATIONS:
        for parameter in parameters(name):
            for value in wrong_values(parameter.schema):
                with pytest.raises(InvalidInput) as caught:
                    read_arguments(name, {parameter.name: value})
                assert parameter.name in caught.value.message
                tried += 1
    assert tried > 1500


def test_what_counts_as_false_is_no_dry_run_over_http(memory, tmp_path):
    with door(memory, tmp_path) as ask:
        memory.task_register("a task", ["A", "B", "C"])
        before = contents(memory)
        for name in OVER_HTTP:
            for parameter in parameters(name):
                if types_of(parameter.schema) != {"boolean"}:
                    continue
                for value in ([], {}, 0, 1, 0.5, [False], "", "maybe"):
                    given = {**arguments_for(name), parameter.name: value}
                    answer = ask("POST", f"/api/{name}", given, token="user")
                    assert (answer.status, answer.error["code"]) == (400, "invalid_argument"), (name, value)
                    assert parameter.name in answer.error["message"]
        assert contents(memory) == before


def test_a_switch_is_true_or_false_in_python_too(memory):
    task = memory.task_register("a task", ["A"]).task_id
    before = newest(memory)
    for value in ([], {}, 0, 1, "", "no", (), None, object()):
        for call in (
            lambda value=value: memory.tasks_reconcile(dry_run=value),
            lambda value=value: memory.tasks_hygiene(dry_run=value),
            lambda value=value: memory.upkeep_run(dry_run=value),
            lambda value=value: memory.task_plan(task, ["B"], append=value),
            lambda value=value: memory.smart_wait("manual:", block=value),
            lambda value=value: memory.active_tasks(render=value),
        ):
            with pytest.raises(InvalidInput, match="must be true or false"):
                call()
    assert newest(memory) == before
    assert memory.tasks_reconcile(dry_run=True).dry_run is True


def test_every_switch_of_every_operation_is_checked(memory):
    found = 0
    for name, operation in OPERATIONS.items():
        for parameter in inspect.signature(operation.method).parameters.values():
            if parameter.annotation in ("bool", "bool | None"):
                given = {key: value for key, value in arguments_for(name).items() if key != parameter.name}
                with pytest.raises(InvalidInput, match=f"{parameter.name} must be true or false"):
                    getattr(memory, name)(**given, **{parameter.name: []})
                found += 1
    assert found > 15


def test_the_command_line_holds_to_the_types(tmp_path, monkeypatch):
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "s.db"))
    run("register", "Deploy")
    for words in (["dry_run:=[]"], ["dry_run:={}"], ["dry_run=perhaps"], ["grace:=[]"], ["nonsense=1"]):
        done = run("op", "tasks_reconcile", *words)
        assert done.exit_code == 5, words
    assert run("op", "tasks_reconcile", "dry_run=yes").exit_code == 0


# --- undeclared arguments ---------------------------------------------------------------------------


def called(memory, tools, name, arguments):
    """The result of a tool of a server in this process."""

    async def caller(_):
        return Caller(memory=lambda: memory)

    async def work():
        async with Client(make_server(tools, caller), mode="auto") as client:
            return await client.call_tool(name, arguments)

    return anyio.run(work)


def test_a_tool_takes_only_the_arguments_that_it_shows(memory, tmp_path):
    """Every argument of every core operation that its tool does not show, and some that nobody has."""
    other = memory.acting_as(workspace="/elsewhere", session="other").task_register("secret elsewhere")
    before = newest(memory)
    for name, operation in listed("core").items():
        shown = tool(operation, "core")["inputSchema"]
        assert shown["additionalProperties"] is False
        hidden = {one.name for one in parameters(name)} - set(shown["properties"])
        given = {key: value for key, value in arguments_for(name).items() if key in shown["properties"]}
        for argument in (*hidden, "channel", "principal", "grant", "self", "__class__"):
            with pytest.raises(InvalidInput) as caught:
                prepare(LOCAL, name, {**given, argument: "*"}, operation.core)
            assert argument in caught.value.message
    result = called(memory, "core", "task_list", {"workspace": "*"})
    assert result.is_error
    error = result.meta[ERROR_META]
    assert error["code"] == "invalid_argument"
    assert "workspace" in error["message"]
    assert newest(memory) == before
    # The full set shows it, and then it may be passed.
    full = called(memory, "full", "task_list", {"workspace": "*"})
    assert other.task_id in json.dumps(full.structured_content)


def test_the_error_names_the_argument_that_was_probably_meant(memory):
    for name, wrong, meant in (
        ("task_list", "stauts", "status"),
        ("task_update", "mesage", "message"),
        ("smart_wait", "time_out", "timeout"),
    ):
        result = called(memory, "core", name, {wrong: "x"})
        assert f"Did you mean {meant}?" in result.meta[ERROR_META]["hint"]
    hint = called(memory, "core", "task_list", {"cursor": 1}).meta[ERROR_META]["hint"]
    assert "--tools full" in hint


def test_nothing_but_its_declared_arguments_reaches_an_operation_over_http(memory, tmp_path):
    with door(memory, tmp_path) as ask:
        for name in OVER_HTTP:
            assert input_schema(name)["additionalProperties"] is False
            for argument in ("self", "grant", "channel", "workspace_path", "_find", "tx"):
                answer = ask("POST", f"/api/{name}", {**arguments_for(name), argument: "x"}, token="user")
                assert (answer.status, answer.error["code"]) == (400, "invalid_argument"), name
