"""The MCP server for any transport: its answers to every request of a client.

The same handlers answer clients that begin with `initialize` and those of 2026-07-28, which do not: no call
depends on an earlier one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from ... import operations
from ..._version import __version__
from ...core.draft_tasks import turn_to
from ...hosts.taken_tasks import call_hooks, taken_task_notice
from ...memory import TaskMemory
from ...model.errors import RingboltError
from ...model.operation import Operation
from ...model.types import Value, as_json
from ...packet import encode
from ..blocking import WAIT, Run, Waiting, blocks
from . import resources, texts
from . import tools as mcp_tools

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None  # every list fits on one page

log = logging.getLogger("ringbolt.mcp")

# Errors are also in `_meta` under this name, for programs: code, message, hint, details.
ERROR_META = "ringbolt/error"
_HOUR = 3_600_000
_INTERNAL: dict[str, Any] = {
    "code": "internal_error",
    "message": "Ringbolt failed unexpectedly.",
    "hint": "Continue your work; the reason is in the log of the server.",
    "details": {},
}


async def run_on_thread(work: Callable[[], Any]) -> Any:
    """Run a function on a thread of the event loop."""
    return await anyio.to_thread.run_sync(work)


class Caller(Value, frozen=True, kw_only=True):
    """The caller of a request: a function that opens its memory, and how it runs.

    `run` runs a function on a thread. `waiting` returns the blocking waits of the server that it calls, if
    that ends them; `gone` is set when the caller has gone.
    """

    memory: Callable[[], TaskMemory]
    waiting: Callable[[], Waiting] | None = None
    run: Run = run_on_thread
    gone: Any = None  # an asyncio.Event


def agent_name(ctx: Context) -> str:
    """The client's name as an agent name; empty if it has none."""
    known = ctx.session.client_params
    return plain_name(known.client_info.name) if known else ""


def plain_name(name: str) -> str:
    """A name from outside as one short line."""
    text = name.encode("utf-8", "replace").decode()
    return encode.clip(encode.one_line(text), 50)


def make_server(tools: str, caller: Callable[[Context], Awaitable[Caller]]) -> Server[Any]:
    """The server with a set of tools; `caller` identifies who makes a request."""
    return _Handlers(tools, caller).server()


