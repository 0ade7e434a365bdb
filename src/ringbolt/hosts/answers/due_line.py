"""What a host's heartbeat gets: one line of what is due, and nothing when nothing is."""

from __future__ import annotations

from ...ledger.base import Base
from ...packet import encode
from .open_tasks_text import active_tasks

_MOST = 3  # tasks that are named
_MOST_TITLE = 60


def due_line(memory: Base) -> str:
    """The open tasks here that had no update for as long as `stale_threshold` says."""
    stale = active_tasks(memory).active_tasks_stale()
    if not stale:
        return ""
    named = [
        f"{encode.quoted(encode.clip(row.title, _MOST_TITLE))} ({encode.name(row.task_id or row.label)})"
        for row in stale[:_MOST]
    ]
    more = f" and {len(stale) - _MOST} more" if len(stale) > _MOST else ""
    return (
        f"Task memory: no update for more than {memory.settings.stale_threshold}:"
        f" {', '.join(named)}{more}. task_resume shows what is left of one."
    )
