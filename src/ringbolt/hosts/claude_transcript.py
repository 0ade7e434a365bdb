"""The lines of a Claude Code transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.types import is_dict, is_list
from .capture import as_text
from .transcript_events import (
    Calls,
    Happening,
    blocks,
    bounded,
    is_misuse,
    is_of_the_host,
    mapping,
    readable,
    seconds,
    string,
)

# Lines about the program itself.
_QUIET = frozenset(
    "summary file-history-snapshot queue-operation progress custom-title ai-title agent-name last-prompt tag"
    " permission-mode mode pr-link worktree-state agent-color agent-setting saved_hook_context"
    " api-request api-request-shape api-request-blob atis-latch cost-state tools-used".split()
)
_COMMAND = re.compile(r"<command-name>\s*(\S{1,200}?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.+?)</command-args>", re.DOTALL)
_CREATED = re.compile(r"Task #(\w{1,40}) created")
# Lines of sub-agents of which it is remembered to whom they belong.
_MOST_CHAINED = 10_000


class ClaudeLines:
    """Understands the lines of one file, one after the other."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._calls = Calls()
        self._plans: dict[str, dict[str, dict[str, Any]]] = {}
        self._chains: dict[str, str] = {}

    def take(self, line: Mapping[str, Any], number: int) -> Iterator[Happening]:
        kind = string(line.get("type"))
        if kind in _QUIET or kind == "system":
            return
        common: dict[str, Any] = {
            "session": string(line.get("sessionId")) or self._session,
            "agent": self._agent(line, number),
            "at": seconds(line.get("timestamp")),
            "folder": string(line.get("cwd")) or None,
        }
        key = string(line.get("uuid")) or f"line {number}"
        content = blocks(mapping(line.get("message")).get("content"))
        if kind == "user":
            yield from self._of_user(line, content, key, common)
        elif kind == "assistant":
            yield from self._of_agent(line, content, key, common)
        elif kind == "attachment":
            yield from _queued(mapping(line.get("attachment")), key, common)
        else:
            raise ValueError("a line of no known type")

    def _agent(self, line: Mapping[str, Any], number: int) -> str:
        """The sub-agent that a line belongs to: by its name, else by the line that its chain began with."""
        if line.get("isSidechain") is not True:
            return ""
        if name := string(line.get("agentId")):
            return name
        own = string(line.get("uuid")) or f"line {number}"
        root = self._chains.get(string(line.get("parentUuid")), own)
        self._chains[own] = root
        if len(self._chains) > _MOST_CHAINED:
            del self._chains[next(iter(self._chains))]
        return root

    def _of_user(
        self, line: Mapping[str, Any], content: list[Mapping[str, Any]], key: str, common: Mapping[str, Any]
    ) -> Iterator[Happening]:
        if line.get("isCompactSummary") is True:
            text = "\n".join(string(block.get("text")) for block in content)
            yield Happening(kind="compacted", key=key, text=text, **common)
            return
        for place, block in enumerate(content):
            if block.get("type") == "tool_result":
                yield from self._result(line, block, f"{key}/{place}", common)
            elif text := string(block.get("text")):
                typed = None if line.get("isMeta") is True else _typed(text)
                kind = "notice" if typed is None else "prompt"
                yield Happening(kind=kind, key=f"{key}/{place}", text=typed or text, **common)

    def _of_agent(
        self, line: Mapping[str, Any], content: list[Mapping[str, Any]], key: str, common: Mapping[str, Any]
    ) -> Iterator[Happening]:
        kind = "notice" if line.get("isApiErrorMessage") is True else "message"
        for place, block in enumerate(content):
            if block.get("type") == "tool_use":
                self._calls.begin(string(block.get("id")), string(block.get("name")), block.get("input"))
            elif block.get("type") == "text" and (text := string(block.get("text"))):
                yield Happening(kind=kind, key=f"{key}/{place}", text=text, **common)

    def _result(
        self, line: Mapping[str, Any], block: Mapping[str, Any], key: str, common: Mapping[str, Any]
    ) -> Iterator[Happening]:
        call = string(block.get("tool_use_id"))
        tool, given = self._calls.end(call)
        output, failed = as_text(readable(block.get("content"))), block.get("is_error") is True
        fields, told = mapping(given), mapping(line.get("toolUseResult"))
        common = {**common, "key": call or key}
        if tool == "AskUserQuestion" and is_dict(answers := told.get("answers")) and not failed:
            questions = told.get("questions") or fields.get("questions")
            yield Happening(kind="answered", given=questions, output=answers, **common)
        elif (
            tool == "ExitPlanMode"
            and (plan := string(fields.get("plan")) or string(told.get("plan")))
            and not (failed and is_misuse(output))  # the user has not seen it
        ):
            yield Happening(kind="planned", text=plan, failed=failed, **common)
        elif not failed and (items := self._plan(tool, fields, told, output, common)) is not None:
            yield Happening(kind="todo", given=items, **common)
        else:
            yield Happening(
                kind="tool", tool=tool or "tool", given=bounded(given), output=output, failed=failed, **common
            )

    def _plan(
        self,
        tool: str,
        given: Mapping[str, Any],
        told: Mapping[str, Any],
        output: str,
        common: Mapping[str, Any],
    ) -> list[dict[str, Any]] | None:
        """The whole to-do list after a call that changed it; None if this one did not."""
        if tool == "TodoWrite":
            items = given.get("todos")
            rows = [mapping(item) for item in items] if is_list(items) else []
            return [{"text": row.get("content"), "status": row.get("status")} for row in rows]
        plan = self._plans.setdefault(f"{common['session']}/{common['agent']}", {})
        if tool == "TaskCreate":
            found = _CREATED.search(output)
            name = string(mapping(told.get("task")).get("id")) or (found[1] if found else "")
            if not name:
                return None
            plan[name] = {"id": name, "text": given.get("subject"), "status": "pending"}
        elif tool == "TaskUpdate" and (name := string(given.get("taskId"))) in plan:
            if given.get("status") == "deleted":
                del plan[name]
            else:
                text, status = given.get("subject"), given.get("status")
                plan[name] |= {"text": text} if text else {}
                plan[name] |= {"status": status} if status else {}
        else:
            return None
        return [dict(item) for item in plan.values()]


def _typed(text: str) -> str | None:
    """What the user typed; None if the host put the text there."""
    if not is_of_the_host(text):
        return text
    command, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    if command and arguments and arguments[1].strip():
        return f"{command[1]} {arguments[1].strip()}"
    return None


def _queued(attachment: Mapping[str, Any], key: str, common: Mapping[str, Any]) -> Iterator[Happening]:
    """What the user typed while the agent was at work."""
    if attachment.get("type") == "queued_command" and (text := string(attachment.get("prompt"))):
        typed = _typed(text) if attachment.get("commandMode") in (None, "prompt") else None
        kind = "notice" if typed is None else "prompt"
        yield Happening(kind=kind, key=key, text=typed or text, **common)
