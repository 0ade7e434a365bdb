"""Sessions of the web page: a cookie that stands in for a token for a limited time and does not reveal it.

The cookie holds the kind of token, an expiry time, a random part, and a signature made with the token. So a
session survives a restart of the server and ends when its token is rotated. Sign-outs are kept in memory and
therefore last only until the server restarts.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Callable

from ...model.types import Value
from .auth import Caller, Tokens

SECONDS = 7 * 24 * 3600
_MAX_LENGTH = 200
_MAX_SIGNED_OUT = 10_000


class Session(Value, frozen=True, kw_only=True):
    """A signed-in browser: its caller and its expiry."""

    caller: Caller
    expires: int


class Sessions:
    """Issues and checks the cookies of one server. Browsers share cookies between ports, so its name has the
    port."""

    def __init__(self, tokens: Tokens, port: int, clock: Callable[[], float] = time.time) -> None:
        self.cookie = f"ringbolt_{port}"
        self._tokens = tokens
        self._clock = clock
        self._signed_out: dict[bytes, int] = {}

    def open(self, token: bytes) -> tuple[str, Session] | None:
        """A new cookie and session for a valid token; None for any other."""
        caller = self._tokens.caller(token)
        if caller is None:
            return None
        expires = int(self._clock()) + SECONDS
        payload = f"{caller.kind}.{expires}.{os.urandom(12).hex()}"
        return f"{payload}.{self._signature(caller.kind, payload)}", Session(caller=caller, expires=expires)

    def read(self, cookie: bytes) -> Session | None:
        """The session of a cookie, if it is correctly signed, not expired, and not signed out."""
        if not cookie or len(cookie) > _MAX_LENGTH or cookie in self._signed_out or not cookie.isascii():
            return None
        payload, _, signature = cookie.decode().rpartition(".")
        kind, _, rest = payload.partition(".")
        expires = rest.partition(".")[0]
        expected = self._signature(kind, payload)
        if not expected or not hmac.compare_digest(expected, signature):
            return None
        caller = self._tokens.of_kind(kind)
        if caller is None or int(expires) <= self._clock():
            return None
        return Session(caller=caller, expires=int(expires))

    def close(self, cookie: bytes) -> None:
        """Sign out: end a session before it expires."""
        session = self.read(cookie)
        if session is not None:
            now = self._clock()
            self._signed_out = {known: end for known, end in self._signed_out.items() if end > now}
            if len(self._signed_out) < _MAX_SIGNED_OUT:
                self._signed_out[cookie] = session.expires

    def cookie_of(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """The session cookie of a request; empty if there is none or more than one."""
        wanted = self.cookie.encode()
        cookies: list[bytes] = []
        for name, value in headers:
            if name == b"cookie":
                parts = (part.strip().partition(b"=") for part in value.split(b";"))
                cookies += [content for key, _, content in parts if key == wanted]
        return cookies[0] if len(cookies) == 1 else b""

    def header(self, cookie: str, *, secure: bool) -> str:
        """The Set-Cookie header for a session; an empty cookie deletes it."""
        seconds = SECONDS if cookie else 0
        suffix = "; Secure" if secure else ""
        return f"{self.cookie}={cookie}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{suffix}"

    def _signature(self, kind: str, payload: str) -> str:
        return self._tokens.signature(kind, b"session of the web page\0" + payload.encode())
