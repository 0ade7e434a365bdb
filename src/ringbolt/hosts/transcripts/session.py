# pyright: reportPrivateUsage=false
"""One session of a transcript, or one of its sub-agents, and its task.

Every event has the same key as the hook's event, so that stored events are not written again. A session that
hooks have captured continues in their task, with the events that came after them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ...ledger.current_task import UNNAMED
from ...memory import TaskMemory
from ...model import rules, validate
from ...model.errors import InvalidInput
from ...model.redaction import Redactor
from ...model.trust import key_of
from ...model.types import Value
from ...model.validate import blake2b
from ...requests.completion import says_done
from ...requests.task_name import task_name
from ...store import sessions
from ...store.tx import Row, Tx
from ..capture.interruptions import interruption, interruption_line
from ..capture.prompts import is_assent
from ..capture.session_capture import Capture
from ..hook_parts.cleaning import clipped
from ..sessions import session_of
from .events import (
    Answers,
    Compaction,
    Message,
    Notice,
    PlanReview,
    Prompt,
    TextEvent,
    TodoList,
    ToolCall,
    TranscriptEvent,
    TurnFailure,
    as_text,
)

AFTER_COMPACTION = "after compaction"
# Seconds of silence after which a sub-agent's session counts as over.
QUIET = 24 * 3600.0
_KEY = "transcript:"
_NAME = 50  # characters of an id within a key; longer ones are hashed
_RECENT = 50  # events of a hook's task whose texts are compared with the next ones

_CHANNELS = ("user", "agent", "tool")  # through which a session is recorded


class TranscriptClock:
    """A clock that returns the time of the transcript line that is being imported."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class Counts:
    """The figures of an import so far; `CaptureReport` says what they count."""

    def __init__(self) -> None:
        self.files = self.new = self.known = self.skipped = self.refused = self.left = 0
        self.sessions: set[str] = set()
        self.tasks: dict[str, None] = {}
        self.no_transcripts: dict[str, str] = {}


class Import:
    """The shared state of an import; without a memory, or in a dry run, nothing is written."""

    def __init__(
        self, memory: TaskMemory | None, clock: TranscriptClock, counts: Counts, dry_run: bool
    ) -> None:
        self.memory = memory
        self.clock = clock
        self.counts = counts
        self.writes = memory is not None and not dry_run
        self.redactor: Redactor | None = None
        if memory is not None:
            self.redactor = Redactor(keep=memory.settings.keep_secrets == "on")


class _HookTask(Value, frozen=True, kw_only=True):
    """The task that a session's own hooks wrote to: the time of their last event, and their last texts."""

    task: str
    until: float
    texts: frozenset[str]

    def has(self, event: TranscriptEvent) -> bool:
        """Whether the hooks wrote this event, or were at work when it happened."""
        known = isinstance(event, TextEvent) and event.text.strip() in self.texts
        return known or (event.at or 0.0) <= self.until


