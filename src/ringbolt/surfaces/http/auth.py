"""The server's tokens: three secrets in a file that only its owner can read.

read    can read
write   can read and write, as an agent
user    can read and write, as the person who owns the store
"""

from __future__ import annotations

import hmac
import json
import os
import stat
from typing import Any

from ...config import user_folder
from ...model.errors import InvalidInput
from ...model.types import Value, is_dict
from ...system.files import FileErrors, locked_folder, read_bounded, write_atomic

KINDS = ("read", "write", "user")
_BYTES = 32
_MIN_LENGTH, _MAX_LENGTH = 20, 200


class Caller(Value, frozen=True, kw_only=True):
    """The identity behind a token: what it can do, and as whom it writes."""

    kind: str
    scopes: frozenset[str]
    channel: str


CALLERS = {
    "read": Caller(kind="read", scopes=frozenset(("read",)), channel="agent"),
    "write": Caller(kind="write", scopes=frozenset(("read", "write")), channel="agent"),
    "user": Caller(kind="user", scopes=frozenset(("read", "write")), channel="user"),
}


def token_path() -> str:
    """The path of the token file."""
    return os.path.join(user_folder("data"), "tokens.json")


def make_tokens(path: str | None = None) -> dict[str, str]:
    """The tokens by kind; creates them if there are none yet."""
    return _create_or_rotate(path or token_path(), ())


def rotate_tokens(path: str | None = None, kinds: tuple[str, ...] = KINDS) -> dict[str, str]:
    """Replace the tokens of these kinds. A running server rejects the old ones at once."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InvalidInput(
            "unknown_word", f"There is no token kind {unknown[0]!r}.", f"Use {', '.join(KINDS)}."
        )
    return _create_or_rotate(path or token_path(), kinds)


def read_tokens(path: str | None = None) -> dict[str, str]:
    """The tokens by kind. Raises InvalidInput if anyone but the owner can read the file."""
    path = path or token_path()
    with FileErrors(path):
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077 or status.st_uid != os.getuid():
            raise InvalidInput(
                "invalid_argument",
                f"Other users can read the tokens in {path}, or it is not your own regular file.",
                f"Find out who could have read them, run `chmod 600 {path}`, and rotate the tokens.",
            )
        content = read_bounded(path, 10_000)
    try:
        fields: Any = json.loads(content)
    except (ValueError, RecursionError):
        fields = None
    tokens: dict[str, str] = {}
    for kind in KINDS if is_dict(fields) else ():
        secret = fields.get(kind)
        if isinstance(secret, str) and secret.isascii() and _MIN_LENGTH <= len(secret) <= _MAX_LENGTH:
            tokens[kind] = secret
    if set(tokens) != set(KINDS) or len(set(tokens.values())) != len(KINDS):
        raise InvalidInput(
            "invalid_argument",
            f"{path} does not contain valid tokens for {', '.join(KINDS)}.",
            "Move the file away; the next start creates new tokens.",
        )
    return tokens


def _create_or_rotate(path: str, kinds: tuple[str, ...]) -> dict[str, str]:
    folder = os.path.dirname(path)
    with FileErrors(path):
        os.makedirs(folder, 0o700, exist_ok=True)
        with locked_folder(folder):
            known = os.path.lexists(path)
            tokens = read_tokens(path) if known else {}
            for kind in kinds if known else KINDS:
                tokens[kind] = f"rb_{kind}_{os.urandom(_BYTES).hex()}"
            if kinds or not known:
                write_atomic(path, json.dumps(tokens, indent=1).encode() + b"\n")
    return tokens


class Tokens:
    """The tokens of a running server; reads the file again when it has changed."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path or token_path()
        self._seen: tuple[int, ...] = ()
        self._known: list[tuple[bytes, Caller]] = []
        make_tokens(self.path)
        self._refresh()

    def caller(self, secret: bytes) -> Caller | None:
        """The caller a token belongs to. Compares every token in constant time, against timing attacks."""
        self._refresh()
        found = None
        for known, caller in self._known:
            if hmac.compare_digest(known, secret):
                found = caller
        return found

    def of_kind(self, kind: str) -> Caller | None:
        """The caller for a kind of token; None while there is no such token."""
        self._refresh()
        return next((caller for _, caller in self._known if caller.kind == kind), None)

    def signature(self, kind: str, message: bytes) -> str:
        """The HMAC of a message with the token of a kind, in hex; empty if there is no such token."""
        self._refresh()
        for secret, caller in self._known:
            if caller.kind == kind:
                return hmac.new(secret, message, "sha256").hexdigest()
        return ""

    def _refresh(self) -> None:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:  # removed: reject everyone until it is back
            self._seen, self._known = (), []
            return
        seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
        if seen != self._seen:
            self._known = []
            tokens = read_tokens(self.path)
            self._known = [(secret.encode(), CALLERS[kind]) for kind, secret in tokens.items()]
            self._seen = seen
