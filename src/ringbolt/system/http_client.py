"""One request to a server that may be slow, broken or hostile: bounded in time and size.

Functions import http, ssl, socket, ipaddress and urllib themselves: those modules take longer to load than
the rest of TaskMemory, and most processes make no request.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..model.errors import shown
from ..model.types import Value

if TYPE_CHECKING:
    from http.client import HTTPConnection

Result = TypeVar("Result")

CONNECT_SECONDS = 1.0


class Address(Value, frozen=True, kw_only=True):
    """The address of a request."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


class StatusError(OSError):
    """The server answered with a status other than 200."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"it answered {status} {shown(body[:300].decode('utf-8', 'replace'), 200)}")
        self.status = status


class TooLarge(OSError):
    """The response is larger than allowed."""


class Unreachable(OSError):
    """No connection could be made, so nothing was sent."""


class Forbidden(OSError):
    """The address must not be called; nothing was sent."""


def read_address(url: str, below: str) -> Address:
    """The address of a path below the base URL of a server; ValueError if the URL is not valid."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    plain = url.isprintable() and " " not in url and not parts.username and not parts.query
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise ValueError("not the URL of a server")
    path = f"{parts.path.rstrip('/')}/{below}"
    return Address(scheme=parts.scheme, host=parts.hostname, port=port, path=path)


def read_url(url: str, what: str) -> Address:
    """The address of a URL; ValueError, which names `what`, if it is not a plain http or https URL."""
    from urllib.parse import urlsplit

    if not (url.isascii() and url.isprintable()) or any(letter in url for letter in ' \\"<>^`{|}'):
        raise ValueError(f"{what} contains characters that are not allowed in a URL")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{what} is not an http:// or https:// URL")
    if "@" in parts.netloc:
        raise ValueError(f"{what} contains credentials")
    port = parts.port  # ValueError if it is not a number
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(
        scheme=parts.scheme,
        host=parts.hostname,
        port=(443 if parts.scheme == "https" else 80) if port is None else port,
        path=path,
    )


def is_public(ip: str) -> bool:
    """Whether an IP address is that of a public server.

    By IANA's registries of special-purpose addresses, not by Python's own list, which differs between its
    versions. Of IPv6 only global unicast addresses are public. An address that wraps an IPv4 address is as
    public as that one, or never, where the wrapping is obsolete or only for local use.
    """
    from ipaddress import IPv4Address, ip_address

    address = ip_address(ip.partition("%")[0])
    special_ipv4, unicast, nat64, special_ipv6 = _special_networks()
    if isinstance(address, IPv4Address):
        return not any(address in network for network in special_ipv4)
    if address.ipv4_mapped is not None:
        return is_public(str(address.ipv4_mapped))
    wrapped = str(IPv4Address(int(address) & 0xFFFFFFFF))
    if address in nat64:
        return is_public(wrapped)
    if address not in unicast or any(address in network for network in special_ipv6):
        return False
    is_isatap = (int(address) >> 32) & 0xFCFFFFFF == 0x5EFE
    return not is_isatap or is_public(wrapped)


# https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast. The last one is public, but on
# Azure it is the host of the virtual machine.
_SPECIAL_IPV4 = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
    198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
"""
# https://www.iana.org/assignments/iana-ipv6-special-registry, as far as it is global unicast: protocol
# assignments (with Teredo and ORCHID), documentation, 6to4, AS112, documentation.
_SPECIAL_IPV6 = "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20"


@cache
def _special_networks() -> Any:
    from ipaddress import IPv4Network, IPv6Network

    return (
        tuple(map(IPv4Network, _SPECIAL_IPV4.split())),
        IPv6Network("2000::/3"),
        IPv6Network("64:ff9b::/96"),
        tuple(map(IPv6Network, _SPECIAL_IPV6.split())),
    )


def read_key(variable: str) -> str:
    """The API key in an environment variable, or ""; ValueError if it cannot be a key."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable()):  # the message must not contain the key
        raise ValueError(f"the key in {shown(variable)} contains characters that are not allowed")
    return key


