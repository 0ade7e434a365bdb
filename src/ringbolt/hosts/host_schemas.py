"""What hosts call things: their events, where each field stands, how context gets in, and how much of it.

One row for each host. The names on the left are ours, which are those of Claude Code: most hosts copy them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.types import Value, is_dict, is_list
from .host_files import exit_code

EVENTS = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact PostCompact"
    " SubagentStart SubagentStop Stop SessionEnd"
).split()
# Our field: where a host may have it, the first that is there counts.
_FIELDS: dict[str, tuple[str, ...]] = {
    "session": ("session_id",),
    "cwd": ("cwd",),
    "transcript": ("transcript_path",),
    "source": ("source",),
    "prompt": ("prompt",),
    "prompt_id": ("prompt_id",),
    "tool": ("tool_name",),
    "input": ("tool_input",),
    "output": ("tool_response",),
    "error": ("error",),
    "duration_ms": ("duration_ms",),
    "tool_use_id": ("tool_use_id",),
    "summary": ("compact_summary",),
    "message": ("last_assistant_message",),
    "agent_id": ("agent_id",),
    "agent_type": ("agent_type",),
    "agent_task": ("agent_prompt", "prompt", "description"),
    "reason": ("reason",),
    "trigger": ("trigger",),
}


class Shape(Value, frozen=True, kw_only=True):
    """How one host speaks. An empty `injects` means that context cannot be given on that event."""

    events: Mapping[str, str]
    fields: Mapping[str, tuple[str, ...]] = {}
    # Events whose answer may carry context.
    injects: tuple[str, ...] = ()
    # claude: {"hookSpecificOutput": {"hookEventName", "additionalContext"}}; flat: {"additional_context"}.
    answer: str = "claude"
    # Most characters and tokens of what is injected: below what the host allows, so that nothing is cut.
    characters: int = 8000
    tokens: int = 2000
    # What the host calls fields of a tool's input, and tools, and what we do.
    inputs: Mapping[str, str] = {}
    tools: Mapping[str, str] = {}
    # Whether PreCompact only says that the host looks whether it should: it says so before every request.
    only_looks: bool = False
    # Whether plain text after PreCompact becomes part of what the host's summary is told.
    notes: bool = False
    # The variable that holds the project's folder; a shell of the agent may be elsewhere.
    project: str = ""
    # Whether the transcript tells what no event does, in lines that transcript_tail reads.
    overheard: bool = False


def _same(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


_ALL = " ".join(EVENTS)

SHAPES: dict[str, Shape] = {
    # 10,000 characters; past that the model sees 2 KB.
    "claude-code": Shape(
        events=_same(_ALL),
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"),
        notes=True,
        project="CLAUDE_PROJECT_DIR",
        overheard=True,
    ),
    # 2,500 tokens.
    "codex": Shape(
        events=_same(_ALL),
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
    ),
    "cursor": Shape(
        events={
            "sessionStart": "SessionStart",
            "beforeSubmitPrompt": "UserPromptSubmit",
            "preToolUse": "PreToolUse",
            "postToolUse": "PostToolUse",
            "postToolUseFailure": "PostToolUseFailure",
            "preCompact": "PreCompact",
            "subagentStart": "SubagentStart",
            "subagentStop": "SubagentStop",
            "stop": "Stop",
            "sessionEnd": "SessionEnd",
        },
        fields={
            "session": ("conversation_id", "session_id"),
            "cwd": ("cwd", "workspace_roots"),
            "output": ("tool_output", "tool_response"),
            "error": ("error_message", "error"),
            "duration_ms": ("duration", "duration_ms"),
            "message": ("last_assistant_message", "text"),
        },
        injects=("SessionStart", "UserPromptSubmit"),
        answer="flat",
    ),
    "gemini-cli": Shape(
        events={
            "SessionStart": "SessionStart",
            "BeforeAgent": "UserPromptSubmit",
            "BeforeTool": "PreToolUse",
            "AfterTool": "PostToolUse",
            "AfterAgent": "Stop",
            "PreCompress": "PreCompact",
            "SessionEnd": "SessionEnd",
        },
        fields={"message": ("prompt_response", "last_assistant_message")},
        injects=("SessionStart", "UserPromptSubmit", "PostToolUse"),
        project="GEMINI_PROJECT_DIR",
        only_looks=True,
    ),
    "vscode": Shape(
        events=_same(_ALL),
        fields={"session": ("session_id", "sessionId")},
        injects=("SessionStart", "PostToolUse"),
    ),
    # Their plugins speak as Claude Code does.
    "opencode": Shape(
        events=_same(_ALL),
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse"),
        notes=True,
        inputs={"filePath": "file_path"},
        tools={"todowrite": "TodoWrite"},
    ),
    "openclaw": Shape(events=_same(_ALL), injects=("SessionStart", "UserPromptSubmit", "PreToolUse")),
}
# Gemini CLI shows a prompt with what hooks gave before it, < and > as entities.
_INJECTED = ("<hook_context>", "</hook_context>")


def read_event(
    host: str, name: str, told: Mapping[str, Any], transcript_bytes: int | None = None
) -> dict[str, Any] | None:
    """What a host tells, in our words; None if it is of no use to us.

    `transcript_bytes`: how long the transcript was when the event happened, if that is known.
    """
    shape = SHAPES.get(host)
    ours = shape.events.get(name) if shape else None
    if shape is None or ours is None:
        return None
    event: dict[str, Any] = {"event": ours}
    for field, places in {**_FIELDS, **shape.fields}.items():
        if field == "agent_task" and ours != "SubagentStart":
            continue
        found = next((told[place] for place in places if told.get(place) is not None), None)
        if found is not None:
            event[field] = found[0] if field == "cwd" and isinstance(found, list) and found else found
    if is_dict(given := event.get("input")) and shape.inputs:
        event["input"] = {shape.inputs.get(name, name): value for name, value in given.items()}
    if shape.tools and "tool" in event:
        event["tool"] = shape.tools.get(str(event["tool"]), event["tool"])
    if isinstance(prompt := event.get("prompt"), str):
        event["prompt"] = _typed(host, prompt)
    if host == "codex" and ours == "PostToolUse" and isinstance(output := event.get("output"), str):
        event["output"] = _with_outcome(event, output, transcript_bytes)
    return event


def _with_outcome(event: Mapping[str, Any], output: str, size: int | None) -> Any:
    """What a command of Codex printed, and that it failed if it did: the event does not say so."""

    code = exit_code(str(event.get("transcript") or ""), str(event.get("tool_use_id") or ""), size)
    return {"is_error": True, "output": output or f"Exit code {code}"} if code else output


def _typed(host: str, prompt: str) -> str:
    """A prompt as the user typed it."""
    begin, end = _INJECTED
    while host == "gemini-cli" and prompt.startswith(begin) and end in prompt:
        prompt = prompt.partition(end)[2].lstrip()
    # `opencode run` puts quotation marks around what has a space in it.
    quoted = host == "opencode" and len(prompt) > 2 and prompt[0] == prompt[-1] == '"' and " " in prompt
    return prompt[1:-1].replace('\\"', '"') if quoted else prompt


def answer(shape: Shape, event: str, host_event: str, text: str) -> dict[str, Any] | None:
    """The answer that gives the model a text; None if it has no way in on this event."""
    if not text or event not in shape.injects:
        return None
    if shape.answer == "flat":
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": host_event, "additionalContext": text}}


def output_of(response: Any) -> Any:
    """What a tool gave, without what only the host's own screen needs."""
    if not is_dict(response):
        return response
    if "stdout" in response or "stderr" in response:
        parts = [response.get(name) for name in ("stdout", "stderr")]
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    file = response.get("file")
    if is_dict(file) and isinstance(file.get("content"), str):
        return file["content"]
    if isinstance(text := response.get("llmContent"), str):
        return _unwrapped(text)
    for name in ("llmContent", "output", "content", "result"):
        if response.get(name):
            return response[name]
    return {name: value for name, value in response.items() if name not in _BULKY}


