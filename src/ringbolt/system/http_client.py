"""One request to a server that may be slow, broken or hostile: bounded in time and in size."""

from __future__ import annotations

import json
import os
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv6Address, ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ..model.errors import shown
from ..model.types import Value

Result = TypeVar("Result")


CONNECT_SECONDS = 1.0


class Address(Value, frozen=True, kw_only=True):
    """Where a server takes its requests."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


class StatusError(OSError):
    """The server answered, but not with 200."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"it answered {status} {shown(body[:300].decode('utf-8', 'replace'), 200)}")
        self.status = status


class TooLarge(OSError):
    """The answer has more bytes than anyone wants."""


class Unreachable(OSError):
    """There was no connection, so nothing was sent."""


class Forbidden(OSError):
    """The address is one that must not be called; nothing was sent."""


def read_address(url: str, below: str) -> Address:
    """The address of a path below the base URL of a server; ValueError if that is no URL of one."""

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    plain = url.isprintable() and " " not in url and not parts.username and not parts.query
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise ValueError("no address of a server")
    path = f"{parts.path.rstrip('/')}/{below}"
    return Address(scheme=parts.scheme, host=parts.hostname, port=port, path=path)


def read_url(url: str, what: str) -> Address:
    """The address that a URL names; ValueError, which says `what`, if it is not a plain http or https one."""

    if not (url.isascii() and url.isprintable()) or any(letter in url for letter in ' \\"<>^`{|}'):
        raise ValueError(f"{what} has characters that no URL has")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{what} is no http:// or https:// URL")
    if "@" in parts.netloc:
        raise ValueError(f"{what} has credentials in it")
    port = parts.port  # ValueError if it is none
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(
        scheme=parts.scheme,
        host=parts.hostname,
        port=(443 if parts.scheme == "https" else 80) if port is None else port,
        path=path,
    )


def is_public(ip: str) -> bool:
    """Whether an address is one of the public internet, and not one that only wraps another."""

    address = ip_address(ip.partition("%")[0])
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(str(address.ipv4_mapped))
        if address.sixtofour is not None or address.teredo is not None:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def read_key(variable: str) -> str:
    """The key that a variable of the environment holds, or ""; ValueError if it cannot be one."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable()):  # and it must not get into a message
        raise ValueError(f"the key in {shown(variable)} has letters that no key has")
    return key


def post(address: Address, key: str, value: Any, seconds: float, most_bytes: int) -> bytes:
    """The body of the answer to a JSON value. All that goes wrong is an OSError.

    A redirection is an error too: the key is for this server alone.
    """
    body = json.dumps(value).encode("utf-8", "replace")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    status, read = exchange(address, body, headers, seconds, most_bytes)
    if status != 200:
        # Some servers repeat the key that they refuse.
        raise StatusError(status, read.replace(key.encode(), b"***") if key else read)
    if len(read) > most_bytes:
        raise TooLarge(f"its answer has more than {most_bytes} bytes")
    return read


def exchange(
    address: Address,
    body: bytes | None,
    headers: Mapping[str, str],
    seconds: float,
    most_bytes: int,
    *,
    allowed: Callable[[str], bool] | None = None,
) -> tuple[int, bytes]:
    """The status of the answer to a body of JSON, and its first bytes: at most one more than `most_bytes`.

    Without a body it is a GET. No redirection is followed. With `allowed` the host is looked up once, and all
    that it is found to be must be allowed, or nothing is sent: what was judged is what is connected to. All
    that goes wrong is an OSError.
    """
    return _bounded(lambda opened: _exchange(address, body, headers, most_bytes, allowed, opened), seconds)


def is_open(host: str, port: int, seconds: float, allowed: Callable[[str], bool]) -> bool:
    """Whether anyone takes connections there; the host must be one that is allowed. Else an OSError."""

    def call(_: list[HTTPConnection]) -> bool:
        for place in _pinned(Address(scheme="", host=host, port=port, path=""), allowed):
            try:
                socket.create_connection(place, CONNECT_SECONDS).close()
            except OSError:
                continue
            return True
        return False

    return _bounded(call, seconds)


def said(error: Exception) -> str:
    """What an error of `post` says, without a full stop."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")


def _exchange(
    address: Address,
    body: bytes | None,
    headers: Mapping[str, str],
    most_bytes: int,
    allowed: Callable[[str], bool] | None,
    opened: list[HTTPConnection],
) -> tuple[int, bytes]:

    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = kind(address.host, address.port, timeout=CONNECT_SECONDS)
    opened.append(connection)
    try:
        _connect(connection, None if allowed is None else _pinned(address, allowed))
        connection.sock.settimeout(None)  # from here on the whole is bounded
        sent = {"User-Agent": "ringbolt", **headers}
        if body is None:
            connection.request("GET", address.path, headers=sent)
        else:
            connection.request("POST", address.path, body, {"Content-Type": "application/json", **sent})
        answer = connection.getresponse()
        return answer.status, answer.read(most_bytes + 1)
    except HTTPException as error:
        raise OSError(f"it does not speak HTTP ({type(error).__name__})") from None
    finally:
        connection.close()


def _connect(connection: HTTPConnection, places: list[tuple[str, int]] | None) -> None:
    try:
        if places is None:
            connection.connect()
        else:
            connection.sock = _opened(connection, places)
    except (OSError, UnicodeError) as error:  # UnicodeError: a host that cannot be a name
        raise Unreachable(said(error)) from None


def _pinned(address: Address, allowed: Callable[[str], bool]) -> list[tuple[str, int]]:
    """The addresses of a host, each of which is allowed."""

    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(said(error)) from None
    places = [(str(place[0]), address.port) for *_, place in found]
    for ip, _ in places:
        if not allowed(ip):
            raise Forbidden(f"{shown(address.host)} is {ip}, which must not be called")
    return places


def _opened(connection: HTTPConnection, places: list[tuple[str, int]]) -> Any:
    """A connection to the first of some addresses that answers, with the host's own certificate."""

    trouble: OSError = OSError("it has no address")
    for place in places:
        try:
            opened = socket.create_connection(place, CONNECT_SECONDS)
        except OSError as error:
            trouble = error
            continue
        if not isinstance(connection, HTTPSConnection):
            return opened
        return ssl.create_default_context().wrap_socket(opened, server_hostname=connection.host)
    raise trouble


def _bounded(call: Callable[[list[HTTPConnection]], Result], seconds: float) -> Result:
    """The result of a call that may hang anywhere, or TimeoutError when the time is up.

    Neither finding a host's address nor reading byte by byte has a time limit of its own, so another thread
    does the waiting; its connection is shut when nobody waits for it any more.
    """
    opened: list[HTTPConnection] = []
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call(opened))
        except Exception as error:  # noqa: BLE001 - raised below, by the one who waits
            outcome.append(error)

    thread = threading.Thread(target=run, name="ringbolt-http", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        for connection in opened:
            if (socket := connection.sock) is not None:
                _shut(socket)
        raise TimeoutError(f"it took more than {seconds:g} s")
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def _shut(socket: Any) -> None:

    with suppress(OSError):  # it was shut in this very moment
        socket.shutdown(2)
