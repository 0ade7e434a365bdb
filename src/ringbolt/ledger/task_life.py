"""The life of a task: its state in the words that lists, packets and the page all use.

A status is set by a caller. Whether someone is working on an open task follows from its session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model import rules
from ..model.settings import Settings
from ..model.types import Helper, Interruption, Neighbour
from ..model.validate import seconds_of
from ..store import sessions
from ..store.sessions import INTERRUPTED, QUIET_SECONDS, WAITING, WORKING, Session
from ..store.tx import Row, Tx

AT_WORK, YOUR_TURN, HELD_UP, RESTING, STUCK, DONE, INFERRED = (
    "at work",
    "waiting for you",
    "held up",
    "resting",
    "stuck",
    "done",
    "done (inferred)",
)


def life(
    head: Mapping[str, Any], session: Session | None, now: float, stuck_after: float | None = None
) -> str:
    """The life of a task, from its row and the session that works on it, if a host reported one.

    A task is stuck if its session is live and has been silent in the middle of a turn for longer than
    `stuck_after` seconds.
    """
    status: str = head["status"]
    if status == "completed":
        return INFERRED if head["reason"] == rules.INFERRED else DONE
    if status in rules.ENDED:
        return status
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


def lives(tx: Tx, heads: Sequence[Row], now: float, stuck_after: float | None) -> dict[str, str]:
    """The lives of several tasks, by id; their sessions are read with one query."""
    known = sessions.by_ids(tx, [row["session_id"] for row in heads if _depends_on_session(row)])
    return {row["task_id"]: life(row, known.get(row["session_id"]), now, stuck_after) for row in heads}


def _depends_on_session(row: Row) -> bool:
    return row["status"] == "active" and row["session_id"] is not None


def stuck_after(settings: Settings) -> float | None:
    """The seconds of silence in the middle of a turn after which a task counts as stuck; None means never."""
    if settings.stuck_after == "off":
        return None
    return rules.parse_duration("stuck_after", settings.stuck_after) * 60


# --- other sessions ---------------------------------------------------------------------------------


def session_state(
    head: Row, rows: Mapping[str, Sequence[Row]], now: float, reader: str | None
) -> dict[str, Any]:
    """The fields of a packet about sessions: the mode, an interruption, running helpers, other live sessions.

    `rows` come from `task_rows`, `reader` is the session that reads the packet.
    """
    task_columns = {row["session_id"]: row for row in rows["sessions"]}
    known = {session.id: session for session in sessions.read_rows(rows["sessions"])}
    own = known.get(head["session_id"])
    others = [
        session
        for session in known.values()
        if session is not own and session.id != reader and session.is_live(now)
    ]
    if own and reader and own.id != reader and own.is_live(now):
        others.insert(0, own)  # another session is working on this very task
    return {
        "mode": own.mode if own else "",
        "interruption": _interruption(own) if own else None,
        "helpers": _helpers(own, rows["helpers"], now),
        "neighbours": tuple(
            Neighbour(
                session=session.id,
                since=session.started_at,
                **{name: task_columns[session.id][name] for name in ("task_id", "name", "step", "channel")},
            )
            for session in others
        ),
    }


def _interruption(session: Session) -> Interruption | None:
    """Why the last turn broke off; None if it did not, or if the user interrupted it."""
    reported = session.interruption
    if not reported or reported.get("kind") == "user":
        return None
    what = next((str(reported[name]) for name in ("message", "kind") if reported.get(name)), "unknown")
    return Interruption(
        at=str(reported.get("at") or session.seen_at),
        what=what.replace("_", " "),
        until=reported.get("until"),
    )


def _helpers(session: Session | None, tasks: Sequence[Row], now: float) -> tuple[Helper, ...]:
    """The helpers that have started and not reported: tasks of sub-agents, and background commands.

    When a session ends, its helpers end with it. If the session is unknown, helpers count until they have
    been silent for a while.
    """
    if session is not None and not session.is_live(now):
        return ()
    helpers = [
        Helper(since=row["created_at"], what=row["name"], task_id=row["task_id"], channel=row["channel"])
        for row in tasks
        if session is not None or now - seconds_of(row["updated_at"]) < QUIET_SECONDS
    ]
    by_task = {row["session_id"].rpartition("/")[2] for row in tasks}
    for work in session.at_work if session else ():
        words = (work.get(name) for name in ("agent_type", "description", "command"))
        what = ": ".join(dict.fromkeys(word for word in words if word)) or str(work.get("type") or "")
        if what and work.get("id") not in by_task:
            since = str(work.get("since") or session.seen_at if session else "")
            helpers.append(Helper(since=since, what=what))
    return tuple(helpers)
