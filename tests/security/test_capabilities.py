"""Who can do what, from the declarations: every operation against every access, power and workspace."""

from __future__ import annotations

import os
from itertools import product

import pytest

from ringbolt.model.capabilities import ACCESS, POWERS
from ringbolt.operations import OPERATIONS, parameters
from ringbolt.surfaces.http.routes import RESOURCES
from ringbolt.surfaces.web.reads import READS as PAGE_READS
from tests.security.doors import AS_TOOLS, OVER_HTTP, arguments_for, door, tool_call, tool_error
from tests.support import contents, newest, open_memory

LEVELS = list(ACCESS)
# What only the person who owns the store may do.
OF_THE_USER = {"forget", "purge", "restore"}


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "store" / "s.db", workspace=str(tmp_path / "work")) as memory:
        (tmp_path / "work").mkdir()
        yield memory


@pytest.fixture
def ask(memory, tmp_path):
    with door(memory, tmp_path, tools="full") as client:
        yield client


def refusal(answer) -> str | None:
    """The code of a refusal for lack of capabilities; None if the call got further than that."""
    code = answer.json.get("error", {}).get("code") if answer.status >= 400 else None
    return code if answer.status == 403 else None


# --- declarations -----------------------------------------------------------------------------------


def test_every_operation_declares_what_it_needs():
    for name, operation in OPERATIONS.items():
        assert operation.scope in ACCESS, name
        own = {parameter.name for parameter in parameters(name)}
        assert set(operation.powers) <= own, name
        assert all(set(powers) <= set(POWERS) for powers in operation.powers.values()), name
        assert not operation.destructive or operation.scope == "admin", name
    assert {name for name, one in OPERATIONS.items() if one.scope == "admin"} == OF_THE_USER


def test_every_argument_that_names_something_outside_the_store_declares_a_power():
    """A new argument with such a name fails here until it is declared, or listed as harmless."""
    outside = {"target", "command", "callback_url", "anchors", "criteria", "url", "uri", "host"}
    harmless = {
        "task_link.target": "the id of a task or goal",
        "task_receipt.command": "a text that is recorded, and not run",
        "active_task_propose_goal.criteria": "words, of which nothing is looked at",
    }
    for name, operation in OPERATIONS.items():
        for parameter in parameters(name):
            if parameter.name in outside and f"{name}.{parameter.name}" not in harmless:
                assert parameter.name in operation.powers, f"{name}.{parameter.name}"


# --- access -----------------------------------------------------------------------------------------


def test_each_access_admits_exactly_the_operations_that_declare_it(ask, memory):
    tokens = [ask.token(f"has-{access}", access=access, powers=list(POWERS)) for access in LEVELS]
    tokens += ["read", "write", "user"]
    for name in OVER_HTTP:
        needed = LEVELS.index(OPERATIONS[name].scope)
        for token, has in zip(tokens, [0, 1, 2] * 2, strict=True):
            task = memory.task_register("a task", ["A", "B", "C"]).task_id
            before = newest(memory)
            answer = ask("POST", f"/api/{name}", arguments_for(name, task_id=task), token=token)
            refused = refusal(answer) == "wrong_scope"
            assert refused is (needed > has), (name, token, answer.body[:200])
            assert not refused or newest(memory) == before, name


def test_arguments_that_make_a_read_write_need_the_access_too(ask):
    found = [(name, one.writes_with) for name, one in OPERATIONS.items() if one.writes_with]
    assert found
    for name, writing in found:
        for argument in writing:
            given = arguments_for(name, **{argument: True})
            assert ask("POST", f"/api/{name}", given, token="read").error["code"] == "wrong_scope"
            assert ask("POST", f"/api/{name}", given, token="write").status == 200
            assert tool_error(tool_call(ask, name, given, "read")) == "wrong_scope"


def test_tools_have_the_access_of_their_token_and_nobody_removes_anything_with_them(ask, memory):
    assert not OF_THE_USER & set(AS_TOOLS)
    task = memory.task_register("a task", ["A", "B", "C"]).task_id
    for name in AS_TOOLS:
        given = arguments_for(name, task_id=task)
        refused = tool_error(tool_call(ask, name, given, "read")) == "wrong_scope"
        assert refused is (OPERATIONS[name].scope != "read"), name
    for name in OF_THE_USER:
        unknown = ask(
            "POST", "/mcp",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}},
            token="user", Accept="application/json, text/event-stream", MCP_Protocol_Version="2025-11-25",
        )  # fmt: skip
        assert "Unknown tool" in unknown.json["error"]["message"]