def _unwrapped(text: str) -> str:
    """A result of Gemini CLI without what stands around it."""
    begin, end = "<untrusted_context>\n", "\n</untrusted_context>"
    if not (text.startswith(begin) and text.endswith(end)):
        return text
    head, _, last = text[len(begin) : -len(end)].rpartition("\n")
    kept = head if last.startswith("Process Group PGID: ") else f"{head}\n{last}" if head else last
    return kept.removeprefix("Output: ")


def around_edit(response: Any) -> str | None:
    """The lines that stand around an edit, from the patch that a host gives; None if it gives none."""
    hunks = response.get("structuredPatch") if is_dict(response) else None
    found: list[str] = []
    for hunk in hunks if is_list(hunks) else ():
        lines = hunk.get("lines") if is_dict(hunk) else None
        found += [str(line)[1:] for line in lines if str(line)[:1] == " "] if is_list(lines) else []
    return "\n".join(found) or None


def has_failed(response: Any) -> bool:
    """Whether a tool's answer itself says that it failed."""
    if isinstance(response, str):
        return _exit_code(response.partition("\n")[0], "Exit code: ") not in ("", "0")
    if not is_dict(response):
        return False
    if (
        response.get("is_error") is True
        or response.get("isError") is True
        or response.get("success") is False
    ):
        return True
    if isinstance(text := response.get("llmContent"), str):
        # The end of what Gemini CLI tells of a command: its own lines come after the output.
        lines = _unwrapped(text).rsplit("\n", 4)[1:]
        if any(_exit_code(line, "Exit Code: ") not in ("", "0") for line in lines):
            return True
    metadata = response.get("metadata")
    if is_dict(metadata) and isinstance(code := metadata.get("exit"), int):
        return code != 0
    return bool(response.get("error"))


def _exit_code(line: str, begin: str) -> str:
    code = line[len(begin) :].strip() if line.startswith(begin) else ""
    return code if code.lstrip("-").isdigit() else ""


_BULKY = ("originalFile", "oldString", "newString", "structuredPatch", "oldTodos")
