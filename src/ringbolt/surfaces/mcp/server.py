"""Our handlers behind the SDK's server, which the HTTP transport needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from . import protocol, texts
from .handlers import Caller, Handlers, plain_name

Context = ServerRequestContext[Any, Any]


def agent_name(ctx: Context) -> str:
    """The client's name as an agent name; empty if it has none."""
    known = ctx.session.client_params
    return plain_name(known.client_info.name) if known else ""


def make_server(tools: str, caller: Callable[[Context], Awaitable[Caller]]) -> Server[Any]:
    """The server with a set of tools; `caller` identifies who makes a request."""
    handlers = Handlers(tools)
    answered = partial(_answer, handlers, caller)
    return Server(
        protocol.SERVER["name"],
        version=protocol.SERVER["version"],
        title=protocol.SERVER["title"],
        description=protocol.SERVER["description"],
        instructions=texts.INSTRUCTIONS,
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
    try:
        result = await anyio.to_thread.run_sync(handlers.answer, method, given, known)
    except protocol.ProtocolError as error:
        raise MCPError(error.code, error.message, error.data) from None
    return kind.model_validate(result)
