"""Our handlers behind the SDK's server, which the HTTP transport needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from ...model.errors import RingboltError
from ..blocking import WAIT, Run, Waiting, blocks
from . import protocol, texts
from .handlers import Caller, Handlers, ToolCall, plain_name, task_of

Context = ServerRequestContext[Any, Any]


async def run_on_thread(work: Callable[[], Any]) -> Any:
    """Run a function on a thread of the event loop."""
    return await anyio.to_thread.run_sync(work)


class HttpCaller(Caller, frozen=True, kw_only=True):
    """The caller of a request over HTTP.

    `waiting` holds the blocking waits of the server, `left` (an asyncio.Event) is set when the client has
    closed its connection, and `run` runs a function on a thread.
    """

    waiting: Waiting
    left: Any = None
    run: Run = run_on_thread


def agent_name(ctx: Context) -> str:
    """The client's name as an agent name; empty if it has none."""
    known = ctx.session.client_params
    return plain_name(known.client_info.name) if known else ""


def client_abilities(ctx: Context) -> frozenset[str]:
    """What the client's program says it can do; only since 2026-07-28, when every request says it."""
    known = ctx.session.client_capabilities
    modern = ctx.protocol_version in protocol.MODERN_VERSIONS
    return (
        protocol.abilities(known.model_dump(by_alias=True, exclude_none=True))
        if known and modern
        else frozenset()
    )


def make_server(tools: str, caller: Callable[[Context], Awaitable[Caller]]) -> Server[Any]:
    """The server with a set of tools; `caller` identifies who makes a request."""
    handlers = Handlers(tools)
    answered = partial(_answer, handlers, caller)
    server: Server[Any] = Server(
        protocol.SERVER["name"],
        version=protocol.SERVER["version"],
        title=protocol.SERVER["title"],
        description=protocol.SERVER["description"],
        instructions=texts.INSTRUCTIONS,
        icons=[types.Icon.model_validate(icon) for icon in protocol.ICONS],
        cache_hints={method: CacheHint(ttl_ms=protocol.HOUR, scope="public") for method in protocol.PUBLIC},
        get_tool_input_schema=handlers.schemas.get,
        on_list_tools=partial(answered, "tools/list", types.ListToolsResult),
        on_call_tool=partial(answered, "tools/call", types.CallToolResult),
        on_list_resources=partial(answered, "resources/list", types.ListResourcesResult),
        on_list_resource_templates=partial(
            answered, "resources/templates/list", types.ListResourceTemplatesResult
        ),
        on_read_resource=partial(answered, "resources/read", types.ReadResourceResult),
        on_list_prompts=partial(answered, "prompts/list", types.ListPromptsResult),
        on_get_prompt=partial(answered, "prompts/get", types.GetPromptResult),
        on_completion=partial(answered, "completion/complete", types.CompleteResult),
    )
    server.extensions[protocol.TASKS] = {}
    for method in protocol.TASK_METHODS:
        server.add_request_handler(method, types.GetTaskRequestParams, partial(answered, method, dict))
    return server


async def _answer(
    handlers: Handlers,
    caller: Callable[[Context], Awaitable[Caller]],
    method: str,
    kind: Any,
    ctx: Context,
    params: Any,
) -> Any:
    """Answer on a thread, so that no request waits for another."""
    known = await caller(ctx)
    given: dict[str, Any] = params.model_dump(by_alias=True, mode="json") if params is not None else {}
    call = handlers.tool_call(given, known) if method == "tools/call" else None
    try:
        if isinstance(known, HttpCaller) and call is not None and call.name == WAIT:
            result = await _wait(call, known)
        else:
            run = known.run if isinstance(known, HttpCaller) else run_on_thread
            result = await run(lambda: handlers.answer(method, given, known))
    except protocol.ProtocolError as error:
        raise MCPError(error.code, error.message, error.data) from None
    # A task in place of a result belongs to the extension; the SDK knows no type for it.
    return result if kind is dict or "resultType" in result else kind.model_validate(result)


async def _wait(call: ToolCall, caller: HttpCaller) -> dict[str, Any]:
    """Answer a call that may wait for long, without holding a thread meanwhile."""
    try:
        arguments = await caller.run(call.prepared)
        if not blocks(call.name, arguments):
            return await caller.run(call.answer)
        memory: Any = await caller.run(caller.memory)
        if protocol.TASKS in caller.can:
            wanted = {**arguments, "block": False}
            started = await caller.run(lambda: memory.smart_wait(**wanted))
            caller.waiting.keep((started.task_id, started.seq))
            return {"resultType": "task", **task_of(started)}
        result = await caller.waiting.wait(memory, arguments, caller.left)
    except RingboltError as error:
        return call.guarded(partial(_raise, error))
    return await caller.run(lambda: call.guarded(lambda: call.response(result, arguments)))


def _raise(error: RingboltError) -> dict[str, Any]:
    raise error
