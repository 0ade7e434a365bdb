"""The server's tokens, in a file that only its owner can read.

Three are always there, and their secrets can be read in the file:

read    reads everything
write   reads and writes everything as an agent, and looks at files of the server's workspace
user    everything, as the person who owns the store

Others are made with `ringbolt token create`, each with its own grant; the file has only their digests.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from ...config import user_folder
from ...model import validate
from ...model.capabilities import ACCESS, POWERS, Access, Grant, Power
from ...model.errors import Conflict, InvalidInput, NotFound, RingboltError, shown
from ...model.rules import parse_duration
from ...model.scope import workspace_of
from ...model.types import Value, is_dict
from ...system.files import FileErrors, locked_folder, read_bounded, write_atomic
from ...system.gate import protect
from ...system.os_calls import is_ours_alone, make_private_folders, private_command

KINDS = ("read", "write", "user")
# Beside the token file: when each token was last used, to the minute.
USED = ".used"
_BYTES = 32
_MIN_LENGTH, _MAX_LENGTH = 20, 200
_MOST_BYTES, _MOST_TOKENS = 1 << 20, 500
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class Caller(Value, frozen=True, kw_only=True):
    """The identity behind a token: its name, what it may do, and as whom it writes."""

    kind: str
    grant: Grant
    channel: str
    expires_at: str | None = None

    @property
    def scopes(self) -> frozenset[str]:
        """Every access that the token includes."""
        return frozenset(access for access in ACCESS if self.grant.includes(access))


class NoScope(Exception):
    """A token of an authorization server is valid, and has no scope of ours."""


class Issuer(Protocol):
    """An authorization server, for the guard: see oauth.py, which needs packages that others do not."""

    def challenge(self, error: str = "") -> str:
        """The header that tells a client where to get a token."""
        ...

    def caller(self, secret: bytes) -> Caller | None:
        """The caller behind a token; None if it is not valid here. Raises NoScope; may fetch keys."""
        ...


CALLERS = {
    caller.kind: caller
    for caller in (
        Caller(kind="read", channel="agent", grant=Grant(name="read", access="read", powers=())),
        Caller(kind="write", channel="agent", grant=Grant(name="write", access="write", powers=("files",))),
        Caller(kind="user", channel="user", grant=Grant(name="user")),
    )
}


class MadeToken(Value, frozen=True, kw_only=True):
    """A token made by the user, as the file has it."""

    sha256: str
    access: Access
    workspaces: tuple[str, ...] | None
    powers: tuple[Power, ...]
    created_at: str
    expires_at: str | None = None

    def caller(self, name: str) -> Caller:
        """The caller behind it."""
        grant = Grant(access=self.access, workspaces=self.workspaces, powers=self.powers, name=name)
        channel = "user" if self.access == "admin" else "agent"
        return Caller(kind=name, channel=channel, grant=grant, expires_at=self.expires_at)


class ListedToken(Value, frozen=True, kw_only=True):
    """A token without its secret."""

    name: str
    access: str
    writes_as: str
    workspaces: tuple[str, ...] | None
    powers: tuple[str, ...]
    created_at: str | None
    expires_at: str | None
    expired: bool
    last_used_at: str | None


class _File(Value, frozen=True, kw_only=True):
    built_in: Mapping[str, str | None]  # None: revoked
    made: Mapping[str, MadeToken]


def token_path() -> str:
    """The path of the token file."""
    return os.path.join(user_folder("data"), "tokens.json")


# --- the file ---------------------------------------------------------------------------------------


def make_tokens(path: str | None = None) -> dict[str, str]:
    """The built-in tokens by kind; creates them if there are none yet."""
    return _secrets(_changed(path, lambda file: file))


def rotate_tokens(path: str | None = None, kinds: tuple[str, ...] = KINDS) -> dict[str, str]:
    """Replace the built-in tokens of these kinds. A running server rejects the old ones at once."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InvalidInput(
            "unknown_word", f"There is no token kind {unknown[0]!r}.", f"Use {', '.join(KINDS)}."
        )
    new = {kind: _new_secret(kind) for kind in kinds}
    return _secrets(_changed(path, lambda file: file.replace(built_in={**file.built_in, **new})))


def read_tokens(path: str | None = None) -> dict[str, str]:
    """The built-in tokens by kind. Raises InvalidInput if anyone but the owner can read the file."""
    return _secrets(_read_file(path or token_path()))


