"""What a transcript tells, whatever host wrote it: one value for each thing that happened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..model import validate
from ..model.errors import InvalidInput
from ..model.types import Value, is_dict, is_list
from .capture import clipped


class Lines(Protocol):
    """What understands the lines of one file, one after the other."""

    def take(self, line: Mapping[str, Any], number: int) -> Iterable[Happening]:
        """What happened, according to a line; ValueError if the line is of no known kind."""
        ...


# Calls whose result has not come yet; of more than so many the oldest are given up.
MOST_CALLS = 1000
# What a host puts into the place of a user's words.
_OF_THE_HOST = re.compile(
    r"\s*(?:<(?:local-command|command-|bash-|system-reminder|task-notification|user-memory|ide_|teammate-message"
    r"|environment_context|user_instructions|turn_aborted|permissions|skill|subagent_notification"
    r"|INSTRUCTIONS|collaboration_mode)|# AGENTS\.md instructions|Caveat: The messages below)"
)


class Happening(Value, frozen=True, kw_only=True):
    """One thing that happened in a session, or in one of its sub-agents.

    `kind` is a method of Capture, or `compacted`; `key` names it within its session for ever.
    """

    kind: str
    session: str
    key: str
    at: float | None = None
    agent: str = ""
    folder: str | None = None
    text: str = ""
    tool: str = ""
    given: Any = None
    output: Any = None
    failed: bool = False


class Calls:
    """The tool calls that have begun, until their results come."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, Any]] = {}

    def begin(self, call: str, tool: str, given: Any) -> None:
        self._calls[call] = tool, given
        if len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]

    def end(self, call: str) -> tuple[str, Any]:
        """The tool and the input of a call; ("", {}) if nothing is known of it."""
        return self._calls.pop(call, ("", {}))


def is_of_the_host(text: str) -> bool:
    """Whether a text in the user's place was put there by the host."""
    return _OF_THE_HOST.match(text) is not None


def is_misuse(error: str) -> bool:
    """Whether the host refused a call because of how it was made: no user has seen it."""
    return error.lstrip().startswith("<tool_use_error>") or "InputValidationError" in error[:300]


def seconds(stamp: Any) -> float | None:
    """Seconds since 1970 of a transcript's time; None if it is none."""
    try:
        return validate.seconds_of(validate.moment("the time", stamp))
    except (InvalidInput, OverflowError):
        return None


def string(value: Any) -> str:
    """A value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """A value if it is a mapping, else an empty one."""
    return value if is_dict(value) else {}


def blocks(content: Any) -> list[Mapping[str, Any]]:
    """The blocks of a message; a bare text is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if is_dict(block)] if is_list(content) else []


def readable(content: Any) -> Any:
    """A tool's output without what nobody can read."""
    if not is_list(content):
        return content
    return [f"[{part['type']}]" if _is_binary(part) else part for part in content]


def _is_binary(part: Any) -> bool:
    return is_dict(part) and part.get("type") in ("image", "document", "input_image", "audio")


def storable(value: Any) -> Any:
    """The same JSON value with texts that every engine can keep."""
    if isinstance(value, str):
        if not value.isascii():
            value = value.encode("utf-8", "replace").decode()
        return value.replace("\0", "\ufffd") if "\0" in value else value
    if is_list(value):
        return [storable(part) for part in value]
    if is_dict(value):
        return {storable(name): storable(part) for name, part in value.items()}
    return value


def bounded(given: Any) -> Any:
    """A tool's input without the middle of its long texts."""
    if isinstance(given, str):
        return clipped(given)
    if is_list(given):
        return [bounded(part) for part in given]
    if is_dict(given):
        return {name: bounded(part) for name, part in given.items()}
    return given
