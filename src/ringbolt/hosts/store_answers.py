"""Answers of a hook that need a drained journal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..hook_memory import HookMemory
from ..journal.event_files import Journal
from ..model.rules import TREE_STATUS
from ..model.settings import Settings
from .compaction_state import Mark
from .context_injection import Answers
from .drain import Drainer
from .hook_parts.system_calls import Late
from .host_table import Host
from .sessions import own_task, session_of
from .taken_tasks import taken_task_notice
from .tree_status import changed_tree_status

# Events that a hook may drain in one call, and the share of its time that this may take.
_LIMIT = 500
_SHARE = 0.6
_LOOKS_AT_TREE = ("SessionStart", "PreCompact")
_ANSWERS = ("SessionStart", "PreToolUse", "PreCompact")
# Events at which a session learns that it lost its task.
_GIVES_NOTICE = ("SessionStart", "UserPromptSubmit", "PostToolUse")
_DISTILLS = ("Stop", "SessionEnd")


def drain_and_answer(
    location: str,
    settings: Settings,
    journal: Journal,
    shape: Host,
    host: str,
    event: Mapping[str, Any],
    mark: Mark,
    deadline: float,
    line: Mapping[str, Any] | None,
) -> tuple[str, bool, str]:
    """Drain; returns the text for the model, whether the user is to decide, and the store's error code.

    `line` is the event itself if the journal could not keep it.
    """
    memory = HookMemory.open(location, workspace=None, settings=settings, agent=host, catch_up=False)
    try:
        return _answer(memory, journal, shape, event, mark, deadline, line)
    finally:
        memory.store.close()


def _answer(
    memory: HookMemory,
    journal: Journal,
    shape: Host,
    event: Mapping[str, Any],
    mark: Mark,
    deadline: float,
    line: Mapping[str, Any] | None,
) -> tuple[str, bool, str]:
    seconds = (deadline - time.monotonic()) * _SHARE
    drainer = Drainer(memory, journal, deadline, seconds)
    try:
        stopped = drainer.run(_LIMIT, str(event.get("session") or "")).stopped
    except Late:
        drainer.note_slow()
        raise
    if line is not None:
        drainer.apply(line)
    trouble = stopped if stopped.startswith("store_") else ""
    folder = event.get("cwd")
    own = memory.acting_as(
        session=session_of(event), workspace=folder if isinstance(folder, str) and folder else None
    )
    if event["event"] in _LOOKS_AT_TREE and isinstance(folder, str):
        _keep_tree_status(own, folder)
    notice = (
        taken_task_notice(own, journal) if event["event"] in _GIVES_NOTICE and _injects(shape, event) else ""
    )
    due = mark.is_nearly_full()
    turn = event["event"] == "UserPromptSubmit" and memory.settings.hook_turn_block == "on"
    if not (event["event"] in (*_ANSWERS, *_DISTILLS) or turn or due or mark.wants_packet()):
        return notice, False, trouble
    answers = Answers(own, shape, event, mark, deadline)
    if due:
        answers.distill()
    text = answers.text()
    return "\n".join(part for part in (notice, text) if part), answers.asks, trouble


def _keep_tree_status(memory: HookMemory, folder: str) -> None:
    """Keep the state of a session's working tree in its task, if it has one and the state has changed."""
    task = own_task(memory)
    if task and (text := changed_tree_status(memory, task, folder)):
        memory.acting_as(channel="tool").task_snapshot(task, text, label=TREE_STATUS)


def _injects(shape: Host, event: Mapping[str, Any]) -> bool:
    """Whether the host shows its model what this hook answers; a helper learns nothing about the session."""
    return event["event"] in shape.injects and not event.get("agent_id")
