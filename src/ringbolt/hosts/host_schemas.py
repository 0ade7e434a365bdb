"""Translate a host's report into an event with our names, and our text into the host's response format."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ..model.types import is_dict, is_list
from .hook_parts.calls import COPILOT_TEXT, unwrapped
from .hook_parts.calls import has_failed as has_failed
from .hook_parts.cleaning import BULKY
from .host_table import EVENT_FIELDS, FIELDS, HOSTS, Host
from .transcripts.lines import exit_code, is_in_plan_mode

# Gemini CLI reports a prompt with the context that hooks added before it.
_INJECTED = ("<hook_context>", "</hook_context>")


def read_event(
    host: str, name: str, payload: Mapping[str, Any], transcript_bytes: int | None = None
) -> dict[str, Any] | None:
    """A host's report as an event with our names; None if we do not know the event.

    `transcript_bytes` is the size of the transcript when the event happened, if that is known.
    """
    row = HOSTS.get(host)
    ours = row.events.get(name) if row else None
    if row is None or ours is None:
        return None
    event: dict[str, Any] = {"event": ours}
    for field, places in _fields(host, ours):
        for place in places:
            if (value := payload.get(place)) is not None:
                event[field] = value
                break
    if isinstance(folders := event.get("cwd"), list) and folders:
        event["cwd"] = folders[0]
    if is_dict(tool_input := event.get("input")) and row.inputs:
        event["input"] = {row.inputs.get(name, name): value for name, value in tool_input.items()}
    if row.tools and "tool" in event:
        event["tool"] = row.tools.get(str(event["tool"]), event["tool"])
    if row.sources and "source" in event:
        event["source"] = row.sources.get(str(event["source"]), event["source"])
    if is_dict(error := event.get("error")) and isinstance(error.get("message"), str):
        event["error"] = error["message"]
    if is_list(blocks := event.get("prompt")):
        texts = (one.get("text") for one in blocks if is_dict(one))
        event["prompt"] = "\n".join(text for text in texts if isinstance(text, str))
    if isinstance(prompt := event.get("prompt"), str):
        event["prompt"] = _typed(host, prompt)
    if host == "codex" and ours == "PostToolUse" and isinstance(output := event.get("output"), str):
        event["output"] = _with_outcome(event, output, transcript_bytes)
    if host == "codex" and "mode" in event and not _keeps_mode(event, transcript_bytes):
        del event["mode"]
    return event


@cache
def _fields(host: str, event: str) -> list[tuple[str, tuple[str, ...]]]:
    """Our names of the fields of a host's event, and where it may have each."""
    return list({**FIELDS, **EVENT_FIELDS.get(event, {}), **HOSTS[host].fields}.items())


def _with_outcome(event: Mapping[str, Any], output: str, size: int | None) -> Any:
    """The output of a Codex command, and whether it failed, which only the transcript says."""
    code = exit_code(str(event.get("transcript") or ""), str(event.get("tool_use_id") or ""), size)
    return {"is_error": True, "output": output or f"Exit code {code}"} if code else output


def _keeps_mode(event: dict[str, Any], size: int | None) -> bool:
    """Put plan mode into an event of Codex; False if the event does not show whether the turn is in it.

    Codex reports the approval policy as the permission mode. The transcript says that a turn is in plan mode,
    and is sure to have said so by the time of these events.
    """
    if event["event"] not in ("Stop", "PreCompact"):
        return False
    if is_in_plan_mode(str(event.get("transcript") or ""), size):
        event["mode"] = "plan"
    return True


def _typed(host: str, prompt: str) -> str:
    """The prompt that the user typed."""
    begin, end = _INJECTED
    while host == "gemini-cli" and prompt.startswith(begin) and end in prompt:
        prompt = prompt.partition(end)[2].lstrip()
    # `opencode run` puts quotation marks around a prompt with a space.
    quoted = host == "opencode" and len(prompt) > 2 and prompt[0] == prompt[-1] == '"' and " " in prompt
    return prompt[1:-1].replace('\\"', '"') if quoted else prompt


def answer(
    host: Host, event: str, host_event: str, text: str, *, asks: bool = False
) -> dict[str, Any] | None:
    """The answer that gives the model a text; None if the host takes none on this event.

    `asks`: the user is to decide whether the tool call is made, where the host can ask.
    """
    if text and event == "Stop" and host.holds:
        return {"decision": "block", "reason": text}
    if not text or event not in host.injects:
        return None
    if host.answer:
        return {host.answer: text}
    inner = {"hookEventName": host_event, "additionalContext": text}
    if asks and event == "PreToolUse" and host.asks:
        inner |= {"permissionDecision": "ask", "permissionDecisionReason": text}
    return {"hookSpecificOutput": inner}


def output_of(response: Any) -> Any:
    """A tool's output, without the fields for the host's own screen."""
    if not is_dict(response):
        return response
    if "stdout" in response or "stderr" in response:
        parts = [response.get(name) for name in ("stdout", "stderr")]
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    file = response.get("file")
    if is_dict(file) and isinstance(file.get("content"), str):
        return file["content"]
    if isinstance(text := response.get("llmContent"), str):
        return unwrapped(text)
    if isinstance(text := response.get(COPILOT_TEXT), str):
        text, _, last = text.rpartition("\n<shellId: ")
        return text if text else last
    for name in ("llmContent", "output", "content", "result"):
        if response.get(name):
            return response[name]
    return {name: value for name, value in response.items() if name not in (*BULKY, "structuredPatch")}


def around_edit(response: Any) -> str | None:
    """The lines around an edit, from the patch that a host reports; None if it reports none."""
    hunks = response.get("structuredPatch") if is_dict(response) else None
    found: list[str] = []
    for hunk in hunks if is_list(hunks) else ():
        lines = hunk.get("lines") if is_dict(hunk) else None
        found += [str(line)[1:] for line in lines if str(line)[:1] == " "] if is_list(lines) else []
    return "\n".join(found) or None