class _Handlers:
    """The answers to all requests. Work on the store runs on threads, so no call waits for another."""

    def __init__(self, tools: str, caller: Callable[[Context], Awaitable[Caller]]) -> None:
        self._caller = caller
        self._waiting: Waiting | None = None
        self._operations = mcp_tools.listed(tools)
        # The arguments of a tool, if they are not all arguments of its operation.
        self._told = {name: each.core for name, each in self._operations.items()} if tools == "core" else {}
        shown = {name: mcp_tools.tool(operation, tools) for name, operation in self._operations.items()}
        self._schemas: dict[str, dict[str, Any]] = {name: tool["inputSchema"] for name, tool in shown.items()}
        self._tools = [types.Tool.model_validate(tool) for tool in shown.values()]
        self._prompts = [types.Prompt.model_validate(prompt) for prompt in resources.PROMPTS]
        self._templates = [types.ResourceTemplate.model_validate(row) for row in resources.TEMPLATES]

    def server(self) -> Server[Any]:
        return Server(
            "ringbolt",
            version=__version__,
            title="Ringbolt",
            description="Task memory for agents: survives compactions, restarts, crashes and hand-overs.",
            instructions=texts.INSTRUCTIONS,
            cache_hints={
                method: CacheHint(ttl_ms=_HOUR, scope="public")
                for method in ("tools/list", "prompts/list", "resources/templates/list", "server/discover")
            },
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )

    # --- tools ------------------------------------------------------------------------------------

    async def _list_tools(self, ctx: Context, params: Page) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        operation = self._operations.get(params.name)
        if operation is None:
            known = params.name in mcp_tools.listed("full")
            hint = " It is in the full set: start the server with --tools full." if known else ""
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]!r}.{hint}")
        caller = await self._caller(ctx)
        told = self._told.get(params.name)
        call = _Call(caller, operation, params.arguments or {}, told)
        if operation.name != WAIT:
            return await caller.run(call.answer)
        prepared = await caller.run(call.prepared)
        if isinstance(prepared, types.CallToolResult) or not blocks(WAIT, prepared):
            return await caller.run(call.answer)
        try:
            waiting = await caller.run(caller.waiting or (lambda: self._own_waiting(caller)))
            result = await waiting.wait(await caller.run(caller.memory), prepared, caller.gone)
        except RingboltError as error:
            return _failed(error.to_dict())
        return await caller.run(lambda: call.told(result, prepared))

    def _own_waiting(self, caller: Caller) -> Waiting:
        if self._waiting is None:
            memory = caller.memory()
            self._waiting = Waiting(memory, run_on_thread, memory.settings.http_token_waits)
        return self._waiting

    # --- resources and prompts --------------------------------------------------------------------

    async def _list_resources(self, ctx: Context, params: Page) -> types.ListResourcesResult:
        listed = await self._read(ctx, resources.resources)
        return types.ListResourcesResult(resources=[types.Resource.model_validate(row) for row in listed])

    async def _list_templates(self, ctx: Context, params: Page) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._templates)

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        read = partial(resources.resource, uri=params.uri)
        text, kind = await self._read(ctx, read, uri=params.uri)
        content = types.TextResourceContents(uri=params.uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    async def _list_prompts(self, ctx: Context, params: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=self._prompts)

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        task_id = (params.arguments or {}).get("task_id")
        text = await self._read(ctx, partial(resources.prompt, name=params.name, task_id=task_id))
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def _complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        asked = params.argument
        ids = await self._read(ctx, partial(resources.completions, argument=asked.name, begun=asked.value))
        return types.CompleteResult(completion=types.Completion(values=ids, total=len(ids), has_more=False))

    async def _read(self, ctx: Context, read: Callable[[TaskMemory], Any], **about: str) -> Any:
        """Read on a thread. Unlike those of tools, these errors are protocol errors."""
        caller = await self._caller(ctx)

        def work() -> Any:
            try:
                return read(caller.memory())
            except RingboltError as error:
                code = types.INTERNAL_ERROR if error.code.startswith("store_") else types.INVALID_PARAMS
                details = error.to_dict()
                raise MCPError(code, texts.error_text(details), {**details, **about}) from None

        return await caller.run(work)


# Operations by which a session takes over a task.
_TURNS = ("task_resume", "task_focus")


class _Call:
    """A call of a tool; errors go to the model, and unexpected ones also to the log."""

    def __init__(
        self, caller: Caller, operation: Operation, raw: Mapping[str, Any], told: tuple[str, ...] | None
    ) -> None:
        self._caller = caller
        self._name = operation.name
        self._raw = raw
        self._told = told

    def prepared(self) -> dict[str, Any] | types.CallToolResult:
        """The checked arguments, or the error."""
        try:
            return operations.prepare(self._caller.memory().grant, self._name, self._raw, self._told)
        except RingboltError as error:
            return _failed(error.to_dict())

    def answer(self) -> types.CallToolResult:
        """Call the operation."""
        arguments = self.prepared()
        if isinstance(arguments, types.CallToolResult):
            return arguments
        try:
            memory = self._caller.memory()
            if self._name == "task_resume" and memory.grant.includes("write"):
                turn_to(memory, arguments.get("task_id"))
            return self.told(getattr(memory, self._name)(**arguments), arguments)
        except RingboltError as error:
            return _failed(error.to_dict())
        except Exception:
            log.exception("%s failed", self._name)
            return _failed(_INTERNAL)

    def told(self, result: Any, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """The result as the model gets it."""
        memory = self._caller.memory()
        data = as_json(result)
        text = texts.result_text(self._name, arguments, data)
        if self._name in _TURNS:
            call_hooks(memory)
        if notice := taken_task_notice(memory):
            text = f"{notice}\n\n{text}"
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=mcp_tools.structured(data)
        )


def _failed(error: dict[str, Any]) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=texts.error_text(error))], is_error=True, _meta={ERROR_META: error}
    )