def create_token(
    name: str,
    *,
    access: str = "write",
    workspaces: Sequence[str] | None = None,
    powers: Sequence[str] = (),
    expires: str | None = None,
    path: str | None = None,
) -> str:
    """Make a token and return its secret, which is not stored. `expires` is a duration such as 90d."""
    if not _NAME.fullmatch(name) or name in KINDS:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(name)} cannot be the name of a token.",
            "Use up to 40 small letters, digits, - and _; read, write and user exist already.",
        )
    secret = _new_secret(name)
    level: Any = validate.choice("access", access, ACCESS)
    token = MadeToken(
        sha256=_digest(secret.encode()),
        access=level,
        workspaces=None if workspaces is None else tuple(dict.fromkeys(map(_folder, workspaces))),
        powers=tuple(power for power in POWERS if power in _checked_powers(powers)),
        created_at=validate.stamp(time.time()),
        expires_at=_expiry(expires),
    )

    def add(file: _File) -> _File:
        if name in file.made:
            raise Conflict(
                "already_claimed",
                f"There is a token {name} already.",
                f"Choose another name, or run `ringbolt token rotate {name}` for a new secret.",
            )
        if len(file.made) >= _MOST_TOKENS:
            raise InvalidInput("too_large", f"There are {_MOST_TOKENS} tokens.", "Revoke some first.")
        return file.replace(made={**file.made, name: token})

    _changed(path, add)
    return secret


def rotate_token(name: str, *, expires: str | None = None, path: str | None = None) -> str:
    """Replace the secret of a token and return it; the old one is refused at once.

    `expires` counts from now. Without it, the expiry stays as it is.
    """
    secret = _new_secret(name)
    change: dict[str, Any] = {"sha256": _digest(secret.encode())}
    if expires is not None:
        change["expires_at"] = _expiry(expires)

    def rotate(file: _File) -> _File:
        _check_known(file, name)
        if name in KINDS:
            return file.replace(built_in={**file.built_in, name: secret})
        return file.replace(made={**file.made, name: file.made[name].replace(**change)})

    _changed(path, rotate)
    return secret


def revoke_token(name: str, *, path: str | None = None) -> None:
    """End a token. A built-in one comes back with `rotate_token`."""

    def revoke(file: _File) -> _File:
        _check_known(file, name)
        if name in KINDS:
            return file.replace(built_in={**file.built_in, name: None})
        return file.replace(made={key: token for key, token in file.made.items() if key != name})

    _changed(path, revoke)


def list_tokens(path: str | None = None) -> list[ListedToken]:
    """Every token with its grant and its last use, the built-in ones first."""
    path = path or token_path()
    file = _changed(path, lambda file: file)
    used, now = _read_used(path), validate.stamp(time.time())
    callers = [CALLERS[kind] for kind in KINDS if file.built_in[kind]]
    callers += [token.caller(name) for name, token in sorted(file.made.items())]
    return [
        ListedToken(
            name=caller.kind,
            access=caller.grant.access,
            writes_as=caller.channel,
            workspaces=caller.grant.workspaces,
            powers=caller.grant.powers,
            created_at=file.made[caller.kind].created_at if caller.kind in file.made else None,
            expires_at=caller.expires_at,
            expired=_is_over(caller, now),
            last_used_at=used.get(caller.kind),
        )
        for caller in callers
    ]


def _changed(path: str | None, change: Callable[[_File], _File]) -> _File:
    """Change the file while nobody else does; creates it if there is none."""
    path = path or token_path()
    folder = os.path.dirname(path)
    with FileErrors(path):
        make_private_folders(folder)
        with locked_folder(folder):
            known = os.path.lexists(path)
            before = _read_file(path) if known else _File(built_in=dict(map(_fresh, KINDS)), made={})
            after = change(before)
            if after != before or not known:
                made = {name: token.to_dict() for name, token in after.made.items()}
                content = {**after.built_in, **({"tokens": made} if made else {})}
                write_atomic(path, json.dumps(content, indent=1).encode() + b"\n")
    return after


def _fresh(kind: str) -> tuple[str, str]:
    return kind, _new_secret(kind)


def _read_file(path: str) -> _File:
    with FileErrors(path):
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or not is_ours_alone(path):
            raise InvalidInput(
                "invalid_argument",
                f"Other users can read the tokens in {path}, or it is not your own regular file.",
                f"Find out who could have read them, run `{private_command([path])}`, and rotate the tokens.",
            )
        content = read_bounded(path, _MOST_BYTES)
    try:
        fields: Any = json.loads(content)
        made = msgspec.convert(fields.pop("tokens", {}), dict[str, MadeToken])
    except (ValueError, RecursionError, AttributeError, msgspec.ValidationError):
        raise _invalid(path) from None
    if not is_dict(fields) or set(fields) != set(KINDS):
        raise _invalid(path)
    secrets = [secret for secret in fields.values() if secret is not None]
    if not all(map(_is_secret, secrets)) or len(set(secrets)) != len(secrets):
        raise _invalid(path)
    return _File(built_in=fields, made=made)


