"""What all parts of `Capture` share: the memories of a session, and its task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...core.task_updates import write_captured
from ...hook_memory import HookMemory
from ...ledger.current_task import DRAFT, UNNAMED
from ...model import rules
from ...model.errors import RingboltError
from ...model.types import Task, Written
from ..hook_parts.cleaning import clipped
from ..sessions import own_task

Result = TypeVar("Result")


class SessionWriter:
    """Writes to the task of one session of a host, through a memory of that session."""

    def __init__(self, memory: HookMemory) -> None:
        self._agent = memory
        self._user = memory.acting_as(channel="user")
        self._tool = memory.acting_as(channel="tool")
        self.memories = (self._agent, self._user, self._tool)

    def message(self, text: str, *, key: str | None = None) -> Written | None:
        """The agent wrote something."""
        return self._on_task(lambda: write_captured(self._agent, text, key)) if text.strip() else None

    def aside(self, text: str, *, by_user: bool = False, key: str | None = None) -> Written | None:
        """The user or the host wrote something that asks for nothing. It begins no task."""
        memory = self._user if by_user else self._tool
        return (
            self._if_task(lambda: memory.task_update(None, clipped(text), key=key)) if text.strip() else None
        )

    def notice(self, text: str, *, key: str | None = None) -> Written | None:
        """The host put something into the context: a reminder, a skill, the output of its own command."""
        if not text.strip():
            return None
        return self._on_task(lambda: self._tool.task_update(None, clipped(text), key=key))

    def snapshot(
        self, text: str, *, label: str, summarized: bool = False, key: str | None = None
    ) -> Written | None:
        """The context, or the host's own summary of it."""
        return self._if_task(
            lambda: self._tool.task_snapshot(None, text, label=label, summarized=summarized, key=key)
        )

    def _own_task(self) -> str | None:
        """The open task of this session; without a session, the only one of the workspace."""
        memory = self._agent
        if memory.origin.session:
            return own_task(memory)
        try:
            return memory.task_get().id
        except RingboltError as error:
            if error.code != "no_current_task":
                raise
        return None

    def _task(self) -> Task:
        """The session's own task as it stands, never another's; a new one if it has none."""
        own = self._own_task() or self._agent.task_register(UNNAMED, metadata={DRAFT: True}).task_id
        return self._agent.task_get(own)

    def _if_task(self, call: Callable[[], Result]) -> Result | None:
        """Do something on the session's task; nothing where it has none."""
        return call() if self._own_task() else None

    def _on_task(self, call: Callable[[], Result]) -> Result:
        """Do something on the session's task; where it has none yet, on a new one without a request."""
        if not self._agent.origin.session and self._own_task() is None:
            self._agent.task_register(UNNAMED, metadata={DRAFT: True})
        return call()  # with a session, the ledger begins a draft by itself

    def _woken(self, memory: HookMemory, written: Written) -> Written:
        """A task at rest is at work again: when the user speaks, or when only the upkeep had paused it."""
        if written.status not in ("paused", "completed"):
            return written
        head = memory.store.read(lambda tx: tx.head(written.task_id))
        reason = head["reason"] if head else None
        by_user = memory is self._user and written.status == "paused"
        if head and (by_user or reason in (*rules.RESTING, rules.INFERRED)):
            # A task that is to be reviewed because its session seemed to be gone: the session is back.
            asked = (head["attention"] or "").startswith(rules.NEEDS_REVIEW)
            memory.task_update(written.task_id, status="active", attention="" if asked else None)
        return written
