"""The routes of the server, generated from the operations; they hold no rules about tasks."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...files.active_tasks import answer
from ...journal.catch_up import watch_journal
from ...memory import TaskMemory
from ...model.capabilities import workspace_refused
from ...model.errors import InvalidInput, RingboltError
from ...model.types import Value, as_json, is_dict
from ...operations import OPERATIONS, prepare, scope_of
from ...packet import tokens
from ...packet.encode import read_json
from ...system.thread_pools import ThreadPools, Use, use_of
from ...worker.pool import Pool
from ..blocking import WAIT, Waiting, blocks
from . import events, metrics, openapi
from .auth import Caller, Tokens
from .guard import Refusal, log, read_body, require

Endpoint = Callable[[Request], Awaitable[Response]]


_JSON = "application/json"
HEALTH_SECONDS = 5.0  # for the store to answer, until it counts as broken
USE_SECONDS = 60.0  # between two notes of when each token was last used
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
        caller = require(scope, "read")
        # Whatever the token: the caller is an agent, and removes nothing.
        caller = caller.replace(channel="agent", grant=caller.grant.limited_to("write"))
        scope["ringbolt.memory"] = self._gateway.acting(caller, scope)
        scope["ringbolt.waiting"] = self._gateway.waiting
        scope["ringbolt.run"] = partial(self._gateway.run, caller=caller)
        if scope["method"] != "POST":
            return await self._app(scope, receive, send)
        body = await read_body(scope, receive, self._gateway.settings)
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Message:
            return next(messages, None) or await receive()

        async with until_gone(receive) as scope["ringbolt.gone"]:
            return await self._app(scope, again, send)


class Gateway:
    """The shared state of the routes: the memory, the threads, the metrics and the stream of new events."""

    def __init__(self, memory: TaskMemory, tokens: Tokens, *, worker: bool, heartbeat: float) -> None:
        self._tokens = tokens
        self.figures = metrics.Figures()
        self.settings = memory.settings
        self._memory = memory
        self._worker_wanted = worker
        self._heartbeat = heartbeat
        most = self.settings.http_threads
        self._threads = ThreadPools("http", {"read": most, "write": most})
        # A thread of its own, so that it answers however busy the others are.
        self._health_thread: ThreadPoolExecutor | None = None
        self._shares: dict[str, asyncio.Semaphore] = {}
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
        self._health_thread = ThreadPoolExecutor(1, thread_name_prefix="http-health")
        self.news = events.News(self._memory.store, self.run, self.figures, self.settings.http_token_streams)
        self.waiting = Waiting(self._memory, self.run, self.settings.http_token_waits)
        if self._worker_wanted:
            # A daemon: jobs that do not end in time go back to the queue and must not block the exit.
            self._worker = threading.Thread(target=self._work, name="ringbolt-worker", daemon=True)
            self._worker.start()
        else:
            watch_journal(self._memory, self._stop)
        saving = asyncio.create_task(self._save_use())
        try:
            async with AsyncExitStack() as stack:
                if mcp is not None:
                    await stack.enter_async_context(mcp.router.lifespan_context(mcp))
                yield
        finally:
            saving.cancel()
            self._tokens.save_use()
            self.end()
            if self._worker is not None:
                await asyncio.to_thread(self._worker.join, _WORKER_SECONDS)
            self._threads.shutdown(wait=True)
            self._health_thread.shutdown(wait=False, cancel_futures=True)

    def end(self) -> None:
        """Prepare to stop: streams end now, running requests and jobs finish."""
        self._stop.set()
        self.news.end()
        # On a thread: the last check may take a moment.
        threading.Thread(target=self.waiting.end, name="ringbolt-ending", daemon=True).start()

    async def _save_use(self) -> None:
        """Write now and then when each token was last used."""
        while True:
            await asyncio.sleep(USE_SECONDS)
            await self.run(self._tokens.save_use)

    def _work(self) -> None:
        try:
            Pool(self._memory).run(self._stop)
        except RingboltError as error:
            log.error("the worker gave up: %s %s", error.code, error)

    async def run(self, work: Callable[[], Any], caller: Caller | None = None, use: Use = "read") -> Any:
        """Run a function on a thread; the calls of one token use only their share of the threads."""
        if caller is None:
            return await asyncio.wrap_future(self._threads.submit(use, work))
        share = self._shares.setdefault(
            caller.kind, asyncio.Semaphore(min(self.settings.http_token_threads, self.settings.http_threads))
        )
        async with share:
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

        name = resource.operation
        caller: Caller = request.scope["ringbolt.caller"]
        memory = self.acting(caller, request.scope)

        def prepared() -> dict[str, Any]:
            checked = prepare(caller.grant, name, arguments())
            require(request.scope, scope_of(name, checked))  # a session must be that of our page
            return checked

        def work() -> bytes:
            return encoded(getattr(memory, name)(**prepared()))

        def encoded(result: Any) -> bytes:
            if resource.media_type:
                return result.encode("utf-8", "replace")
            if resource.bare:
                return json.dumps(answer(result)).encode()
            return json.dumps({"schema_version": 1, "data": as_json(result)}).encode()

        if name == WAIT and blocks(name, checked := await self.run(prepared, caller)):
            async with until_gone(request.receive) as gone:
                content = encoded(await self.waiting.wait(memory, checked, gone))
        else:
            content = await self.run(work, caller, use_of(name, OPERATIONS[name].scope))
        if OPERATIONS[name].scope != "read":
            self.news.poke()
        return Response(content, media_type=resource.media_type or _JSON)

    def acting(self, caller: Caller, scope: Scope) -> TaskMemory:
        """The memory for a caller: identity, grant and workspaces come from the token.

        A header may choose among the workspaces of the token, and says the session and the agent.
        """
        grant = caller.grant
        allowed = (self._memory.workspace,) if grant.workspaces is None else grant.workspaces
        named = _header(scope, "workspace", 2000)
        if named and not named.startswith("/"):
            raise Refusal("bad_request", "X-Ringbolt-Workspace is not an absolute path.", "Start it with /.")
        workspace = named or next(iter(allowed), None)
        if workspace not in allowed:
            raise workspace_refused()
        return self._memory.acting_as(
            channel=caller.channel,
            workspace="" if workspace == self._memory.workspace else workspace,
            session=_header(scope, "session", 200) or "",
            agent=_header(scope, "agent", 200) or "",
            grant=grant,
        )

    # --- other routes -----------------------------------------------------------------------------

    async def _events(self, request: Request) -> Response:
        task_id = request.path_params.get("id")
        caller = require(request.scope, "read", everywhere=task_id is None)
        source = events.Feed(
            self.acting(caller, request.scope),
            self.news,
            lambda work: self.run(work, caller),
            task_id,
            brief=request.query_params.get("brief") == "1",
        )
        return await events.answer(request, source, self.news, self._heartbeat, caller.kind)

    async def _health(self, request: Request) -> Response:
        """Whether the store can be read: the only information without a token."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                await loop.run_in_executor(
                    self._health_thread, lambda: self._memory.store.read(lambda tx: tx.last_position())
                )
        except (RingboltError, TimeoutError) as error:
            log.error("the store cannot be read: %s", getattr(error, "code", "no answer"))
            return Response(b'{"ok": false}', 503, media_type=_JSON)
        return Response(b'{"ok": true}', media_type=_JSON)

    async def _metrics(self, request: Request) -> Response:
        caller = require(request.scope, "read", everywhere=True)
        alive = self._worker.is_alive() if self._worker is not None else None
        of_store = await self.run(lambda: list(metrics.store_lines(self._memory, alive)), caller)
        text = "\n".join((*self.figures.lines(), *of_store)) + "\n"
        return Response(text, media_type=metrics.MEDIA_TYPE)

    async def _openapi(self, request: Request) -> Response:
        require(request.scope, "read")
        return Response(await self.run(lambda: openapi.document(RESOURCES)), media_type=_JSON)


@asynccontextmanager
async def until_gone(receive: Receive) -> AsyncGenerator[asyncio.Event]:
    """An event that is set when the client closes the connection. The body must have been read."""
    gone = asyncio.Event()

    async def listen() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    listening = asyncio.create_task(listen())
    try:
        yield gone
    finally:
        listening.cancel()


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
