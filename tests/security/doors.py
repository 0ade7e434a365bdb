"""Calls of every operation through every door, and a token for each capability."""

from __future__ import annotations

import json
from contextlib import contextmanager

from ringbolt.operations import OPERATIONS, parameters
from ringbolt.surfaces.http import auth
from tests.core.calls import ELSEWHERE, ON_A_TASK, READS
from tests.surfaces.http_support import serving

OVER_HTTP = sorted(name for name, operation in OPERATIONS.items() if operation.http)
AS_TOOLS = sorted(name for name, operation in OPERATIONS.items() if operation.tools != "none")

# Arguments of every operation that needs some; the tests of other rooms have most of them.
ARGUMENTS = {
    **{name: dict(arguments) for name, arguments in {**ELSEWHERE, **ON_A_TASK, **READS}.items()},
    "task_register": {"name": "n"},
    "task_note": {"text": "t"},
    "task_plan": {"steps": ["A"]},
    "reindex": {},
    "sync_pull": {"wanted": []},
    "sync_push": {"parts": []},
    "task_accept": {"proposal": 1},
    "task_reject": {"proposal": 1},
    "pattern_record": {"text": "t"},
}


def arguments_for(name: str, few: bool = False, **named) -> dict:
    """Arguments with which an operation gets past its own checks of form; `few`: only those it needs."""
    known = {parameter.name for parameter in parameters(name)}
    given = {**ARGUMENTS.get(name, {}), **{key: value for key, value in named.items() if key in known}}
    missing = [one.name for one in parameters(name) if one.required and one.name not in given]
    assert not missing, f"tests/security/doors.py needs arguments for {name}: {missing}"
    if few:
        needed = {one.name for one in parameters(name) if one.required} | {"block"}
        given = {key: value for key, value in given.items() if key in needed | set(named)}
    return {
        key: value for key, value in json.loads(json.dumps(given, default=str)).items() if value is not None
    }


@contextmanager
def door(memory, folder, worker=False, **options):
    """A server on a memory; `ask.token(name, …)` makes a token and gives it that name."""
    path = folder / "tokens.json"
    with serving(memory, path, worker=worker, **options) as ask:

        def token(name, **grant) -> str:
            ask.tokens[name] = auth.create_token(name, path=str(path), **grant)
            return name

        ask.token, ask.token_path = token, str(path)
        yield ask


def tool_call(ask, name: str, arguments: dict, token: str) -> dict:
    """The result of a tool over MCP on HTTP; `isError` says whether it failed."""
    answer = ask(
        "POST", "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}},
        token=token,
        Accept="application/json, text/event-stream",
        MCP_Protocol_Version="2025-11-25",
    )  # fmt: skip
    assert answer.status == 200, answer.body[:300]
    return answer.json["result"]


def tool_error(result: dict) -> str | None:
    """The code of the error of a tool; None if it succeeded."""
    return result["_meta"]["ringbolt/error"]["code"] if result.get("isError") else None
