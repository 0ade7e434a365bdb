"""`ringbolt-hook <host> <event>`: one event of a host goes into the journal; exit code 0, whatever happens.

The event is cleaned of secrets and kept as a file. Only a few events open the store, see `store_hook`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from ..config import load_settings, store_location
from ..journal.cards import read_card
from ..journal.event_files import Journal
from ..journal.names import CALLED, FAILED, OTHER, call_digest, call_key, new_name, parse, session_digest
from ..journal.side_files import SideFiles, redaction_key
from ..model.errors import RingboltError, shown
from ..model.redaction import Redactor, storable
from ..model.settings import Settings
from ..model.types import is_dict
from . import store_hook
from .capture import clipped
from .compaction_state import Mark
from .deadline import Late, set_alarm, stop_alarm
from .host_files import size
from .host_schemas import SHAPES, Shape, has_failed, read_event

MOST_INPUT = 32 << 20
# Seconds until a host must have told its event.
_PATIENCE = 5.0
_BLOCK = 1 << 20
_KEPT_OF_RUBBISH = 20_000
_MOST_TEXT = 500_000
_OPENS_STORE = ("SessionStart", "PreCompact", "Stop", "SessionEnd")
_COMPACTS = ("PreCompact", "SessionStart")
_TOOLS = ("PostToolUse", "PostToolUseFailure")
# Fields of hosts that are kept whole: what people and agents say.
_WHOLE = "prompt compact_summary last_assistant_message prompt_response text agent_prompt description".split()
# What nobody reads, and is long.
_BULKY = ("originalFile", "oldString", "newString", "oldTodos")


def main(arguments: list[str] | None = None) -> None:
    """Handle one event and end the process; always with exit code 0."""
    gc.disable()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        said = handle(words[0] if words else "", words[1] if len(words) > 1 else "")
        if said:
            _write_out(said)
    except Late:
        _complain("the time was up")
    except BaseException as error:  # noqa: BLE001 - whatever it is, it must not stop the host
        _complain(f"{type(error).__name__}: {error}")
    os._exit(0)


def handle(host: str, name: str) -> str:
    """What the host is to be told about an event that it gives on standard input."""
    shape = SHAPES.get(host)
    event = shape.events.get(name) if shape else None
    if shape is None or event is None:
        _complain(f"{name} of {host} is no event that we know")
        return ""
    set_alarm(_PATIENCE)
    told = _read_in()
    stop_alarm()
    return Hook(host, name, shape, event).run(told)


class Hook:
    """One event on its way from a host to the journal."""

    def __init__(self, host: str, name: str, shape: Shape, event: str) -> None:
        self._host, self._name, self._shape, self._event = host, name, shape, event
        try:
            self._settings = load_settings()
        except RingboltError:
            self._settings = Settings(store=os.environ.get("RINGBOLT_STORE", ""))
        self._journal = Journal.of(store_location(self._settings), self._settings.tenant)

    def run(self, data: bytes) -> str:
        """Keep the event; then the answer, where there is one."""
        limit = (
            self._settings.hook_compact_ms if self._event in _COMPACTS else self._settings.hook_deadline_ms
        )
        deadline = time.monotonic() + limit / 1000
        told = self._told(data)
        ours = read_event(self._host, self._name, told) if told is not None else None
        ours = ours or {"event": self._event}
        mark = Mark(SideFiles(self._journal), str(ours.get("session") or ""))
        if self._shape.only_looks and mark.looked(ours):
            return ""
        path = None
        if self._event != "PreToolUse":
            path = self._write(told, ours, data)
            if path is None:
                _complain("the event could not be kept anywhere")
        if told is not None and self._needs_store(ours, mark):
            return store_hook.answer(self._host, self._name, path, told, deadline)
        return ""

    def _needs_store(self, ours: Mapping[str, Any], mark: Mark) -> bool:
        if self._event in _OPENS_STORE:
            return True
        if self._event == "PreToolUse":
            return self._is_known_call(ours)
        return self._event in ("UserPromptSubmit", "PostToolUse") and mark.wants_packet()

    def _is_known_call(self, ours: Mapping[str, Any]) -> bool:
        """Whether the same call failed a moment ago, or is on the session's card."""
        key, session = (
            call_key(str(ours.get("tool") or ""), ours.get("input")),
            str(ours.get("session") or ""),
        )
        digest = session_digest(session)
        if read_card(SideFiles(self._journal), digest).names(key):
            return True
        call = call_digest(key)
        names = (parse(file.name) for file in self._journal.waiting())
        return any(n and (n.session, n.outcome, n.call) == (digest, FAILED, call) for n in names if call)

    def _told(self, data: bytes) -> dict[str, Any] | None:
        try:
            found = json.loads(data.decode("utf-8", "replace"))
            return self._cleaned(found) if is_dict(found) else None
        except (ValueError, RecursionError):
            return None

    def _cleaned(self, told: Mapping[str, Any]) -> dict[str, Any]:
        redactor = Redactor(redaction_key(self._journal))
        found: dict[str, Any] = {}
        for name, value in told.items():
            if name in _WHOLE and isinstance(value, str):
                found[name] = redactor.text(storable(value[:_MOST_TEXT]))
            else:
                if is_dict(value):
                    value = {key: one for key, one in value.items() if key not in _BULKY}
                found[name] = redactor.value(value, clipped, name=name)
        return found

    def _write(self, told: dict[str, Any] | None, ours: Mapping[str, Any], data: bytes) -> str | None:
        principal = os.environ.get("RINGBOLT_PRINCIPAL") or os.environ.get("USER")
        env = {"project": os.environ.get(self._shape.project), "principal": principal}
        line: dict[str, Any] = {
            "v": 1,
            "id": os.urandom(8).hex(),
            "at": round(time.time(), 3),
            "host": self._host,
            "event": self._name,
            "env": {name: value for name, value in env.items() if value},
        }
        if ours.get("transcript"):
            line["transcript_bytes"] = size(str(ours["transcript"]))
        if told is None:
            text = data[:_KEPT_OF_RUBBISH].decode("utf-8", "replace")
            line["raw"] = Redactor(redaction_key(self._journal)).text(storable(text))
        else:
            line["told"] = told
        outcome = OTHER
        if self._event in _TOOLS:
            failed = self._event == "PostToolUseFailure" or has_failed(ours.get("output"))
            outcome = FAILED if failed else CALLED
        call = (
            call_digest(call_key(str(ours.get("tool") or ""), ours.get("input"))) if outcome != OTHER else ""
        )
        return self._journal.write(new_name(str(ours.get("session") or ""), outcome, call), line)


# --- streams ----------------------------------------------------------------------------------------


def _read_in() -> bytes:
    """What the host tells, up to a limit; the rest is read, so that the host can finish, and dropped."""
    content = bytearray()
    while block := os.read(0, _BLOCK):
        if len(content) < MOST_INPUT:
            content += block
    return bytes(content)


def _write_out(text: str) -> None:
    data = text.encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def _complain(text: str) -> None:
    """A line for whoever looks at the host's log; the model sees nothing of it."""
    try:
        os.write(2, f"ringbolt-hook: {shown(text, 500)}\n".encode("utf-8", "replace"))
    except OSError:
        return


if __name__ == "__main__":
    main()
