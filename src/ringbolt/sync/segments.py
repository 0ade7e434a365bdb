"""Segments: events on their way to another machine, compressed, and encrypted if there is a key.

A segment is written once and never changed. It holds parts: consecutive events of one task, as the lines of
an export, each with its signature. `after` is the hash by which the remote knows the event before the first
one; `link` is that event's hash in the writer's own store, which differs if the writer imported it.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

from ..model import rules
from ..model.errors import InvalidInput
from ..model.types import Value, is_dict, is_list
from ..model.validate import dumps
from ..system.files import FileErrors, read_bounded
from ..system.os_calls import is_ours_alone, private_command

MAX_BYTES = 64 << 20  # of one segment, unpacked
_PLAIN = b"ringbolt-sync 1 plain\n"
_SEALED = b"ringbolt-sync 1 aes-256-gcm\n"
_SALT, _NONCE = 16, 12
_KEY_BYTES = 1 << 16
_SHORTEST = 16
# About 0.1 s and 64 MB for one guess of a passphrase.
_SCRYPT = {"n": 1 << 16, "r": 8, "p": 1, "maxmem": 96 << 20, "dklen": 32}


class Part(Value, frozen=True, kw_only=True):
    """Consecutive events of one task."""

    root: str
    task: str
    first: int
    after: str = ""
    link: str = ""
    events: tuple[dict[str, Any], ...] = ()

    @property
    def last(self) -> int:
        """The seq of the last event."""
        return self.first + len(self.events) - 1

    @property
    def end(self) -> str:
        """The hash of the last event, in hex."""
        return str(self.events[-1]["hash"])


class BadSegment(ValueError):
    """A segment cannot be read."""


class Sealer(Protocol):
    """Turns the bytes of a segment into those that a remote keeps, and back."""

    def seal(self, content: bytes) -> bytes:
        """The bytes for the remote."""
        ...

    def open(self, sealed: bytes) -> bytes:
        """The bytes of the segment; BadSegment if they are not what `seal` made."""
        ...


class Plain:
    """Compressed only."""

    def seal(self, content: bytes) -> bytes:
        return _PLAIN + zlib.compress(content)

    def open(self, sealed: bytes) -> bytes:
        if sealed.startswith(_SEALED):
            raise InvalidInput(
                "sync_key",
                "The remote is encrypted, and no key was given.",
                "Pass --key FILE, or set `sync_key`. Nothing was written.",
            )
        if not sealed.startswith(_PLAIN):
            raise BadSegment("it is not a segment of Ringbolt")
        return _unpacked(sealed[len(_PLAIN) :])


class Encrypted:
    """Compressed, then encrypted with a key that scrypt derives from a passphrase or a key file."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._salt = b""
        self._ciphers: dict[bytes, Any] = {}

    def seal(self, content: bytes) -> bytes:
        # The salt of the segments that were read is used again, so that readers derive one key.
        self._salt = self._salt or os.urandom(_SALT)
        nonce = os.urandom(_NONCE)
        head = _SEALED + self._salt
        return head + nonce + self._cipher(self._salt).encrypt(nonce, zlib.compress(content), head)

    def open(self, sealed: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag  # an extra

        if not sealed.startswith(_SEALED):
            # Anybody who can write to the remote could have put it there.
            raise BadSegment("it is not encrypted, and a key was given")
        head = sealed[: len(_SEALED) + _SALT]
        salt = head[len(_SEALED) :]
        rest = sealed[len(head) :]
        try:
            content = self._cipher(salt).decrypt(rest[:_NONCE], rest[_NONCE:], head)
        except (InvalidTag, ValueError):
            raise BadSegment("it was encrypted with another key, or changed") from None
        self._salt = salt
        return _unpacked(content)

    def _cipher(self, salt: bytes) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if salt not in self._ciphers:
            self._ciphers[salt] = AESGCM(hashlib.scrypt(self._secret, salt=salt, **_SCRYPT))
        return self._ciphers[salt]


def sealer_for(key_file: str) -> Sealer:
    """The sealer for a key file; without one, segments are plain."""
    if not key_file:
        return Plain()
    path = os.path.realpath(os.path.expanduser(key_file))
    with FileErrors(path):
        secret = read_bounded(path, _KEY_BYTES).strip()
        if not is_ours_alone(path):
            raise InvalidInput(
                "sync_key",
                f"Other users can read the key in {path}, or it is another user's.",
                f"Run `{private_command([path])}` first.",
            )
    if len(secret) < _SHORTEST:
        raise InvalidInput(
            "sync_key",
            f"The key in {path} has fewer than {_SHORTEST} characters.",
            "Make one with `openssl rand -base64 32`, or use a long passphrase.",
        )
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise InvalidInput(
            "sync_key",
            "Encryption needs the package cryptography.",
            "Install it: pip install 'ringbolt[sync]'",
        )
    return Encrypted(secret)


def _unpacked(content: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(content, MAX_BYTES)
    except zlib.error:
        raise BadSegment("it is damaged") from None
    if not unpacker.eof:
        raise BadSegment(f"it is cut off, or has more than {MAX_BYTES >> 20} MB")
    return unpacked


def encode(parts: list[Part]) -> bytes:
    """The content of a segment."""
    return "".join(f"{dumps(part.to_dict())}\n" for part in parts).encode()


def decode(content: bytes) -> list[Part]:
    """The parts of a segment; BadSegment if it is not one."""
    try:
        return [read_part(json.loads(line)) for line in content.splitlines()]
    except (ValueError, RecursionError) as error:
        raise BadSegment(str(error)) from None


def read_part(value: Any) -> Part:
    """A part as it was written; ValueError if it is not one. Its events are checked where they are merged."""
    if not is_dict(value):
        raise ValueError("a part is not an object")
    root, task, first, events = (value.get(name) for name in ("root", "task", "first", "events"))
    after, link = value.get("after") or "", value.get("link") or ""
    if not all(isinstance(name, str) and rules.normal_id(name) == name for name in (root, task)):
        raise ValueError("a part has no task id")
    if type(first) is not int or not 0 < first < 1 << 62:
        raise ValueError("a part has no first event")
    if not is_list(events) or not events or not all(map(_is_event, events)):
        raise ValueError("a part has no events")
    if (first == 1) != (not after):
        raise ValueError("a part does not say what it follows")
    for digest in (after, link):
        bytes.fromhex(digest)
    return Part(root=str(root), task=str(task), first=first, after=after, link=link, events=tuple(events))


def _is_event(value: Any) -> bool:
    return is_dict(value) and isinstance(value.get("hash"), str)


def hash_pairs(part: Part) -> Iterator[tuple[int, bytes]]:
    """The seq and hash of each event."""
    for offset, event in enumerate(part.events):
        yield part.first + offset, bytes.fromhex(event["hash"])
