"""The lines of a Codex rollout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import join
from typing import Any

from ..model.types import is_dict, is_list
from ..packet.encode import read_json
from .capture import as_text
from .transcript_events import (
    Calls,
    Happening,
    blocks,
    bounded,
    is_of_the_host,
    mapping,
    readable,
    seconds,
    string,
)

# Lines, and items of a conversation, that tell nothing about the work, or tell it a second time.
_QUIET = frozenset("event_msg turn_context ghost_commit world_state".split())
_QUIET_ITEMS = frozenset(
    "reasoning ghost_snapshot compaction context_compaction web_search_call tool_search_call"
    " tool_search_output image_generation_call other".split()
)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_EXIT_CODE = re.compile(
    r"\A.{0,400}?^(?:Exit code:|Process exited with code) (-?\d{1,9})\b", re.DOTALL | re.MULTILINE
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


class CodexLines:
    """Understands the lines of one file, one after the other."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._agent = ""
        self._folder: str | None = None
        self._calls = Calls()
        self._begun = False

    def take(self, line: Mapping[str, Any], number: int) -> Iterator[Happening]:
        kind, payload = string(line.get("type")), mapping(line.get("payload"))
        if kind in _QUIET:
            return
        if kind == "session_meta":
            if not self._begun:  # a fork goes on with copies of its parent's
                self._begun = True
                own = string(payload.get("id")) or self._session
                parent = _parent(payload)
                self._session, self._agent = (parent, own) if parent else (own, "")
                self._folder = string(payload.get("cwd")) or None
            return
        common: dict[str, Any] = {
            "session": self._session,
            "agent": self._agent,
            "at": seconds(line.get("timestamp")),
            "folder": self._folder,
        }
        if kind == "compacted":
            yield Happening(
                kind="compacted", key=f"line {number}", text=string(payload.get("message")), **common
            )
        elif kind == "response_item":
            yield from self._item(payload, f"line {number}", common)
        else:
            raise ValueError("a line of no known type")

    def _item(self, item: Mapping[str, Any], key: str, common: Mapping[str, Any]) -> Iterator[Happening]:
        kind = string(item.get("type"))
        if kind == "message":
            yield from _said(item, key, common)
        elif kind in _CALLS:
            self._calls.begin(string(item.get("call_id")) or string(item.get("id")), *_call(item))
        elif kind.endswith("_call_output"):
            yield from self._result(item, key, common)
        elif kind not in _QUIET_ITEMS:
            raise ValueError("an item of no known type")

    def _result(self, item: Mapping[str, Any], key: str, common: Mapping[str, Any]) -> Iterator[Happening]:
        call = string(item.get("call_id"))
        tool, given = self._calls.end(call)
        output, failed = _outcome(item.get("output"))
        key = call or key
        if tool == "update_plan" and not failed and is_list(steps := mapping(given).get("plan")):
            rows = [mapping(step) for step in steps]
            items = [{"text": row.get("step"), "status": row.get("status")} for row in rows]
            yield Happening(kind="todo", key=key, given=items, **common)
            return
        parts = _patches(given) if tool == "apply_patch" else [given]
        for place, part in enumerate(parts):
            yield Happening(
                kind="tool",
                key=f"{key}/{place}" if place else key,
                tool=tool or "tool",
                given=bounded(part),
                output=output,
                failed=failed,
                **common,
            )


def _parent(payload: Mapping[str, Any]) -> str:
    """The session whose sub-agent wrote a rollout; empty if it is a session of the user's."""
    spawned = mapping(mapping(mapping(payload.get("source")).get("subagent")).get("thread_spawn"))
    return string(spawned.get("parent_thread_id")) or string(payload.get("parent_thread_id"))


def _said(item: Mapping[str, Any], key: str, common: Mapping[str, Any]) -> Iterator[Happening]:
    role = item.get("role")
    for place, block in enumerate(blocks(item.get("content"))):
        if text := string(block.get("text")):
            kind = "message" if role == "assistant" else "prompt" if role == "user" else "notice"
            if kind == "prompt" and is_of_the_host(text):
                kind = "notice"
            yield Happening(kind=kind, key=f"{key}/{place}", text=text, **common)


def _call(item: Mapping[str, Any]) -> tuple[str, Any]:
    """The tool and the input of a call."""
    if item.get("type") == "local_shell_call":
        action = mapping(item.get("action"))
        return "shell", {"command": _command(action.get("command"))}
    tool = string(item.get("name"))
    given = item.get("arguments") if "arguments" in item else item.get("input")
    if isinstance(given, str) and item.get("type") == "function_call":
        try:
            given = read_json(given)
        except ValueError:  # a model wrote it, and it need not be JSON
            given = {"arguments": given}
    if is_dict(given) and is_list(given.get("command")):
        given = {**given, "command": _command(given["command"])}
    return tool, given


def _command(words: Any) -> str:
    """A command as it would be typed; of `bash -lc …` what the shell is given."""

    parts = [string(word) for word in words] if is_list(words) else [as_text(words)]
    if len(parts) == 3 and parts[1] in ("-c", "-lc"):
        return parts[2]
    return join(parts) if len(parts) > 1 else "".join(parts)


def _outcome(output: Any) -> tuple[str, bool]:
    """A tool's output as a text, and whether it failed."""
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            output = read_json(output)
        except ValueError:  # then it only looks like it
            return output, False
    if is_dict(output):
        code = mapping(output.get("metadata")).get("exit_code")
        failed = output.get("success") is False or (isinstance(code, int) and code != 0)
        return as_text(readable(output.get("output", output.get("content")))), failed
    text = as_text(readable(output))
    code = _EXIT_CODE.match(text)
    return text, code is not None and int(code[1]) != 0


def _patches(given: Any) -> list[Any]:
    """A patch as one input for each file that it changes."""
    text = given if isinstance(given, str) else string(mapping(given).get("input"))
    places = [(found.start(), found[1].strip()) for found in _PATCHED.finditer(text)]
    if not places:
        return [given]
    ends = [start for start, _ in places[1:]] + [len(text)]
    return [{"path": path, "patch": text[start:end]} for (start, path), end in zip(places, ends, strict=True)]
