"""The events of transcripts, one class for each, and helpers for the parsers of all hosts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ...model import validate
from ...model.errors import InvalidInput
from ...model.lazy_regex import lazy_regex
from ...model.redaction import without_private_blocks
from ...model.types import Value, is_dict, is_list

# A call whose result never comes is dropped once this many newer ones are open.
MAX_OPEN_CALLS = 1000
# The beginnings of texts that the host wrote in the user's place.
_HOST_TEXT = lazy_regex(
    r"\s*(?:<(?:local-command|command-|bash-|system-reminder|task-notification|user-memory|ide_|teammate-message"
    r"|environment_context|user_instructions|turn_aborted|permissions|skill|subagent_notification"
    r"|INSTRUCTIONS|collaboration_mode)|# AGENTS\.md instructions|Caveat: The messages below"
    r"|Operation stopped by hook\b)"
)


class TranscriptEvent(Value, frozen=True, kw_only=True):
    """An event of a session, or of one of its sub-agents.

    `key` identifies it permanently within its session: the host's own id, otherwise its position in the file.
    """

    session: str
    key: str
    at: float | None = None  # seconds since 1970
    agent: str = ""  # the sub-agent, if one did it
    folder: str | None = None


class TextEvent(TranscriptEvent, frozen=True, kw_only=True):
    """A text of the conversation."""

    text: str


class Prompt(TextEvent, frozen=True, kw_only=True):
    """A text that the user typed."""


class Message(TextEvent, frozen=True, kw_only=True):
    """A text that the agent wrote."""


class Notice(TextEvent, frozen=True, kw_only=True):
    """A text that the host added: a reminder, an error, or (`injected`) one for the model, like a skill."""

    injected: bool = False


class TurnFailure(TextEvent, frozen=True, kw_only=True):
    """A turn that an error ended, such as a usage limit: its message, and the host's word for it."""

    error: str


class Compaction(TextEvent, frozen=True, kw_only=True):
    """The summary that replaced the conversation."""


class ToolCall(TranscriptEvent, frozen=True, kw_only=True):
    """A tool call that has ended. `tool` is "tool" if the start of the call was not read."""

    tool: str
    input: Any
    output: str
    failed: bool


class TodoList(TranscriptEvent, frozen=True, kw_only=True):
    """The agent's to-do list after a change: all its items, with `text`, `status` and perhaps `id`."""

    items: list[dict[str, Any]]


class Answers(TranscriptEvent, frozen=True, kw_only=True):
    """The user answered questions of the agent."""

    questions: Any
    answers: dict[str, Any]


class PlanReview(TranscriptEvent, frozen=True, kw_only=True):
    """The user approved or rejected a plan of the agent."""

    plan: str
    approved: bool


class LineParser(Protocol):
    """Parses the lines of one transcript, in their order."""

    def parse(self, line: Mapping[str, Any], place: str) -> Iterable[TranscriptEvent]:
        """The events of a line; ValueError for an unknown kind. `place` is its key if it has no id."""
        ...


class OpenCalls:
    """The tool calls without a result yet."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, Any]] = {}

    def begin(self, call: str, tool: str, arguments: Any) -> None:
        self._calls[call] = tool, arguments
        if len(self._calls) > MAX_OPEN_CALLS:
            del self._calls[next(iter(self._calls))]

    def end(self, call: str) -> tuple[str, Any]:
        """The tool and the input of a call; ("", {}) if its start was not read."""
        return self._calls.pop(call, ("", {}))


def is_host_text(text: str) -> bool:
    """Whether the host, and not the user, wrote a text in the user's place."""
    return _HOST_TEXT.match(text) is not None


def is_misuse(error: str) -> bool:
    """Whether the host itself refused a call because it was malformed: the user has not seen it."""
    return error.lstrip().startswith("<tool_use_error>") or "InputValidationError" in error[:300]


def parse_time(stamp: Any) -> float | None:
    """A transcript's time as seconds since 1970; None if it is not a time."""
    try:
        return validate.seconds_of(validate.moment("the time", stamp))
    except (InvalidInput, OverflowError):
        return None


def string(value: Any) -> str:
    """The value if it is a string, otherwise an empty one."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, otherwise an empty one."""
    return value if is_dict(value) else {}


def as_text(value: Any) -> str:
    """The output of a tool as text: strings and blocks of text unchanged, other values as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if is_list(value):
        return "\n".join(as_text(part) for part in value)
    if is_dict(value) and isinstance(value.get("text"), str):
        return value["text"]
    return json.dumps(value, ensure_ascii=False, default=str)


def blocks(content: Any) -> list[Mapping[str, Any]]:
    """The blocks of a message; a bare string is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    found = [block for block in content if is_dict(block)] if is_list(content) else []
    return without_private_blocks(found)


def without_binaries(content: Any) -> Any:
    """A tool's output with images and documents replaced by their kind."""
    if not is_list(content):
        return content
    kinds = ("image", "document", "input_image", "audio")
    return [f"[{part['type']}]" if is_dict(part) and part.get("type") in kinds else part for part in content]
