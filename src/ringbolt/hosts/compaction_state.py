"""Marks: whether a session's context was compacted, and whether the packet has been given to it since.

A small file for each such session, beside the store: a hook finds out with one look that there is none.
What is left of sessions that have long been silent is swept away once a day.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..journal.spool import session_file, side_files
from .transcript_facts import transcript_size, was_compacted

# About to be compacted: the packet is to be given after it.
PENDING = "pending"
# Compacted, and the packet is still to be given.
COMPACTED = "compacted"
# It was given; a host may ask again at once.
DELIVERED = "delivered"
# Gemini CLI looked whether it should compact, when its transcript was so long.
_LOOKED = "looked "
_DAY = 86_400
# Seconds after which a session is taken to be over.
_SILENCE = 30 * _DAY
# Files that are looked at in one sweep.
_MOST = 10_000


class Mark:
    """The mark of one session."""

    def __init__(self, location: str, session: str) -> None:
        self._path = session_file(location, session)

    def read(self) -> str:
        """What is marked, or nothing."""
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read(20)
        except (OSError, ValueError):
            return ""

    def looked(self, told: Mapping[str, Any]) -> bool:
        """Whether a host only looks whether to compact; by the next event it is known what came of it."""

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
            self.set(f"{_LOOKED}{transcript_size(transcript)}")
        return looks

    def set(self, word: str) -> None:
        """Mark it; where nothing can be written, nothing is marked."""
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
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


def sweep(location: str, now: float) -> None:
    """Remove the files of sessions that have long been silent, unless that was done today."""
    folder = f"{side_files(location)[0]}.hooks"
    swept = os.path.join(folder, "swept")
    try:
        if os.path.exists(swept) and 0 <= now - os.stat(swept).st_mtime < _DAY:
            return
        os.close(os.open(swept, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.utime(swept, (now, now))
        with os.scandir(folder) as found:
            for _, file in zip(range(_MOST), found, strict=False):
                if now - file.stat().st_mtime > _SILENCE:
                    os.unlink(file)
    except OSError:
        return  # no session has a file yet, or another sweeps
