"""The routes of the server, generated from the operations; they hold no rules about tasks."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...files.active_tasks import answer
from ...journal.catch_up import watch_journal
from ...memory import TaskMemory
from ...model.errors import InvalidInput, RingboltError
from ...model.types import Value, as_json, is_dict
from ...operations import OPERATIONS, read_arguments, scope_of
from ...packet import tokens
from ...packet.encode import read_json
from ...system.thread_pools import ThreadPools, Use, use_of
from ...worker.pool import Pool
from . import events, metrics, openapi
from .auth import Caller
from .guard import Refusal, log, read_body, require

Endpoint = Callable[[Request], Awaitable[Response]]


_JSON = "application/json"
_WORKER_SECONDS = 30.0  # how long shutdown waits for the workers: longer than they need


class Resource(Value, frozen=True, kw_only=True):
    """A GET route that calls an operation with arguments from the path and the query."""

    name: str
    path: str
    operation: str
    path_names: tuple[tuple[str, str], ...] = ()
    query_names: tuple[tuple[str, str], ...] = ()
    media_type: str = ""  # if the result is a text, not JSON
    bare: bool = False  # without envelope, with the field names of other gateways


_TASK = (("id", "task_id"),)
RESOURCES = (
    Resource(name="tasks", path="/api/tasks", operation="task_list"),
    Resource(name="task", path="/api/tasks/{id}", operation="task_get", path_names=_TASK),
    Resource(name="resume", path="/api/tasks/{id}/resume", operation="task_resume", path_names=_TASK),
    Resource(
        name="state",
        path="/api/tasks/{id}/state.yaml",
        operation="task_state",
        path_names=_TASK,
        media_type="application/yaml",
    ),
    Resource(name="search", path="/api/search", operation="task_recall", query_names=(("q", "query"),)),
    Resource(name="waits", path="/api/waits", operation="wait_status"),
    Resource(name="active_tasks", path="/active-tasks", operation="active_tasks", bare=True),
    # The path that clients of the original gateway use.
    Resource(
        name="active_tasks_of_plugin",
        path="/plugins/memory-public/active-tasks",
        operation="active_tasks",
        bare=True,
    ),
)
# Paths below /api that are not operations.
_NO_OPERATIONS = ("tasks", "search", "events", "waits")


class Mcp:
    """The MCP server behind the token check; every caller writes as an agent there."""

    def __init__(self, app: ASGIApp, gateway: Gateway) -> None:
        self._app = app
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = require(scope, "read").replace(channel="agent")
        scope["ringbolt.memory"] = await self._gateway.run(lambda: self._gateway.acting(caller, scope))
        scope["ringbolt.scopes"] = caller.scopes
        if scope["method"] != "POST":
            return await self._app(scope, receive, send)
        body = await read_body(scope, receive, self._gateway.settings)
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Message:
            return next(messages, None) or await receive()

        return await self._app(scope, again, send)


class Gateway:
    """The shared state of the routes: the memory, the threads, the metrics and the stream of new events."""

    def __init__(self, memory: TaskMemory, *, worker: bool, heartbeat: float) -> None:
        self.figures = metrics.Figures()
        self.settings = memory.settings
        self._memory = memory
        self._worker_wanted = worker
        self._heartbeat = heartbeat
        most = self.settings.http_threads
        self._threads = ThreadPools("http", {"read": most, "write": most})
        self._worker: threading.Thread | None = None
        self._stop = threading.Event()

    def routes(self) -> list[BaseRoute]:
        """Every route except the MCP server's. The first match of path and method wins."""
        return [
            *(Route(each.path, self._resource(each), methods=["GET"]) for each in RESOURCES),
            Route("/api/events", self._events, methods=["GET"]),
            Route("/api/tasks/{id}/events", self._events, methods=["GET"]),
            Route("/health", self._health, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Route("/openapi.json", self._openapi, methods=["GET"]),
            Route("/api/{operation}", self._operation, methods=["POST"]),
        ]

    # --- running ----------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self, mcp: Any) -> AsyncGenerator[None]:
        """The lifespan of the server."""
        tokens.load()  # before the first request: loading it on a thread would stop the loop all the same
        self.news = events.News(self._memory.store, self.run, self.figures)
        if self._worker_wanted:
            # A daemon: jobs that do not end in time go back to the queue and must not block the exit.
            self._worker = threading.Thread(target=self._work, name="ringbolt-worker", daemon=True)
            self._worker.start()
        else:
            watch_journal(self._memory, self._stop)
        try:
            async with AsyncExitStack() as stack:
                if mcp is not None:
                    await stack.enter_async_context(mcp.router.lifespan_context(mcp))
                yield
        finally:
            self.end()
            if self._worker is not None:
                await asyncio.to_thread(self._worker.join, _WORKER_SECONDS)
            self._threads.shutdown(wait=True)

    def end(self) -> None:
        """Prepare to stop: streams end now, running requests and jobs finish."""
        self._stop.set()
        self.news.end()

    def _work(self) -> None:
        try:
            Pool(self._memory).run(self._stop)
        except RingboltError as error:
            log.error("the worker gave up: %s %s", error.code, error)

    async def run(self, work: Callable[[], Any], use: Use = "read") -> Any:
        return await asyncio.wrap_future(self._threads.submit(use, work))

    # --- operations -------------------------------------------------------------------------------

    async def _operation(self, request: Request) -> Response:
        name = request.path_params["operation"]
        operation = OPERATIONS.get(name)
        if name in _NO_OPERATIONS:
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        if operation is None or not operation.http:
            raise HTTPException(404)
        request.scope["ringbolt.route"] = f"/api/{name}"
        require(request.scope, operation.scope)
        body = await read_body(request.scope, request.receive, self.settings)
        return await self._called(
            Resource(name=name, path="", operation=name), request, lambda: _arguments(body)
        )

    def _resource(self, resource: Resource) -> Endpoint:
        operation = OPERATIONS[resource.operation]
        renamed = dict(resource.query_names)

        async def respond(request: Request) -> Response:
            require(request.scope, operation.scope)
            arguments: dict[str, Any] = {}
            for name in request.query_params:
                values = request.query_params.getlist(name)
                arguments[renamed.get(name, name)] = values if len(values) > 1 else values[0]
            arguments |= {target: request.path_params[name] for name, target in resource.path_names}
            return await self._called(resource, request, lambda: arguments)

        return respond

    async def _called(
        self, resource: Resource, request: Request, arguments: Callable[[], Mapping[str, Any]]
    ) -> Response:
        """Call an operation on a thread, which also parses the arguments and encodes the result."""

        def work() -> bytes:
            checked = read_arguments(name, arguments())
            caller = require(request.scope, scope_of(name, checked))
            result = getattr(self.acting(caller, request.scope), name)(**checked)
            if resource.media_type:
                return result.encode("utf-8", "replace")
            if resource.bare:
                return json.dumps(answer(result)).encode()
            return json.dumps({"schema_version": 1, "data": as_json(result)}).encode()

        name = resource.operation
        content = await self.run(work, use_of(name, OPERATIONS[name].scope))
        if OPERATIONS[name].scope == "write":
            self.news.poke()
        return Response(content, media_type=resource.media_type or _JSON)

    def acting(self, caller: Caller, scope: Scope) -> TaskMemory:
        """The memory for a caller: identity comes from the token, workspace and session from headers."""
        place = _header(scope, "workspace", 2000)
        if place and not place.startswith("/"):  # a relative path would start at the server's folder
            raise Refusal("bad_request", "X-Ringbolt-Workspace is not an absolute path.", "Start it with /.")
        return self._memory.acting_as(
            channel=caller.channel,
            workspace=place or "",
            session=_header(scope, "session", 200) or "",
            agent=_header(scope, "agent", 200) or "",
        )

    # --- other routes -----------------------------------------------------------------------------

    async def _events(self, request: Request) -> Response:
        caller = require(request.scope, "read")
        task_id = request.path_params.get("id")
        source = events.Feed(
            self.acting(caller, request.scope),
            self.news,
            self.run,
            task_id,
            brief=request.query_params.get("brief") == "1",
        )
        return await events.answer(request, source, self.news, self._heartbeat)

    async def _health(self, request: Request) -> Response:
        """Whether the store can be read: the only information without a token."""
        try:
            await self.run(lambda: self._memory.store.read(lambda tx: tx.last_position()))
        except RingboltError as error:
            log.error("the store cannot be read: %s", error.code)
            return Response(b'{"ok": false}', 503, media_type=_JSON)
        return Response(b'{"ok": true}', media_type=_JSON)

    async def _metrics(self, request: Request) -> Response:
        require(request.scope, "read")
        alive = self._worker.is_alive() if self._worker is not None else None
        of_store = await self.run(lambda: list(metrics.store_lines(self._memory, alive)))
        text = "\n".join((*self.figures.lines(), *of_store)) + "\n"
        return Response(text, media_type=metrics.MEDIA_TYPE)

    async def _openapi(self, request: Request) -> Response:
        require(request.scope, "read")
        return Response(await self.run(lambda: openapi.document(RESOURCES)), media_type=_JSON)


def _arguments(body: bytes) -> dict[str, Any]:
    """The arguments in a request body."""
    try:
        arguments = read_json(body.decode("utf-8-sig") or "{}")
    except ValueError as error:
        raise InvalidInput(
            "invalid_json", f"The body is not JSON: {str(error)[:200]}.", "Send a JSON object."
        ) from None
    if not is_dict(arguments):
        raise InvalidInput("invalid_argument", "The body is not a JSON object.", 'For example {"text": "x"}.')
    return arguments


def _header(scope: Scope, name: str, most: int) -> str | None:
    """A header about the caller; None if it is missing, Refusal if it is not valid."""
    values = [value for key, value in scope["headers"] if key == b"x-ringbolt-" + name.encode()]
    if not values:
        return None
    try:
        text = values[0].decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if len(values) > 1 or len(text) > most or not text.isprintable():
        raise Refusal("bad_request", f"The header X-Ringbolt-{name.capitalize()} cannot be read.", "Fix it.")
    return text
