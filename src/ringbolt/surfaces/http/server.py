"""The uvicorn server: listening, timeouts for slow clients, and graceful shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import ssl
import threading
from collections.abc import Generator
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...model.errors import InvalidInput, StoreError, shown
from .guard import MOST_HEAD

SHUTDOWN_SECONDS = 20  # time for running requests when the server shuts down
KEEP_ALIVE_SECONDS = 15
Tls = tuple[str, str]  # the paths of a certificate with its chain, and of its key
MOST_CONNECTIONS = 800  # below the usual limit of 1024 files per process


class Server(uvicorn.Server):
    """A uvicorn server that ends its streams, finishes running requests, and then returns to its caller.

    `seconds` is the time limit for the head of a request, `connections` the number of open connections, `tls`
    the files with the certificate and its key.
    """

    def __init__(
        self, app: Starlette, seconds: float, connections: int = MOST_CONNECTIONS, tls: Tls | None = None
    ) -> None:
        self._app = app
        cert, key = tls or (None, None)
        config = uvicorn.Config(
            app,
            http=_protocol(seconds, connections),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            h11_max_incomplete_event_size=MOST_HEAD,
            ssl_certfile=cert,
            ssl_keyfile=key,
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting requests, end the streams, and wait for running requests."""
        self._app.state.gateway.end()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal shuts down gracefully; a second one kills the process."""
        super().handle_exit(sig, frame)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle signals, but do not re-raise them as uvicorn does: the caller still has a store to close."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _protocol(seconds: float, most: int) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol, with limits for clients that connect and send nothing, or little by little.

    The head of a request must arrive in time. If there are too many connections, those that have waited
    longest for a request to arrive are closed, so that a new client is always answered.
    """
    waiting: dict[Protocol, None] = {}  # in the order in which they began to wait
    opened: dict[Protocol, None] = {}

    class Protocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            opened[self] = None
            self._expect()
            while len(opened) > most and (oldest := next(iter(waiting))) is not self:
                oldest.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
                self._expect()
            else:
                self._relax()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            waiting[self] = None  # uvicorn limits how long it may be idle

        def connection_lost(self, exc: Exception | None) -> None:
            self._relax()
            opened.pop(self, None)
            super().connection_lost(exc)

        def abort(self) -> None:
            self._relax()
            opened.pop(self, None)
            self.transport.abort()

        def _expect(self) -> None:
            waiting[self] = None
            if self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _relax(self) -> None:
            waiting.pop(self, None)
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Protocol


def check_host(host: str, names: str, *, is_safe: bool) -> None:
    """Raise unless the address is local, or http_hosts lists the names that clients use and TLS is done."""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if local or (names.strip() and is_safe):
        return
    raise InvalidInput(
        "invalid_argument",
        f"Other machines can reach {host}.",
        "Use 127.0.0.1. If others must reach the server, set http_hosts to the names that they use, and give"
        " a certificate with --tls-cert and --tls-key; if a proxy in front does TLS, set http_tls_proxy.",
    )


def read_certificate(cert: str, key: str) -> Tls | None:
    """The files for TLS, if there are any; an error if they do not belong together or cannot be read."""
    if not cert and not key:
        return None
    if not cert or not key:
        raise InvalidInput(
            "invalid_argument", "TLS needs a certificate and its key.", "Pass --tls-cert and --tls-key."
        )
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        reason = getattr(error, "reason", None) or error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(
            "invalid_argument",
            f"The certificate {shown(cert, 400)} with the key {shown(key, 400)} cannot be used: {reason}.",
            "Name PEM files of this server: the certificate with its chain, and the key without a password.",
        ) from None
    return cert, key


@contextlib.contextmanager
def listen(host: str, port: int) -> Generator[socket.socket]:
    """A listening socket; port 0 picks a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol, or asyncio does not set TCP_NODELAY, which costs 40 ms per response.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
            bound.listen(512)
        except (OSError, OverflowError) as error:
            raise StoreError(
                "store_unavailable",
                f"The server cannot listen on {shown_host(host)}:{port}: {error}.",
                "Choose another port, or stop the process that uses this one.",
            ) from None
        yield bound
    finally:
        bound.close()


def shown_host(host: str) -> str:
    """A host as it is written in a URL."""
    return f"[{host}]" if ":" in host else host
