"""Answers of a hook that need a drained journal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from ...hook_memory import HookMemory
from ...journal.event_files import Journal
from ...model.rules import TREE_STATUS
from ...model.settings import Settings
from ..drain import Drainer
from ..hook_parts.system_calls import Late
from ..host_table import Host
from ..sessions import own_task, session_of
from .compaction_state import Mark
from .context_injection import Answers
from .taken_tasks import taken_task_notice
from .tree_status import changed_tree_status

# Events that a hook may drain in one call, and the share of its time that this may take.
_LIMIT = 500
_SHARE = 0.6
_LOOKS_AT_TREE = ("SessionStart", "PreCompact")
_ANSWERS = ("SessionStart", "PreToolUse", "PreCompact", "Heartbeat")
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
    with closing(memory.store):
        stopped = _drain(memory, journal, str(event.get("session") or ""), deadline, line)
        trouble = stopped if stopped.startswith("store_") else ""
        text, asks = _answer(memory, journal, shape, event, mark, deadline)
        return text, asks, trouble


def _drain(
    memory: HookMemory, journal: Journal, session: str, deadline: float, line: Mapping[str, Any] | None
) -> str:
    """Drain within a share of the time, this session's events first; returns why that stopped early."""
    drainer = Drainer(memory, journal, deadline, (deadline - time.monotonic()) * _SHARE)
    try:
        stopped = drainer.run(_LIMIT, session).stopped
    except Late:
        drainer.note_slow()
        raise
    if line is not None:
        drainer.apply(line)
    return stopped


def _answer(
    memory: HookMemory, journal: Journal, shape: Host, event: Mapping[str, Any], mark: Mark, deadline: float
) -> tuple[str, bool]:
    """The text for the model, and whether the user is to decide."""
    kind, folder = event["event"], event.get("cwd")
    folder = folder if isinstance(folder, str) and folder else None
    own = memory.acting_as(session=session_of(event), workspace=folder)
    if folder and kind in _LOOKS_AT_TREE:
        _keep_tree_status(own, folder)
    # A helper's context is not the session's.
    reads = kind in shape.injects and not event.get("agent_id")
    notice = taken_task_notice(own, journal) if reads and kind in _GIVES_NOTICE else ""
    due = mark.is_nearly_full()
    turn = kind == "UserPromptSubmit" and memory.settings.hook_turn_block == "on"
    if not (kind in (*_ANSWERS, *_DISTILLS) or turn or due or mark.wants_packet()):
        return notice, False
    answers = Answers(own, shape, event, mark, deadline)
    if due:
        answers.distill()
    text = answers.text()
    return "\n".join(part for part in (notice, text) if part), answers.asks


def _keep_tree_status(memory: HookMemory, folder: str) -> None:
    """Keep the state of a session's working tree in its task, if it has one and the state has changed."""
    task = own_task(memory)
    if task and (text := changed_tree_status(memory, task, folder)):
        memory.acting_as(channel="tool").task_snapshot(task, text, label=TREE_STATUS)
