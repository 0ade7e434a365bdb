"""Parse the lines of a Codex rollout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import join
from typing import Any

from ...model.lazy_regex import lazy_regex
from ...model.types import is_dict, is_list
from ...packet.encode import read_json
from ...signals.calls.failures import rejection
from ...signals.calls.tools import is_foreign
from .events import (
    Compaction,
    Message,
    Notice,
    OpenCalls,
    Prompt,
    TodoList,
    ToolCall,
    TranscriptEvent,
    TurnFailure,
    as_text,
    blocks,
    is_host_text,
    mapping,
    parse_time,
    string,
    without_binaries,
)

# Lines, and items of a conversation, that are not about the work, or repeat others.
_IGNORED = frozenset("event_msg turn_context ghost_commit world_state token_usage_record".split())
_IGNORED_ITEMS = frozenset(
    "reasoning ghost_snapshot compaction context_compaction web_search_call tool_search_call"
    " tool_search_output image_generation_call other".split()
)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_EXIT_CODE = lazy_regex(
    r"\A.{0,400}?^(?:Exit code:|Process exited with code) (-?\d{1,9})\b", re.DOTALL | re.MULTILINE
)
_PATCHED_FILE = lazy_regex(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)

Line = Mapping[str, Any]


class CodexParser:
    """Parses the lines of one file, in their order."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._agent = ""
        self._folder: str | None = None
        self._calls = OpenCalls()
        self._begun = False

    def parse(self, line: Line, place: str) -> Iterator[TranscriptEvent]:
        kind, payload = string(line.get("type")), mapping(line.get("payload"))
        if kind == "event_msg":
            yield from self._failed_turn(line, payload, place)
        if kind in _IGNORED:
            return
        if kind == "session_meta":
            self._begin(payload)
            return
        common = self._common(line)
        if kind == "compacted":
            yield Compaction(key=place, text=string(payload.get("message")), **common)
        elif kind == "response_item":
            yield from self._item(payload, place, common)
        else:
            raise ValueError("a line of an unknown type")

    def _common(self, line: Line) -> dict[str, Any]:
        """What all events of a line have."""
        at = parse_time(line.get("timestamp"))
        return {"session": self._session, "agent": self._agent, "at": at, "folder": self._folder}

    def _failed_turn(self, line: Line, payload: Line, place: str) -> Iterator[TranscriptEvent]:
        """The error that ended a turn, which Codex reports to no hook."""
        error = mapping(payload.get("error"))
        if payload.get("type") != "task_complete" or not (text := string(error.get("message"))):
            return
        info = error.get("codex_error_info")
        kind = next(iter(info), "") if is_dict(info) else string(info)
        key = f"{string(payload.get('turn_id')) or place}/error"
        yield TurnFailure(key=key, text=text, error=kind or "error", **self._common(line))

    def _begin(self, payload: Line) -> None:
        if self._begun:
            return  # a fork repeats the metadata of its parents
        self._begun = True
        own = string(payload.get("id")) or self._session
        parent = _parent_session(payload)
        self._session, self._agent = (parent, own) if parent else (own, "")
        self._folder = string(payload.get("cwd")) or None

    def _item(self, item: Line, key: str, common: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
        kind = string(item.get("type"))
        if kind == "message":
            yield from _texts(item, key, common)
        elif kind in _CALLS:
            self._calls.begin(string(item.get("call_id")) or string(item.get("id")), *_tool_and_input(item))
        elif kind.endswith("_call_output"):
            yield from self._result(item, key, common)
        elif kind not in _IGNORED_ITEMS:
            raise ValueError("an item of an unknown type")

    def _result(self, item: Line, key: str, common: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
        call = string(item.get("call_id"))
        tool, arguments = self._calls.end(call)
        output, failed = _outcome(item.get("output"))
        # Codex writes the result of a command that it ran below a header; a refusal is the whole output.
        failed = failed or (not is_foreign(tool) and rejection(output) is not None)
        key = call or key
        if tool == "update_plan" and not failed and is_list(steps := mapping(arguments).get("plan")):
            rows = [mapping(step) for step in steps]
            items = [{"text": row.get("step"), "status": row.get("status")} for row in rows]
            yield TodoList(key=key, items=items, **common)
            return
        inputs = _inputs_by_file(arguments) if tool == "apply_patch" else [arguments]
        for number, part in enumerate(inputs):
            own = f"{key}/{number}" if number else key
            yield ToolCall(key=own, tool=tool or "tool", input=part, output=output, failed=failed, **common)


def _parent_session(payload: Line) -> str:
    """The session whose sub-agent wrote a rollout; empty for a user's own session."""
    spawned = mapping(mapping(mapping(payload.get("source")).get("subagent")).get("thread_spawn"))
    return string(spawned.get("parent_thread_id")) or string(payload.get("parent_thread_id"))


def _texts(item: Line, key: str, common: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
    kind = {"assistant": Message, "user": Prompt}.get(string(item.get("role")), Notice)
    for place, block in enumerate(blocks(item.get("content"))):
        if text := string(block.get("text")):
            own = Notice if kind is Prompt and is_host_text(text) else kind
            yield own(key=f"{key}/{place}", text=text, **common)


def _tool_and_input(item: Line) -> tuple[str, Any]:
    """The tool and the input of a call."""
    if item.get("type") == "local_shell_call":
        action = mapping(item.get("action"))
        return "shell", {"command": _command_line(action.get("command"))}
    arguments = item.get("arguments") if "arguments" in item else item.get("input")
    if isinstance(arguments, str) and item.get("type") == "function_call":
        try:
            arguments = read_json(arguments)
        except ValueError:  # a model wrote it, and it need not be JSON
            arguments = {"arguments": arguments}
    if is_dict(arguments) and is_list(arguments.get("command")):
        arguments = {**arguments, "command": _command_line(arguments["command"])}
    return string(item.get("name")), arguments


def _command_line(arguments: Any) -> str:
    """A command as one would type it; for `bash -lc …` the shell's argument."""
    parts = [string(word) for word in arguments] if is_list(arguments) else [as_text(arguments)]
    if len(parts) == 3 and parts[1] in ("-c", "-lc"):
        return parts[2]
    return join(parts) if len(parts) > 1 else "".join(parts)


def _outcome(output: Any) -> tuple[str, bool]:
    """A tool's output as a text, and whether the tool failed."""
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            output = read_json(output)
        except ValueError:  # a text that begins like JSON
            return output, False
    if is_dict(output):
        code = mapping(output.get("metadata")).get("exit_code")
        failed = output.get("success") is False or (isinstance(code, int) and code != 0)
        return as_text(without_binaries(output.get("output", output.get("content")))), failed
    text = as_text(without_binaries(output))
    code = _EXIT_CODE.match(text)
    failed = text.startswith("unsupported call:") if code is None else int(code[1]) != 0
    return text, failed


def _inputs_by_file(patch: Any) -> list[Any]:
    """A patch split into one input for each file that it changes."""
    text = patch if isinstance(patch, str) else string(mapping(patch).get("input"))
    places = [(match.start(), match[1].strip()) for match in _PATCHED_FILE.finditer(text)]
    if not places:
        return [patch]
    ends = [start for start, _ in places[1:]] + [len(text)]
    return [{"path": path, "patch": text[start:end]} for (start, path), end in zip(places, ends, strict=True)]
