"""Events of a host, in our words, become the ledger: which of them is captured how."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from json import dumps
from typing import Any

from ..memory import TaskMemory
from ..model import rules
from ..model.errors import RingboltError
from ..model.redaction import Redactor, storable
from ..model.types import Task, is_dict, is_list
from ..model.validate import blake2b
from ..signals.commands import is_check
from ..signals.tools import (
    ASK_USER,
    SHOW_PLAN,
    STRUCTURED_OUTPUT,
    TODO_CREATE,
    TODO_LISTS,
    TODO_UPDATE,
    is_edit,
    is_shell,
)
from .capture import Capture, clipped, is_assent
from .host_schemas import around_edit, has_failed, output_of
from .output_text import as_text
from .sessions import own_task, session_of
from .transcripts.events import is_host_text, is_misuse

# What people and agents say is kept whole, up to a size that no one types.
_WHOLE = ("prompt", "summary", "message", "agent_task")
# What a notice of the host in the user's place begins with.
_OPENS_NOTICE = ("<", "#", "C")
_MOST_TEXT = 500_000
MOST_VALUE = 400_000
# What tells one event of a session from another, where the host gave it no id.
_NAMING = tuple("event session agent_id prompt tool input output error summary message reason source".split())
# What every command that proves something has in it.
_CHECKING = (
    "test build check lint compile make commit tox nox spec tsc ruff mypy pyright clippy vet jest ninja"
    " verify package mocha unit"
).split()


def tidied(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event with what its tool gave as a plain text, without what only the host's own screen needs."""
    given = dict(event)
    if "output" in given:
        given["failed"] = has_failed(given["output"])
        structured = given.get("tool") in STRUCTURED_OUTPUT
        if is_edit(str(given.get("tool")), _fields(given)) and not given["failed"]:
            given["output"] = around_edit(given["output"])  # the edit itself is in the input
        elif not structured:
            given["output"] = as_text(output_of(given["output"]))
    return given


