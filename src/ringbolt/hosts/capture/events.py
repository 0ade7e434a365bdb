"""Chooses how each event of a host, with our names, is written to the ledger."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from json import dumps, loads
from typing import Any

from ...core.draft_tasks import turn_to
from ...hook_memory import HookMemory
from ...ledger.access import grouped, seconds_now
from ...model import rules
from ...model.errors import RingboltError
from ...model.redaction import Redactor, storable
from ...model.trust import key_of
from ...model.types import is_dict, is_list
from ...model.validate import blake2b
from ...signals.calls.failures import host_refusal
from ...signals.calls.run_kinds import is_check
from ...signals.calls.tools import (
    ASK_USER,
    SHOW_PLAN,
    STRUCTURED_OUTPUT,
    TODO_CREATE,
    TODO_LISTS,
    TODO_UPDATE,
    is_edit,
    is_shell,
)
from ..hook_parts.cleaning import MOST_TEXT, clipped, fitting
from ..hook_parts.cleaning import MOST_VALUE as MOST_VALUE
from ..host_schemas import around_edit, has_failed, output_of
from ..host_table import HOSTS, WHOLE
from ..sessions import own_task, session_of
from ..transcripts.events import as_text, is_host_text, is_misuse
from ..transcripts.lines import helper_name
from .interruptions import interruption, interruption_line, is_by_user
from .prompts import is_assent
from .questions import asked_by
from .session_capture import Capture

# The fields that distinguish the events of a session if the host gives them no id.
_NAMING = (
    "event session agent_id prompt tool input output error summary message reason source"
    " details server question answer content list_id title"
).split()
# Who wrote a prompt, where it was not the user.
_HOST_SOURCES = ("system", "loop_wakeup", "schedule_wakeup", "poll_event")
# How the error of a call begins that the user interrupted, where only the transcript says it.
_INTERRUPTED = "[Request interrupted"
# How a refusal begins that the user gave.
_USER_REFUSES = ("The user", "User ", "[Request interrupted")

# Tools that start a helper.
_LAUNCHES = ("Agent", "Task")
_RECENT_EVENTS = 20


def tidied(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event with its tool's output as plain text, without what only the host's own screen needs."""
    event = dict(event)
    if "output" in event:
        event["failed"] = has_failed(event["output"])
        if is_edit(str(event.get("tool")), _fields(event)) and not event["failed"]:
            event["output"] = around_edit(event["output"])  # the edit itself is in the input
        elif event.get("tool") not in STRUCTURED_OUTPUT:
            event["output"] = as_text(output_of(event["output"]))
    return event