class SessionImport:
    """Writes the events of one session, or of one of its sub-agents, to its task."""

    def __init__(self, shared: Import, first: TranscriptEvent) -> None:
        self._shared, self._clock, self._counts = shared, shared.clock, shared.counts
        self._session, self._agent = first.session, first.agent
        self._prefix = f"{_KEY}{_short(first.session)}/{_short(first.agent)}"
        self._begun = False
        self._last = 0.0
        self._last_key = self._last_message = ""
        self._said_last = False
        # To-do lists that are not in the store: they may have changed nothing when they came, or be new.
        self._held: list[tuple[TodoList, float]] = []
        self.task: str | None = None
        self._hook_task: _HookTask | None = None
        self._moved_on = self._counted_left = False
        self._memory: TaskMemory | None = None
        if shared.memory is not None:
            self._memory = self._own_memory(shared.memory, first)
            self._find_task(self._memory)
        self._resumed = self.task is not None

    def _own_memory(self, memory: TaskMemory, first: TranscriptEvent) -> TaskMemory:
        session = session_of({"session": first.session}, first.agent)
        session = session if len(session.encode()) <= 200 else _short(session)
        folder = "" if first.folder is None or len(first.folder.encode()) > 2000 else first.folder
        return memory.acting_as(session=session, workspace=folder, channel="agent")

    def _find_task(self, memory: TaskMemory) -> None:
        """Find the task of an earlier import, otherwise that of the session's own hooks."""
        session = memory.origin.session
        self.task = _registered(memory, self._prefix)
        if self.task is None:
            self._hook_task = memory.store.read(lambda tx: _task_of_hooks(tx, session))
            self.task = self._hook_task and self._hook_task.task
            self._begun = self.task is not None
        if self.task is not None:
            # A task that has ended, or that another session took over, is left unchanged.
            self._moved_on = memory.store.read(lambda tx: tx.session_task(session, None)) != self.task

    # --- taking events

    def take(self, event: TranscriptEvent) -> None:
        """Take the next event."""
        self._advance_clock(event.at or 0.0)
        if not self._begun:
            if isinstance(event, (Notice, Compaction, TurnFailure)) or (
                isinstance(event, Prompt) and is_assent(event.text)
            ):
                return  # no work has begun yet
            self._begun = self._write([self._prefix], lambda memory: self._begin(memory, event))
            if isinstance(event, Prompt) or not self._begun:
                return
        keys = self._keys(event)
        if not keys:
            return
        self._last_key = event.key
        self._said_last = isinstance(event, Message)
        self._last_message = event.text if isinstance(event, Message) else self._last_message
        if self._hook_task is not None and self._hook_task.has(event):
            self._counts.known += len(keys)
            return
        if self._resumed and (self._held or isinstance(event, TodoList)):
            if self._known(keys):
                self._held.clear()  # this event was written after them
            elif isinstance(event, TodoList):
                self._held.append((event, self._last))
                return
            else:
                self._apply_held()
        self._write(keys, lambda memory: self._apply(memory, event))

    def end(self) -> None:
        """The file has no more events: settle the task and update its derived parts."""
        self._apply_held()
        self._advance_clock(0.0)
        if self._begun and self._hook_task is None and not self._moved_on and self._shared.writes:
            self._conclude()
            self._settle()
        if self.task is not None:
            self._counts.tasks[self.task] = None
            if self._memory is not None and self._shared.writes and not self._moved_on:
                self._memory.task_distill(self.task)

    def _conclude(self) -> None:
        """Take the task to be completed if its plan is done and the session ends with the report of that."""
        memory, task = self._memory, self.task
        if memory is None or task is None or self._agent or not self._said_last:
            return
        key = f"{self._prefix}:done:{_short(self._last_key)}"
        found = memory.task_get(task)
        is_done = found.status == "active" and 0 < found.total <= found.done
        if is_done and says_done(self._last_message) and not self._known([key]):
            memory.task_update(task, status="completed", reason=rules.INFERRED, key=key)

    def _settle(self) -> None:
        """End a silent session: finish a sub-agent's task; any other task rests, as after a live session."""
        memory, task = self._memory, self.task
        # A finished task takes no more events, one at rest does: a sub-agent is given longer.
        quiet = QUIET if self._agent else sessions.QUIET_SECONDS
        if memory is None or task is None or time.time() - self._last < quiet:
            return
        key = f"{self._prefix}:quiet:{_short(self._last_key)}"
        if self._known([key]):
            return  # it was settled before; if it is active now, it was resumed
        if self._agent:
            memory.task_finish(task, clipped(self._last_message) or None, key=key)
        elif memory.task_get(task).status == "active":
            memory.task_update(task, status="paused", reason=rules.SESSION_OVER, key=key)

    def _advance_clock(self, at: float) -> None:
        """Set the clock; within a session it never goes back."""
        self._last = max(self._last, at)
        self._clock.now = self._last or self._clock.now

    def _apply_held(self) -> None:
        """Write the held lists after the stored events; a list that was stored before changes nothing."""
        for event, at in self._held:
            self._clock.now = at or self._clock.now
            self._write(self._keys(event), lambda memory, e=event: self._apply(memory, e))
        self._held.clear()
        self._advance_clock(0.0)

    # --- writing

    def _key(self, event: TranscriptEvent) -> str:
        return f"{_short(event.session)}/{_short(event.key)}"

    def _keys(self, event: TranscriptEvent) -> list[str]:
        """The keys of all ledger events for an event."""
        key = self._key(event)
        if isinstance(event, Answers):
            answers = enumerate(event.answers.values())
            return [f"{key}/{place}" for place, answer in answers if as_text(answer).strip()]
        return [] if isinstance(event, TextEvent) and not event.text.strip() else [key]

    def _write(self, keys: list[str], write: Callable[[TaskMemory], object]) -> bool:
        """Write the events with these keys, unless all are known; False if the memory rejects them."""
        known = self._known(keys)
        self._counts.known += known
        if known == len(keys):
            return True
        if self._moved_on:
            self._counts.left += not self._counted_left
            self._counted_left = True
        elif self._memory is None or not self._shared.writes:
            self._counts.new += len(keys) - known
        else:
            try:
                write(self._memory)
            except InvalidInput:  # a transcript may hold values that a memory does not accept
                self._counts.refused += 1
                return False
            self.task = self.task or _registered(self._memory, self._prefix)
            # A change without effect, like the same to-do list again, leaves no event.
            self._counts.new += self._known(keys) - known
        return True

    def _known(self, keys: list[str]) -> int:
        """The number of these keys that are in the store."""
        memory, task = self._memory, self.task
        if memory is None or task is None:
            return 0
        spaces = [
            [
                stored
                for channel in _CHANNELS
                for stored in (key_of(channel, key), _scoped(memory, channel, key))
            ]
            for key in keys
        ]
        return memory.store.read(
            lambda tx: sum(any(tx.key(task, stored) for stored in space) for space in spaces)
        )

    def _begin(self, memory: TaskMemory, event: TranscriptEvent) -> None:
        """Register the task; an open task without a session is never taken over."""
        request = self._redacted(event.text) if isinstance(event, Prompt) else None
        if not self._agent:
            memory = memory.acting_as(channel="user") if request else memory
            memory.task_register(task_name(request or "") or UNNAMED, request=request, key=self._prefix)
        else:  # another agent requested this, not the user
            name = task_name(request or "") or f"Sub-agent {self._agent}"[:120]
            parent = memory.store.read(lambda tx: _task_of_session(tx, self._session))
            memory.task_register(name, request=request, parent=parent, key=self._prefix)

    def _apply(self, memory: TaskMemory, event: TranscriptEvent) -> None:
        """Write an event to the ledger, without secrets."""
        capture, key, text, value = Capture(memory), self._key(event), self._redacted, self._redacted_value
        match event:
            case Prompt() if not self._agent:
                capture.prompt(text(event.text), key=key)
            case Prompt() | Message():
                capture.message(text(event.text), key=key)
            case Notice():
                capture.notice(text(event.text), key=key)
            case TurnFailure():
                failure = {"event": "StopFailure", "error": event.error, "message": text(event.text)}
                capture.aside(interruption_line(interruption(failure, self._clock.now)), key=key)
            case Compaction():
                summary = text(event.text)
                memory.task_snapshot(None, summary, label=AFTER_COMPACTION, summarized=True, key=key)
            case ToolCall():
                tool_input, output = value(event.input), value(event.output)
                capture.tool(event.tool, tool_input, output, failed=event.failed, key=key)
            case TodoList():
                capture.todo(value(event.items), key=key)
            case Answers():
                capture.answered(value(event.questions), value(event.answers), key=key)
            case PlanReview():
                capture.planned(text(event.plan), event.approved, key=key)
            case _:
                raise TypeError(type(event).__name__)

    def _redacted(self, text: str) -> str:
        return text if self._shared.redactor is None else self._shared.redactor.text(text)

    def _redacted_value(self, value: object) -> Any:
        """A JSON value without secrets, its long texts clipped."""
        return value if self._shared.redactor is None else self._shared.redactor.value(value, clipped)


