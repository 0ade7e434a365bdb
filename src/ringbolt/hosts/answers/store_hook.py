"""The part of a hook that opens the store: it answers SessionStart and PreCompact, and drains for others.

Most events only go into the journal. A hook comes here at the beginning and end of sessions and turns, before
a compaction, and when it has to answer: with a packet that is still missing, or a warning about a call that
did not work before. See docs/explanation/journal.md.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from ...config import load_settings, store_location
from ...journal.cards import make_stale
from ...journal.event_files import Journal
from ...journal.folders import store_path
from ...journal.health import journal_health
from ...journal.side_files import SideFiles, sweep
from ...ledger.base import Base, workspace_named
from ...model.errors import RingboltError, StoreError, shown
from ...model.settings import Settings
from ...model.types import Origin
from ...store import open_store
from ...store.queries.distilled import is_distilled
from ..hook_parts.system_calls import Late, set_alarm
from ..host_schemas import answer as in_hosts_form
from ..host_schemas import read_event
from ..host_table import HOSTS, Host
from ..sessions import own_task, session_of
from .compaction_state import DELIVERED, OFFERED, PENDING, Mark, delivers
from .packet_text import packet_text
from .tree_status import changed_tree_status

_LATE = "deadline"  # what stopped a hook whose time was over
# Sources of a SessionStart that begin with an empty context.
_NEW = ("startup", "clear")


def answer(host: str, event: str, event_file: str | None, payload: Mapping[str, Any], deadline: float) -> str:
    """Drain, and return the answer to an event in the host's own form; empty for none. Never raises.

    `event` is the host's own name for it, `payload` what the host sent, without secrets. `event_file` is the
    event's file in the journal, or None: PreToolUse is not kept there, and any other event that the journal
    could not take is written straight to the store. `deadline` is a `time.monotonic()`.
    """
    shape = HOSTS.get(host)
    ours = shape.events.get(event) if shape else None
    if shape is None or ours is None:
        return ""
    try:
        return _Call(host, event, shape, ours, payload, deadline).run(event_file)
    except Late:
        _complain("the time was up")
    except Exception as error:  # noqa: BLE001 - no error may stop the host
        _complain(f"{type(error).__name__}: {error}")
    return ""


class _Call:
    """One event of a host that needs the store."""

    def __init__(
        self, host: str, name: str, shape: Host, ours: str, payload: Mapping[str, Any], deadline: float
    ) -> None:
        self._host, self._name, self._shape, self._ours, self._deadline = host, name, shape, ours, deadline
        self._trouble = ""
        try:
            self._settings = load_settings()
        except RingboltError as error:
            self._trouble = error.code
            self._settings = Settings(store=os.environ.get("RINGBOLT_STORE", ""))
        self._location = store_location(self._settings)
        self._journal = Journal.of(self._location, self._settings.tenant)
        self._payload = payload
        self._event = self._translated()

    def _translated(self) -> dict[str, Any]:
        event = read_event(self._host, self._name, self._payload) or {"event": self._ours}
        if project := os.environ.get(self._shape.project):
            event["cwd"] = project
        return event

    def run(self, event_file: str | None) -> str:
        """Do the work within the deadline; returns the answer."""
        mark = Mark(SideFiles(self._journal), str(self._event.get("session") or ""))
        if self._ours == "PreCompact":
            mark.set(PENDING)  # first: the packet is then delivered even if the rest fails
        if self._ours == "SessionStart" and event_file and self._takes_it_later():
            mark.set(PENDING)
            return ""
        text = ""
        try:
            try:
                set_alarm(self._deadline - time.monotonic())
                text = self._work(mark, event_file)
            finally:
                set_alarm(None)
        except Late:
            self._trouble = _LATE
        except (StoreError, OSError) as error:
            self._trouble = error.code if isinstance(error, StoreError) else "store_unavailable"
        if self._ours == "SessionStart":
            sweep(self._journal, time.time())
        return text or self._apology()

    def _takes_it_later(self) -> bool:
        """Whether the host takes no context when a session starts, but with a later event."""
        return self._ours not in self._shape.injects and bool(delivers(self._shape))

    def _work(self, mark: Mark, event_file: str | None) -> str:
        if self._trouble:
            return ""
        if self._is_alone(event_file) and (text := self._stored_packet(mark)) is not None:
            return self._formed(text)
        # Imported here because most sessions begin with nothing to write, and this takes longest to load.
        from .store_answers import drain_and_answer

        wait = max(0.01, (self._deadline - time.monotonic()) * 0.8)
        settings = self._settings.replace(lock_timeout=wait, tokens="estimate")
        text, asks, self._trouble = drain_and_answer(
            self._location,
            settings,
            self._journal,
            self._shape,
            self._host,
            self._event,
            mark,
            self._deadline,
            None if event_file or self._ours == "PreToolUse" else self._line(),
        )
        return self._formed(text, asks=asks)

    def _line(self) -> dict[str, Any]:
        """The event as the journal would hold it."""
        return {
            "id": os.urandom(8).hex(),
            "at": time.time(),
            "host": self._host,
            "event": self._name,
            "env": {"project": os.environ.get(self._shape.project)},
            "payload": self._payload,
        }

    def _is_alone(self, event_file: str | None) -> bool:
        """Whether a session begins and no other event waits: then this one can wait for the next drain."""
        return self._ours == "SessionStart" and [one.path for one in self._journal.waiting()] == [event_file]

    def _stored_packet(self, mark: Mark) -> str | None:
        """The packet of the session's task as the store has it; None if something must be written first."""
        is_compacted = self._event.get("source") == "compact"
        if is_compacted and mark.read() == DELIVERED:
            return ""  # asked again for the same compaction
        path = store_path(self._location)
        if path is not None and not os.path.exists(path):
            return None
        # Estimates are never too low, and loading a tokenizer takes longer than everything else.
        settings = self._settings.replace(tokens="estimate")
        store = open_store(self._location, settings)
        folder = self._event.get("cwd")
        folder = folder if isinstance(folder, str) and folder else None
        workspace, repository = workspace_named(folder)
        origin = Origin(principal="", agent=self._host, channel="agent", session=session_of(self._event))
        memory = Base(store, settings, origin=origin, workspace=workspace, repository=repository)
        try:
            task = own_task(memory)
            if task is None:
                return self._open_tasks(memory)
            # One that ended without a chance to distil does so first.
            if not store.read(lambda tx: is_distilled(tx, task)):
                return None
            # Before a compaction, PreCompact has looked at the tree.
            if not is_compacted and folder and changed_tree_status(memory, task, folder):
                return None
            text = packet_text(memory, task, self._shape, events_at_hand=1)
        finally:
            store.close()
        if is_compacted:
            mark.set(DELIVERED, time.time())
        return text

    def _open_tasks(self, memory: Base) -> str | None:
        """The list for a new session; None for one that may continue another under a new id."""
        if self._event.get("source") not in _NEW:
            return None
        from .open_tasks_text import open_tasks_text  # a session with a task does not need it

        # What holds in the repository is on no card of this session before its first drain.
        make_stale(SideFiles(self._journal), str(self._event.get("session") or ""))
        if text := open_tasks_text(memory, self._shape, events_at_hand=1):
            Mark(SideFiles(self._journal), str(self._event.get("session") or "")).set(OFFERED)
        return text

    def _formed(self, text: str, *, asks: bool = False) -> str:
        """An answer in the host's own form; that to PreCompact is plain text."""
        if self._ours == "PreCompact":
            return text
        found = in_hosts_form(self._shape, self._ours, self._name, text, asks=asks)
        return json.dumps(found, ensure_ascii=True) if found else ""

    def _apology(self) -> str:
        """What a new session gets when the store cannot be read."""
        if not self._trouble:
            return ""
        _complain(self._trouble)
        if self._ours != "SessionStart":
            return ""
        text = f"Task memory: the store cannot be read now ({shown(self._trouble)})."
        if self._trouble == _LATE:
            text = "Task memory: the packet was not ready in time; task_resume gives it."
        if waiting := journal_health(self._journal).waiting:
            text += " 1 event waits" if waiting == 1 else f" {waiting} events wait"
            text += " to be written."
        return self._formed(text)


def _complain(text: str) -> None:
    """Write a line to the host's log; the model does not see it."""
    try:
        os.write(sys.stderr.fileno(), f"ringbolt-hook: {shown(text, 500)}\n".encode("utf-8", "replace"))
    except (OSError, ValueError, AttributeError):
        return