def fitted(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event with values of a bounded size."""
    return {name: value if name in WHOLE else fitting(value) for name, value in event.items()}


def cleaned(event: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """An event without secrets and with clipped texts, so that it may be written anywhere."""
    rest = tidied(event)
    whole = {name: rest.pop(name) for name in WHOLE if isinstance(rest.get(name), str)}
    values = {name: fitting(redactor.value(value, clipped, name=name)) for name, value in rest.items()}
    return values | {name: redactor.text(storable(text[:MOST_TEXT])) for name, text in whole.items()}


def apply(memory: HookMemory, event: Mapping[str, Any], name: str, capture: Capture | None = None) -> None:
    """Write an event to the ledger; the idempotency key `name` recognises a repetition.

    `capture` is the memory's own, for a caller that applies many events.
    """
    write = _WRITERS.get(event["event"])
    if write is None:
        return
    agent = str(event.get("agent_id") or "")
    own = capture or Capture(memory)
    try:
        with grouped(name, memory, *own.memories):
            if agent and not event["event"].startswith("Subagent"):
                memory = _helpers_memory(memory, event, agent)
                own = Capture(memory)
            write(own, memory, event, name)
    except RingboltError as error:
        # The event was written before, and the state that we derived its content from has changed since.
        if error.code != "key_reused":
            raise


def name_of(memory: HookMemory, event: Mapping[str, Any], report: str) -> str:
    """A name for an event without an id of the host: the same if the host reports the event twice.

    An event with the same content is a repetition as long as its task has not moved on, which is measured in
    actions, and for prompts also in messages. A tool call may be made again, so its time counts: `report` is
    its content and the moment of its report.
    """
    session = memory.origin.session
    if event.get("tool_use_id") or event["event"] == "PreCompact" or not session:
        return f"hook/{report}"
    task = own_task(memory)
    if event["event"] in ("PostToolUse", "PostToolUseFailure"):
        content, _, moment = report.rpartition("/")
        before = f"hook/{content}/{int(moment) - 1}"  # the moment may have passed in between
        known = task and memory.store.read(lambda tx: tx.key(task, key_of("tool", before)))
        return before if known else f"hook/{report}"
    head = memory.store.read(lambda tx: tx.head(task)) if task else None
    # The number of the task in the session; one that a prompt is about to begin counts as begun.
    turn = head["focus"] if head else memory.store.read(lambda tx: tx.last_focus(session)) + 1
    place = f"{turn}.{head['actions'] if head else 0}"
    if event["event"] == "UserPromptSubmit" and not is_assent(_text(event, "prompt")):
        place += f".{head['messages'] if head else 0}"
    return f"hook/{naming(event)}/{place}"


def naming(event: Mapping[str, Any]) -> str:
    """A digest of an event's content."""
    content = {field: event[field] for field in _NAMING if field in event}
    return blake2b(dumps(content, sort_keys=True).encode(), digest_size=12).hexdigest()


def _text(event: Mapping[str, Any], field: str) -> str:
    return as_text(event.get(field))


def _fields(event: Mapping[str, Any]) -> Mapping[str, Any]:
    tool_input = event.get("input")
    return tool_input if is_dict(tool_input) else {}


def _prompt(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    key = f"{session_of(event)}/{event['prompt_id']}"[:200] if event.get("prompt_id") else name
    text = _text(event, "prompt").strip()
    by_host = event.get("source") in _HOST_SOURCES or is_host_text(text)
    if by_host or is_command(text):
        capture.aside(text, by_user=not by_host, key=key)
    else:
        capture.turn_over(text)
        capture.prompt(text, key=key)


def is_command(text: str) -> bool:
    """Whether a prompt is a command to the host itself, like `/compact`, and not a path."""
    word = text.split(maxsplit=1)[0] if text[:1] == "/" else ""
    return word[1:2].isalpha() and "/" not in word[1:] and "." not in word and not os.path.exists(word)


def _tool_used(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    key = f"{session_of(event)}/{event['tool_use_id']}"[:200] if event.get("tool_use_id") else name
    failed = event["event"] == "PostToolUseFailure" or bool(event.get("failed"))
    tool = str(event.get("tool") or "tool")
    if is_ours(tool):
        if not failed:
            _turn_to(memory, tool, event)
        return
    if not failed and _planned(capture, tool, event, key):
        return
    if _answered_by_person(memory, capture, tool, event, key, failed):
        return
    error = _text(event, "error")
    if failed and (reason := host_refusal(error)) is not None:
        capture.refused(tool, event.get("input"), clipped(reason), by_user=False, key=f"{key}/refused"[:200])
        return
    duration = event.get("duration_ms")
    capture.tool(
        tool,
        event.get("input"),
        event.get("error") if failed and event.get("error") else event.get("output"),
        failed=failed,
        interrupted=is_by_user(event) or (failed and error.startswith(_INTERRUPTED)),
        receipt=is_shell(tool) and _proves(_fields(event)),
        duration_ms=duration if isinstance(duration, (int, float)) and duration >= 0 else None,
        key=key,
    )
    if tool in _LAUNCHES and not failed:
        _name_helper(memory, event)


def _answered_by_person(
    memory: HookMemory, capture: Capture, tool: str, event: Mapping[str, Any], key: str, failed: bool
) -> bool:
    """Capture the result of a tool with which this host asks the user; False for any other tool.

    Only where it is the host's own tool and the result has the form that the host gives a person's answer:
    any server may offer a tool of that name, and an agent writes the input of a call itself.
    """
    if not _asks_person(memory, tool):
        return False
    output = event.get("output")
    if tool == ASK_USER:
        answers = output.get("answers") if is_dict(output) and not failed else None
        if not is_dict(answers):
            return False
        capture.answered(_fields(event).get("questions"), answers, key=key)
        return True
    capture.plan_answered()
    if failed and is_misuse(_text(event, "error")):
        return False
    plan = _fields(event).get("plan") or (output.get("plan") if is_dict(output) else None)
    capture.planned(as_text(plan) or "plan", not failed, key=key)
    return True


def _asks_person(memory: HookMemory, tool: str) -> bool:
    """Whether a tool of the host that this memory records asks the user."""
    host = HOSTS.get(memory.origin.agent)
    return host is not None and tool in host.person_answers


def _name_helper(memory: HookMemory, event: Mapping[str, Any]) -> None:
    """Give the task of a helper that works in the background the purpose that it was started with."""
    purpose = as_text(_fields(event).get("description")).strip()
    found = re.search(r'\bagentId"?:\s*"?([\w-]{1,100})', as_text(event.get("output")))
    if purpose and found and (task := own_task(memory.acting_as(session=session_of(event, found[1])))):
        memory.task_update(task, name=purpose[:120])


def _tool_begins(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    """A tool call is about to be made: a plan waits for approval, or something happens outside."""
    key = f"{session_of(event)}/{event['tool_use_id']}"[:180] if event.get("tool_use_id") else name
    tool = str(event.get("tool") or "")
    if tool == SHOW_PLAN and _asks_person(memory, tool):
        capture.plan_shown(as_text(_fields(event).get("plan")), key=f"{key}/shown")
    elif not is_ours(tool):
        capture.intended(tool, event.get("input"), key=key)


def _refused(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    reason = _text(event, "reason").strip()
    capture.refused(
        str(event.get("tool") or "tool"),
        event.get("input"),
        reason,
        by_user=reason.startswith(_USER_REFUSES),
        key=name,
    )


def is_ours(tool: str) -> bool:
    """Whether a tool belongs to our own MCP server, which has written to the ledger already."""
    name = tool.lower()
    return "ringbolt" in name and ("task_" in name or "smart_wait" in name)


def _turn_to(memory: HookMemory, tool: str, event: Mapping[str, Any]) -> None:
    """The agent named a task: its session turns to it, if it asked for that or has no task of its own.

    A server that knows its session has done this already; others leave it to the hook.
    """
    before = own_task(memory)
    named = _fields(event).get("task_id")
    if tool.endswith("task_register"):
        named = _registered(as_text(event.get("output")))
    elif before and not tool.endswith(("task_resume", "task_focus")):
        return
    if not isinstance(named, str) or not named or not memory.origin.session or named == before:
        return
    try:
        if tool.endswith("task_focus"):
            memory.task_focus(named[:100])
        else:
            turn_to(memory, named[:100])
    except RingboltError as error:
        if error.code not in ("task_not_found", "ambiguous_task", "invalid_argument"):
            raise


def _registered(text: str) -> str:
    """The id of the task that our server says it registered."""
    found = re.search(r'\btask(?:_id"?:)?\s*"?([0-9a-z]{10})\b', text)
    return found[1] if found else ""


def _proves(tool_input: Mapping[str, Any]) -> bool:
    """Whether a command is a test, a build or a check, so that its outcome is a receipt."""
    command = tool_input.get("command") or tool_input.get("cmd")
    return isinstance(command, str) and is_check(command)


def _planned(capture: Capture, tool: str, event: Mapping[str, Any], key: str) -> bool:
    """Capture a tool that keeps the agent's to-do list; False for any other tool."""
    tool_input, output = _fields(event), event.get("output")
    if tool in TODO_LISTS:
        items = tool_input.get(TODO_LISTS[tool])
        if not is_list(items):
            return False
        capture.todo([_item(item) for item in items], key=key)
    elif tool == TODO_CREATE:
        made = output.get("task") if is_dict(output) else None
        number = made.get("id") if is_dict(made) else None
        subject = as_text(tool_input.get("subject")).strip()
        if not subject:
            return False
        capture.todo_changed(None if number is None else str(number), title=subject, key=key)
    elif tool == TODO_UPDATE:
        status = tool_input.get("status")
        capture.todo_changed(
            str(tool_input.get("taskId")),
            title=as_text(tool_input.get("subject")).strip() or None,
            status=status if isinstance(status, str) else None,
            key=key,
        )
    else:
        return False
    return True


def _item(item: Any) -> Any:
    """An item of a to-do list, without its id, which is only its place in the list."""
    if not is_dict(item):
        return item
    title = next((item[name] for name in ("content", "step", "description", "title") if item.get(name)), "")
    return {"title": title, "status": item.get("status") or "pending"}


def _before_compaction(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    if task := own_task(memory):
        capture.snapshot(memory.task_line(task), label="before compaction", key=name)


def _after_compaction(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    if summary := _text(event, "summary").strip():
        capture.snapshot(summary, label="after compaction", summarized=True, key=name)


def _helper_ended(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    agent = str(event.get("agent_id") or "")
    answer = _text(event, "message")
    helper = memory.acting_as(session=session_of(event, agent))
    # Claude Code has its summaries written by a helper that never began, and did nothing.
    if not agent or not own_task(helper):
        return
    Capture(helper).helper_ended(answer, key=f"{name}/end")
    kind = str(event.get("agent_type") or "helper")
    capture.result(f"{kind} {agent} is done: {answer[:300]}".strip(), answer, key=f"{name}/result")


def _stopped(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    capture.turn_over()
    capture.concluded(_text(event, "message"), at_work=bool(event.get("background")), key=name)


def _interrupted(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    capture.effects_unknown("the turn was interrupted before a result came")
    line = interruption_line(interruption(event, event.get("at") or seconds_now(memory)))
    capture.aside(line, by_user=is_by_user(event), key=name)


def _to_do_reported(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    """The host reports an item of the agent's list; the tool that changed the list may report it again."""
    title, item = _text(event, "title").strip(), _text(event, "list_id")
    if title and item:
        status = "completed" if event["event"] == "TaskCompleted" else None
        capture.todo_changed(item, title=title, status=status, key=name)


def _server_asks(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    server, question = _text(event, "server") or "MCP", clipped(_text(event, "question").strip())
    if question:
        line = f"The MCP server {server} asks: {question}"
        capture.asked(line[:2000], None, kind=asked_by(server), by_agent=False, key=name)


def _server_answered(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    capture.elicited(_text(event, "server") or "MCP", _text(event, "answer"), event.get("content"), key=name)


def _session_began(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    source = _text(event, "source")
    if source != "compact":  # a compaction has its snapshots
        capture.effects_unknown("the session ended before a result came")
        capture.aside(f"{rules.SESSION_CONTINUES}: {source or 'no reason given'}.", key=name)


def _session_ended(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    capture.effects_unknown("the session ended before a result came")
    capture.session_over(_text(event, "reason"), key=name)


def _begin_helper(memory: HookMemory, event: Mapping[str, Any]) -> None:
    """Register a task for a helper of the agent, unless it has or had one."""
    agent = str(event.get("agent_id") or "")
    parent = own_task(memory)
    helper = memory.acting_as(session=session_of(event, agent))
    if not agent or parent is None or own_task(helper):
        return
    kind = str(event.get("agent_type") or "helper")
    request = _text(event, "agent_task") if event["event"] == "SubagentStart" else ""
    key = f"{session_of(event, agent)}/begin"
    # Codex has the name that the agent gave its helper in the helper's own transcript.
    given = helper_name(_text(event, "transcript")) if memory.origin.agent == "codex" else ""
    name = given or _launched_for(memory, parent, agent) or f"{kind} {agent}"
    Capture(helper).helper_began(parent, name, request=request or None, key=key)


def _launched_for(memory: HookMemory, task: str, agent: str) -> str:
    """The purpose of a helper, if the host has reported its launch before its start."""
    head = memory.store.read(lambda tx: tx.head(task))
    after = max(0, head["last_seq"] - _RECENT_EVENTS) if head else 0
    for row in memory.store.read(lambda tx: tx.events(task, after, _RECENT_EVENTS)):
        done: Any = loads(row["data"]) if isinstance(row["data"], str) else row["data"]
        if row["event_type"] == "action" and is_dict(done) and done.get("tool") in _LAUNCHES:
            tool_input = done.get("input")
            if is_dict(tool_input) and agent in as_text(done.get("output")):
                return as_text(tool_input.get("description")).strip()
    return ""


def _helpers_memory(memory: HookMemory, event: Mapping[str, Any], agent: str) -> HookMemory:
    """The memory of a helper of the agent, while it has a task; else the agent's."""
    try:
        _begin_helper(memory, event)
    except RingboltError as error:
        if error.code != "key_reused":
            raise
    helper = memory.acting_as(session=session_of(event, agent))
    return helper if own_task(helper) else memory


def _message(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    capture.concluded(_text(event, "message"), key=f"{event.get('session')}/{event.get('said_id')}"[:200])


def _notice(capture: Capture, memory: HookMemory, event: Mapping[str, Any], name: str) -> None:
    key = f"{event.get('session')}/{event.get('said_id')}"[:200]
    if own_task(memory):
        capture.notice(_text(event, "message"), key=key)


_WRITERS: dict[str, Callable[[Capture, HookMemory, Mapping[str, Any], str], None]] = {
    "SessionStart": _session_began,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_begins,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_used,
    "PreCompact": _before_compaction,
    "PostCompact": _after_compaction,
    "SubagentStart": lambda capture, memory, event, name: _begin_helper(memory, event),
    "SubagentStop": _helper_ended,
    "Said": _message,
    "PutIn": _notice,
    "Stop": _stopped,
    "StopFailure": _interrupted,
    "Interrupt": _interrupted,
    "PermissionDenied": _refused,
    "TaskCreated": _to_do_reported,
    "TaskCompleted": _to_do_reported,
    "Elicitation": _server_asks,
    "ElicitationResult": _server_answered,
    "SessionEnd": _session_ended,
}
