"""What a host tells no hook, but writes into the transcript that every hook is told of.

Claude Code tells only the last words of a turn, and nothing of a call that was refused before it ran, nor of
what it puts into the context itself, like a skill. All that is in its transcript, a line each. How far a
session's transcript has been read stands in a small file beside the store; a session that is met for the
first time is read from there on, what was before is for `ringbolt capture`. A fork of a session has what was
before at the beginning of its own transcript, known by its time.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..journal.side_files import SideFiles, transcript_file
from ..model.redaction import Redactor, bounded
from ..model.types import is_dict, is_list
from ..model.validate import blake2b, stamp
from .capture import as_text
from .events import cleaned

# Bytes that are read at once: more than that is caught up with later, by the next events.
MOST = 2 << 20
# Ways in which a host begins a session anew: there is nothing before.
_FRESH = ("startup", "clear")
_SAID = b'"type":"assistant"'
_FAILED = b'"is_error":true'
_PUT_IN = b'"isMeta":true'
# Characters of a text by which it is known again; of a very long one the middle is left out.
_TELLING = 10_000
_HINTS = (_SAID, _FAILED, _PUT_IN)


Write = Callable[[Mapping[str, Any], str], None]


def overhear(files: SideFiles, event: Mapping[str, Any], key: bytes, write: Write) -> None:
    """Write what the transcript tells that no event told, before the event itself is written.

    `write` is given each thing in order, with a name of its own. `files` keeps how far it was read.
    """
    if not event.get("transcript") or not event.get("session") or event.get("agent_id"):
        return  # a sub-agent has a transcript of its own
    heard = Overheard(files, event)
    try:
        for told in heard.events(Redactor(key)):
            write(told, f"{told['session']}/{told.get('said_id') or told.get('tool_use_id')}"[:200])
    finally:
        heard.keep_place()  # also where the time was up: the next event goes on from there


class Overheard:
    """The transcript of one session, from where it was read last."""

    def __init__(self, files: SideFiles, event: Mapping[str, Any]) -> None:
        self._session = str(event["session"])
        self._files = files
        self._state = transcript_file(self._session)
        # The transcript as long as it was when the event happened: what came later is for later events.
        self._end: int | None = event.get("transcript_bytes")
        self._path = str(event.get("transcript") or "")
        self._event = event
        self._place, self._told, self._since, self._before = 0, "", "", ""
        self._found = False  # whether the place is known
        # The last words of a turn are told by its end, before or after they are written.
        self._last = _digest(event.get("message")) if event["event"] == "Stop" else ""

    def events(self, redactor: Redactor) -> Iterator[dict[str, Any]]:
        """What happened since, in our words, without secrets; nothing where the transcript cannot be read."""
        try:
            for line, end in self._unread():
                for event in self._of_line(line):
                    told = cleaned(event, redactor)
                    if "message" not in told or self._is_news(_digest(told["message"])):
                        yield told
                self._place = end
        except OSError:
            return

    def _is_news(self, words: str) -> bool:
        """Whether words were not told by the end of a turn; each end tells them once."""
        if words and words == self._told:
            self._told = ""
        elif words and words == self._last:
            self._last = ""
        else:
            return bool(words)
        return False

    def keep_place(self) -> None:
        """What was given is written: the next event goes on after it."""
        told = self._last if self._event["event"] == "Stop" else self._told
        state = f"{self._place:<20} {told:<24} {self._since:<24}"
        if state == self._before or not self._found:
            return
        self._files.set(self._state, state)

    def _unread(self) -> Iterator[tuple[bytes, int]]:
        """The lines of interest that have come since the last time, each with the place after it."""
        known = self.is_known()
        try:
            if self._end == 0:
                raise FileNotFoundError
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            # All of it is still to come: of a fork, also what was before.
            if not known and self._event.get("source") not in _FRESH:
                at = self._event.get("at")
                self._since = stamp(at if isinstance(at, (int, float)) else time.time())
            self._found = True
            return
        try:
            size = os.fstat(file).st_size
            size = size if self._end is None else min(size, self._end)
            if not known:
                self._place = 0 if self._event.get("source") in _FRESH else size
                self._found = True
            begin = min(self._place, size)  # it may have been cut
            content = os.pread(file, min(MOST, size - begin), begin)
        finally:
            os.close(file)
        end = content.rfind(b"\n") + 1
        if not end and len(content) == MOST:
            end = MOST  # within a line that nobody wants
        place = begin
        for line in content[:end].split(b"\n"):
            place += len(line) + 1
            if any(hint in line for hint in _HINTS):
                yield line, min(place, begin + end)
        self._place = begin + end

    def is_known(self) -> bool:
        """Whether the session was met before: from where on it is to be read."""
        self._before = self._files.read(self._state)
        try:
            self._place, self._told = int(self._before[:20]), self._before[21:45].strip()
            self._since = self._before[46:].strip()
            self._found = True
        except ValueError:
            return False
        return True

    def _of_line(self, line: bytes) -> Iterator[dict[str, Any]]:
        row = _row(line)
        if row.get("isSidechain") is True or row.get("isApiErrorMessage") is True:
            return
        if self._since and str(row.get("timestamp") or "") < self._since:
            return  # of the session that this one was forked from
        for place, block in enumerate(_blocks(row)):
            if block.get("type") == "text" and (row.get("type") == "assistant" or row.get("isMeta") is True):
                said = {
                    "message": bounded(as_text(block.get("text"))),
                    "said_id": f"{row.get('uuid')}/{place}",
                }
                kind = "PutIn" if row.get("isMeta") is True else "Said"
                yield {"event": kind, "session": self._session, **said}
            elif block.get("type") == "tool_result" and block.get("is_error") is True:
                yield self._failure(block)

    def _failure(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """A call that failed; of one that ran a hook has told already, and it is known by its name."""
        name = str(result.get("tool_use_id") or "")
        call = self._call(name)
        return {
            "event": "PostToolUseFailure",
            "session": self._session,
            "tool": call.get("name"),
            "input": call.get("input"),
            "error": as_text(result.get("content")),
            "tool_use_id": name,
        }

    def _call(self, name: str) -> Mapping[str, Any]:
        """The call that a result belongs to; it stands shortly before."""
        wanted = f'"id":"{name}"'.encode()
        begin = max(0, self._place - MOST)
        file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            content = os.pread(file, self._place - begin, begin)
        finally:
            os.close(file)
        found = content.rfind(wanted) if name else -1
        if found < 0:
            return {}
        start, end = content.rfind(b"\n", 0, found) + 1, content.find(b"\n", found)
        for block in _blocks(_row(content[start : end if end >= 0 else None])):
            if block.get("id") == name:
                return block
        return {}


def _row(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if is_dict(found) else {}


def _blocks(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    message = row.get("message")
    content = message.get("content") if is_dict(message) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if is_dict(block)] if is_list(content) else []


def _digest(text: Any) -> str:
    """A text as a short name; nothing for none."""
    plain = text.strip()[:_TELLING] if isinstance(text, str) else ""
    return blake2b(plain.encode("utf-8", "replace"), digest_size=12).hexdigest() if plain else ""