def test_an_agent_cannot_remove_anything_and_the_user_must_confirm(ask, memory):
    task = memory.task_register("Deploy", request="Deploy it.").task_id
    memory.acting_as(channel="user").task_remember(task, "Never touch prod", type="user_instruction")
    before = contents(memory)
    for source in (f"task:{task}", "session:S", "text:Never touch"):
        answer = ask("POST", "/api/forget", {"source": source}, token="write")
        assert (answer.status, answer.error["code"]) == (403, "wrong_scope")
        plan = ask("POST", "/api/forget", {"source": source}, token="user").data
        assert not plan["removed"] if "removed" in plan else plan["token"]
        assert ask("POST", "/api/forget", {"source": source, "confirm": "0"}, token="user").status >= 400
        stolen = ask("POST", "/api/forget", {"source": source, "confirm": plan["token"]}, token="write")
        assert stolen.status == 403
    assert contents(memory) == before
    given = {"source": "session:S"}
    given["confirm"] = ask("POST", "/api/forget", given, token="user").data["token"]
    assert ask("POST", "/api/forget", given, token="user").status == 200
    assert contents(memory) != before


# --- powers -----------------------------------------------------------------------------------------


def calls_for(power: str, folder, memory) -> dict[str, list[tuple[str, dict]]]:
    """For each operation and argument that may need a power: a call that needs it."""
    (folder / "here").write_text("x")
    task = memory.task_register("a task").task_id
    target = {
        "files": f"file:{folder}/here",
        "displays": f"process:{os.getpid()}",
        "commands": 'command:["true"]',
        "egress": "port:127.0.0.1:1",
    }[power]
    check = {
        "files": {"check": "file", "target": f"{folder}/here"},
        "commands": {"check": "command", "target": ["true"]},
        "egress": {"check": "http", "target": "http://127.0.0.1:1/"},
    }.get(power)
    goal = memory.goal_create("a goal", [check] if check else ["c"]).task_id
    wait = memory.smart_wait(target, task_id=task, block=False, timeout=600).wait_id
    until = {"files": "gone", "displays": "exits", "commands": "exit 1", "egress": "closed"}[power]
    values = {
        ("smart_wait", "target"): {"target": target, "task_id": task, "block": False},
        ("smart_wait", "callback_url"): {
            "target": "manual:", "task_id": task, "block": False, "callback_url": "https://a.example/",
        },
        ("smart_wait", "command"): {
            "target": "manual:", "task_id": task, "block": False, "command": ["true"],
        },
        ("wait_update", "until"): {"wait_id": wait, "until": until},
        ("task_register", "callback_url"): {"name": "n", "callback_url": "https://a.example/"},
        ("goal_create", "callback_url"): {
            "name": "n", "criteria": ["c"], "callback_url": "https://a.example/",
        },
        ("goal_create", "criteria"): {"name": "n", "criteria": [check]},
        ("goal_promote", "criteria"): {"task_id": task, "criteria": [check]},
        ("goal_update", "criteria"): {"goal_id": goal, "criteria": [check]},
        ("goal_check", "goal_id"): {"goal_id": goal},
        **{
            (name, "anchors"): {**given, "task_id": task, "anchors": ["here"]}
            for name, given in (
                ("task_decide", {"choice": "c"}),
                ("task_exclude", {"what": "w", "why": "y"}),
                ("task_remember", {"summary": "s"}),
            )
        },
    }  # fmt: skip
    wanted = [
        (name, argument)
        for name, operation in OPERATIONS.items()
        for argument, powers in operation.powers.items()
        if power in powers
    ]
    assert set(wanted) <= set(values), "a new argument that needs a power needs a call here"
    return {f"{name} {argument}": [(name, values[name, argument])] for name, argument in wanted}


@pytest.mark.parametrize("power", POWERS)
def test_each_power_is_needed_where_it_is_declared_and_enough(tmp_path, power):
    work = tmp_path / "work"
    work.mkdir()
    with (
        open_memory(tmp_path / "store" / "s.db", workspace=str(work), wait_commands="on") as memory,
        door(memory, tmp_path, tools="full") as ask,
    ):
        others = [one for one in POWERS if one != power]
        for access in ("write", "admin"):
            ask.token(f"without-{access}", access=access, powers=others)
            ask.token(f"only-{access}", access=access, powers=[power])
        for which, calls in calls_for(power, work, memory).items():
            for name, given in calls:
                for access in ("write", "admin"):
                    lacking = ask("POST", f"/api/{name}", given, token=f"without-{access}")
                    if name == "goal_check":  # it says so of the one criterion
                        (criterion,) = lacking.data["criteria"]
                        assert (criterion["status"], criterion["evidence"]) == (
                            "open",
                            "this is not allowed here",
                        )
                    elif "anchors" in given:
                        assert lacking.error["code"] == "invalid_argument", which
                    else:
                        assert (lacking.status, lacking.error["code"]) == (403, "look_refused"), which
                having = ask("POST", f"/api/{name}", given, token="only-write")
                assert having.status == 200, (which, having.body)
                assert "not allowed" not in having.body.decode(), which


