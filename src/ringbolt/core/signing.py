"""The signature of a store on the events that it exports.

Imported events have the channel `import`, unless they are signed with the key of the store that reads them:
then this store wrote them itself, and they keep their origins. The signature covers the hash of an event,
which covers its content, its origin and everything before it. Two stores of one person trust each other's
exports if they have the same key (the setting `signing_key`).
"""

from __future__ import annotations

import hmac
import os

from ..journal.folders import journal_folders
from ..model.settings import Settings
from ..system.files import read_bounded, write_atomic
from ..system.os_calls import is_ours_alone, make_private_folders, put_if_absent

_NAME = "signing-key"
_BYTES = 32


class Signer:
    """Signs and verifies the events of one store."""

    def __init__(self, location: str, settings: Settings) -> None:
        beside = (os.path.join(folder, _NAME) for folder in journal_folders(location, settings.tenant))
        chosen = settings.signing_key
        self._paths = [os.path.abspath(os.path.expanduser(chosen))] if chosen else list(beside)
        self._key: bytes | None = None

    @property
    def path(self) -> str:
        """The file of the key, which only its owner may read."""
        return self._paths[0]

    def sign(self, root_id: str, digest: bytes) -> str | None:
        """The signature of an event by its hash, in hex; None if no key can be kept."""
        key = self._read() or self._make()
        return _signature(key, root_id, digest) if key else None

    def verify(self, root_id: str, digest: bytes, signature: object) -> bool:
        """Whether this store signed the event with this hash."""
        if not isinstance(signature, str) or not signature.isascii():
            return False
        key = self._read()
        return key is not None and hmac.compare_digest(_signature(key, root_id, digest), signature)

    def _read(self) -> bytes | None:
        for path in self._paths if self._key is None else ():
            try:
                # A key that others can read or replace proves nothing.
                found = read_bounded(path, 1000) if is_ours_alone(path) else b""
            except OSError:
                continue
            if len(found) >= _BYTES:
                self._key = found
                break
        return self._key

    def _make(self) -> bytes | None:
        for path in self._paths:
            try:
                make_private_folders(os.path.dirname(path))
                part = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
                write_atomic(part, os.urandom(_BYTES))
                put_if_absent(part, path)  # not a rename, which would replace the key of another process
            except OSError:
                continue
            return self._read()
        return None


def _signature(key: bytes, root_id: str, digest: bytes) -> str:
    return hmac.new(key, b"ringbolt event\0" + root_id.encode() + b"\0" + digest, "sha256").hexdigest()
