"""Sessions of the web page: a cookie that stands for a token for a while, and cannot be turned back into it.

The cookie holds the kind of the token, an end, a random part, and a signature made with the token. So a
session outlives a restart of the server and ends with its token. Signing out is remembered while the server
runs.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Callable

from ...model.types import Value
from .auth import Caller, Tokens

SECONDS = 7 * 24 * 3600
_MOST_LETTERS = 200
_MOST_ENDED = 10_000


class Session(Value, frozen=True, kw_only=True):
    """A browser that has shown a token, and until when that counts."""

    caller: Caller
    expires: int


class Sessions:
    """Makes and reads the cookies of one server. Ports share cookies, so each has a name of its own."""

    def __init__(self, tokens: Tokens, port: int, clock: Callable[[], float] = time.time) -> None:
        self.cookie = f"ringbolt_{port}"
        self._tokens = tokens
        self._clock = clock
        self._ended: dict[bytes, int] = {}

    def open(self, token: bytes) -> tuple[str, Session] | None:
        """A new cookie for whoever has a token; None for any other."""
        caller = self._tokens.caller(token)
        if caller is None:
            return None
        expires = int(self._clock()) + SECONDS
        said = f"{caller.kind}.{expires}.{os.urandom(12).hex()}"
        return f"{said}.{self._signature(caller.kind, said)}", Session(caller=caller, expires=expires)

    def read(self, cookie: bytes) -> Session | None:
        """The session of a cookie, if we made it and it is not over."""
        if not cookie or len(cookie) > _MOST_LETTERS or cookie in self._ended or not cookie.isascii():
            return None
        said, _, signature = cookie.decode().rpartition(".")
        kind, _, rest = said.partition(".")
        expires = rest.partition(".")[0]
        expected = self._signature(kind, said)
        if not expected or not hmac.compare_digest(expected, signature):
            return None
        caller = self._tokens.of_kind(kind)
        if caller is None or int(expires) <= self._clock():
            return None
        return Session(caller=caller, expires=int(expires))

    def close(self, cookie: bytes) -> None:
        """End a session before its time."""
        session = self.read(cookie)
        if session is not None:
            now = self._clock()
            self._ended = {one: end for one, end in self._ended.items() if end > now}
            if len(self._ended) < _MOST_ENDED:
                self._ended[cookie] = session.expires

    def given(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """The cookie that a request carries; empty if there is none, or more than one."""
        wanted = self.cookie.encode()
        found: list[bytes] = []
        for name, value in headers:
            if name == b"cookie":
                parts = (part.strip().partition(b"=") for part in value.split(b";"))
                found += [said for key, _, said in parts if key == wanted]
        return found[0] if len(found) == 1 else b""

    def header(self, cookie: str, *, secure: bool) -> str:
        """Set-Cookie for a session; with an empty cookie it is taken away."""
        seconds = SECONDS if cookie else 0
        safe = "; Secure" if secure else ""
        return f"{self.cookie}={cookie}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{safe}"

    def _signature(self, kind: str, said: str) -> str:
        return self._tokens.signature(kind, b"session of the web page\0" + said.encode())
