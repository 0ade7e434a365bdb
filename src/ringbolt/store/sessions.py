"""Sessions of agents, as the hooks of their hosts report them: where each runs, and whether it still does.

These rows are not part of the ledger: they say which sessions are running now. The events of a session are in
the ledger of its task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model.types import Value
from ..model.validate import dumps, seconds_of, stamp
from ..system import processes

if TYPE_CHECKING:  # reading a task reads sessions
    from .tx import Tx

# Whose turn it is in a session: the agent's, the user's, or no one's, because the turn was interrupted.
WORKING, WAITING, INTERRUPTED = "working", "waiting", "interrupted"
# If its process cannot be checked, a session that has been silent for this long is no longer live.
QUIET_SECONDS = 3600.0
# Rows of sessions that were last seen this long ago are deleted.
KEEP_SECONDS = 30 * 86400.0

NAMES = (
    "session_id", "host", "machine", "process", "workspace_path", "mode", "turn", "at_work", "interruption",
    "started_at", "seen_at", "ended_at",
)  # fmt: skip
_SELECT = f"SELECT {', '.join(NAMES)} FROM sessions"
_PUT = (
    f"INSERT INTO sessions ({', '.join(NAMES)}) VALUES ({', '.join(f':{name}' for name in NAMES)})"
    " ON CONFLICT (session_id) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in NAMES[1:])
)


class Session(Value, frozen=True, kw_only=True):
    """A session of an agent."""

    id: str
    host: str = ""
    machine: str = ""
    process: str = ""
    workspace: str | None = None
    mode: str = ""
    turn: str = ""
    at_work: tuple[Mapping[str, Any], ...] = ()
    interruption: Mapping[str, Any] | None = None
    started_at: str = ""
    seen_at: str = ""
    ended_at: str | None = None

    def is_live(self, now: float) -> bool:
        """Whether the session is still running, as far as this machine can tell."""
        if self.ended_at is not None:
            return False
        if self.process and self.machine == processes.boot():
            return processes.is_running(self.process)
        return now - seconds_of(self.seen_at) < QUIET_SECONDS


def read_rows(rows: Sequence[Mapping[str, Any]]) -> list[Session]:
    """Sessions from rows with the columns `NAMES`."""
    return [
        Session(
            id=row["session_id"],
            host=row["host"],
            machine=row["machine"],
            process=row["process"],
            workspace=row["workspace_path"],
            mode=row["mode"],
            turn=row["turn"],
            at_work=tuple(json.loads(row["at_work"])),
            interruption=json.loads(row["interruption"]) if row["interruption"] else None,
            started_at=row["started_at"],
            seen_at=row["seen_at"],
            ended_at=row["ended_at"],
        )
        for row in rows
    ]


def get(tx: Tx, session_id: str) -> Session | None:
    """A session by its id."""
    rows = tx.rows(NAMES, f"{_SELECT} WHERE session_id = :session", session=session_id)
    return read_rows(rows)[0] if rows else None


def put(tx: Tx, session: Session) -> None:
    """Store a session."""
    tx.database.run(
        _PUT,
        {
            "session_id": session.id,
            "host": session.host,
            "machine": session.machine,
            "process": session.process,
            "workspace_path": session.workspace,
            "mode": session.mode,
            "turn": session.turn,
            "at_work": dumps(list(session.at_work)),
            "interruption": dumps(session.interruption) if session.interruption else None,
            "started_at": session.started_at,
            "seen_at": session.seen_at,
            "ended_at": session.ended_at,
        },
    )


def by_ids(tx: Tx, session_ids: Iterable[str]) -> dict[str, Session]:
    """The stored sessions with these ids, by id."""
    names = {f"s{number}": name for number, name in enumerate(dict.fromkeys(session_ids))}
    if not names:
        return {}
    places = ", ".join(f":{name}" for name in names)
    rows = tx.rows(NAMES, f"{_SELECT} WHERE session_id IN ({places})", **names)
    return {session.id: session for session in read_rows(rows)}


def live(tx: Tx, workspace: str | None, now: float) -> list[Session]:
    """The live sessions of a workspace, or of all, the most recently seen first."""
    where = "" if workspace is None else " AND workspace_path = :workspace"
    rows = tx.rows(
        NAMES,
        f"{_SELECT} WHERE ended_at IS NULL AND seen_at > :since{where} ORDER BY seen_at DESC LIMIT 100",
        since=stamp(now - KEEP_SECONDS),
        workspace=workspace,
    )
    return [session for session in read_rows(rows) if session.is_live(now)]


class TakenTask(Value, frozen=True, kw_only=True):
    """A task that another session took over from a session."""

    task: str
    name: str
    by: str  # the agent that took it
    at: str


def note_taken(tx: Tx, session_id: str, taken: TakenTask | None) -> None:
    """Note that a task was taken from a session, for its next packet; None: it knows, or has it back."""
    text = None if taken is None else dumps(taken.to_dict())
    tx.database.run(
        "UPDATE sessions SET taken = :taken WHERE session_id = :session",
        {"taken": text, "session": session_id},
    )


def taken_from(tx: Tx, session_id: str) -> TakenTask | None:
    """The task that was taken from a session, if it was not notified yet."""
    rows = tx.rows(("taken",), "SELECT taken FROM sessions WHERE session_id = :session", session=session_id)
    return TakenTask(**json.loads(rows[0]["taken"])) if rows and rows[0]["taken"] else None


def to_be_told(tx: Tx) -> list[str]:
    """The sessions that have lost a task and were not notified yet."""
    rows = tx.rows(("session_id",), "SELECT session_id FROM sessions WHERE taken IS NOT NULL LIMIT 100")
    return [row["session_id"] for row in rows]


def of_process(tx: Tx, process: str, machine: str) -> list[Session]:
    """The sessions that a host's process has had."""
    where = "WHERE process = :process AND machine = :machine"
    return read_rows(tx.rows(NAMES, f"{_SELECT} {where}", process=process, machine=machine))


def of_host(tx: Tx, ancestors: Sequence[str]) -> str | None:
    """The session of the host that started a process; `ancestors` are its parent processes, the nearest
    first.

    A host's process has one session at a time. After /clear or /resume the session has another id, and the
    most recent one counts.
    """
    if not ancestors:
        return None
    names = {f"p{number}": process for number, process in enumerate(ancestors)}
    rows = tx.rows(
        ("session_id", "process", "started_at", "ended_at"),
        "SELECT session_id, process, started_at, ended_at FROM sessions"
        f" WHERE process IN ({', '.join(f':{name}' for name in names)}) AND machine = :machine",
        machine=processes.boot(),
        **names,
    )
    nearest = min((ancestors.index(row["process"]) for row in rows), default=None)
    if nearest is None:
        return None
    own = [row for row in rows if row["process"] == ancestors[nearest]]
    return max(own, key=lambda row: (row["ended_at"] is None, row["started_at"]))["session_id"]


def forget_old(tx: Tx, now: float) -> None:
    """Delete the rows of sessions that were last seen long ago."""
    tx.database.run("DELETE FROM sessions WHERE seen_at < :before", {"before": stamp(now - KEEP_SECONDS)})
