"""The checks before every route: host, origin, token, body size and time, and the number of requests.

421  a Host that is not the server's own, as in a DNS rebinding attack
403  a web page of another origin, or a token that does not allow this
401  no token, or an unknown one
415  a body not declared as JSON, which any web page could send without a preflight request
408, 413  a body that takes too long or is too large
429  too many requests, streams or waits of one token at once
503  too many requests at once
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...model.capabilities import Access, access_refused, workspace_refused
from ...model.errors import RingboltError
from ...model.settings import Settings
from ...operations import http_status
from .auth import Caller, Issuer, NoScope, Tokens
from .metrics import Figures
from .session import Sessions

log = logging.getLogger("ringbolt.http")

# Error codes of this surface only; all others are in model/errors.py.
CODES = {
    "wrong_host": (421, "The Host header does not name this server."),
    "wrong_origin": (403, "The request came from a web page of another origin."),
    "no_token": (401, "The token is missing or unknown."),
    "no_scope": (403, "The token of the authorization server has no scope for this server."),
    "wrong_type": (415, "The body is not declared as JSON."),
    "bad_request": (400, "The request is malformed: a bad header, or a body where none is allowed."),
    "no_route": (404, "No route matches this path."),
    "wrong_method": (405, "The path exists, but not for this method; `Allow` lists the right ones."),
    "too_slow": (408, "The request took too long to arrive."),
    "too_many": (503, "Too many requests at once; `Retry-After` says when to try again."),
    "quota": (429, "Too many requests or streams of this token at once; end some of them."),
    "server_failed": (500, "Internal error; see the server's log."),
}
OPEN = "/health"  # needs no token
PAGE = "/"  # the web page, which shows nothing until someone signs in
ASSETS = "/assets/"  # the static files of the page
METADATA = "/.well-known/oauth-protected-resource"  # where clients learn who issues tokens
SESSION = "/api/session"  # sign in and out
PAGE_HEADER = b"x-ringbolt-page"  # sent by our page; a form or link of another page cannot add it
MOST_HEAD = 32 << 10  # bytes of all headers
ANYONE = ""  # stands for all requests without a token, which share one quota
# Seconds that a client may take to accept a part of a response, before it is cut off.
SEND_SECONDS = 30.0
_CLOSING = ("too_slow", "too_large", "bad_request")
_SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class Refusal(Exception):
    """A request was refused before it reached an operation."""

    def __init__(self, code: str, message: str, hint: str = "", headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.headers = dict(headers or {})
        self.status = CODES[code][0] if code in CODES else 413

    def to_dict(self) -> dict[str, object]:
        """The refusal in the same shape as any error."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": {}}


