"""Find and parse single lines of transcripts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, BinaryIO

from ...journal.event_files import storable_json
from ...model.types import is_dict
from ...packet.encode import read_json
from ...system.os_calls import read_at

_FIRST_LINE = 1 << 20  # bytes of the first line: Codex has its instructions there
_LOOK_BACK = 2 << 20  # bytes that are searched for an earlier line


def member(name: str, value: str) -> tuple[bytes, bytes]:
    """How a member of a JSON object begins in a line: as hosts write it, and with a space after the colon.

    `value` is JSON, or the beginning of it. Exported and rewritten transcripts have the space.
    """
    return f'"{name}":{value}'.encode(), f'"{name}": {value}'.encode()


_COMPACTED = member("type", '"compacted"')  # in a line with Codex's own summary
_TURN_MODE = member("collaboration_mode_kind", '"')  # in a line that begins a turn of Codex


def last_line_with(file: BinaryIO, needles: tuple[bytes, ...], upto: int) -> bytes:
    """The last line before byte `upto` that contains one of these; empty if there is none nearby."""
    begin = max(0, upto - _LOOK_BACK)
    content = read_at(file.fileno(), upto - begin, begin)
    place = max(content.rfind(needle) for needle in needles)
    if place < 0:
        return b""
    start, end = content.rfind(b"\n", 0, place) + 1, content.find(b"\n", place)
    return content[start : end if end >= 0 else None]


def parse_line(raw: bytes) -> Mapping[str, Any]:
    """Parse a line as a JSON object, with texts that every engine can store; ValueError if it is not one."""
    try:
        line = read_json(raw.decode("utf-8", "replace"))
        if b"\\u" in raw:  # only escapes can hold characters that no engine stores
            line = storable_json(line)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    if not is_dict(line):
        raise ValueError("the line is not a JSON object")
    return line


def exit_code(transcript: str, call: str, upto: int | None = None) -> int | None:
    """The exit code of a command, which Codex writes to its transcript before it calls the hook."""
    item = _last_payload(transcript, member("id", f'"{call}"'), upto).get("item")
    code = item.get("exit_code") if is_dict(item) else None
    return code if isinstance(code, int) else None


def compaction_summary(transcript: str, upto: int | None = None) -> str:
    """Codex's own summary of the last compaction, which only its transcript has; empty if there is none."""
    message = _last_payload(transcript, _COMPACTED, upto).get("message")
    return message if isinstance(message, str) else ""


def is_in_plan_mode(transcript: str, upto: int | None = None) -> bool:
    """Whether the last turn of Codex began in plan mode, which only its transcript says."""
    return _last_payload(transcript, _TURN_MODE, upto).get("collaboration_mode_kind") == "plan"


def _last_payload(transcript: str, needles: tuple[bytes, ...], upto: int | None) -> Mapping[str, Any]:
    """The payload of the last line of a Codex transcript with one of these; empty if there is none.

    `upto` is the size of the transcript when the hook was called: later lines do not count.
    """
    try:
        with open(transcript, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            line = last_line_with(file, needles, size if upto is None else min(upto, size))
        payload = parse_line(line).get("payload")
    except (OSError, ValueError):
        return {}
    return payload if is_dict(payload) else {}


def helper_name(transcript: str) -> str:
    """The name that Codex's agent gave to a helper, from the first line of the helper's own transcript."""
    try:
        with open(transcript, "rb") as file:
            payload = parse_line(file.readline(_FIRST_LINE)).get("payload")
    except (OSError, ValueError):
        return ""
    path = payload.get("agent_path") if is_dict(payload) else None
    return path.rpartition("/")[2][:120] if isinstance(path, str) else ""