def _is_secret(secret: Any) -> bool:
    return isinstance(secret, str) and secret.isascii() and _MIN_LENGTH <= len(secret) <= _MAX_LENGTH


def _invalid(path: str) -> InvalidInput:
    return InvalidInput(
        "invalid_argument",
        f"{path} does not contain valid tokens for {', '.join(KINDS)}.",
        "Move the file away; the next start creates new tokens.",
    )


def _secrets(file: _File) -> dict[str, str]:
    return {kind: secret for kind, secret in file.built_in.items() if secret is not None}


def _new_secret(name: str) -> str:
    return f"rb_{name}_{os.urandom(_BYTES).hex()}"


def _digest(secret: bytes) -> str:
    # A secret has 256 random bits, so a plain digest is as good as a slow one.
    return hashlib.sha256(secret).hexdigest()


def _folder(folder: str) -> str:
    """The workspace of a folder, as tasks have it."""
    path = os.path.abspath(os.path.expanduser(folder))
    if not os.path.isdir(path):
        raise InvalidInput("invalid_argument", f"{shown(folder)} is not a folder.", "Name a folder.")
    return workspace_of(path)[0]


def _checked_powers(powers: Sequence[str]) -> list[str]:
    return [validate.choice("power", power, POWERS) for power in powers]


def _expiry(expires: str | None) -> str | None:
    return None if expires is None else validate.stamp(time.time() + 60 * parse_duration("expires", expires))


def _check_known(file: _File, name: str) -> None:
    if name not in file.built_in and name not in file.made:
        known = ", ".join([*KINDS, *sorted(file.made)])
        raise NotFound("record_not_found", f"There is no token {shown(name)}.", f"The tokens are: {known}.")


def _is_over(caller: Caller, now: str) -> bool:
    return caller.expires_at is not None and caller.expires_at <= now


def _read_used(path: str) -> dict[str, str]:
    try:
        used: Any = json.loads(read_bounded(path + USED, _MOST_BYTES))
    except (OSError, ValueError, InvalidInput):
        return {}
    return {name: at for name, at in used.items() if isinstance(at, str)} if is_dict(used) else {}


# --- a running server -------------------------------------------------------------------------------


class Tokens:
    """The tokens of a running server; reads the file again when it has changed."""

    def __init__(self, path: str | None = None, clock: Callable[[], float] = time.time) -> None:
        self.path = path or token_path()
        self._clock = clock
        self._seen: tuple[int, ...] = ()
        self._known: list[tuple[str, Caller]] = []  # by digest
        self._used: dict[str, str] = {}
        protect(self.path)
        make_tokens(self.path)
        self._refresh()

    def caller(self, secret: bytes) -> Caller | None:
        """The caller a token belongs to. Compares every token in constant time, against timing attacks."""
        self._refresh()
        found, digest = None, _digest(secret)
        for known, caller in self._known:
            if hmac.compare_digest(known, digest):
                found = caller
        return self._live(found)

    def of_kind(self, kind: str) -> Caller | None:
        """The caller for a token's name; None while there is no such token."""
        self._refresh()
        return self._live(next((caller for _, caller in self._known if caller.kind == kind), None))

    def signature(self, kind: str, message: bytes) -> str:
        """The HMAC of a message with the token of a name, in hex; empty if there is no such token."""
        self._refresh()
        for digest, caller in self._known:
            if caller.kind == kind:
                return hmac.new(digest.encode(), message, "sha256").hexdigest()
        return ""

    def save_use(self) -> None:
        """Write when each token was last used. A failure, such as a full disk, is ignored here."""
        if self._used:
            used, self._used = {**_read_used(self.path), **self._used}, {}
            with suppress(OSError, RingboltError):
                write_atomic(self.path + USED, json.dumps(used, indent=1).encode() + b"\n")

    def _live(self, caller: Caller | None) -> Caller | None:
        now = validate.stamp(self._clock())
        if caller is None or _is_over(caller, now):
            return None
        self._used[caller.kind] = now
        return caller

    def _refresh(self) -> None:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:  # removed: reject everyone until it is back
            self._seen, self._known = (), []
            return
        seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
        if seen != self._seen:
            self._known = []
            file = _read_file(self.path)
            built_in = _secrets(file)
            self._known = [(_digest(secret.encode()), CALLERS[kind]) for kind, secret in built_in.items()]
            self._known += [(token.sha256, token.caller(name)) for name, token in file.made.items()]
            self._seen = seen
