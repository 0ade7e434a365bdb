"""Marks: whether a session's context was compacted, and whether the packet has been given to it since.

A small file for each such session, beside the store: a hook finds out with one look that there is none.
"""

from __future__ import annotations

import os

from ..checks import blake2b
from ..spool import side_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# About to be compacted: the packet is to be given after it.
PENDING = "pending"
# Compacted, and the packet is still to be given.
COMPACTED = "compacted"
# It was given; a host may ask again at once.
DELIVERED = "delivered"
# Gemini CLI looked whether it should compact, when its transcript was so long.
_LOOKED = "looked "


class Mark:
    """The mark of one session."""

    def __init__(self, location: str, session: str) -> None:
        digest = blake2b(session.encode("utf-8", "replace"), digest_size=12).hexdigest()
        self._folder = f"{side_files(location)[0]}.hooks"
        self._path = os.path.join(self._folder, digest)

    def read(self) -> str:
        """What is marked, or nothing."""
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read(20)
        except (OSError, ValueError):
            return ""

    def looked(self, told: Mapping[str, Any]) -> bool:
        """Whether a host only looks whether to compact; by the next event it is known what came of it."""
        from .host_files import size, was_compacted

        marked, transcript = self.read(), str(told.get("transcript") or "")
        if marked.startswith(_LOOKED):
            since = marked[len(_LOOKED) :]
            self.clear()
            marked = ""
            if was_compacted(transcript, int(since) if since.isdecimal() else 0):
                marked = COMPACTED
                self.set(marked)
        looks = told.get("event") == "PreCompact" and told.get("trigger") != "manual"
        if looks and not marked:
            self.set(f"{_LOOKED}{size(transcript)}")
        return looks

    def set(self, word: str) -> None:
        """Mark it; where nothing can be written, nothing is marked."""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        try:
            os.write(file, word.encode())
        finally:
            os.close(file)

    def clear(self) -> None:
        """Remove the mark."""
        try:
            os.unlink(self._path)
        except OSError:
            return
