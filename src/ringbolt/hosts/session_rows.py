"""What events say about their sessions: the process, the permission mode, work in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.types import is_dict, is_list
from ..model.validate import stamp
from ..store import sessions
from ..store.sessions import Session
from ..store.tx import Tx
from .sessions import session_of

_MOST_BACKGROUND = 20
_LONGEST_TEXT = 300
# What is kept of background work, and what counts as over.
_BACKGROUND = ("id", "type", "description", "command", "agent_type", "status")
_OVER = ("completed", "failed", "killed", "stopped", "cancelled")
# Events that show a session at work: it has neither ended nor is it held up.
_GOES_ON = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")


class SessionRows:
    """The sessions that the events of one transaction speak of."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._rows: dict[str, Session] = {}

    def note(
        self,
        told: Mapping[str, Any],
        host: str,
        at: float,
        *,
        workspace: str | None,
        process: Any,
        machine: str,
    ) -> None:
        """Note what an event says about its session. `machine` is the boot in which it happened."""
        if not (name := session_of(told)):
            return
        row = self._rows.get(name) or sessions.get(self._tx, name)
        now, event = stamp(at), told["event"]
        row = (row or Session(id=name, started_at=now)).replace(host=host, seen_at=now)
        if workspace:
            row = row.replace(workspace=workspace)
        if isinstance(process, str) and process:
            row = row.replace(process=process[:100], machine=machine)
        mode = told.get("mode")
        if isinstance(mode, str) and not told.get("agent_id"):  # a helper may have a mode of its own
            row = row.replace(mode=mode[:50])
        if event == "SessionStart":
            row = row.replace(started_at=now, ended_at=None)
        elif event == "SessionEnd":
            row = row.replace(ended_at=now, at_work=(), turn="")
        elif event in _GOES_ON:
            row = row.replace(ended_at=None, interruption=None, turn=sessions.WORKING)
        elif event == "Stop":
            row = row.replace(turn=sessions.WAITING)
            if "background" in told:
                row = row.replace(at_work=_background(told["background"], row.at_work, now))
        self._rows[name] = row

    def write(self) -> None:
        """Store the rows."""
        for row in self._rows.values():
            sessions.put(self._tx, row)


def _background(told: Any, known: tuple[Mapping[str, Any], ...], now: str) -> tuple[Mapping[str, Any], ...]:
    """Background work that a host lists as running, each with the time when it was first seen."""
    since = {one.get("id"): one.get("since") for one in known}
    found: list[Mapping[str, Any]] = []
    for one in told[:_MOST_BACKGROUND] if is_list(told) else ():
        if not is_dict(one) or one.get("status") in _OVER:
            continue
        row = {name: str(one[name])[:_LONGEST_TEXT] for name in _BACKGROUND if one.get(name)}
        found.append({**row, "since": since.get(row.get("id")) or now})
    return tuple(found)
