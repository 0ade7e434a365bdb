"""Tail the transcript for events that hooks do not report.

Claude Code and Codex report only the last message of a turn. Codex does not report that an error, such as a
usage limit, ended a turn. Claude Code reports neither calls that were refused before they ran nor the texts
that it injects itself, such as a skill. All of them are in the transcript, whose path every hook has. A small
file keeps the position in a session's transcript. A session that is seen for the first time is read from its
end; `ringbolt capture` imports the rest. The transcript of a fork begins with the events of its parent
session, which are recognised by their time.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from ...journal.side_files import SideFiles, transcript_file
from ...model.redaction import Redactor, bounded
from ...model.validate import blake2b, stamp
from ...system.os_calls import open_file
from ..capture.events import cleaned
from .claude import ClaudeParser
from .codex import CodexParser
from .events import (
    LineParser,
    Message,
    Notice,
    PlanReview,
    ToolCall,
    TranscriptEvent,
    TurnFailure,
    blocks,
    mapping,
    parse_time,
)
from .lines import member
from .reader import TranscriptReader

# Bytes that are read for one event; later events catch up with the rest.
MOST = 2 << 20
# Sources of a SessionStart with no earlier events.
_FRESH = ("startup", "clear")
# By format: the parser, and what a line must contain to hold an unreported event. Codex reports every call.
_FORMATS: Mapping[str, tuple[Callable[[str], LineParser], tuple[bytes, ...]]] = {
    "claude": (
        ClaudeParser,
        member("type", '"assistant"') + member("is_error", "true") + member("isMeta", "true"),
    ),
    "codex": (CodexParser, member("role", '"assistant"') + member("type", '"task_complete"')),
}
# Characters of a message that its digest covers; `bounded` leaves out the middle of very long ones.
_DIGESTED = 10_000

Write = Callable[[Mapping[str, Any], str], None]


def apply_transcript_tail(
    files: SideFiles, form: str, event: Mapping[str, Any], redactor: Redactor, write: Write
) -> None:
    """Write the unreported events of the transcript; call it before the event itself is written.

    `form` is the format of the transcript. `write` gets each event in the form of a hook's event, with a
    unique name. `files` keeps the position in the transcript. If the
    event has them, `transcript_bytes` is the size of the transcript when it happened (0: there was none yet),
    and `at` the time.
    """
    if not event.get("transcript") or not event.get("session") or event.get("agent_id"):
        return  # a sub-agent has a transcript of its own
    tail = TranscriptTail(files, form, event)
    try:
        for unreported in tail.events(redactor):
            name = unreported.get("said_id") or unreported.get("tool_use_id")
            write(unreported, f"{unreported['session']}/{name}"[:200])
    finally:
        tail.save()  # even if the deadline cut it short: the next event continues from there


class TranscriptTail:
    """The transcript of one session, from the last position on."""

    def __init__(self, files: SideFiles, form: str, event: Mapping[str, Any]) -> None:
        self._parser, self._hints = _FORMATS[form]
        self._session = str(event["session"])
        self._files, self._state = files, transcript_file(self._session)
        self._path = str(event.get("transcript") or "")
        self._source = event.get("source")
        self._upto: int | None = event.get("transcript_bytes")
        at = event.get("at")
        self._at = at if isinstance(at, (int, float)) else time.time()
        self._position, self._since, self._saved = 0, "", ""
        self._reader: TranscriptReader | None = None
        self._known = False  # whether the position is known
        # A Stop reports the last message of its turn, before or after that is in the transcript. These are
        # the digests of the message that this event reports, and of one that an earlier event reported.
        self._is_stop = event["event"] == "Stop"
        self._after_compaction = event["event"] == "PostCompact" or self._source == "compact"
        self._reported_now = _digest(event.get("message")) if self._is_stop else ""
        self._reported = ""

    def events(self, redactor: Redactor) -> Iterator[dict[str, Any]]:
        """The new unreported events, in the form of a hook's events, without secrets.

        A transcript that cannot be read has none.
        """
        self._load()
        try:
            if self._upto == 0:
                raise FileNotFoundError
            with _open_regular(self._path) as file:
                yield from self._unreported(file, redactor)
        except FileNotFoundError:
            self._begin(None)
        except OSError:
            return

    def _unreported(self, file: BinaryIO, redactor: Redactor) -> Iterator[dict[str, Any]]:
        size = os.fstat(file.fileno()).st_size
        upto = size if self._upto is None else min(self._upto, size)
        self._begin(upto)
        self._position = min(self._position, size)  # the file may have been truncated
        self._reader = TranscriptReader(
            file,
            self._parser(self._session),
            position=self._position,
            upto=upto,
            most=MOST,
            only=self._hints,
        )
        since = parse_time(self._since) if self._since else None
        for event in self._reader.events():
            if event.agent or (since is not None and (event.at or 0.0) < since):
                continue  # a sub-agent's, or of the session that this one was forked from
            if (fields := self._as_hook_event(event, self._reader)) is None:
                continue
            hook_event = cleaned({"session": self._session, **fields}, redactor)
            is_message = hook_event["event"] in ("Said", "PutIn")
            if not is_message or self._is_unreported(_digest(hook_event["message"])):
                yield hook_event

    def _begin(self, size: int | None) -> None:
        """Set the position for a session that is seen for the first time; None or 0: no transcript yet."""
        if self._known:
            return
        if not size:
            # Everything is still to come, for a fork including the events of its parent session.
            self._since = "" if self._source in _FRESH else stamp(self._at)
        else:
            self._position = 0 if self._source in _FRESH else size
        self._known = True

    def _as_hook_event(self, event: TranscriptEvent, reader: TranscriptReader) -> dict[str, Any] | None:
        """An event in the form of a hook's event; None if hooks report it."""
        match event:
            case Message():
                if self._after_compaction:
                    return None  # Codex writes the summary itself as a message
                return {"event": "Said", "message": bounded(event.text), "said_id": event.key}
            case TurnFailure():
                return {
                    "event": "StopFailure", "error": event.error, "message": bounded(event.text),
                    "said_id": event.key, "at": event.at or self._at,
                }  # fmt: skip
            case Notice(injected=True):
                return {"event": "PutIn", "message": bounded(event.text), "said_id": event.key}
            case PlanReview(approved=False):
                return _failure("ExitPlanMode", {"plan": event.plan}, "", event.key)
            case ToolCall(failed=True):
                # The hook also reports a call that ran; its id shows that they are the same.
                tool, tool_input = event.tool, event.input
                if tool == "tool":
                    tool, tool_input = _call_before(reader, event.key)
                return _failure(tool, tool_input, event.output, event.key)
            case _:
                return None

    def _is_unreported(self, message: str) -> bool:
        """Whether no Stop reported this message; each Stop accounts for one."""
        if message and message == self._reported:
            self._reported = ""
        elif message and message == self._reported_now:
            self._reported_now = ""
        else:
            return bool(message)
        return False

    # --- the state between two events

    def _load(self) -> None:
        """Load the position; a session that is seen for the first time has none."""
        self._saved = self._files.read(self._state)
        with suppress(ValueError):
            self._position, self._reported = int(self._saved[:20]), self._saved[21:45].strip()
            self._since, self._known = self._saved[46:].strip(), True

    def save(self) -> None:
        """Save the position: the events up to it are written."""
        position = self._position if self._reader is None else self._reader.position
        reported = self._reported_now if self._is_stop else self._reported
        state = f"{position:<20} {reported:<24} {self._since:<24}"
        if state != self._saved and self._known:
            self._files.set(self._state, state)


def _open_regular(path: str) -> BinaryIO:
    """Open a regular file; OSError for anything else, which might block."""
    file = open(open_file(path, follow=True), "rb")  # noqa: SIM115 - the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("not a regular file")
    return file


def _failure(tool: str, tool_input: Any, error: str, call: str) -> dict[str, Any]:
    return {
        "event": "PostToolUseFailure", "tool": tool, "input": tool_input, "error": error, "tool_use_id": call,
    }  # fmt: skip


def _call_before(reader: TranscriptReader, call: str) -> tuple[str, Any]:
    """The tool and the input of a call shortly before the current position."""
    line = reader.line_before(member("id", f'"{call}"'))
    for block in blocks(mapping(line.get("message")).get("content")):
        if block.get("id") == call:
            return str(block.get("name") or "tool"), block.get("input")
    return "tool", {}


def _digest(text: Any) -> str:
    """A short digest of a message; empty for an empty one."""
    plain = text.strip()[:_DIGESTED] if isinstance(text, str) else ""
    return blake2b(plain.encode("utf-8", "replace"), digest_size=12).hexdigest() if plain else ""
