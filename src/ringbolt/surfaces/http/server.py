"""The server itself: where it listens, how long it waits for slow clients, and how it ends in good order."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import threading
from collections.abc import Generator
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...model.errors import InvalidInput, StoreError
from .guard import MOST_HEAD

SHUTDOWN_SECONDS = 20  # how long requests may still take when the server ends
KEEP_ALIVE_SECONDS = 15


class Server(uvicorn.Server):
    """A server that ends its streams first, finishes its requests, and returns to who called it."""

    def __init__(self, app: Starlette, seconds: float) -> None:
        self._app = app
        config = uvicorn.Config(
            app,
            http=_protocol(seconds),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            h11_max_incomplete_event_size=MOST_HEAD,
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more requests, end the streams, and wait for what is under way."""
        self._app.state.gateway.end()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends the server in good order, a second one ends it at once."""
        super().handle_exit(sig, frame)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_DFL)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """A signal ends the server, not the process: there is more to close than the server."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _protocol(seconds: float) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP, for clients who may also be slow on purpose: the head of a request has its time."""

    class Protocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
                self._expect()
            else:
                self._relax()

        def connection_lost(self, exc: Exception | None) -> None:
            self._relax()
            super().connection_lost(exc)

        def _expect(self) -> None:
            if self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _relax(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Protocol


def check_host(host: str, names: str) -> None:
    """Raise unless an address is this machine's own, or the names are set by which it may be called."""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local and not names.strip():
        raise InvalidInput(
            "invalid_argument",
            f"{host} can be reached from other machines.",
            "Serve 127.0.0.1; or, where that is wanted, set http_hosts to the names it may be called by, and"
            " put a server with TLS before it.",
        )


@contextlib.contextmanager
def listen(host: str, port: int) -> Generator[socket.socket]:
    """A socket that listens at an address; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, or asyncio would not switch off waiting for more to send: 40 ms for each answer.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
            bound.listen(512)
        except (OSError, OverflowError) as error:
            raise StoreError(
                "store_unavailable",
                f"The server cannot listen at {shown_host(host)}:{port}: {error}.",
                "Choose another port, or end what listens there.",
            ) from None
        yield bound
    finally:
        bound.close()


def shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
