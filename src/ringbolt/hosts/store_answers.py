"""Answers of a hook that need a drained journal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..journal.event_files import Journal
from ..memory import TaskMemory
from ..model.settings import Settings
from .capture_hook import Late
from .compaction_state import Mark
from .context_injection import Answers
from .drain import Drainer
from .host_table import Host
from .sessions import session_of

# Events that a hook may drain in one call, and the share of its time that this may take.
_LIMIT = 500
_SHARE = 0.6
_SPEAKS = ("SessionStart", "PreToolUse", "PreCompact")


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
) -> tuple[str, str]:
    """Drain; returns the text for the model, and the error code if the store failed.

    `line` is the event itself if the journal could not keep it.
    """
    memory = TaskMemory.open(location, workspace=None, settings=settings, agent=host, catch_up=False)
    try:
        return _answer(memory, journal, shape, event, mark, deadline, line)
    finally:
        memory.store.close()


def _answer(
    memory: TaskMemory,
    journal: Journal,
    shape: Host,
    event: Mapping[str, Any],
    mark: Mark,
    deadline: float,
    line: Mapping[str, Any] | None,
) -> tuple[str, str]:
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
    if event["event"] not in _SPEAKS and not mark.wants_packet():
        return "", trouble
    folder = event.get("cwd")
    own = memory.acting_as(
        session=session_of(event), workspace=folder if isinstance(folder, str) and folder else None
    )
    return Answers(own, shape, event, mark, deadline).text(), trouble
