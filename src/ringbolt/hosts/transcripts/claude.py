"""Parse the lines of a Claude Code transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.lazy_regex import lazy_regex
from ...model.types import is_dict, is_list
from .events import (
    Answers,
    Compaction,
    Message,
    Notice,
    OpenCalls,
    PlanReview,
    Prompt,
    TodoList,
    ToolCall,
    TranscriptEvent,
    as_text,
    blocks,
    is_host_text,
    is_misuse,
    mapping,
    parse_time,
    string,
    without_binaries,
)

# Lines about the program itself.
_IGNORED = frozenset(
    "system summary file-history-snapshot queue-operation progress custom-title ai-title agent-name"
    " last-prompt tag permission-mode mode pr-link worktree-state agent-color agent-setting"
    " saved_hook_context api-request api-request-shape api-request-blob atis-latch cost-state"
    " tools-used".split()
)
_COMMAND = lazy_regex(r"<command-name>\s*(\S{1,200}?)\s*</command-name>")
_CREATED = lazy_regex(r"Task #(\w{1,40}) created")
# Lines of sub-agents whose chain is remembered.
_MAX_CHAINED = 10_000

Line = Mapping[str, Any]


class ClaudeParser:
    """Parses the lines of one file, in their order."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._calls = OpenCalls()
        self._todos: dict[str, dict[str, dict[str, Any]]] = {}
        self._chains: dict[str, str] = {}

    def parse(self, line: Line, place: str) -> Iterator[TranscriptEvent]:
        kind = string(line.get("type"))
        if kind in _IGNORED:
            return
        key = string(line.get("uuid")) or place
        common: dict[str, Any] = {
            "session": string(line.get("sessionId")) or self._session,
            "agent": self._sub_agent(line, key),
            "at": parse_time(line.get("timestamp")),
            "folder": string(line.get("cwd")) or None,
        }
        content = blocks(mapping(line.get("message")).get("content"))
        if kind == "user":
            yield from self._user_line(line, content, key, common)
        elif kind == "assistant":
            yield from self._assistant_line(line, content, key, common)
        elif kind == "attachment":
            yield from _queued_prompt(mapping(line.get("attachment")), key, common)
        else:
            raise ValueError("a line of an unknown type")

    def _sub_agent(self, line: Line, key: str) -> str:
        """The sub-agent of a line: its id, otherwise the key of the line that began its chain."""
        if line.get("isSidechain") is not True:
            return ""
        if name := string(line.get("agentId")):
            return name
        root = self._chains.get(string(line.get("parentUuid")), key)
        self._chains[key] = root
        if len(self._chains) > _MAX_CHAINED:
            del self._chains[next(iter(self._chains))]
        return root

    def _user_line(
        self, line: Line, content: list[Line], key: str, common: Mapping[str, Any]
    ) -> Iterator[TranscriptEvent]:
        if line.get("isCompactSummary") is True:
            text = "\n".join(string(block.get("text")) for block in content)
            yield Compaction(key=key, text=text, **common)
            return
        injected = line.get("isMeta") is True
        for place, block in enumerate(content):
            if block.get("type") == "tool_result":
                yield from self._result(line, block, f"{key}/{place}", common)
            elif text := string(block.get("text")):
                if injected or (typed := _typed(text)) is None:
                    yield Notice(key=f"{key}/{place}", text=text, injected=injected, **common)
                else:
                    yield Prompt(key=f"{key}/{place}", text=typed, **common)

    def _assistant_line(
        self, line: Line, content: list[Line], key: str, common: Mapping[str, Any]
    ) -> Iterator[TranscriptEvent]:
        kind = Notice if line.get("isApiErrorMessage") is True else Message
        for place, block in enumerate(content):
            if block.get("type") == "tool_use":
                self._calls.begin(string(block.get("id")), string(block.get("name")), block.get("input"))
            elif block.get("type") == "text" and (text := string(block.get("text"))):
                yield kind(key=f"{key}/{place}", text=text, **common)

    def _result(
        self, line: Line, block: Line, key: str, common: Mapping[str, Any]
    ) -> Iterator[TranscriptEvent]:
        call = string(block.get("tool_use_id"))
        tool, arguments = self._calls.end(call)
        output, failed = as_text(without_binaries(block.get("content"))), block.get("is_error") is True
        fields, result = mapping(arguments), mapping(line.get("toolUseResult"))
        common = {**common, "key": call or key}
        if tool == "AskUserQuestion" and is_dict(answers := result.get("answers")) and not failed:
            questions = result.get("questions") or fields.get("questions")
            yield Answers(questions=questions, answers=answers, **common)
        elif (
            tool == "ExitPlanMode"
            and (plan := string(fields.get("plan")) or string(result.get("plan")))
            and not (failed and is_misuse(output))
        ):
            yield PlanReview(plan=plan, approved=not failed, **common)
        elif not failed and (items := self._todo_items(tool, fields, result, output, common)) is not None:
            yield TodoList(items=items, **common)
        else:
            yield ToolCall(tool=tool or "tool", input=arguments, output=output, failed=failed, **common)

    def _todo_items(
        self, tool: str, fields: Line, result: Line, output: str, common: Mapping[str, Any]
    ) -> list[dict[str, Any]] | None:
        """The whole to-do list after a call that changed it; None if the call did not."""
        if tool == "TodoWrite":
            items = fields.get("todos")
            rows = [mapping(item) for item in items] if is_list(items) else []
            return [{"text": row.get("content"), "status": row.get("status")} for row in rows]
        todos = self._todos.setdefault(f"{common['session']}/{common['agent']}", {})
        if tool == "TaskCreate":
            match = _CREATED.search(output)
            name = string(mapping(result.get("task")).get("id")) or (match[1] if match else "")
            if not name:
                return None
            todos[name] = {"id": name, "text": fields.get("subject"), "status": "pending"}
        elif tool == "TaskUpdate" and (name := string(fields.get("taskId"))) in todos:
            if fields.get("status") == "deleted":
                del todos[name]
            else:
                text, status = fields.get("subject"), fields.get("status")
                todos[name] |= {"text": text} if text else {}
                todos[name] |= {"status": status} if status else {}
        else:
            return None
        return [dict(item) for item in todos.values()]


def _typed(text: str) -> str | None:
    """The user's own text; None if the host wrote it."""
    if not is_host_text(text):
        return text
    command, arguments = (
        _COMMAND.search(text),
        text.partition("<command-args>")[2].partition("</command-args>"),
    )
    if command and arguments[1] and arguments[0].strip():
        return f"{command[1]} {arguments[0].strip()}"
    return None


def _queued_prompt(attachment: Line, key: str, common: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
    """A prompt that the user typed while the agent was working."""
    if attachment.get("type") == "queued_command" and (text := string(attachment.get("prompt"))):
        typed = _typed(text) if attachment.get("commandMode") in (None, "prompt") else None
        if typed is None:
            yield Notice(key=key, text=text, **common)
        else:
            yield Prompt(key=key, text=typed, **common)
