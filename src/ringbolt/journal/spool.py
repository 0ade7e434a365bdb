"""The spool: events of hosts that could not be written when they happened, until they can be.

A file of JSON lines beside the store. Whoever is told of an event and cannot write it appends a line; the
next who can takes the whole file away under another name, and writes line after line to the store. How far
it came stands in the lock's file, so that nothing is done twice where the work is cut short.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from typing import Any

from ..config import user_folder
from ..model.types import is_dict
from ..model.validate import blake2b

MOST_LINE = 8 << 20
MOST_FILE = 64 << 20
_ENDS = (".spool", ".spool.taken", ".spool.rejected")
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Spool:
    """The spool of one store: beside its file, or in the user's data folder where that cannot be written."""

    def __init__(self, location: str) -> None:
        beside, away = side_files(location)
        self._bases = [away] if beside == away else [beside, away]

    def append(self, event: dict[str, Any]) -> bool:
        """Keep an event; False if there is no place for it."""
        line = json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        return len(line) <= MOST_LINE and any(_append(base, line) for base in self._bases)

    def waiting(self) -> bool:
        """Whether there is anything to replay: two looks at most for each place."""
        return any(os.path.exists(base + end) for base in self._bases for end in (".spool", ".spool.taken"))

    def counts(self) -> tuple[int, int]:
        """How many events wait, and how many could never be written."""
        waiting = sum(_lines(base + ".spool") + _lines_left(base) for base in self._bases)
        return waiting, sum(_lines(base + ".spool.rejected") for base in self._bases)

    def reject(self, event: dict[str, Any]) -> None:
        """Put an event aside that can never be written, where it can be seen."""
        line = json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        any(_append(base, line[:MOST_LINE], ".spool.rejected") for base in self._bases)

    def count(self, wanted: Callable[[dict[str, Any]], bool]) -> int:
        """How many events that wait or were put aside are wanted."""
        return sum(
            wanted(event)
            for base in self._bases
            for end in _ENDS
            for line in _read_lines(base + end)
            if (event := _event(line)) is not None
        )

    def drop(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Take events out, wherever they wait; one who is replaying just now is waited for."""
        for base in self._bases:
            if any(os.path.exists(base + end) for end in _ENDS):
                _drop(base, wanted)

    def replay(self, apply: Callable[[dict[str, Any]], bool]) -> bool:
        """Give each event that waits to `apply`, in order; True if none is left.

        `apply` says False of an event that can never be written: it is put aside. What it raises ends the
        replay, and the next one goes on with the same event.
        """
        waiting = sorted(self._bases, key=_since) if len(self._bases) > 1 else self._bases
        return all(_replay(base, apply) for base in waiting)


def side_files(location: str) -> tuple[str, str]:
    """What the names of files that go with a store begin with: beside it, and in the user's data folder."""

    scheme, separator, rest = location.partition("://")
    beside = None
    if not separator or scheme in ("sqlite", "file"):
        beside = os.path.abspath(rest if separator else location)
    # Of a server's address what names the database, not who asks for it.
    name = beside or rest.rpartition("@")[2].partition("?")[0]
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
    away = os.path.join(user_folder("data"), f"away-{digest}")
    return beside or away, away


def session_file(location: str, session: str) -> str:
    """What the names of the small files begin with that hooks keep about one session."""
    digest = blake2b(session.encode("utf-8", "replace"), digest_size=12).hexdigest()
    return os.path.join(f"{side_files(location)[0]}.hooks", digest)


def forget_session(location: str, session: str) -> None:
    """Remove what hooks keep about one session."""
    for path in (base := session_file(location, session), f"{base}.read"):
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


def health(location: str) -> list[str]:
    """What is to be said of a store's spool; nothing while it is empty."""
    waiting, rejected = Spool(location).counts()
    found: list[str] = []
    if waiting:
        found.append(f"{waiting} events of the host wait to be written; the store could not take them")
    if rejected:
        found.append(f"{rejected} events of the host could not be read; they are in the .spool.rejected file")
    return found


def _event(line: bytes) -> dict[str, Any] | None:
    """The event of a line; None if it is none."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if is_dict(event) else None


def _read_lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.readlines()
    except FileNotFoundError:
        return []


def _drop(base: str, wanted: Callable[[dict[str, Any]], bool]) -> None:
    """Write the files of a spool anew without some of their events, while nobody reads or adds to them."""
    turn = os.open(f"{base}.spool.turn", _LOCK, 0o600)
    lock = os.open(f"{base}.spool.lock", _LOCK, 0o600)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for end in _ENDS:
            path = base + end
            lines = _read_lines(path)
            kept = [line for line in lines if (event := _event(line)) is None or not wanted(event)]
            if len(kept) == len(lines):
                continue
            if end == ".spool.taken":  # what of it is done already lies before this place
                done = sum(len(line) for line in _lines_before(lines, _noted(turn)) if line in kept)
                _note(turn, done)
            _rewrite(path, b"".join(kept))
    finally:
        os.close(lock)
        os.close(turn)


def _lines_before(lines: list[bytes], place: int) -> list[bytes]:
    found: list[bytes] = []
    for line in lines:
        place -= len(line)
        if place < 0:
            break
        found.append(line)
    return found


def _rewrite(path: str, content: bytes) -> None:
    """Put a new file in the place of one, or none where nothing is left."""
    if not content:
        os.unlink(path)
        return
    part = f"{path}.part"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with open(file, "wb", closefd=False) as out:
            out.write(content)
        os.fsync(file)
    finally:
        os.close(file)
    os.replace(part, path)


def _append(base: str, line: bytes, end: str = ".spool") -> bool:
    """Add a line to a file for the owner alone, safely on disk; False if that cannot be."""
    try:
        os.makedirs(os.path.dirname(base), mode=0o700, exist_ok=True)
        lock = os.open(f"{base}.spool.lock", _LOCK, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = os.open(base + end, _APPEND, 0o600)
        try:
            size = os.fstat(file).st_size
            if size + len(line) > MOST_FILE:
                return False
            if size and not _ends_line(base + end, size):
                line = b"\n" + line  # whoever wrote before us was killed in the middle
            if os.write(file, line) != len(line):
                os.ftruncate(file, size)
                return False
            os.fsync(file)
            return True
        finally:
            os.close(file)
    except OSError:
        return False
    finally:
        os.close(lock)


def _ends_line(path: str, size: int) -> bool:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(file, 1, size - 1) == b"\n"
    finally:
        os.close(file)


def _since(base: str) -> float:
    """When the first event that waits in a place happened."""
    for end in (".spool.taken", ".spool"):
        try:
            with open(base + end, "rb") as file:
                line = json.loads(file.readline(MOST_LINE))
                return float(line["at"])
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return 0.0


def _replay(base: str, apply: Callable[[dict[str, Any]], bool]) -> bool:
    if not os.path.exists(base + ".spool") and not os.path.exists(base + ".spool.taken"):
        return True
    turn = os.open(f"{base}.spool.turn", _LOCK, 0o600)
    try:
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False  # another is at it
        while _take(base, turn):
            _apply_lines(base, turn, apply)
            os.unlink(base + ".spool.taken")
        return True
    finally:
        os.close(turn)


def _take(base: str, turn: int) -> bool:
    """Take the spool's file for ourselves, unless one that was begun is still there; False if none is."""
    taken = base + ".spool.taken"
    if os.path.exists(taken):
        return True
    lock = os.open(f"{base}.spool.lock", _LOCK, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _note(turn, 0)
        os.rename(base + ".spool", taken)
    except FileNotFoundError:
        return False
    finally:
        os.close(lock)
    return True


def _apply_lines(base: str, turn: int, apply: Callable[[dict[str, Any]], bool]) -> None:
    with open(base + ".spool.taken", "rb") as file:
        file.seek(_noted(turn))
        while line := file.readline(MOST_LINE + 1):
            if line.strip():
                try:
                    event = json.loads(line)
                except ValueError:
                    event = None
                if not is_dict(event) or not apply(event):
                    _append(base, line.rstrip(b"\n") + b"\n", ".spool.rejected")
            _note(turn, file.tell())


def _note(turn: int, place: int) -> None:
    os.pwrite(turn, b"%-20d\n" % place, 0)


def _noted(turn: int) -> int:
    found = os.pread(turn, 21, 0).strip()
    return int(found) if found.isdigit() else 0


def _lines(path: str, after: int = 0) -> int:
    try:
        with open(path, "rb") as file:
            file.seek(after)
            return sum(1 for line in file if line.strip())
    except OSError:
        return 0


def _lines_left(base: str) -> int:
    """The lines of a file that was taken and is not done with."""
    taken = base + ".spool.taken"
    if not os.path.exists(taken):
        return 0
    try:
        turn = os.open(f"{base}.spool.turn", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _lines(taken)
    try:
        return _lines(taken, _noted(turn))
    finally:
        os.close(turn)
