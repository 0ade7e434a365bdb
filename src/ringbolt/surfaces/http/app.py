"""The server: every operation over HTTP, on this machine, for whoever has a token.

    POST /api/<operation>      the arguments as a JSON object
    GET  /api/tasks/…          the same things as resources
    GET  /api/events           what happens, as pages or as a stream
    GET  /active-tasks         the list of active tasks, with the state of its file
    GET  /health, /metrics, /openapi.json
    GET  /                     the web page, which signs in with a token
    /mcp                       the MCP server, where it is installed

Routes walk the table of operations and hold no rule about tasks. Nothing here waits on the event loop:
operations run on threads of their own.
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
    """The application on a memory, which stays open as long as it runs and is not closed by it.

    `worker`: do the store's jobs, too. `tools`: which MCP tools there are. An operation that does not say
    whether it reads or writes is refused here, before anyone can call it.
    """
    for name, operation in OPERATIONS.items():
        if operation.scope not in ("read", "write"):
            raise ValueError(f"the operation {name} does not say whether it reads or writes")
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
        found = import_module("ringbolt.surfaces.mcp.main")
    except ImportError:  # without the extra there is no MCP server
        return None
    return found.asgi_app(memory, tools=tools, guarded=True)


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
    """Serve the store at a path or URL until a signal comes; then end in good order.

    `workspace` is where the tasks of callers belong who say nothing else. `announce` is told, line by line,
    where the server is and where its tokens are.
    """
    with TaskMemory.open(location, workspace=workspace, **settings) as memory:
        check_host(host, memory.settings.http_hosts)
        with listen(host, port) as bound:
            tokens = Tokens()
            place = bound.getsockname()[1]
            app = create_app(memory, host=host, port=place, tokens=tokens, worker=worker, tools=tools)
            announce(f"Ringbolt serves {memory.store.url} at http://{shown_host(host)}:{place}/")
            announce(f"Tokens: {tokens.path}")
            Server(app, memory.settings.http_request_seconds).run(sockets=[bound])
