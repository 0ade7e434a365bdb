"""The MCP server over streamable HTTP. Requests need no session, so a restart interrupts no client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ...memory import TaskMemory
from ...model.capabilities import AGENT
from ..blocking import Waiting
from . import protocol
from .handlers import plain_name
from .server import Context, HttpCaller, agent_name, client_abilities, make_server, run_on_thread

_NAMES = ("127.0.0.1", "localhost", "[::1]")
_THIS_MACHINE = TransportSecuritySettings(
    allowed_hosts=[*_NAMES, *(f"{name}:*" for name in _NAMES)],
    allowed_origins=[f"http://{name}{port}" for name in _NAMES for port in ("", ":*")],
)
# The caller has already checked Host and Origin.
_ANYWHERE = TransportSecuritySettings(enable_dns_rebinding_protection=False)


def asgi_app(memory: TaskMemory, *, tools: str = "core", guarded: bool = False) -> Starlette:
    """The server as an ASGI app for any path: run it directly, or as the endpoint of a route.

    If you mount it, enter its lifespan (`app.router.lifespan_context(app)`). The scope of a request may
    identify the caller: `ringbolt.memory` (a TaskMemory with its grant), `ringbolt.run`, `ringbolt.waiting`
    and `ringbolt.gone` (see `HttpCaller`). `guarded`: Host and Origin were already checked; otherwise only
    those of this machine are accepted, and every caller is an agent in the workspace of `memory`.
    """
    agent_memory = memory.acting_as(grant=AGENT)
    own_waiting = Waiting(memory, run_on_thread, memory.settings.http_token_waits)

    async def caller(ctx: Context) -> HttpCaller:
        scope: Mapping[str, Any] = ctx.request.scope if ctx.request is not None else {}
        headers: Mapping[str, str] = ctx.request.headers if ctx.request is not None else {}
        agent = agent_name(ctx)
        known: TaskMemory | None = scope.get("ringbolt.memory")
        waiting: Waiting = scope.get("ringbolt.waiting") or own_waiting
        return HttpCaller(
            can=client_abilities(ctx) - {protocol.ELICITATION},
            keep=lambda _, wait: waiting.keep(wait),
            memory=lambda: _named(known, agent) if known else _acting(agent_memory, agent, headers),
            waiting=waiting,
            run=scope.get("ringbolt.run") or run_on_thread,
            left=scope.get("ringbolt.gone"),
        )

    manager = StreamableHTTPSessionManager(
        make_server(tools, caller),
        json_response=True,
        stateless=True,
        security_settings=_ANYWHERE if guarded else _THIS_MACHINE,
    )

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncGenerator[None]:
        async with manager.run():
            yield
        await run_on_thread(own_waiting.end)

    return Starlette(routes=[Route("/{path:path}", _Endpoint(manager))], lifespan=running)


class _Endpoint:
    """Handles POST only: there is no stream to listen to, and no session to end."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)


def _named(memory: TaskMemory, agent: str) -> TaskMemory:
    """The memory of an authenticated caller, with the name of the agent if it has none."""
    return memory if memory.origin.agent or not agent else memory.acting_as(agent=agent)


def _acting(memory: TaskMemory, agent: str, headers: Mapping[str, str]) -> TaskMemory:
    """The memory for one request, with the agent and session from its headers."""
    return memory.acting_as(
        agent=plain_name(_text(headers, "ringbolt-agent")) or memory.origin.agent or agent,
        session=plain_name(_text(headers, "ringbolt-session")) or None,
    )


def _text(headers: Mapping[str, str], name: str) -> str:
    return headers.get(name, "").strip().encode("latin-1").decode("utf-8", "replace")
