"""What hosts write down and do not tell their hooks: how a command ended, whether a context was compacted."""

from __future__ import annotations

import os

# Of a transcript, how much is looked at.
_MOST = 512 << 10


def exit_code(transcript: str, call: str, end: int | None = None) -> int | None:
    """The exit code of a command, which Codex has in its transcript before it calls the hook.

    `end`: how long the transcript was then.
    """
    tail = _part(transcript, -_MOST if end is None else max(0, end - _MOST))
    # A line is written in one go, and quotation marks in its texts have a backslash before them.
    _, found, line = tail.rpartition(f'"id":"{call}"'.encode())
    line = line.partition(b"\n")[0]
    if not found or b'"exit_code":' not in line:
        return None
    number = line.rpartition(b'"exit_code":')[2].partition(b",")[0].strip(b"} ")
    return int(number) if number.lstrip(b"-").isdigit() else None


def size(transcript: str) -> int:
    """How long a transcript is; 0 if there is none."""
    try:
        return os.stat(transcript).st_size
    except (OSError, ValueError):
        return 0


def was_compacted(transcript: str, since: int) -> bool:
    """Whether Gemini CLI has replaced its history since its transcript was so long."""
    return any(line.startswith(b'{"$set":{"messages":[') for line in _part(transcript, since).split(b"\n"))


def _part(transcript: str, begin: int) -> bytes:
    """A part of a transcript, from its end if `begin` is negative; nothing if it cannot be read."""
    try:
        with open(transcript, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            file.seek(max(0, length + begin) if begin < 0 else begin)
            return file.read(_MOST)
    except (OSError, ValueError):
        return b""
