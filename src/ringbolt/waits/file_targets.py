"""Read files and logs for waits, through the gate: regular files only, a bounded part at a time."""

from __future__ import annotations

import os
import stat
from itertools import islice
from typing import Any

from ..system.gate import Gate, LookRefused
from ..system.os_calls import read_at

STABLE_SECONDS = 2.0
MOST_READ = 1 << 20  # bytes of a log per check; the next check continues
MOST_CONTENT = 8 << 20  # bytes of a file that are searched
MOST_SIBLINGS = 10_000


def signature(path: str, gate: Gate) -> list[int] | None:
    """Numbers that change when a file does; None if it does not exist."""
    status = gate.status(path)
    return status and [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns]


def fingerprint(path: str) -> tuple[int, ...] | None:
    """The `stat` of a file: while it stays the same, a check would find the same. None if there is no
    file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


def content(path: str, gate: Gate) -> tuple[bytes | None, str]:
    """The beginning of a regular file, or None and the reason."""
    try:
        handle = gate.open_file(path)
    except LookRefused:
        raise
    except FileNotFoundError:
        return None, "it does not exist"
    except OSError as error:
        return None, f"it cannot be read: {error.strerror}"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None, "it is not a regular file"
        return _read(handle, 0, MOST_CONTENT), ""
    except OSError as error:
        return None, f"it cannot be read: {error.strerror}"
    finally:
        os.close(handle)


def log_end(path: str, gate: Gate) -> dict[str, Any]:
    """The current end of a log; everything after it is new, even if the log is rotated."""
    status = gate.status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return {"file": None, "offset": 0}
    return {"file": [status.st_dev, status.st_ino], "offset": status.st_size}


def last_added(path: str, state: dict[str, Any], most: int, gate: Gate) -> bytes:
    """The last bytes that were added to a log since `state`; all of it if it was rotated."""
    now = signature(path, gate)
    if now is None:
        return b""
    start = state["offset"] if state["file"] == now[:2] and state["offset"] <= now[2] else 0
    return _read_from(path, now[:2], max(start, now[2] - most), gate)[0]


def appended(path: str, state: dict[str, Any], gate: Gate) -> tuple[bytes, dict[str, Any]]:
    """The new part of a log, and the state to continue from; an unfinished line is read again.

    A log that was rotated is read to its end under its new name, then the new log from its beginning.
    """
    parts: list[bytes] = []
    now = signature(path, gate)
    if state["file"] is not None and (now is None or now[:2] != state["file"]):
        old = _renamed(path, state["file"])
        rest, offset = _read_from(old, state["file"], state["offset"], gate) if old else (b"", 0)
        parts.append(rest)
        if len(rest) >= MOST_READ:
            return rest, {**state, "offset": offset}
        state = {**state, "file": None, "offset": 0}
    if now is None:
        return b"".join(parts), state
    start = state["offset"] if state["file"] == now[:2] and state["offset"] <= now[2] else 0
    fresh, offset = _read_from(path, now[:2], start, gate)
    return b"".join([*parts, fresh]), {**state, "file": now[:2], "offset": offset}


def _read_from(path: str, file: list[int], offset: int, gate: Gate) -> tuple[bytes, int]:
    """The content of a file from an offset on, and the offset after its last complete line."""
    try:
        handle = gate.open_file(path)
    except LookRefused:
        raise
    except OSError:
        return b"", offset
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or [status.st_dev, status.st_ino] != file:
            return b"", offset
        content = _read(handle, offset, MOST_READ)
    except OSError:
        return b"", offset
    finally:
        os.close(handle)
    whole = content.rfind(b"\n") + 1
    if not whole and len(content) == MOST_READ:  # a line longer than one check reads
        whole = len(content) - 4096
    return content, offset + whole


def _read(handle: int, offset: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most and (part := read_at(handle, min(most, 1 << 18), offset)):
        parts.append(part)
        offset += len(part)
        most -= len(part)
    return b"".join(parts)


def _renamed(path: str, file: list[int]) -> str | None:
    """The new path of a rotated log: a file beside it with the same inode and the same start of its name.

    None if there is none, or if the folder cannot be listed: then the rest of the old log cannot be read.
    """
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_SIBLINGS):
                if entry.name.startswith(name) and entry.inode() == file[1] and entry.is_file():
                    return entry.path
    except OSError:
        return None
    return None
