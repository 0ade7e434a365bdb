"""MCP servers as processes of their own, which a test can kill, and in this process with a client on them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager

import mcp.client.session
import mcp_types as types
from mcp import Client, StdioServerParameters

from ringbolt.surfaces.mcp.handlers import Caller
from ringbolt.surfaces.mcp.server import make_server

# On a busy machine a server may take longer to start than the client waits before it tries the older era.
mcp.client.session.DISCOVER_TIMEOUT_SECONDS = 60.0
# With an `initialize`, or as since 2026-07-28: each request on its own.
LEGACY, MODERN = "legacy", "auto"
MODES = [LEGACY, MODERN]
_NAME = "io.modelcontextprotocol"
ENVELOPE = {f"{_NAME}/protocolVersion": "2026-07-28", f"{_NAME}/clientCapabilities": {}}
ME = types.Implementation(name="test-client", version="1")

_STDIO = """
import os, sys
with open(sys.argv[1], "w") as file:
    file.write(str(os.getpid()))
from ringbolt.surfaces.cli.main import main
main(["mcp", *sys.argv[2:]])
"""
_HTTP = """
import socket, sys, uvicorn
from ringbolt import TaskMemory
from ringbolt.surfaces.mcp.http import asgi_app
memory = TaskMemory.open(sys.argv[1], workspace=sys.argv[2])
config = uvicorn.Config(asgi_app(memory), log_level="warning")
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[3]))])
"""


class StdioServer:
    """A server that each client starts for itself."""

    def __init__(self, folder, store) -> None:
        self._pid = folder / "pid"
        self._arguments = ["-c", _STDIO, str(self._pid), "--store", str(store), "--workspace", str(folder)]

    def client(self, mode: str, **options) -> Client:
        program = StdioServerParameters(command=sys.executable, args=self._arguments, env=dict(os.environ))
        return Client(program, mode=mode, client_info=ME, **options)

    def kill(self) -> None:
        os.kill(int(self._pid.read_text()), signal.SIGKILL)

    def restart(self) -> None:
        """The next client starts it."""


class HttpServer:
    """A server on a socket that is there all the time: whoever comes between two servers waits."""

    def __init__(self, folder, store) -> None:
        self._arguments = [sys.executable, "-c", _HTTP, str(store), str(folder)]
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._process: subprocess.Popen | None = None
        self.restart()

    def client(self, mode: str, **options) -> Client:
        url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"
        return Client(url, mode=mode, client_info=ME, **options)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=100)

    def restart(self) -> None:
        number = self._socket.fileno()
        self._process = subprocess.Popen([*self._arguments, str(number)], pass_fds=[number])

    def close(self) -> None:
        self.kill()
        self._socket.close()


def stdio_client(store, *arguments: str, mode: str = MODERN, **options) -> Client:
    """A client of a server that it starts as hosts do."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ringbolt", "mcp", "--store", str(store), *arguments],
        env=dict(os.environ),
    )
    return Client(program, mode=mode, client_info=ME, **options)


@contextmanager
def server_process(kind: str, folder, store):
    """A server over stdio or HTTP on a store."""
    server = (StdioServer if kind == "stdio" else HttpServer)(folder, store)
    try:
        yield server
    finally:
        if isinstance(server, HttpServer):
            server.close()


@asynccontextmanager
async def connected(memory, *, tools: str = "core", mode: str = MODERN, **options):
    """A client of a server in this process, on a memory."""

    async def caller(_):
        return Caller(memory=lambda: memory)

    async with Client(make_server(tools, caller), mode=mode, client_info=ME, **options) as client:
        yield client


def said(result) -> str:
    """The text of a result, without the links after it."""
    first, *rest = result.content
    assert all(part.type == "resource_link" for part in rest)
    return first.text
