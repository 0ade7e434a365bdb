"""Names of event files: they sort by time, and say whose call had which outcome without being opened."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ..model.types import Value, is_dict
from ..model.validate import blake2b
from ..system.processes import boot as boot

FAILED, CALLED, OTHER = "f", "c", "e"  # outcomes: a call that failed, any other call, no call
_COMMANDS = ("command", "cmd", "script", "code", "sql", "query", "pattern", "url")
_FILES = ("file_path", "path", "notebook_path", "filename")
# Shorter calls are too common to say anything about.
_SHORTEST_CALL = 6


class EventName(Value, frozen=True):
    """The parts of an event file's name."""

    boot: str
    ticks: int  # nanoseconds of the monotonic clock, which all processes of one boot share
    writer: str
    session: str
    outcome: str
    call: str


def new_name(session: str, outcome: str = OTHER, call: str = "") -> str:
    """A name for an event that happens now. `call` is a digest, or empty."""
    random = os.urandom(2).hex()
    parts = (boot(), f"{time.monotonic_ns():016x}", str(os.getpid()), random, session_digest(session))
    return f"{'-'.join(parts)}-{outcome}{call}.json"


def parse(name: str) -> EventName | None:
    """The parts of a name; None if it is not the name of an event file as we know them."""
    parts = name.removesuffix(".json").split("-")
    if len(parts) != 6 or not parts[5]:
        return None
    try:
        ticks = int(parts[1], 16)
    except ValueError:
        return None
    return EventName(parts[0], ticks, f"{parts[2]}-{parts[3]}", parts[4], parts[5][0], parts[5][1:])


def boot_in(name: str) -> str:
    """Which boot a name is of; empty if it is not the name of an event file as we know them."""
    return name[:8] if len(name) > 26 and name[8] == name[25] == "-" else ""


def session_digest(session: str) -> str:
    """A session as it stands in the names of files."""
    return blake2b(session.encode("utf-8", "replace"), digest_size=4).hexdigest()


def call_digest(key: str) -> str:
    """A call as it stands in the names of files and on cards; empty for one too short to tell apart."""
    if len(key) < _SHORTEST_CALL:
        return ""
    return blake2b(key.encode("utf-8", "replace"), digest_size=5).hexdigest()


def call_key(tool: str, given: Any) -> str:
    """What makes two calls of tools the same: the command, or the tool and the file it works on."""
    command, file = command_of(given), _first(given, _FILES)
    return folded(f"{command or tool} {file}" if file else command)


def command_of(given: Any) -> str:
    """The command, query or pattern in a tool's input; empty if it has none."""
    return _first(given, _COMMANDS)


def folded(text: str) -> str:
    """A text with every run of whitespace as one space."""
    return " ".join(text.split())


def _first(given: Any, names: Iterable[str]) -> str:
    fields: Mapping[str, Any] = given if is_dict(given) else {}
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")
