"""Sessions of the web page: a text that stands in for a token for a limited time and does not reveal it.

The page keeps it in its own tab and sends it as a header. It is not a cookie: a browser sends cookies to
every port of the host, so any other local server would get it. It holds the name of the token, an expiry
time, a random part, and a signature made with the token. So a session survives a restart of the server and
ends when its token is rotated or revoked. Sign-outs are kept in memory and therefore last only until the
server restarts.

A link with a one-time code signs a browser in without the token: `ringbolt serve` prints it to its user.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Callable

from ...model.types import Value
from .auth import Caller, Tokens

SECONDS = 7 * 24 * 3600
PREFIX = "rbs"
CODE_SECONDS = 600  # how long a one-time code can be used
_MAX_LENGTH = 250
_MAX_SIGNED_OUT = 10_000


class Session(Value, frozen=True, kw_only=True):
    """A signed-in browser: its caller and its expiry."""

    caller: Caller
    expires: int


class Sessions:
    """Issues and checks the sessions of one server."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float] = time.time) -> None:
        self._tokens = tokens
        self._clock = clock
        self._signed_out: dict[bytes, int] = {}
        self._codes: dict[bytes, float] = {}  # digests of unused one-time codes, with their expiry

    def open(self, token: bytes) -> tuple[str, Session] | None:
        """A new session for a valid token, with the text that stands for it; None for any other token."""
        caller = self._tokens.caller(token)
        return None if caller is None else self._opened(caller)

    def new_code(self) -> str:
        """A code that signs one browser in as the user, once and soon."""
        code = secrets.token_urlsafe(32)
        self._codes[_digest(code.encode())] = self._clock() + CODE_SECONDS
        return code

    def exchange(self, code: bytes) -> tuple[str, Session] | None:
        """A new session of the user for an unused code; None if it was used, has expired or is unknown."""
        expires = self._codes.pop(_digest(code), 0)
        caller = self._tokens.of_kind("user") if expires > self._clock() else None
        return None if caller is None else self._opened(caller)

    def _opened(self, caller: Caller) -> tuple[str, Session]:
        expires = int(self._clock()) + SECONDS
        payload = f"{PREFIX}.{caller.kind}.{expires}.{os.urandom(12).hex()}"
        return f"{payload}.{self._signature(caller.kind, payload)}", Session(caller=caller, expires=expires)

    def read(self, secret: bytes) -> Session | None:
        """The session that a text stands for, if it is correctly signed, not expired, and not signed out."""
        if not secret or len(secret) > _MAX_LENGTH or secret in self._signed_out or not secret.isascii():
            return None
        payload, _, signature = secret.decode().rpartition(".")
        prefix, kind, expires, *_ = [*payload.split("."), "", "", ""]
        expected = self._signature(kind, payload) if prefix == PREFIX else ""
        if not expected or not hmac.compare_digest(expected, signature):
            return None
        caller = self._tokens.of_kind(kind)
        if caller is None or int(expires) <= self._clock():
            return None
        return Session(caller=caller, expires=int(expires))

    def close(self, secret: bytes) -> None:
        """Sign out: end a session before it expires."""
        session = self.read(secret)
        if session is not None:
            now = self._clock()
            self._signed_out = {known: end for known, end in self._signed_out.items() if end > now}
            if len(self._signed_out) < _MAX_SIGNED_OUT:
                self._signed_out[secret] = session.expires

    def _signature(self, kind: str, payload: str) -> str:
        return self._tokens.signature(kind, b"session of the web page\0" + payload.encode())


def _digest(code: bytes) -> bytes:
    # Looking a digest up takes no time that depends on the code.
    return hashlib.sha256(code).digest()