def error_response(error: Exception) -> Response:
    """The response for any exception."""
    headers: dict[str, str] = {}
    if isinstance(error, RingboltError):
        status, body = http_status(error), error.to_dict()
        if status == 503:
            headers["Retry-After"] = "1"
    else:
        refusal = error if isinstance(error, Refusal) else _refusal(error)
        status, body, headers = refusal.status, refusal.to_dict(), dict(refusal.headers)
        if refusal.code in _CLOSING:  # do not wait for the rest of the request
            headers["Connection"] = "close"
    return Response(
        json.dumps({"schema_version": 1, "error": body}),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def _refusal(error: Exception) -> Refusal:
    if isinstance(error, HTTPException) and error.status_code == 404:
        return Refusal("no_route", "No route matches this path.", "GET /openapi.json lists the paths.")
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        return Refusal(
            "wrong_method", "This path does not support this method.", f"Use {allowed}.", {"Allow": allowed}
        )
    log.error("a request failed", exc_info=error)
    return Refusal(
        "server_failed", "The server had an internal error.", "See its log. Retry with the same key."
    )


def require(scope: Scope, needed: Access, *, everywhere: bool = False) -> Caller:
    """The caller of a request. Raises if its token lacks the access `needed`, or, with `everywhere`, if it is
    bound to some workspaces."""
    caller: Caller = scope["ringbolt.caller"]
    if needed != "read" and "ringbolt.session" in scope:
        require_own_page(scope)
    if not caller.grant.includes(needed):
        raise access_refused(caller.grant, scope["path"], needed)
    if everywhere and caller.grant.workspaces is not None:
        raise workspace_refused()
    return caller


def require_own_page(scope: Scope) -> None:
    """Raise unless our own page sent the request, which is the only one that a session is for."""
    own = _own_origin(scope)
    same = _header(scope, b"sec-fetch-site").lower() == b"same-origin" or _header(scope, b"origin") == own
    if not same or not _header(scope, PAGE_HEADER):
        raise Refusal(
            "wrong_origin",
            "A session is only valid for requests from the server's own page.",
            "Send Authorization: Bearer TOKEN instead.",
        )


async def read_body(scope: Scope, receive: Receive, settings: Settings, most: int | None = None) -> bytes:
    """The body of a request. Raises Refusal if it is not JSON, too large or too slow."""
    if _header(scope, b"content-type").split(b";")[0].strip().lower() != b"application/json":
        raise Refusal("wrong_type", "The body must be JSON.", "Send it with Content-Type: application/json.")
    if _header(scope, b"content-encoding").lower() not in (b"", b"identity"):
        raise Refusal("wrong_type", "The body must not be compressed.", "Send it uncompressed.")
    most = most or settings.http_max_body_bytes
    length = _header(scope, b"content-length")
    if length.isdigit() and int(length[:18]) > most:
        raise _too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(settings.http_request_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal("bad_request", "The request ended before its body did.")
                body += message.get("body", b"")
                if len(body) > most:
                    raise _too_large(most)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Refusal(
            "too_slow", "The body took too long.", "Send it faster, or raise http_request_seconds."
        ) from None


def _too_large(most: int) -> Refusal:
    return Refusal(
        "too_large",
        f"The body has more than {most:,} bytes.",
        "Make it smaller, or raise http_max_body_bytes.",
    )


class Guard:
    """ASGI middleware that admits a request to the application or refuses it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens,
        sessions: Sessions,
        settings: Settings,
        figures: Figures,
        hosts: frozenset[bytes],
        origins: frozenset[bytes],
        issuer: Issuer | None = None,
    ) -> None:
        self._app = app
        self._issuer = issuer
        self._tokens = tokens
        self._sessions = sessions
        self._most = settings.http_requests
        self._most_of_token = settings.http_token_requests
        self._running: Counter[str] = Counter()
        self._figures = figures
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":  # WebSockets are not supported
            return await send({"type": "websocket.close", "code": 1008})
        begun = time.perf_counter()
        status = 0

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_safe(message.get("headers", []))
            async with asyncio.timeout(SEND_SECONDS):  # waits while the client reads nothing
                await send(message)

        self._figures.running += 1
        token = None
        try:
            self._admit(scope)
            if not _is_public(scope):
                scope["ringbolt.caller"] = await self._caller(scope)
            token = self._count(scope)
            await self._app(scope, receive, guarded)
        except Exception as error:
            if status and isinstance(error, TimeoutError):  # the client reads nothing
                log.warning("a client did not read its response: %s", scope["path"])
                return None
            if status:  # the response has started, so it can only be cut off
                raise
            await error_response(error)(scope, receive, guarded)
        finally:
            if token is not None:
                self._running[token] -= 1
            self._figures.running -= 1
            self._figures.count(_route(scope), scope["method"], status, time.perf_counter() - begun)
        return None

    def _admit(self, scope: Scope) -> None:
        """Raise Refusal unless a request of this form may proceed."""
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEAD:
            raise Refusal("bad_request", "The request headers are too large.", "Send fewer headers.")
        self._check_host(scope)
        self._check_origin(scope)
        if scope["method"] in ("GET", "HEAD") and (
            _header(scope, b"content-length") not in (b"", b"0") or _header(scope, b"transfer-encoding")
        ):
            raise Refusal("bad_request", "GET and HEAD requests must not have a body.", "Leave it out.")
        if self._figures.running > self._most and scope["path"] != OPEN:
            raise Refusal("too_many", "Too many requests at once.", "Try again soon.", {"Retry-After": "1"})

    def _count(self, scope: Scope) -> str | None:
        """Count a request for the quota of its token; the health check is never refused."""
        if scope["path"] == OPEN:
            return None
        caller: Caller | None = scope.get("ringbolt.caller")
        token = caller.kind if caller else ANYONE
        if self._running[token] >= self._most_of_token:
            raise Refusal(
                "quota",
                f"{self._most_of_token} requests of this token are open.",
                "End some of them, or raise http_token_requests.",
                {"Retry-After": "1"},
            )
        self._running[token] += 1
        return token

    def _check_host(self, scope: Scope) -> None:
        named = [value for name, value in scope["headers"] if name == b"host"]
        if len(named) != 1 or named[0].lower() not in self._hosts:
            raise Refusal(
                "wrong_host",
                "The Host header does not name this server.",
                "Use the address that the server printed, or add the name to http_hosts.",
            )

    def _check_origin(self, scope: Scope) -> None:
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        own = _own_origin(scope)
        site = _header(scope, b"sec-fetch-site").lower()
        linked = scope["path"] == PAGE and _header(scope, b"sec-fetch-mode").lower() == b"navigate"
        foreign = site not in (b"", b"none", b"same-origin") and not origins and not linked
        if foreign or any(
            origin.lower() != own and origin.lower() not in self._origins for origin in origins
        ):
            raise Refusal(
                "wrong_origin",
                "Web pages of other origins cannot call this server.",
                "If you trust the page, add its origin to http_origins.",
            )

    async def _caller(self, scope: Scope) -> Caller:
        authorization = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, secret = authorization[0].partition(b" ") if len(authorization) == 1 else (b"", b"", b"")
        secret = secret.strip() if scheme.lower() == b"bearer" else b""
        if session := self._sessions.read(secret):
            scope["ringbolt.session"] = session
            if scope["method"] not in ("GET", "HEAD"):
                require_own_page(scope)
            return session.caller
        caller = self._tokens.caller(secret)
        if caller is None and self._issuer is not None and secret.count(b".") == 2:
            caller = await self._issued(self._issuer, secret)
        if caller is None:
            error = "invalid_token" if secret else ""
            challenge = self._issuer.challenge(error) if self._issuer else "Bearer"
            raise Refusal(
                "no_token",
                "The token is missing or unknown.",
                "Send Authorization: Bearer TOKEN with a token from the file that the server printed.",
                {"WWW-Authenticate": challenge},
            )
        return caller

    async def _issued(self, issuer: Issuer, secret: bytes) -> Caller | None:
        """The caller behind a token of the authorization server, whose keys may have to be fetched."""
        try:
            return await asyncio.to_thread(issuer.caller, secret)
        except NoScope:
            raise Refusal(
                "no_scope",
                "The token has none of the scopes of this server.",
                "Ask the authorization server for ringbolt:read or ringbolt:write.",
                {"WWW-Authenticate": issuer.challenge("insufficient_scope")},
            ) from None


def _is_public(scope: Scope) -> bool:
    """Whether a request needs no token. Public routes reveal nothing about the store."""
    path, method = scope["path"], scope["method"]
    return (
        path in (OPEN, PAGE) or path.startswith((ASSETS, METADATA)) or (path == SESSION and method != "GET")
    )


def _own_origin(scope: Scope) -> bytes:
    """The origin of our own page, as the client addressed it."""
    return scope["scheme"].encode() + b"://" + _header(scope, b"host").lower()


def _header(scope: Scope, wanted: bytes) -> bytes:
    for name, value in scope["headers"]:
        if name == wanted:
            return value
    return b""


def _with_safe(headers: Any) -> list[tuple[bytes, bytes]]:
    """Headers plus the security headers that are not set yet."""
    own = [(bytes(name).lower(), bytes(value)) for name, value in headers]
    names = {name for name, _ in own}
    return [*own, *(header for header in _SAFE if header[0] not in names)]


def _route(scope: Scope) -> str:
    """The path template of the route that handled a request, for the metrics."""
    named = scope.get("ringbolt.route") or getattr(scope.get("route"), "path", None)
    return str(named or (scope["path"] if scope["path"] in (OPEN, PAGE) else "unknown"))


def host_names(host: str, port: int, more: str) -> frozenset[bytes]:
    """Every Host header that the server accepts: its own names, and `more` from the setting http_hosts."""
    own = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host} - {"0.0.0.0", "[::]"}  # noqa: S104
    names = {f"{name}:{port}" for name in own}
    for name in (part.strip().lower() for part in more.split(",") if part.strip()):
        names |= {name} if _has_port(name) else {name, f"{name}:{port}"}
    if port in (80, 443):
        names |= {name.removesuffix(f":{port}") for name in names}
    return frozenset(name.encode() for name in names)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdecimal() and not name.endswith("]")


def origin_names(listed: str) -> frozenset[bytes]:
    """The origins of the setting http_origins, as a browser writes them."""
    found: set[str] = set()
    for origin in (part.strip().lower().rstrip("/") for part in listed.split(",") if part.strip()):
        scheme, _, rest = origin.partition("://")
        found.add(f"{scheme}://{rest.removesuffix(_DEFAULT_PORTS.get(scheme, ':'))}")
    return frozenset(origin.encode() for origin in found)