def fitted(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event whose values are of a bounded size, which its texts are already."""
    return {name: value if name in _WHOLE else _fitting(value) for name, value in event.items()}


def cleaned(event: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """An event without secrets, each text of it clipped: what may be written anywhere."""
    given = tidied(event)
    whole = {name: given.pop(name) for name in _WHOLE if isinstance(given.get(name), str)}
    found = {name: _fitting(redactor.value(value, clipped, name=name)) for name, value in given.items()}
    return found | {name: redactor.text(storable(text[:_MOST_TEXT])) for name, text in whole.items()}


def _fitting(value: Any) -> Any:
    """A value of a bounded size: of one that is too large, its short texts."""
    if isinstance(value, str) or value is None or (size := len(dumps(value))) <= MOST_VALUE:
        return value
    fields: Mapping[str, Any] = value if is_dict(value) else {}
    short = {name: one for name, one in fields.items() if isinstance(one, str) and len(one) <= 2000}
    return {**dict(list(short.items())[:50]), "left_out": f"{size:,} characters"}


def apply(memory: TaskMemory, event: Mapping[str, Any], name: str, capture: Capture | None = None) -> None:
    """Write down what an event says; `name` is its own, by which a repetition is known.

    `capture`: the memory's own, for who has many events to apply.
    """
    write = _WRITERS.get(event["event"])
    if write is None:
        return
    agent = str(event.get("agent_id") or "")
    try:
        if agent and not event["event"].startswith("Subagent"):
            memory, capture = _helpers_memory(memory, event, agent), None
        write(capture or Capture(memory), memory, event, name)
    except RingboltError as error:
        # The event was written before; what is derived from the task for it has changed since.
        if error.code != "key_reused":
            raise


def name_of(memory: TaskMemory, event: Mapping[str, Any], told: str) -> str:
    """A name for an event that the host may have given none: the same for the same event told twice.

    It is known again by what it says while its task has not come further: by what tools did, and for the
    user's words by what was said. A tool call is known by when it was told (`told`), as it may be made again.
    """
    session = memory.origin.session
    if event.get("tool_use_id") or event["event"] == "PreCompact" or not session:
        return f"hook/{told}"
    task = own_task(memory)
    if event["event"] in ("PostToolUse", "PostToolUseFailure"):
        said, _, moment = told.rpartition("/")
        before = f"hook/{said}/{int(moment) - 1}"  # the moment may have passed in between
        known = task and memory.store.read(lambda tx: tx.key(task, before))
        return before if known else f"hook/{told}"
    head = memory.store.read(lambda tx: tx.head(task)) if task else None
    # Which task of the session it is; one that a prompt is about to begin counts as begun.
    turn = head["focus"] if head else memory.store.read(lambda tx: tx.last_focus(session)) + 1
    place = f"{turn}.{head['actions'] if head else 0}"
    if event["event"] == "UserPromptSubmit" and not is_assent(_text(event, "prompt")):
        place += f".{head['messages'] if head else 0}"
    return f"hook/{naming(event)}/{place}"


def naming(event: Mapping[str, Any]) -> str:
    """What an event says, as a name."""
    told = {field: event[field] for field in _NAMING if field in event}
    return blake2b(dumps(told, sort_keys=True).encode(), digest_size=12).hexdigest()


def _text(event: Mapping[str, Any], field: str) -> str:
    return as_text(event.get(field))


def _fields(event: Mapping[str, Any]) -> Mapping[str, Any]:
    given = event.get("input")
    return given if is_dict(given) else {}


def _prompt(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    said = event.get("prompt_id")
    key = f"{session_of(event)}/{said}"[:200] if said else name
    text = _text(event, "prompt").strip()
    if is_command(text):
        capture.aside(text, by_user=True, key=key)
    elif text[:1] in _OPENS_NOTICE and _is_notice(text):
        capture.aside(text, key=key)
    else:
        capture.prompt(text, key=key)


def is_command(text: str) -> bool:
    """Whether a prompt is a command to the host itself, like `/compact`; a path is none."""
    word = text.split(maxsplit=1)[0] if text[:1] == "/" else ""
    return word[1:2].isalpha() and "/" not in word[1:] and "." not in word and not os.path.exists(word)


def _is_notice(text: str) -> bool:

    return is_host_text(text)


def _tool_used(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    used = event.get("tool_use_id")
    key = f"{session_of(event)}/{used}"[:200] if used else name
    failed = event["event"] == "PostToolUseFailure" or bool(event.get("failed"))
    tool = str(event.get("tool") or "tool")
    if is_ours(tool):
        if not failed:
            _turn_to(memory, tool, event)
        return
    if not failed and _planned(capture, tool, event, key):
        return
    if tool == SHOW_PLAN and not (failed and _is_misuse(_text(event, "error"))):
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
        receipt=is_shell(tool) and _proves(_fields(event)),
        duration_ms=duration if isinstance(duration, (int, float)) and duration >= 0 else None,
        key=key,
    )


def _is_misuse(error: str) -> bool:

    return is_misuse(error)


def is_ours(tool: str) -> bool:
    """Whether a tool is one of our own server: what it did is in the ledger already."""
    name = tool.lower()
    return "ringbolt" in name and ("task_" in name or "smart_wait" in name)


def _turn_to(memory: TaskMemory, tool: str, event: Mapping[str, Any]) -> None:
    """The agent registered a task, or named one while its session had none: the session turns to it."""
    named = _fields(event).get("task_id")
    before = own_task(memory)
    if tool.endswith("task_register"):
        named = _registered(as_text(event.get("output")))
    elif before:
        return
    if not isinstance(named, str) or not named or not memory.origin.session or named == before:
        return
    try:
        task = memory.task_focus(named[:100]).task_id
    except RingboltError as error:
        if error.code not in ("task_not_found", "ambiguous_task", "invalid_argument"):
            raise
        return
    if before:
        _take_over(memory, memory.task_get(before), memory.task_get(task))


def _take_over(memory: TaskMemory, drafted: Task, task: Task) -> None:
    """A task that the agent registered has what the user asked for, and replaces a draft without work."""
    head, first = memory.store.read(lambda tx: (tx.head(drafted.id), tx.event(drafted.id, 1)))
    # Only what the user said is the user's: an agent writes requests, too.
    if drafted.request and not task.request and first and first["channel"] == "user":
        user, key = memory.acting_as(channel="user"), f"hook/request/{drafted.id}"
        user.task_remember(task.id, drafted.request, type="user_instruction", key=key)
    if head and not head["actions"] and not drafted.items:
        memory.task_link(task.id, target=drafted.id, kind="supersedes", key=f"hook/instead/{drafted.id}")


def _registered(text: str) -> str:
    """The id of the task that our server says it registered."""

    found = re.search(r'\btask(?:_id"?:)? "?([0-9a-z]{10})\b', text)
    return found[1] if found else ""


def _proves(given: Mapping[str, Any]) -> bool:
    """Whether a command was a test, a build or a commit, so that its outcome is a receipt."""
    command = given.get("command") or given.get("cmd")
    if not isinstance(command, str) or not any(hint in command for hint in _CHECKING):
        return False  # most commands: told without loading what knows them all

    return is_check(command)


def _planned(capture: Capture, tool: str, event: Mapping[str, Any], key: str) -> bool:
    """Tools that keep the agent's plan, or ask the user; False if this is another one."""
    given, output = _fields(event), event.get("output")
    if tool in TODO_LISTS:
        items = given.get(TODO_LISTS[tool])
        if not is_list(items):
            return False
        capture.todo([_item(item) for item in items], key=key)
    elif tool == TODO_CREATE:
        made = output.get("task") if is_dict(output) else None
        number = made.get("id") if is_dict(made) else None
        subject = as_text(given.get("subject")).strip()
        if not subject:
            return False
        capture.todo_changed(None if number is None else str(number), title=subject, key=key)
    elif tool == TODO_UPDATE:
        status = given.get("status")
        capture.todo_changed(
            str(given.get("taskId")),
            title=as_text(given.get("subject")).strip() or None,
            status=status if isinstance(status, str) else None,
            key=key,
        )
    elif tool == ASK_USER:
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
    helper = memory.acting_as(session=session_of(event, agent))
    # Claude Code has its summaries written by one that never began, and did nothing.
    if not agent or not own_task(helper):
        return
    Capture(helper).helper_ended(said, key=f"{name}/end")
    kind = str(event.get("agent_type") or "helper")
    capture.result(f"{kind} {agent} is done: {said[:300]}".strip(), said, key=f"{name}/result")


def _stopped(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    capture.concluded(_text(event, "message"), key=name)


def _session_began(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    source = _text(event, "source")
    if source != "compact":  # that is told by the snapshots
        capture.aside(f"The session goes on: {source or 'no reason given'}.", key=name)


def _session_ended(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    capture.aside(f"{rules.SESSION_ENDED}: {_text(event, 'reason') or 'no reason given'}.", key=name)


def _begin_helper(memory: TaskMemory, event: Mapping[str, Any]) -> None:
    """A task for another agent that works for this one, unless it has or had one."""
    agent = str(event.get("agent_id") or "")
    parent = own_task(memory)
    helper = memory.acting_as(session=session_of(event, agent))
    if not agent or parent is None or own_task(helper):
        return
    kind = str(event.get("agent_type") or "helper")
    request = _text(event, "agent_task") if event["event"] == "SubagentStart" else ""
    key = f"{session_of(event, agent)}/begin"
    Capture(helper).helper_began(parent, f"{kind} {agent}", request=request or None, key=key)


def _helpers_memory(memory: TaskMemory, event: Mapping[str, Any], agent: str) -> TaskMemory:
    """The memory of an agent that works for this one, while it has a task; else the parent's."""
    try:
        _begin_helper(memory, event)
    except RingboltError as error:
        if error.code != "key_reused":
            raise
    helper = memory.acting_as(session=session_of(event, agent))
    return helper if own_task(helper) else memory


def _said(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    capture.concluded(_text(event, "message"), key=f"{event.get('session')}/{event.get('said_id')}"[:200])


def _put_in(capture: Capture, memory: TaskMemory, event: Mapping[str, Any], name: str) -> None:
    key = f"{event.get('session')}/{event.get('said_id')}"[:200]
    if own_task(memory):
        capture.notice(_text(event, "message"), key=key)


_WRITERS = {
    "SessionStart": _session_began,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_used,
    "PreCompact": _before_compaction,
    "PostCompact": _after_compaction,
    "SubagentStart": _helper_began,
    "SubagentStop": _helper_ended,
    "Said": _said,
    "PutIn": _put_in,
    "Stop": _stopped,
    "SessionEnd": _session_ended,
}
