# pyright: basic, reportMissingImports=false
"""Claude Agent SDK: hook callbacks that record a client's sessions, and a store for their transcripts."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from claude_agent_sdk import HookMatcher, SessionStore, fold_session_summary

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .documents import Document, Documents, Reading, Writing
from .recorder import Recorder, Session, off_loop

_EVENTS = (
    "UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact SubagentStart SubagentStop Stop"
).split()
# The events whose answer can give the model a packet.
_INJECTS = ("UserPromptSubmit", "PostToolUse")


class RingboltHooks:
    """Hook callbacks for `ClaudeAgentOptions(hooks=RingboltHooks(memory).hooks)`.

    Args:
        memory: The memory to write to.
        budget: Tokens of the packet.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, *, budget: int = 1500) -> None:
        self._recorder = Recorder(memory, agent="claude-agent-sdk", budget=budget)
        self._compacted: set[str] = set()
        self.hooks: Any = {name: [HookMatcher(hooks=[self._called])] for name in _EVENTS}

    async def _called(self, payload: Any, tool_use_id: str | None, context: Any) -> Any:
        session_id, name = str(payload.get("session_id") or ""), payload["hook_event_name"]
        session = self._recorder.session(session_id)
        text = await off_loop(self._packet, session, session_id, name)
        await off_loop(session.reported, "claude-code", name, payload, tool_use_id)
        if not text:
            return {}
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}

    def _packet(self, session: Session, session_id: str, name: str) -> str:
        """The packet, if the session was resumed or compacted and has not had it since."""
        if name == "PreCompact":
            self._compacted.add(session_id)
        if name not in _INJECTS:
            return ""
        if session_id in self._compacted:
            self._compacted.discard(session_id)
            return session.packet()
        return session.resumed()


class RingboltSessionStore(SessionStore):
    """Keeps the transcripts of sessions in a memory, so that another machine can resume them.

    Unlike recording, it raises if the memory fails; the SDK then retries and goes on.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory) -> None:
        self._memory = memory

    async def append(self, key: Any, entries: list[Any]) -> None:
        """Append entries; one whose uuid is there already is left out."""
        if entries:
            await off_loop(self._index(key["project_key"]).write, lambda own: self._append(own, key, entries))

    def _append(self, own: Writing, key: Any, entries: list[Any]) -> None:
        transcript = own.of(self._transcript(key))
        new: list[Any] = []
        for entry in entries:
            place = f"uuid {entry['uuid']}" if entry.get("uuid") else transcript.next_key()
            if transcript.get(place) is None:
                transcript.put(place, entry)
                new.append(entry)
        summary = None
        if key.get("subpath") is None and new:
            old = own.get(_place(key))
            before = _summary(old) if old and old.value.get("summary") else None
            summary = fold_session_summary(before, key, new)["data"]
        if new:
            own.put(_place(key), {"summary": summary})

    async def load(self, key: Any) -> list[Any] | None:
        """The entries of a transcript in order; None if there are none."""
        found = await off_loop(self._transcript(key).read, Reading.all)
        return [one.value for one in found] or None

    async def list_sessions(self, project_key: str) -> list[Any]:
        """The sessions of a project, with the time of their last entry."""
        return [
            {"session_id": one["session_id"], "mtime": one["mtime"]}
            for one in await self.list_session_summaries(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """The SDK's own summary of each session."""
        found = await off_loop(self._index(project_key).read, Reading.all)
        return [_summary(one) for one in found if json.loads(one.key)[1] is None]

    async def list_subkeys(self, key: Any) -> list[str]:
        """The transcripts of a session's helpers."""
        found = await off_loop(self._index(key["project_key"]).read, Reading.all)
        places = [json.loads(one.key) for one in found]
        return sorted(subpath for session, subpath in places if session == key["session_id"] and subpath)

    async def delete(self, key: Any) -> None:
        """Delete one transcript; without a subpath, those of the session's helpers too."""

        def work(own: Writing) -> None:
            wanted = key["session_id"], key.get("subpath")
            for one in own.all():
                session, subpath = json.loads(one.key)
                if session == wanted[0] and wanted[1] in (None, subpath):
                    part = {**key, "subpath": subpath}
                    transcript = own.of(self._transcript(part))
                    transcript.delete([entry.key for entry in transcript.all()])
                    own.delete([one.key])

        await off_loop(self._index(key["project_key"]).write, work)

    def _index(self, project: str) -> Documents:
        return Documents(self._memory, f"claude-sessions/{project}", searchable=False)

    def _transcript(self, key: Any) -> Documents:
        name = json.dumps([key["project_key"], key["session_id"], key.get("subpath")])
        return Documents(self._memory, f"claude-transcript/{name}", searchable=False)


def _place(key: Any) -> str:
    return json.dumps([key["session_id"], key.get("subpath")])


def _summary(document: Document) -> Any:
    moment = datetime.fromisoformat(document.updated).timestamp()
    return {
        "session_id": json.loads(document.key)[0],
        "mtime": int(moment * 1000),
        "data": document.value["summary"] or {},
    }
