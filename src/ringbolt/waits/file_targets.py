"""Read files and logs for waits: regular files only, opened without blocking, a bounded part at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any

Readable = Callable[[str], bool]

STABLE_SECONDS = 2.0
MOST_READ = 1 << 20  # bytes of a log per look; the next look reads on
MOST_CONTENT = 8 << 20  # bytes of a file that are searched
MOST_SIBLINGS = 10_000
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def signature(path: str) -> list[int] | None:
    """Numbers that change when a file does; None if it does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]


def glance(path: str) -> tuple[int, ...] | None:
    """What `stat` says about a file: while it is the same, a look would find the same. None if there is no
    file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


class NotAllowed(OSError):
    """This file must not be read, and was not."""


def _check_allowed(handle: int, readable: Readable) -> None:
    """Raise unless the opened file may be read. Asks the kernel for its path, so that links do not count."""
    path = os.readlink(f"/proc/self/fd/{handle}")
    if not readable(path):
        raise NotAllowed("its content must not be read (wait_folders)")


def content(path: str, readable: Readable) -> tuple[bytes | None, str]:
    """The beginning of a regular file, or None and why not; NotAllowed if it must not be read."""
    try:
        handle = os.open(path, _OPEN)
    except FileNotFoundError:
        return None, "it does not exist"
    except OSError as error:
        return None, f"it cannot be read: {error.strerror}"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None, "it is not a regular file"
        _check_allowed(handle, readable)
        return _read(handle, 0, MOST_CONTENT), ""
    except NotAllowed:
        raise
    except OSError as error:
        return None, f"it cannot be read: {error.strerror}"
    finally:
        os.close(handle)


def log_end(path: str) -> dict[str, Any]:
    """Where a log ends now; everything after that is new, also if the log is rotated."""
    found = signature(path)
    if found is None or not os.path.isfile(path):
        return {"file": None, "offset": 0}
    return {"file": found[:2], "offset": found[2]}


def last_added(path: str, state: dict[str, Any], most: int, readable: Readable) -> bytes:
    """The last bytes that were added to a log since its state was noted; all of it if it was rotated."""
    now = signature(path)
    if now is None:
        return b""
    start = state["offset"] if state["file"] == now[:2] and state["offset"] <= now[2] else 0
    return _read_from(path, now[:2], max(start, now[2] - most), readable)[0]


def appended(path: str, state: dict[str, Any], readable: Readable) -> tuple[bytes, dict[str, Any]]:
    """What was added to a log, and the state to continue from; an unfinished line is read again.

    A log that was rotated is read to its end under its new name, then the new log from its beginning.
    """
    parts: list[bytes] = []
    now = signature(path)
    if state["file"] is not None and (now is None or now[:2] != state["file"]):
        old = _renamed(path, state["file"])
        rest, offset = _read_from(old, state["file"], state["offset"], readable) if old else (b"", 0)
        parts.append(rest)
        if len(rest) >= MOST_READ:
            return rest, {**state, "offset": offset}
        state = {**state, "file": None, "offset": 0}
    if now is None:
        return b"".join(parts), state
    start = state["offset"] if state["file"] == now[:2] and state["offset"] <= now[2] else 0
    fresh, offset = _read_from(path, now[:2], start, readable)
    return b"".join([*parts, fresh]), {**state, "file": now[:2], "offset": offset}


def _read_from(path: str, file: list[int], offset: int, readable: Readable) -> tuple[bytes, int]:
    """The content of a file from an offset on, and the offset after its last complete line."""
    try:
        handle = os.open(path, _OPEN)
    except OSError:
        return b"", offset
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or [found.st_dev, found.st_ino] != file:
            return b"", offset
        _check_allowed(handle, readable)
        content = _read(handle, offset, MOST_READ)
    except NotAllowed:
        raise
    except OSError:
        return b"", offset
    finally:
        os.close(handle)
    whole = content.rfind(b"\n") + 1
    if not whole and len(content) == MOST_READ:  # a line longer than one look reads
        whole = len(content) - 4096
    return content, offset + whole


def _read(handle: int, offset: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most and (part := os.pread(handle, min(most, 1 << 18), offset)):
        parts.append(part)
        offset += len(part)
        most -= len(part)
    return b"".join(parts)


def _renamed(path: str, file: list[int]) -> str | None:
    """The new path of a rotated log: a file beside it with the same inode and a name that starts alike."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number == MOST_SIBLINGS:
                    break
                if entry.name.startswith(name) and entry.inode() == file[1] and entry.is_file():
                    return entry.path
    except OSError:
        pass  # the folder is gone too
    return None