# --- finding the task -------------------------------------------------------------------------------


def _registered(memory: TaskMemory, key: str) -> str | None:
    """The task that was registered with a key, whatever its status."""

    def work(tx: Tx) -> str | None:
        for channel in _CHANNELS:
            rows = tx.rows(
                ("task_id",),
                "SELECT task_id FROM keys WHERE key = :key AND operation = 'task_register'",
                key=_scoped(memory, channel, key),
            )
            if rows:
                return rows[0]["task_id"]
        return None

    return memory.store.read(work)


def _scoped(memory: TaskMemory, channel: str, key: str) -> str:
    """The stored key of a registration: with the principal, the workspace and the channel."""
    return f"{memory.origin.principal}\n{memory.workspace or ''}\n{key_of(channel, key)}"


def _task_of_hooks(tx: Tx, session: str) -> _HookTask | None:
    """The task that a session's own hooks wrote to."""
    task = _task_of_session(tx, session)
    head = task and tx.head(task)
    if not task or not head:
        return None
    rows: list[Row] = tx.events(task, max(0, head["last_seq"] - _RECENT), _RECENT)
    texts = frozenset(row["text"].strip() for row in rows if row["text"])
    return _HookTask(task=task, until=validate.seconds_of(head["updated_at"]), texts=texts)


def _task_of_session(tx: Tx, session: str) -> str | None:
    """The task that a session focused last, open ones first; otherwise one that has its keys."""
    own = tx.rows(
        ("task_id", "status", "focus"),
        "SELECT task_id, status, focus FROM heads WHERE session_id = :session AND kind = 'task'"
        " AND root_id = task_id",
        session=session,
    )
    if own:
        best = max(own, key=lambda row: (row["status"] in rules.OPEN, row["focus"], row["task_id"]))
        return best["task_id"]
    for channel in _CHANNELS:
        moved = tx.rows(
            ("task_id",),
            "SELECT k.task_id FROM keys k JOIN heads h ON h.task_id = k.task_id"
            " WHERE k.key >= :low AND k.key < :high AND h.parent_id IS NULL ORDER BY k.key LIMIT 1",
            low=key_of(channel, f"{session}/"),
            high=key_of(channel, f"{session}0"),
        )
        if moved:
            return moved[0]["task_id"]
    return None


def _short(name: str) -> str:
    """An id as part of a key."""
    if len(name) <= _NAME and name.isascii() and name.isprintable():
        return name
    return blake2b(name.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
