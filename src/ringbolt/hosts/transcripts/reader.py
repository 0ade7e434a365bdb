"""Read transcripts: turn a file's lines, from a byte position on, into events.

`ringbolt capture` reads whole files; the transcript tail reads the lines since the last event of a hook.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from ...model.errors import InvalidInput, shown
from ...model.types import is_dict
from .claude import ClaudeParser
from .codex import CodexParser
from .events import LineParser, TranscriptEvent, string
from .lines import last_line_with, parse_line

LONGEST_LINE = 32 << 20  # bytes; a longer line is skipped
_SAMPLE_LINES = 50  # lines that show which host wrote a file
_FIRST_LINE = 1 << 16  # bytes of the first line that are searched


class TranscriptReader:
    """Yields the events of an open transcript.

    `position` advances after each line whose events were all consumed. Nothing beyond byte `upto` is read,
    and no further line after `most` bytes. A last line without a newline is still being written and is
    skipped, unless `partial`. With `only`, lines that contain none of these bytes are not parsed.
    """

    def __init__(
        self,
        file: BinaryIO,
        parser: LineParser,
        *,
        position: int = 0,
        upto: int | None = None,
        most: int | None = None,
        partial: bool = False,
        only: tuple[bytes, ...] = (),
    ) -> None:
        self.position = position
        self.skipped = 0  # lines that are broken, too long or of an unknown kind
        self._file, self._parser = file, parser
        self._upto, self._most, self._partial, self._only = upto, most, partial, only

    def events(self) -> Iterator[TranscriptEvent]:
        """The events of the lines from `position` on."""
        for raw, end in self._lines():
            if raw is None:
                self.skipped += 1
            elif not raw.isspace() and (not self._only or any(hint in raw for hint in self._only)):
                yield from self._parsed(raw)
            self.position = end

    def _parsed(self, raw: bytes) -> Iterator[TranscriptEvent]:
        try:
            yield from self._parser.parse(parse_line(raw), f"byte {self.position}")
        except ValueError:
            self.skipped += 1

    def _lines(self) -> Iterator[tuple[bytes | None, int]]:
        """Each line with the position after it; None in place of a line that is too long."""
        end = start = self.position
        self._file.seek(start)
        while self._most is None or end - start < self._most:
            raw = part = self._file.readline(LONGEST_LINE)
            end += len(part)
            while len(part) == LONGEST_LINE and not part.endswith(b"\n"):
                part = self._file.readline(LONGEST_LINE)
                end += len(part)
            complete = part.endswith(b"\n") or (self._partial and bool(raw))
            if not complete or (self._upto is not None and end > self._upto):
                return
            yield raw if raw is part else None, end

    def line_before(self, needles: tuple[bytes, ...]) -> Mapping[str, Any]:
        """The last line before `position` that contains one of these; empty if there is none nearby."""
        try:
            return parse_line(last_line_with(self._file, needles, self.position))
        except ValueError:
            return {}


# --- files ------------------------------------------------------------------------------------------


def transcript_files(paths: Iterable[str]) -> list[tuple[str, int, float]]:
    """The files at or below these paths, each once, with size and time of change; sub-agents come last."""
    files: dict[str, tuple[str, int, float]] = {}
    for path in paths:
        if not os.path.isfile(path) and not os.path.isdir(path):
            raise InvalidInput(
                "invalid_argument",
                f"There is no file or folder {shown(path, 400)}.",
                "Name a transcript, or a folder of transcripts.",
            )
        below = (os.path.join(place, name) for place, _, names in os.walk(path) for name in names)
        for file in [path] if os.path.isfile(path) else below:
            if file == path or (file.endswith(".jsonl") and os.path.isfile(file)):
                status = os.stat(file)
                files.setdefault(os.path.realpath(file), (file, status.st_size, status.st_mtime))
    return sorted(files.values(), key=lambda row: (_is_by_sub_agent(row[0]), row[2], row[0]))


def _is_by_sub_agent(path: str) -> bool:
    """Whether a sub-agent wrote a file: its name says so (Claude Code), or its first line (Codex)."""
    if os.path.basename(path).startswith("agent-"):
        return True
    try:
        with open(path, "rb") as file:
            return b'"parent_thread_id":"' in file.readline(_FIRST_LINE).replace(b" ", b"")
    except OSError:
        return False  # reported when the file is imported


def parser_for(file: BinaryIO, path: str) -> LineParser:
    """The parser for a file, chosen by its first lines; ValueError says why it is not a transcript."""
    session = os.path.basename(path).removesuffix(".jsonl")
    first: Mapping[str, Any] | None = None
    for _ in range(_SAMPLE_LINES):
        try:
            line = parse_line(file.readline(LONGEST_LINE))
        except ValueError:
            continue
        first = line if first is None else first
        if line.get("type") in ("user", "assistant", "system") and string(line.get("sessionId")):
            return ClaudeParser(session)
        if line.get("type") == "session_meta" and is_dict(line.get("payload")):
            return CodexParser(session)
    if first is not None and "type" not in first and "instructions" in first and "id" in first:
        raise ValueError("a rollout of an early version of Codex, whose format is not supported")
    raise ValueError("neither a transcript of Claude Code nor a rollout of Codex")
