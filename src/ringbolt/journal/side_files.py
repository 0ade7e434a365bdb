"""Small files that hooks keep about sessions."""

from __future__ import annotations

import os
from contextlib import suppress

from .spool import session_file

_MOST_CHARACTERS = 64 << 10


class SideFiles:
    """The small files beside a store, by the session and kind that they are named for."""

    def __init__(self, location: str) -> None:
        self._location = location

    def read(self, name: str) -> str:
        """The content of a file; empty if there is none."""
        with suppress(OSError, ValueError), open(self._path(name), encoding="utf-8") as file:
            return file.read(_MOST_CHARACTERS)
        return ""

    def set(self, name: str, content: str) -> None:
        """Write a file. Where nothing can be written, nothing is kept."""
        path = self._path(name)
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, content.encode(), 0)
            finally:
                os.close(file)

    def _path(self, name: str) -> str:
        session, _, kind = name.rpartition(".")
        return f"{session_file(self._location, session)}.{kind}"


def transcript_file(session: str) -> str:
    """The file that says how far a session's transcript was read."""
    return f"{session}.read"
