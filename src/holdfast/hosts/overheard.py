"""What a host tells no hook, but writes into the transcript that every hook is told of.

Claude Code tells only the last words of a turn, and nothing of a call that was refused before it ran, nor of
what it puts into the context itself, like a skill. All that is in its transcript, a line each. How far a
session's transcript has been read stands in a small file beside the store; a session that is met for the
first time is read from there on, what was before is for `holdfast capture`.
"""

from __future__ import annotations

import json
import os

from ..checks import blake2b
from ..errors import StoreError
from ..spool import Spool, side_files
from ..types import is_dict, is_list
from .capture import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..memory import TaskMemory

# Bytes that are read at once: more than that is caught up with later, by the next events.
MOST = 2 << 20
# Ways in which a host begins a session anew: there is nothing before.
_FRESH = ("startup", "clear")
_SAID = b'"type":"assistant"'
_FAILED = b'"is_error":true'
_PUT_IN = b'"isMeta":true'
_HINTS = (_SAID, _FAILED, _PUT_IN)


def overhear(memory: TaskMemory, location: str, event: Mapping[str, Any], key: bytes) -> None:
    """Write what the transcript tells that no event told, before the event itself is written."""
    if not event.get("transcript") or not event.get("session") or event.get("agent_id"):
        return  # a sub-agent has a transcript of its own
    heard = Overheard(location, event)
    try:
        for found in heard.events():
            _write(
                memory,
                location,
                f"{event['session']}/{found.get('said_id') or found.get('tool_use_id')}",
                found,
                key,
            )
    finally:
        heard.keep_place()  # also where the time was up: the next event goes on from there


def _write(memory: TaskMemory, location: str, name: str, found: Mapping[str, Any], key: bytes) -> None:
    """Write one thing that was overheard; one that can never be written is put aside."""
    from ..redact import Redactor
    from .events import apply, cleaned

    told = cleaned(found, Redactor(key))
    try:
        apply(memory, told, name[:200])
    except (StoreError, OSError):
        raise
    except Exception:  # noqa: BLE001 - it must hold up neither the event nor what was said after it
        Spool(location).reject({"id": name, "told": told})


class Overheard:
    """The transcript of one session, from where it was read last."""

    def __init__(self, location: str, event: Mapping[str, Any]) -> None:
        self._session = str(event["session"])
        digest = blake2b(self._session.encode("utf-8", "replace"), digest_size=12).hexdigest()
        self._folder = f"{side_files(location)[0]}.hooks"
        self._state = os.path.join(self._folder, f"{digest}.read")
        self._path = str(event["transcript"])
        self._event = event
        self._place, self._told, self._before = 0, "", ""

    def events(self) -> Iterator[dict[str, Any]]:
        """What happened since, in our words; nothing where the transcript cannot be read."""
        last = _digest(self._event.get("message")) if self._event["event"] == "Stop" else ""
        try:
            for line, end in self._unread():
                for event in self._of_line(line):
                    # The last words of a turn are told by its end, before or after they are written.
                    if "message" not in event or _digest(event["message"]) not in ("", last, self._told):
                        yield event
                self._place = end
        except OSError:
            return

    def keep_place(self) -> None:
        """What was given is written: the next event goes on after it."""
        if self._event["event"] == "Stop":
            self._told = _digest(self._event.get("message"))
        state = f"{self._place:<20} {self._told:<24}"
        if state == self._before:
            return
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            file = os.open(self._state, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        try:
            os.pwrite(file, state.encode(), 0)  # always of the same length: nobody finds half of it
        finally:
            os.close(file)

    def _unread(self) -> Iterator[tuple[bytes, int]]:
        """The lines of interest that have come since the last time, each with the place after it."""
        known = self._known()
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return  # all of it is still to come
        try:
            size = os.fstat(file).st_size
            if not known:
                self._place = 0 if self._event.get("source") in _FRESH else size
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

    def _known(self) -> bool:
        try:
            with open(self._state, encoding="ascii") as file:
                self._before = file.read(100)
            self._place, self._told = int(self._before[:20]), self._before[20:].strip()
        except (OSError, ValueError):
            return False
        return True

    def _of_line(self, line: bytes) -> Iterator[dict[str, Any]]:
        row = _row(line)
        if row.get("isSidechain") is True or row.get("isApiErrorMessage") is True:
            return
        for place, block in enumerate(_blocks(row)):
            if block.get("type") == "text" and (row.get("type") == "assistant" or row.get("isMeta") is True):
                said = {"message": block.get("text"), "said_id": f"{row.get('uuid')}/{place}"}
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
    plain = text.strip() if isinstance(text, str) else ""
    return blake2b(plain.encode("utf-8", "replace"), digest_size=12).hexdigest() if plain else ""
