"""Events of a host, in our words, become the ledger: which of them is captured how."""

from __future__ import annotations

from json import dumps

from .. import rules
from ..errors import HoldfastError
from ..redact import storable
from ..types import is_dict, is_list
from .capture import Capture, as_text, clipped, is_edit
from .shapes import has_failed, output_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..memory import TaskMemory
    from ..redact import Redactor

# What people and agents say is kept whole, up to a size that no one types.
_WHOLE = ("prompt", "summary", "message", "agent_task")
_MOST_TEXT = 500_000
_MOST_VALUE = 400_000
_TODO_LISTS = {"TodoWrite": "todos", "update_plan": "plan", "write_todos": "todos"}


def cleaned(event: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """An event without secrets, each text of it clipped: what may be written anywhere."""
    given = dict(event)
    if "output" in given:
        given["failed"] = has_failed(given["output"])
        structured = given.get("tool") in ("AskUserQuestion", "ExitPlanMode", "TaskCreate")
        if is_edit(str(given.get("tool")), _fields(given)) and not given["failed"]:
            del given["output"]  # the edit is in the input
        elif not structured:
            given["output"] = as_text(output_of(given["output"]))
    whole = {name: given.pop(name) for name in _WHOLE if isinstance(given.get(name), str)}
    found = {name: _fitting(redactor.value(value, clipped, name=name)) for name, value in given.items()}
    return found | {name: redactor.text(storable(text[:_MOST_TEXT])) for name, text in whole.items()}


def _fitting(value: Any) -> Any:
    """A value of a bounded size: of one that is too large, its short texts."""
    if isinstance(value, str) or value is None or (size := len(dumps(value))) <= _MOST_VALUE:
        return value
    fields: Mapping[str, Any] = value if is_dict(value) else {}
    short = {name: one for name, one in fields.items() if isinstance(one, str) and len(one) <= 2000}
    return {**dict(list(short.items())[:50]), "left_out": f"{size:,} characters"}


def session_of(event: Mapping[str, Any], agent: str = "") -> str:
    """The session that an event belongs to; a helper of the agent has its own."""
    session = str(event.get("session") or "")
    whole = f"{session}/{agent}" if agent and session else session
    if len(whole) <= 150:
        return whole
    from ..checks import blake2b

    return whole[:100] + blake2b(whole.encode(), digest_size=12).hexdigest()


def apply(memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    """Write down what an event says; `name` is its own, by which a repetition is known."""
    write = _WRITERS.get(event["event"])
    if write is None:
        return
    agent = str(event.get("agent_id") or "")
    if agent and not event["event"].startswith("Subagent"):
        _begin_helper(memory, event)
        memory = memory.acting_as(session=session_of(event, agent))
    try:
        write(Capture(memory), memory, event, name)
    except HoldfastError as error:
        # The event was written before; what is derived from the task for it has changed since.
        if error.code != "key_reused":
            raise


def _text(event: Mapping[str, Any], field: str) -> str:
    return as_text(event.get(field))


def _fields(event: Mapping[str, Any]) -> Mapping[str, Any]:
    given = event.get("input")
    return given if is_dict(given) else {}


def _prompt(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    said = event.get("prompt_id")
    capture.prompt(_text(event, "prompt"), key=f"{event.get('session')}/{said}"[:200] if said else name)


def _tool_used(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    used = event.get("tool_use_id")
    key = f"{event.get('session')}/{used}"[:200] if used else name
    failed = event["event"] == "PostToolUseFailure" or bool(event.get("failed"))
    tool = str(event.get("tool") or "tool")
    if not failed and _planned(capture, tool, event, key):
        return
    if tool == "ExitPlanMode":
        output = event.get("output")
        plan = _fields(event).get("plan") or (output.get("plan") if is_dict(output) else None)
        capture.planned(as_text(plan) or "plan", not failed, key=key)
        return
    duration = event.get("duration_ms")
    capture.tool(
        tool,
        event.get("input"),
        event.get("error") if failed and event.get("error") else event.get("output"),
        failed=failed,
        duration_ms=duration if isinstance(duration, (int, float)) and duration >= 0 else None,
        key=key,
    )


def _planned(capture: Capture, tool: str, event: Mapping[str, Any], key: str) -> bool:
    """Tools that keep the agent's plan, or ask the user; False if this is another one."""
    given, output = _fields(event), event.get("output")
    if tool in _TODO_LISTS:
        items = given.get(_TODO_LISTS[tool])
        if not is_list(items):
            return False
        capture.todo([_item(item) for item in items], key=key)
    elif tool == "TaskCreate":
        made = output.get("task") if is_dict(output) else None
        number = made.get("id") if is_dict(made) else None
        subject = as_text(given.get("subject")).strip()
        if not subject:
            return False
        capture.todo_changed(None if number is None else str(number), title=subject, key=key)
    elif tool == "TaskUpdate":
        status = given.get("status")
        capture.todo_changed(
            str(given.get("taskId")),
            title=as_text(given.get("subject")).strip() or None,
            status=status if isinstance(status, str) else None,
            key=key,
        )
    elif tool == "AskUserQuestion":
        answers = output.get("answers") if is_dict(output) else None
        capture.answered(given.get("questions"), answers or given.get("answers"), key=key)
    else:
        return False
    return True


def _item(item: Any) -> Any:
    """An item of a list whose ids are places in it: they name nothing."""
    if not is_dict(item):
        return item
    title = next((item[name] for name in ("content", "step", "description", "title") if item.get(name)), "")
    return {"title": title, "status": item.get("status") or "pending"}


def _before_compaction(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    if task := own_task(memory):
        capture.snapshot(memory.task_line(task), label="before compaction", key=name)


def _after_compaction(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    if summary := _text(event, "summary").strip():
        capture.snapshot(summary, label="after compaction", summarized=True, key=name)


def _helper_began(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    _begin_helper(memory, event)


def _helper_ended(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    agent = str(event.get("agent_id") or "")
    said = _text(event, "message")
    if not agent:
        return
    helper = memory.acting_as(session=session_of(event, agent))
    Capture(helper).helper_ended(said, key=f"{name}/end")
    kind = str(event.get("agent_type") or "helper")
    capture.result(f"{kind} {agent} is done: {said[:300]}".strip(), said, key=f"{name}/result")


def _stopped(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    capture.concluded(_text(event, "message"), key=name)


def _session_ended(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    capture.ended(f"{rules.SESSION_ENDED}: {_text(event, 'reason') or 'no reason given'}.", key=name)


def _begin_helper(memory: TaskMemory, event: Mapping[str, Any]) -> None:
    """A task for another agent that works for this one, unless it has one."""
    agent = str(event.get("agent_id") or "")
    parent = own_task(memory)
    helper = memory.acting_as(session=session_of(event, agent))
    if not agent or parent is None or own_task(helper):
        return
    kind = str(event.get("agent_type") or "helper")
    request = _text(event, "agent_task") if event["event"] == "SubagentStart" else ""
    key = f"{session_of(event, agent)}/begin"
    Capture(helper).helper_began(parent, f"{kind} {agent}", request=request or None, key=key)


def own_task(memory: TaskMemory) -> str | None:
    """The open task that this session turned to last."""
    session = memory.origin.session
    return memory.store.read(lambda tx: tx.session_task(session, memory.workspace)) if session else None


_WRITERS = {
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_used,
    "PreCompact": _before_compaction,
    "PostCompact": _after_compaction,
    "SubagentStart": _helper_began,
    "SubagentStop": _helper_ended,
    "Stop": _stopped,
    "SessionEnd": _session_ended,
}