# --- workspaces -------------------------------------------------------------------------------------

SECRET = "zanzibarite"  # stands only in the other workspace
KNOWN = "quokka"  # stands beside it, and the caller knows it


def fill(memory) -> tuple[str, str, str]:
    """A task, a goal and a wait of another workspace, with both words in all that they hold."""
    both = f"{KNOWN} {SECRET}"
    user = memory.acting_as(channel="user")
    task = user.task_register(
        f"Deploy {both}", [f"Build {both}", "B", "C"], request=f"Deploy {both}.", tags=[KNOWN, SECRET]
    ).task_id
    user.task_remember(task, f"Never say {both}", type="user_instruction")
    memory.task_decide(task, choice=both, reasoning=both)
    memory.task_exclude(task, what=f"use {both}", why=both)
    memory.task_set(task, KNOWN, SECRET)
    failed = {"type": "cli", "tool": "Bash", "input": both, "error": both, "status": "failed"}
    memory.task_log_action(task, f"run {both}", **failed)
    memory.task_update(task, both, blockers=[both], next=both)
    memory.memory_store(entity=KNOWN, key=KNOWN, value=SECRET)
    memory.active_tasks_add(KNOWN, f"about {both}")
    wait = memory.smart_wait(f"manual:{both}", task_id=task, block=False, timeout=6000).wait_id
    goal = user.goal_create(f"Goal {both}", [both]).task_id
    return task, goal, wait


def test_a_token_for_one_workspace_learns_and_changes_nothing_of_another(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with (
        open_memory(tmp_path / "store" / "s.db", workspace=str(there)) as memory,
        door(memory, tmp_path, tools="full") as ask,
    ):
        task, goal, wait = fill(memory)
        own = memory.acting_as(workspace=str(here), session="mine").task_register("own").task_id
        bound = ask.token("bound", access="admin", workspaces=[str(here)], powers=list(POWERS))
        everywhere = ask.token("everywhere", access="admin", powers=list(POWERS))
        theirs = [event for event in memory.events() if event.task_id != own]
        named = {
            "task_id": task, "goal_id": goal, "wait_id": wait, "other": task, "target": task, "parent": task,
            "query": KNOWN, "text": KNOWN, "id": f"{task}#1", "entity": KNOWN, "label": KNOWN,
            "question": KNOWN, "workspace": str(there), "tag": KNOWN, "name": KNOWN, "session": "S",
            "source": f"task:{task}",
        }  # fmt: skip
        headers = ({}, {"X_Ringbolt_Session": "S"}, {"X_Ringbolt_Workspace": str(there)})
        for name in OVER_HTTP:
            own_names = {one.name for one in parameters(name)}
            tries = [
                {key: value for key, value in named.items() if key in own_names},
                *({key: "*"} for key in own_names & {"workspace"}),
                *({key: named[key]} for key in own_names & set(named)),
                {},
            ]
            for given in tries:
                for header, few in product(headers, (False, True)):
                    arguments = {**arguments_for(name, few=few, task_id=own), **given}
                    answer = ask("POST", f"/api/{name}", arguments, token=bound, **header)
                    assert SECRET not in answer.body.decode(), (name, given, header)
        for path in [*(one.path for one in RESOURCES), *PAGE_READS, "/api/events", "/api/tasks/{id}/events",
                     "/metrics", "/api/tasks/{id}/handoff.md", "/api/session"]:  # fmt: skip
            for identity in (task, goal):
                place = path.replace("{id}", identity)
                question = "?q=Deploy" if path == "/api/search" else ""
                answer = ask("GET", place + question, token=bound)
                assert SECRET not in answer.body.decode(), path
        for uri in (f"ringbolt://task/{task}", f"ringbolt://task/{task}/state", "ringbolt://tasks"):
            body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
            mcp = {"Accept": "application/json, text/event-stream", "MCP_Protocol_Version": "2025-11-25"}
            assert SECRET not in ask("POST", "/mcp", body, token=bound, **mcp).body.decode()
        assert [event for event in memory.events() if event.task_id in {e.task_id for e in theirs}] == theirs
        # The same calls find it with a token for all workspaces.
        assert SECRET in ask("POST", "/api/task_get", {"task_id": task}, token=everywhere).body.decode()
        assert ask("POST", "/api/task_get", {"task_id": own}, token=bound).status == 200
        found = ask("POST", "/api/task_list", {}, token=bound).data["tasks"]
        assert {row["workspace"] for row in found} == {str(here)}
