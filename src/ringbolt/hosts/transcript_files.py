"""The files of transcripts: which they are, what they are, and their lines, one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from ..model.errors import InvalidInput
from ..model.types import is_dict
from ..packet.encode import read_json
from .claude_transcript import ClaudeLines
from .codex_transcript import CodexLines
from .transcript_events import Lines, storable, string

MOST_LINE = 32 << 20  # bytes; a longer line is skipped
_LOOKED_AT = 50  # lines that show what a file is
_FIRST = 1 << 16  # bytes of a first line that are looked at
_CLAUDE = ("user", "assistant", "system")


def transcript_files(paths: Iterable[str]) -> list[tuple[str, int, float]]:
    """The files that paths mean, each once, with size and time of change; sub-agents come last."""
    found: dict[str, tuple[str, int, float]] = {}
    for path in paths:
        if not os.path.isfile(path) and not os.path.isdir(path):
            raise InvalidInput(
                "invalid_argument",
                f"There is no file or folder {path}.",
                "Name a transcript, or a folder of them.",
            )
        for one in _below(path) if os.path.isdir(path) else [path]:
            facts = os.stat(one)
            found.setdefault(os.path.realpath(one), (one, facts.st_size, facts.st_mtime))
    return sorted(found.values(), key=lambda file: (_is_of_agent(file[0]), file[2], file[0]))


def _below(folder: str) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name.endswith(".jsonl") and os.path.isfile(path):
                yield path


def _is_of_agent(path: str) -> bool:
    """Whether a sub-agent wrote a file: by its name, or by what a rollout says of itself first."""
    if os.path.basename(path).startswith("agent-"):
        return True
    try:
        with open(path, "rb") as file:
            return b'"parent_thread_id":"' in file.readline(_FIRST).replace(b" ", b"")
    except OSError:
        return False  # whoever reads it will say so


def understood(file: BinaryIO, path: str) -> Lines | str:
    """What understands the lines of a file; else why it is no transcript."""
    session = os.path.basename(path).removesuffix(".jsonl")
    first: Mapping[str, Any] | None = None
    try:
        for _, (_, line) in zip(range(_LOOKED_AT), lines_of(file), strict=False):
            if line is None:
                continue
            first = line if first is None else first
            if line.get("type") in _CLAUDE and string(line.get("sessionId")):
                return ClaudeLines(session)
            if line.get("type") == "session_meta" and is_dict(line.get("payload")):
                return CodexLines(session)
    finally:
        file.seek(0)
    if first is not None and "type" not in first and "instructions" in first and "id" in first:
        return "a rollout of an early Codex, whose shape is not known here"
    return "neither a transcript of Claude Code nor a rollout of Codex"


def lines_of(file: BinaryIO) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
    """The lines of a file that are not blank, by number; None for what is no JSON object or too long."""
    number = 0
    while raw := file.readline(MOST_LINE):
        number += 1
        whole = raw.endswith(b"\n") or len(raw) < MOST_LINE
        while not whole:
            rest = file.readline(MOST_LINE)
            if whole := not rest or rest.endswith(b"\n"):
                raw = b"?"
        if not raw.isspace():
            yield number, _object(raw)


def _object(raw: bytes) -> Mapping[str, Any] | None:
    try:
        found = storable(read_json(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    return found if is_dict(found) else None
