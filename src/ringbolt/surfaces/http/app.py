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
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from ...memory import TaskMemory
from ..web.page import WebPage
from . import PORT
from .auth import Tokens
from .events import HEARTBEAT
from .guard import Guard, error_response, host_names, origin_names
from .routes import Gateway, Mcp
from .server import Server, check_host, listen, read_certificate, shown_host
from .session import Sessions

if TYPE_CHECKING:
    from .oauth import AuthorizationServer


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
    """
    settings = memory.settings
    tokens = tokens or Tokens()
    issuer = _authorization_server(memory)
    gateway = Gateway(memory, tokens, worker=worker, heartbeat=heartbeat)
    page = WebPage(Sessions(tokens), gateway)
    guard = Middleware(
        Guard,
        tokens=tokens,
        sessions=page.sessions,
        settings=settings,
        figures=gateway.figures,
        hosts=host_names(host, port, settings.http_hosts),
        origins=origin_names(settings.http_origins),
        issuer=issuer,
    )
    mcp = _mcp_app(memory, tools)
    app = Starlette(
        routes=[
            *page.routes(),
            *gateway.routes(),
            *(issuer.routes() if issuer else []),
            *([Route("/mcp", Mcp(mcp, gateway))] if mcp else []),
        ],
        middleware=[guard],
        exception_handlers={HTTPException: lambda _, error: error_response(error)},
        lifespan=lambda _: gateway.running(mcp),
    )
    app.router.redirect_slashes = False
    app.state.gateway = gateway
    app.state.sessions = page.sessions
    return app


def _authorization_server(memory: TaskMemory) -> AuthorizationServer | None:
    if not memory.settings.http_issuer:
        return None
    from .oauth import AuthorizationServer

    return AuthorizationServer(memory.settings.http_issuer, memory.settings.http_url, memory.workspace)


def _mcp_app(memory: TaskMemory, tools: str) -> Starlette | None:
    if find_spec("mcp") is None:  # it is optional
        return None
    from ..mcp.http import asgi_app

    return asgi_app(memory, tools=tools, guarded=True)


def _print_address(store: str, address: str, tokens: str, new_code: Callable[[], str]) -> None:
    print(f"Ringbolt serves {store} at {address}/\nTokens: {tokens}", flush=True)


def serve(
    location: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    workspace: str | None = None,
    worker: bool = True,
    tools: str = "core",
    announce: Callable[[str, str, str, Callable[[], str]], None] = _print_address,
    **options: Any,
) -> None:
    """Serve the store at a path or URL until a signal arrives, then shut down gracefully.

    `workspace` is the default for callers that do not name one. `announce` is called with the store's URL,
    the server's address, the path of its tokens, and a function that makes one-time codes for sign-in links.
    """
    with TaskMemory.open(location, workspace=workspace, **options) as memory:
        settings = memory.settings
        tls = read_certificate(settings.http_tls_cert, settings.http_tls_key)
        check_host(host, settings.http_hosts, is_safe=bool(tls) or settings.http_tls_proxy == "on")
        with listen(host, port) as bound:
            tokens = Tokens()
            actual_port = bound.getsockname()[1]
            app = create_app(memory, host=host, port=actual_port, tokens=tokens, worker=worker, tools=tools)
            address = f"{'https' if tls else 'http'}://{shown_host(host)}:{actual_port}"
            announce(memory.store.url, address, tokens.path, app.state.sessions.new_code)
            Server(app, settings.http_request_seconds, tls=tls).run(sockets=[bound])
