"""Small files that hooks and drains keep about sessions: compaction state, place in the transcript, cards.

They are named by digests and hold no content of a session. A drain must not change them before its
transaction is committed, so it collects the changes in a `PendingSideFiles` and writes them afterwards.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TextIO

from ..model.validate import blake2b
from ..system.os_calls import open_file
from .event_files import Journal, make_folder, replace_file
from .names import session_digest

_DAY = 86_400
_SILENCE = 30 * _DAY  # after which a session is over
_MOST = 10_000  # files checked in one sweep
_MOST_CHARACTERS = 64 << 10


class SideFiles:
    """The small files of a journal, by their path in it."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def read(self, name: str) -> str:
        """The content of a file; empty if there is none."""
        for folder in self.journal.folders:
            with suppress(OSError, ValueError), _opened(os.path.join(folder, name)) as file:
                return file.read(_MOST_CHARACTERS)
        return ""

    def set(self, name: str, content: str | None) -> None:
        """Replace a file, or remove it with None. Where nothing can be written, nothing is kept."""
        kept = False
        for folder in self.journal.folders:
            path = os.path.join(folder, name)
            with suppress(OSError):
                if content is None or kept:
                    os.unlink(path)  # an old one, from when another folder could not be written
                else:
                    make_folder(folder, os.path.dirname(name))
                    replace_file(path, content)
                    kept = True


def _opened(path: str) -> TextIO:
    return open(open_file(path), encoding="utf-8")


class PendingSideFiles(SideFiles):
    """Changes to side files that are collected, and written after a commit."""

    def __init__(self, journal: Journal, changes: Mapping[str, str | None] | None = None) -> None:
        super().__init__(journal)
        self.changes: dict[str, str | None] = dict(changes or {})
        self._known: dict[str, str] = {}

    def read(self, name: str) -> str:
        """The content as it will be."""
        if name in self.changes:
            return self.changes[name] or ""
        if name not in self._known:
            self._known[name] = super().read(name)
        return self._known[name]

    def set(self, name: str, content: str | None) -> None:
        """Note a change."""
        self.changes[name] = content

    def write(self) -> None:
        """Write the changes."""
        for name, content in self.changes.items():
            super().set(name, content)


def _session_file(end: str) -> Callable[[str], str]:
    """A function that names a file of a session."""
    return lambda session: f"sessions/{session_digest(session)}{end}"


compaction_file = _session_file("")  # whether the session still has to get its packet
snapshot_file = _session_file(".before")  # marks the snapshot before a compaction as taken
taken_file = _session_file(".taken")  # makes the next hook report that another session took the task
full_file = _session_file(".full")  # the context is nearly full: `due N` until the task is distilled
turn_file = _session_file(".turn")  # the digest of the block that came with the last prompt
gate_file = _session_file(
    ".gate"
)  # of a task: the claims that its agent was asked about at the end of a turn


def transcript_file(session: str) -> str:
    """The file that says how far a session's transcript was read."""
    return f"sessions/{blake2b(session.encode('utf-8', 'replace'), digest_size=12).hexdigest()}.read"


def card_file(digest: str) -> str:
    """The card of the session with a digest."""
    return f"cards/{digest}"


def forget_session(journal: Journal, session: str) -> None:
    """Remove what hooks and drains keep about one session."""
    files = SideFiles(journal)
    for file in (compaction_file, transcript_file, snapshot_file, taken_file, full_file, turn_file):
        files.set(file(session), None)
    # The card of its repository may have words of it; the next drain writes that one again.
    card = card_file(session_digest(session))
    with suppress(ValueError, AttributeError):
        if isinstance(shared := json.loads(files.read(card)).get("shared"), str) and shared.isalnum():
            files.set(card_file(shared), None)
    files.set(card, None)


def sweep(journal: Journal, now: float) -> None:
    """Remove the files of sessions that have been silent for long, at most once a day."""
    journal.sweep(time.time())
    for base in journal.folders:
        with suppress(OSError):
            _sweep_folder(base, now)


def _sweep_folder(base: str, now: float) -> None:
    swept = os.path.join(base, "swept")
    if os.path.exists(swept) and 0 <= now - os.stat(swept).st_mtime < _DAY:
        return
    for kind in ("sessions", "cards"):
        folder = os.path.join(base, kind)
        if not os.path.isdir(folder):
            continue
        with os.scandir(folder) as found:
            for _, file in zip(range(_MOST), found, strict=False):
                if now - file.stat(follow_symlinks=False).st_mtime > _SILENCE:
                    os.unlink(file)
    if os.path.isdir(base):
        handle = open_file(swept, os.O_WRONLY | os.O_CREAT)
        try:
            os.utime(handle if os.utime in os.supports_fd else swept, (now, now))
        finally:
            os.close(handle)
