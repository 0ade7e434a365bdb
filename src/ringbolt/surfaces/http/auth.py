"""Tokens of the server: three secrets in a file that only its owner can read, and what each of them allows.

read    may ask
write   may ask and write, as an agent
user    may ask and write, as the person whose store it is
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
_LEAST_LETTERS, _MOST_LETTERS = 20, 200


class Caller(Value, frozen=True, kw_only=True):
    """Who a token makes a caller: what it may do, and as whom it writes. An empty principal: the owner."""

    kind: str
    scopes: frozenset[str]
    channel: str
    principal: str = ""


CALLERS = {
    "read": Caller(kind="read", scopes=frozenset(("read",)), channel="agent"),
    "write": Caller(kind="write", scopes=frozenset(("read", "write")), channel="agent"),
    "user": Caller(kind="user", scopes=frozenset(("read", "write")), channel="user"),
}


def token_path() -> str:
    """Where the tokens are."""
    return os.path.join(user_folder("data"), "tokens.json")


def make_tokens(path: str | None = None) -> dict[str, str]:
    """The tokens, by kind; made if there are none yet."""
    return _changed(path or token_path(), ())


def rotate_tokens(path: str | None = None, kinds: tuple[str, ...] = KINDS) -> dict[str, str]:
    """New tokens of some kinds in the place of the old ones, which a running server refuses from then on."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InvalidInput(
            "unknown_word", f"There are no tokens of kind {unknown[0]!r}.", f"Use {', '.join(KINDS)}."
        )
    return _changed(path or token_path(), kinds)


def read_tokens(path: str | None = None) -> dict[str, str]:
    """The tokens, by kind, from a file that must be its owner's alone."""
    path = path or token_path()
    with FileErrors(path):
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode) or about.st_mode & 0o077 or about.st_uid != os.getuid():
            raise InvalidInput(
                "invalid_argument",
                f"The tokens in {path} are not yours alone to read.",
                f"Look at who could read them, give the file to yourself with `chmod 600 {path}`, and make"
                " new tokens.",
            )
        content = read_bounded(path, 10_000)
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    tokens: dict[str, str] = {}
    for kind in KINDS if is_dict(found) else ():
        secret = found.get(kind)
        if isinstance(secret, str) and secret.isascii() and _LEAST_LETTERS <= len(secret) <= _MOST_LETTERS:
            tokens[kind] = secret
    if set(tokens) != set(KINDS) or len(set(tokens.values())) != len(KINDS):
        raise InvalidInput(
            "invalid_argument",
            f"{path} does not hold the tokens {', '.join(KINDS)}.",
            "Move the file away: the next start makes new tokens.",
        )
    return tokens


def _changed(path: str, kinds: tuple[str, ...]) -> dict[str, str]:
    folder = os.path.dirname(path)
    with FileErrors(path):
        os.makedirs(folder, 0o700, exist_ok=True)
        with locked_folder(folder):
            known = os.path.lexists(path)
            tokens = read_tokens(path) if known else {}
            for kind in kinds if known else KINDS:
                tokens[kind] = f"hf_{kind}_{os.urandom(_BYTES).hex()}"
            if kinds or not known:
                write_atomic(path, json.dumps(tokens, indent=1).encode() + b"\n")
    return tokens


class Tokens:
    """The tokens as a running server knows them: read again when the file was replaced."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path or token_path()
        self._seen: tuple[int, ...] = ()
        self._known: list[tuple[bytes, Caller]] = []
        make_tokens(self.path)
        self._refresh()

    def caller(self, secret: bytes) -> Caller | None:
        """Whose token this is; every one is compared to the end, so that the time tells nothing."""
        self._refresh()
        found = None
        for known, caller in self._known:
            if hmac.compare_digest(known, secret):
                found = caller
        return found

    def of_kind(self, kind: str) -> Caller | None:
        """Who a token of a kind makes a caller; None while there is no such token."""
        self._refresh()
        return next((caller for _, caller in self._known if caller.kind == kind), None)

    def signature(self, kind: str, said: bytes) -> str:
        """A text signed with the token of a kind, in hex; empty if there is no such token."""
        self._refresh()
        for secret, caller in self._known:
            if caller.kind == kind:
                return hmac.new(secret, said, "sha256").hexdigest()
        return ""

    def _refresh(self) -> None:
        try:
            about = os.stat(self.path)
        except FileNotFoundError:  # taken away: nobody is let in until it is back
            self._seen, self._known = (), []
            return
        seen = (about.st_ino, about.st_mtime_ns, about.st_size, about.st_mode)
        if seen != self._seen:
            self._known = []
            tokens = read_tokens(self.path)
            self._known = [(secret.encode(), CALLERS[kind]) for kind, secret in tokens.items()]
            self._seen = seen
