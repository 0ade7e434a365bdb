"""The HTTP application: every operation over HTTP on this machine, for clients with a token.

    POST /api/<operation>      arguments as a JSON object
    GET  /api/tasks/…          tasks as resources
    GET  /api/events           events, in pages or as a stream
    GET  /active-tasks         the list of active tasks and the state of its file
    GET  /health, /metrics, /openapi.json
    GET  /                     the web page, which signs in with a token
    /mcp                       the MCP server, if the `mcp` package is installed

The routes come from the table of operations and hold no rules about tasks. Operations run in a thread pool,
so that they never block the event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from ...memory import TaskMemory
from ...operations import OPERATIONS
from ..web.page import WebPage
from .auth import Tokens
from .events import HEARTBEAT
from .guard import Guard, error_response, host_names, origin_names
from .routes import Gateway, Mcp
from .server import Server, check_host, listen, shown_host
from .session import Sessions

PORT = 7420


def create_app(
    memory: TaskMemory,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    tokens: Tokens | None = None,
    worker: bool = True,
    tools: str = "core",
    heartbeat: float = HEARTBEAT,
) -> Starlette:
    """Make the ASGI application for a memory. The caller keeps the memory open and closes it.

    `worker` also runs the store's background jobs in this process. `tools` selects the set of MCP tools.
    Raises ValueError if an operation does not declare whether it reads or writes.
    """
    for name, operation in OPERATIONS.items():
        if operation.scope not in ("read", "write"):
            raise ValueError(f"operation {name} does not declare its scope (read or write)")
    settings = memory.settings
    gateway = Gateway(memory, worker=worker, heartbeat=heartbeat)
    tokens = tokens or Tokens()
    page = WebPage(Sessions(tokens, port), gateway)
    guard = Middleware(
        Guard,
        tokens=tokens,
        sessions=page.sessions,
        settings=settings,
        figures=gateway.figures,
        hosts=host_names(host, port, settings.http_hosts),
        origins=origin_names(settings.http_origins),
    )
    mcp = _mcp_app(memory, tools)
    app = Starlette(
        routes=[*page.routes(), *gateway.routes(), *([Route("/mcp", Mcp(mcp, gateway))] if mcp else [])],
        middleware=[guard],
        exception_handlers={HTTPException: lambda _, error: error_response(error)},
        lifespan=lambda _: gateway.running(mcp),
    )
    app.router.redirect_slashes = False
    app.state.gateway = gateway
    return app


def _mcp_app(memory: TaskMemory, tools: str) -> Any:
    try:
        module = import_module("ringbolt.surfaces.mcp.main")
    except ImportError:  # the optional `mcp` package is not installed
        return None
    return module.asgi_app(memory, tools=tools, guarded=True)


def serve(
    location: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    workspace: str | None = None,
    worker: bool = True,
    tools: str = "core",
    announce: Callable[[str], None] = print,
    **settings: Any,
) -> None:
    """Serve the store at a path or URL until a signal arrives, then shut down gracefully.

    `workspace` is the default for callers that do not name one. `announce` is called with each line of the
    start-up message: the server's address and the path of its tokens.
    """
    with TaskMemory.open(location, workspace=workspace, **settings) as memory:
        check_host(host, memory.settings.http_hosts)
        with listen(host, port) as bound:
            tokens = Tokens()
            actual_port = bound.getsockname()[1]
            app = create_app(memory, host=host, port=actual_port, tokens=tokens, worker=worker, tools=tools)
            announce(f"Ringbolt serves {memory.store.url} at http://{shown_host(host)}:{actual_port}/")
            announce(f"Tokens: {tokens.path}")
            Server(app, memory.settings.http_request_seconds).run(sockets=[bound])
