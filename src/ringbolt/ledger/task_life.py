"""How a task stands, in the words that lists, packets and the page all use.

A status is what somebody set. Whether anybody is at work on an open task follows from its session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import rules
from ..model.validate import seconds_of
from ..store.sessions import INTERRUPTED, WAITING, WORKING, Session

AT_WORK, YOUR_TURN, HELD_UP, RESTING, STUCK, DONE = (
    "at work",
    "waiting for you",
    "held up",
    "resting",
    "stuck",
    "done",
)


def life(
    head: Mapping[str, Any], session: Session | None, now: float, stuck_after: float | None = None
) -> str:
    """How a task stands.

    `head` is its row, `session` the session that works on it, if a host reported one. A task is stuck if a
    live session has it and was silent in the middle of a turn for longer than `stuck_after` seconds.
    """
    status: str = head["status"]
    if status in rules.ENDED:
        return DONE if status == "completed" else status
    if status == "paused":
        return RESTING if head["reason"] in rules.RESTING else status
    if status == "waiting" or session is None:
        return status
    if not session.is_live(now):
        return RESTING
    if session.turn == WORKING:
        silent = now - seconds_of(max(session.seen_at, head["updated_at"]))
        return STUCK if stuck_after is not None and silent > stuck_after else AT_WORK
    return {WAITING: YOUR_TURN, INTERRUPTED: HELD_UP}.get(session.turn, status)
