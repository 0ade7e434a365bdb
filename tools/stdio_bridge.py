"""Lets an HTTP client speak to our MCP server over stdio, for the conformance tool, which knows only HTTP.

It passes JSON-RPC messages on and adds nothing: one process of `ringbolt mcp` for each client that sends
`initialize`, and one for all requests since 2026-07-28, which stand alone. What a scenario finds out about
headers, statuses and streams is about this bridge, and nothing else uses it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Json = dict[str, Any]
_SESSION = "mcp-session-id"
# The statuses that HTTP servers give since 2026-07-28, by the code of the error in the answer.
_STATUSES = {-32600: 400, -32602: 400, -32022: 400, -32601: 404}


class Process:
    """A server that one client has for itself."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[str | int, asyncio.Future[list[Json]]] = {}
        self._heard: list[Json] = []  # what came since the last answer
        self._reader: asyncio.Task[None] | None = None

    async def send(self, message: Json) -> list[Json]:
        """What the server says until it has answered; nothing for a notification."""
        if self._process is None:
            words = [sys.executable, "-m", "ringbolt", "mcp", "--store", self._store]
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
            self._reader = asyncio.create_task(self._read())
        future: asyncio.Future[list[Json]] | None = None
        if "method" in message and "id" in message:
            future = self._waiting[message["id"]] = asyncio.get_running_loop().create_future()
        stdin: Any = self._process.stdin
        stdin.write(json.dumps(message).encode() + b"\n")
        await stdin.drain()
        return [] if future is None else await asyncio.wait_for(future, 60)

    async def _read(self) -> None:
        stdout: Any = self._process and self._process.stdout
        async for line in stdout:
            message = json.loads(line)
            self._heard.append(message)
            future = self._waiting.pop(message.get("id"), None) if "method" not in message else None
            if future is not None and not future.done():
                future.set_result(self._heard)
                self._heard = []

    async def end(self) -> None:
        if self._process is not None:
            stdin: Any = self._process.stdin
            stdin.close()
            await self._process.wait()
        if self._reader is not None:
            await self._reader


def bridge(store: str) -> Starlette:
    """The application; it ends its processes when it shuts down."""
    sessions: dict[str, Process] = {}

    async def post(request: Request) -> Response:
        message: Json = json.loads(await request.body())
        name = request.headers.get(_SESSION, "")
        if message.get("method") == "initialize" and "_meta" not in message.get("params", {}):
            name = uuid4().hex
        process = sessions.setdefault(name, Process(store))
        heard = await process.send(message)
        if not heard:
            return Response(status_code=202)
        headers = {_SESSION: name} if name else {}
        if len(heard) == 1:
            code = heard[0].get("error", {}).get("code")
            return JSONResponse(heard[0], 200 if name else _STATUSES.get(code, 200), headers)
        events = "".join(f"event: message\ndata: {json.dumps(each)}\n\n" for each in heard)
        return Response(events, media_type="text/event-stream", headers=headers)

    async def end() -> None:
        await asyncio.gather(*(process.end() for process in sessions.values()))

    return Starlette(routes=[Route("/mcp", post, methods=["POST"])], lifespan=lambda _: _Lifespan(end))


class _Lifespan:
    def __init__(self, end: Any) -> None:
        self._end = end

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        await self._end()