def post(address: Address, key: str, value: Any, seconds: float, most_bytes: int) -> bytes:
    """Post a JSON value and return the body of the response. Every failure is an OSError.

    A redirect is also an error: the key is for this server only.
    """
    body = json.dumps(value).encode("utf-8", "replace")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    status, read = exchange(address, body, headers, seconds, most_bytes)
    if status != 200:
        # Some servers repeat the key that they reject.
        raise StatusError(status, read.replace(key.encode(), b"***") if key else read)
    if len(read) > most_bytes:
        raise TooLarge(f"its response has more than {most_bytes} bytes")
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
    """Send a JSON body, or a GET without one; returns the status and at most `most_bytes` + 1 bytes.

    Redirects are not followed. With `allowed`, the host is resolved once and every address must be allowed,
    or nothing is sent; the connection goes to exactly these addresses, so DNS cannot change in between. Every
    failure is an OSError.
    """
    return _bounded(lambda opened: _exchange(address, body, headers, most_bytes, allowed, opened), seconds)


def is_open(host: str, port: int, seconds: float, allowed: Callable[[str], bool]) -> bool:
    """Whether a port accepts connections; OSError if the host is unknown or not allowed."""
    import socket

    def call(_: list[HTTPConnection]) -> bool:
        for place in _pinned(Address(scheme="", host=host, port=port, path=""), allowed):
            try:
                socket.create_connection(place, CONNECT_SECONDS).close()
            except OSError:
                continue
            return True
        return False

    return _bounded(call, seconds)


def error_text(error: Exception) -> str:
    """The message of an error, without a full stop."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")


def _exchange(
    address: Address,
    body: bytes | None,
    headers: Mapping[str, str],
    most_bytes: int,
    allowed: Callable[[str], bool] | None,
    opened: list[HTTPConnection],
) -> tuple[int, bytes]:
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = kind(address.host, address.port, timeout=CONNECT_SECONDS)
    opened.append(connection)
    try:
        _connect(connection, None if allowed is None else _pinned(address, allowed))
        connection.sock.settimeout(None)  # `_bounded` limits the rest
        sent = {"User-Agent": "ringbolt", **headers}
        if body is None:
            connection.request("GET", address.path, headers=sent)
        else:
            connection.request("POST", address.path, body, {"Content-Type": "application/json", **sent})
        answer = connection.getresponse()
        return answer.status, answer.read(most_bytes + 1)
    except HTTPException as error:
        raise OSError(f"it is not an HTTP server ({type(error).__name__})") from None
    finally:
        connection.close()


def _connect(connection: HTTPConnection, places: list[tuple[str, int]] | None) -> None:
    try:
        if places is None:
            connection.connect()
        else:
            connection.sock = _opened(connection, places)
    except (OSError, UnicodeError) as error:  # UnicodeError: not a valid host name
        raise Unreachable(error_text(error)) from None


def _pinned(address: Address, allowed: Callable[[str], bool]) -> list[tuple[str, int]]:
    """The addresses of a host; raises `Forbidden` if any is not allowed."""
    import socket

    try:
        resolved = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(error_text(error)) from None
    places = [(str(place[0]), address.port) for *_, place in resolved]
    for ip, _ in places:
        if not allowed(ip):
            raise Forbidden(f"{shown(address.host)} is {ip}, which must not be called")
    return places


def _opened(connection: HTTPConnection, places: list[tuple[str, int]]) -> Any:
    """A connection to the first address that answers; TLS checks the host's certificate."""
    import socket
    import ssl
    from http.client import HTTPSConnection

    failure: OSError = OSError("it has no address")
    for place in places:
        try:
            opened = socket.create_connection(place, CONNECT_SECONDS)
        except OSError as error:
            failure = error
            continue
        if not isinstance(connection, HTTPSConnection):
            return opened
        return ssl.create_default_context().wrap_socket(opened, server_hostname=connection.host)
    raise failure


def _bounded(call: Callable[[list[HTTPConnection]], Result], seconds: float) -> Result:
    """Run a call that may hang anywhere; TimeoutError if it takes too long.

    Neither name resolution nor a slow response has a total time limit, so another thread makes the call; when
    the time is up, its connections are shut down.
    """
    opened: list[HTTPConnection] = []
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call(opened))
        except Exception as error:  # noqa: BLE001 - raised below, in the waiting thread
            outcome.append(error)

    thread = threading.Thread(target=run, name="ringbolt-http", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        from socket import SHUT_RDWR

        for connection in opened:
            with suppress(OSError, AttributeError):  # not connected yet, or closed at this very moment
                connection.sock.shutdown(SHUT_RDWR)
        raise TimeoutError(f"it took more than {seconds:g} s")
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]
