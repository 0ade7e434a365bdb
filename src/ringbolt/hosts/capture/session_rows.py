"""Update sessions from events: process, mode, whose turn it is, and background work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...ledger.base import workspace_named
from ...model.types import is_dict, is_list
from ...model.validate import seconds_of, stamp
from ...store import sessions
from ...store.sessions import Session
from ...store.tx import Tx
from ..host_table import WAITS_FOR_USER
from ..sessions import session_of
from .interruptions import interruption, is_by_user

_MOST_BACKGROUND = 20
_LONGEST_TEXT = 300
# The stored fields of background work, and the statuses that count as over.
_BACKGROUND = ("id", "type", "description", "command", "agent_type", "status")
_OVER = ("completed", "failed", "killed", "stopped", "cancelled")
# Events that show a session at work: it has neither ended nor is it held up.
_GOES_ON = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "ElicitationResult")
# Events after which the host waits for its user: a plan is shown, or a server asks something.
_ASKS = ("PreToolUse", "Elicitation")
_PLAN_MODE = "plan"
# Sources of a session start that may continue another session under a new id.
_CONTINUES = ("fork", "resume")
# The transcript of such a session names the other one near its beginning.
_TRANSCRIPT_HEAD = 256 << 10


class SessionRows:
    """The sessions of the events in one transaction."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._rows: dict[str, Session] = {}

    def note(
        self,
        event: Mapping[str, Any],
        host: str,
        at: float,
        *,
        workspace: str | None,
        pinned: bool,
        process: Any,
        machine: str,
    ) -> str:
        """Update the session of an event; returns a line for the session's task, usually empty.

        `pinned`: the host names its project, so `workspace` does not follow the agent from folder to folder.
        `machine` is the boot in which the event happened.
        """
        if not (name := session_of(event)):
            return ""
        now, kind = stamp(at), event["event"]
        known = self._get(name) or Session(id=name, started_at=now)
        row = known.replace(host=host, seen_at=now)
        follows = not pinned or row.workspace is None or kind == "SessionStart"
        if workspace and follows and kind != "CwdChanged":
            row = row.replace(workspace=workspace)
        if isinstance(process, str) and process:
            row = row.replace(process=process[:100], machine=machine)
        line = ""
        if not event.get("agent_id"):  # a helper may have a mode and a folder of its own
            row = _with_mode(row, event.get("mode"))
            line = _mode_line(known.mode, row.mode)
            if kind == "CwdChanged" and (moved := _working_tree(event.get("folder"))):
                line = f"The session moved to {moved}." if moved != (row.workspace or moved) else line
                row = row.replace(workspace=moved)
        self._rows[name] = _with_turn(row, event, at)
        return line

    def _get(self, name: str) -> Session | None:
        return self._rows.get(name) or sessions.get(self._tx, name)

    def predecessor(self, event: Mapping[str, Any], process: Any, machine: str, now: float) -> str | None:
        """The session that one that starts continues under a new id: the last one of the same host process.

        None if that one is still live, or if the transcript shows that this is another conversation.
        """
        name = session_of(event)
        if not name or event.get("source") not in _CONTINUES or self._get(name):
            return None
        if not isinstance(process, str) or not process:
            return None
        found = {one.id: one for one in sessions.of_process(self._tx, process, machine)}
        found |= {
            row.id: row for row in self._rows.values() if (row.process, row.machine) == (process, machine)
        }
        last = max(found.values(), key=lambda row: row.seen_at, default=None)
        if last is None or last.is_live(now) or not _may_continue(event.get("transcript"), last.id):
            return None
        return last.id

    def write(self) -> None:
        """Store the rows; when a session begins, those that were last seen long ago go."""
        for row in self._rows.values():
            sessions.put(self._tx, row)
        begun = [row.seen_at for row in self._rows.values() if row.started_at == row.seen_at]
        if begun:
            sessions.forget_old(self._tx, seconds_of(max(begun)))


def _with_mode(row: Session, mode: Any) -> Session:
    return row.replace(mode=mode[:50]) if isinstance(mode, str) else row


def _mode_line(before: str, now: str) -> str:
    """The line for the task when plan mode begins or ends."""
    if (before == _PLAN_MODE) == (now == _PLAN_MODE):
        return ""
    if now == _PLAN_MODE:
        return "Plan mode began: nothing is to be changed before the user approves a plan."
    return f"Plan mode ended; the permission mode is {now} now."


def _working_tree(folder: Any) -> str | None:
    """The root of a folder's working tree; None outside a repository."""
    if not isinstance(folder, str) or len(folder) > 2000 or not os.path.isdir(folder):
        return None
    root, repository = workspace_named(folder)
    return root if repository else None


def _with_turn(row: Session, event: Mapping[str, Any], at: float) -> Session:
    """A session after an event: whose turn it is, and its interruption."""
    kind, is_helpers, now = event["event"], bool(event.get("agent_id")), stamp(at)
    if kind == "SessionStart":
        return row.replace(started_at=now, ended_at=None)
    if kind == "SessionEnd":
        return row.replace(ended_at=now, at_work=(), turn="")
    if is_helpers and (kind == "StopFailure" or row.turn == sessions.INTERRUPTED):
        return row  # helpers work in the background
    if kind == "StopFailure":
        return row.replace(turn=sessions.INTERRUPTED, interruption=interruption(event, at))
    if is_by_user(event):
        return row.replace(ended_at=None, turn=sessions.WAITING, interruption=interruption(event, at))
    if kind in _GOES_ON:
        return row.replace(ended_at=None, interruption=None, turn=sessions.WORKING)
    if kind == "Stop":
        row = row.replace(turn=sessions.WAITING)
        if "background" in event:
            row = row.replace(at_work=_background(event["background"], row.at_work, now))
        return row
    waits = kind in _ASKS or (kind == "Notification" and event.get("notification") in WAITS_FOR_USER)
    return row.replace(turn=sessions.WAITING) if waits and row.turn != sessions.INTERRUPTED else row


def _may_continue(transcript: Any, session: str) -> bool:
    """Whether a transcript may continue that of a session: it names the session, or cannot be read."""
    if not isinstance(transcript, str) or not transcript:
        return True
    try:
        with open(transcript, "rb") as file:
            head = file.read(_TRANSCRIPT_HEAD)
    except (OSError, ValueError):
        return True
    return not head.strip() or session.encode("utf-8", "replace") in head


def _background(
    running: Any, known: tuple[Mapping[str, Any], ...], now: str
) -> tuple[Mapping[str, Any], ...]:
    """The background work that a host lists as running, with the time when each was first seen."""
    since = {one.get("id"): one.get("since") for one in known}
    found: list[Mapping[str, Any]] = []
    for one in running[:_MOST_BACKGROUND] if is_list(running) else ():
        if not is_dict(one) or one.get("status") in _OVER:
            continue
        row = {name: str(one[name])[:_LONGEST_TEXT] for name in _BACKGROUND if one.get(name)}
        found.append({**row, "since": since.get(row.get("id")) or now})
    return tuple(found)
