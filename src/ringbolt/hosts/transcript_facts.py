"""Facts that hosts write to their transcripts and do not report to hooks: exit codes and compactions.

`upto` is the size that the transcript had when the hook was called: what came later does not count.
"""

from __future__ import annotations

import os

from ..model.types import is_dict
from .transcript_lines import last_line_with, parse_line

# Bytes that are searched for a compaction.
_MOST = 512 << 10


def exit_code(transcript: str, call: str, upto: int | None = None) -> int | None:
    """The exit code of a command, which Codex writes to its transcript before it calls the hook."""
    try:
        with open(transcript, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            line = last_line_with(file, f'"id":"{call}"'.encode(), size if upto is None else min(upto, size))
        payload = parse_line(line).get("payload")
    except (OSError, ValueError):
        return None
    item = payload.get("item") if is_dict(payload) else None
    code = item.get("exit_code") if is_dict(item) else None
    return code if isinstance(code, int) else None


def was_compacted(transcript: str, since: int, upto: int | None = None) -> bool:
    """Whether Gemini CLI has replaced its history since its transcript had the size `since`."""
    most = _MOST if upto is None else min(_MOST, max(0, upto - since))
    try:
        with open(transcript, "rb") as file:
            file.seek(since)
            lines = file.read(most).split(b"\n")
    except (OSError, ValueError):
        return False
    return any(line.startswith(b'{"$set":{"messages":[') for line in lines)


def transcript_size(transcript: str) -> int:
    """The size of a transcript in bytes; 0 if there is none."""
    try:
        return os.stat(transcript).st_size
    except (OSError, ValueError):
        return 0
