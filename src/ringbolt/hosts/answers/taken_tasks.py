"""Notices to live sessions that another session took over their task.

The store keeps the notice (`store/sessions`). A small file in the journal makes the next hook of that session
ask the store; an MCP reply needs no file. Whichever comes first delivers the notice, once.
"""

from __future__ import annotations

from ...journal.event_files import Journal
from ...journal.side_files import SideFiles, taken_file
from ...ledger.base import Base
from ...packet import encode
from ...store import sessions


def call_hooks(memory: Base, journal: Journal | None = None) -> None:
    """Make the next hook of each session with a waiting notice ask the store."""
    if waiting := memory.store.read(sessions.to_be_told):
        files = SideFiles(journal or Journal.of(memory.store.url, memory.settings.tenant))
        for session in waiting:
            files.set(taken_file(session), "taken")


def taken_task_notice(memory: Base, journal: Journal | None = None) -> str:
    """The notice that another session took over this one's task, once; empty otherwise."""
    session = memory.origin.session
    if not session:
        return ""
    taken = memory.store.read(lambda tx: sessions.taken_from(tx, session))
    if taken is None:
        return ""
    memory.store.write(lambda tx: sessions.note_taken(tx, session, None))
    SideFiles(journal or Journal.of(memory.store.url, memory.settings.tenant)).set(taken_file(session), None)
    name, by = encode.quoted(encode.clip(taken.name, 120)), encode.name(taken.by or "an agent")
    return (
        f"Task memory: another session ({by}) took over your task {taken.task} {name} at {taken.at[:16]}Z."
        " What you do from here on is recorded as a task of its own."
        f" Ask the user before you work on it further; task_resume with {taken.task} takes it back."
    )
