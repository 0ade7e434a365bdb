# pyright: reportPrivateUsage=false
"""One session of a transcript, or one of its sub-agents, and the task that it becomes.

Everything has a key, the same that a hook gives to the same thing: what is there already is not written
again. A session that its own hooks have written down goes on in their task, and only with what came after.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ..journal.event_files import Journal
from ..journal.side_files import redaction_key
from ..memory import TaskMemory
from ..model import rules, validate
from ..model.errors import InvalidInput
from ..model.redaction import Redactor
from ..model.types import Value
from ..model.validate import blake2b
from ..packet.encode import clip, one_line
from ..store.tx import Row, Tx
from .capture import NAME_CHARACTERS, Capture, as_text, clipped, is_assent
from .events import session_of
from .transcript_events import Happening, mapping

AFTER_COMPACTION = "after compaction"
# Seconds without a word after which a session is over as far as anyone can tell.
QUIET = 24 * 3600.0
OVER = "the session that was brought in ended long ago"
_KEY = "transcript:"
_NAME = 50  # characters of an id within a key; longer ones are hashed
_NEAR = 50  # events of a hook's task whose texts are compared with what comes next
_SAID = ("prompt", "message", "notice", "compacted")


class TranscriptClock:
    """A clock for a memory that follows the transcript which is read."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class Counts:
    """What an import has found so far."""

    def __init__(self) -> None:
        self.files = self.new = self.known = self.skipped = self.refused = self.left = 0
        self.sessions: set[str] = set()
        self.tasks: dict[str, None] = {}
        self.no_transcripts: dict[str, str] = {}


class Import:
    """What all threads of an import share; without a memory, or in a dry run, nothing is written."""

    def __init__(
        self, memory: TaskMemory | None, clock: TranscriptClock, counts: Counts, dry_run: bool
    ) -> None:
        self.memory = memory
        self.clock = clock
        self.counts = counts
        self.writes = memory is not None and not dry_run
        self.redactor: Redactor | None = None
        if memory is not None:
            self.redactor = Redactor(redaction_key(Journal.of(memory.store.url, memory.settings.tenant)))


class _Live(Value, frozen=True, kw_only=True):
    """A task that a session's own hooks wrote to: until when, and what they heard last."""

    task: str
    until: float
    texts: frozenset[str]


class Thread:
    """A session, or a sub-agent of one."""

    def __init__(self, shared: Import, first: Happening) -> None:
        self._shared, self._clock, self._counts = shared, shared.clock, shared.counts
        self._session, self._agent = first.session, first.agent
        self._prefix = f"{_KEY}{_short(first.session)}/{_short(first.agent)}"
        self._begun = False
        self._last = 0.0
        self._last_key = self._last_words = ""
        # To-do lists without an event, which may have changed nothing when they were told, or be new.
        self._held: list[tuple[Happening, float]] = []
        self.task: str | None = None
        self._live: _Live | None = None
        self._away = self._left = False
        self._memory: TaskMemory | None = None
        if shared.memory is not None:
            self._memory = self._own_memory(shared.memory, first)
            self._find_task(self._memory)
        self._resumed = self.task is not None

    def _own_memory(self, memory: TaskMemory, first: Happening) -> TaskMemory:
        session = session_of({"session": first.session}, first.agent)
        session = session if len(session.encode()) <= 200 else _short(session)
        folder = "" if first.folder is None or len(first.folder.encode()) > 2000 else first.folder
        return memory.acting_as(session=session, workspace=folder, channel="agent")

    def _find_task(self, memory: TaskMemory) -> None:
        """The task of an earlier import, else that of the session's own hooks."""
        session = memory.origin.session
        self.task = _registered(memory, self._prefix)
        if self.task is None:
            self._live = memory.store.read(lambda tx: _of_hooks(tx, session))
            self.task = self._live and self._live.task
            self._begun = self.task is not None
        if self.task is not None:
            # Somebody may have ended it or turned to it from another session: then it is left as it is.
            self._away = memory.store.read(lambda tx: tx.session_task(session, None)) != self.task

    # --- taking in

    def take(self, what: Happening) -> None:
        """Take in what happened next."""
        self._turn_clock(what.at or 0.0)
        if not self._begun:
            if what.kind in ("notice", "compacted") or (what.kind == "prompt" and is_assent(what.text)):
                return  # nothing has begun yet
            key = "" if self._memory is None else _scoped(self._memory, self._prefix)
            self._begun = self._write([key], lambda memory: self._begin(memory, what))
            if what.kind == "prompt" or not self._begun:
                return
        keys = self._keys(what)
        if not keys:
            return
        self._last_key = what.key
        self._last_words = what.text if what.kind == "message" else self._last_words
        if self._live is not None and self._hooks_told(self._live, what):
            self._counts.known += len(keys)
            return
        if self._resumed and (self._held or what.kind == "todo"):
            if self._there(keys):
                self._held.clear()  # this was told after them
            elif what.kind == "todo":
                self._held.append((what, self._last))
                return
            else:
                self._tell_held()
        self._write(keys, lambda memory: self._tell(memory, what))

    def end(self) -> None:
        """Nothing more comes."""
        self._tell_held()
        self._turn_clock(0.0)
        if self._begun and self._live is None and not self._away and self._shared.writes:
            self._settle()
        if self.task is not None:
            self._counts.tasks[self.task] = None
            if self._memory is not None and self._shared.writes and not self._away:
                self._memory.task_distill(self.task)

    def _hooks_told(self, live: _Live, what: Happening) -> bool:
        """Whether the session's hooks have written this down, or were there when it happened."""
        return (what.at or 0.0) <= live.until or (what.kind in _SAID and what.text.strip() in live.texts)

    def _settle(self) -> None:
        """A session of long ago is not left as if it were at work: a sub-agent is done, a task is paused."""
        memory, task = self._memory, self.task
        if memory is None or task is None or time.time() - self._last < QUIET:
            return
        key = f"{self._prefix}:quiet:{_short(self._last_key)}"
        if self._there([key]):
            return  # if it is at work since, somebody wanted that
        if self._agent:
            memory.task_finish(task, clipped(self._last_words) or None, key=key)
        elif memory.task_get(task).status == "active":
            memory.task_update(task, status="paused", reason=OVER, key=key)

    def _turn_clock(self, at: float) -> None:
        """The clock never goes back within a session."""
        self._last = max(self._last, at)
        self._clock.now = self._last or self._clock.now

    def _tell_held(self) -> None:
        """Tell the to-do lists at the end of what is known: had they been told, the plan is as they say."""
        for what, at in self._held:
            self._clock.now = at or self._clock.now
            self._write(self._keys(what), lambda memory, w=what: self._tell(memory, w))
        self._held.clear()
        self._turn_clock(0.0)

    # --- writing

    def _key(self, what: Happening) -> str:
        return f"{_short(what.session)}/{_short(what.key)}"

    def _keys(self, what: Happening) -> list[str]:
        """The keys of all events that something becomes."""
        key = self._key(what)
        if what.kind == "answered":
            answers = mapping(what.output).values()
            return [f"{key}/{place}" for place, answer in enumerate(answers) if as_text(answer).strip()]
        return [] if what.kind in _SAID and not what.text.strip() else [key]

    def _write(self, keys: list[str], tell: Callable[[TaskMemory], object]) -> bool:
        """Write what has these keys, unless all of it is there; False if the memory refuses it."""
        there = self._there(keys)
        self._counts.known += there
        if there == len(keys):
            return True
        if self._away:
            self._counts.left += not self._left
            self._left = True
        elif self._memory is None or not self._shared.writes:
            self._counts.new += len(keys) - there
        else:
            try:
                tell(self._memory)
            except InvalidInput:  # what somebody wrote into a transcript need not fit into a memory
                self._counts.refused += 1
                return False
            self.task = self.task or _registered(self._memory, self._prefix)
            # What changes nothing, like the same to-do list again, leaves no event.
            self._counts.new += self._there(keys) - there
        return True

    def _there(self, keys: list[str]) -> int:
        """How many of the keys are in the store."""
        memory, task = self._memory, self.task
        if memory is None or task is None:
            return 0
        return memory.store.read(lambda tx: sum(tx.key(task, key) is not None for key in keys))

    def _begin(self, memory: TaskMemory, what: Happening) -> None:
        """Register the task, never taking an open one that belongs to no session."""
        request = self._clean(what).text if what.kind == "prompt" else None
        if not self._agent:
            memory = memory.acting_as(channel="user") if request else memory
            memory.task_register(
                _title(request) or "Work without a request", request=request, key=self._prefix
            )
        else:  # another agent asked for this; no user did
            name = _title(request) or f"Sub-agent {self._agent}"[:NAME_CHARACTERS]
            parent = memory.store.read(lambda tx: _task_of(tx, self._session))
            memory.task_register(name, request=request, parent=parent, key=self._prefix)

    def _tell(self, memory: TaskMemory, what: Happening) -> None:
        capture, key, what = Capture(memory), self._key(what), self._clean(what)
        if what.kind == "prompt" and not self._agent:
            capture.prompt(what.text, key=key)
        elif what.kind in ("prompt", "message"):
            capture.message(what.text, key=key)
        elif what.kind == "notice":
            capture.notice(what.text, key=key)
        elif what.kind == "tool":
            capture.tool(what.tool, what.given, what.output, failed=what.failed, key=key)
        elif what.kind == "todo":
            capture.todo(what.given, key=key)
        elif what.kind == "answered":
            capture.answered(what.given, what.output, key=key)
        elif what.kind == "planned":
            capture.planned(what.text, not what.failed, key=key)
        else:
            memory.task_snapshot(None, what.text, label=AFTER_COMPACTION, summarized=True, key=key)

    def _clean(self, what: Happening) -> Happening:
        """The same without secrets."""
        redactor = self._shared.redactor
        if redactor is None:
            return what
        return what.replace(
            text=redactor.text(what.text),
            given=redactor.value(what.given, clipped),
            output=redactor.value(what.output, clipped),
        )


# --- finding the task -------------------------------------------------------------------------------


def _registered(memory: TaskMemory, key: str) -> str | None:
    """The task that was begun with a key, whatever has become of it since."""

    def work(tx: Tx) -> str | None:
        rows = tx.rows(
            ("task_id",),
            "SELECT task_id FROM keys WHERE key = :key AND operation = 'task_register'",
            key=_scoped(memory, key),
        )
        return rows[0]["task_id"] if rows else None

    return memory.store.read(work)


def _scoped(memory: TaskMemory, key: str) -> str:
    """The key of a registration as the store keeps it: a principal's, in a workspace."""
    return f"{memory.origin.principal}\n{memory.workspace or ''}\n{key}"


def _of_hooks(tx: Tx, session: str) -> _Live | None:
    """The task that a session's own hooks wrote to."""
    task = _task_of(tx, session)
    head = task and tx.head(task)
    if not task or not head:
        return None
    rows: list[Row] = tx.events(task, max(0, head["last_seq"] - _NEAR), _NEAR)
    texts = frozenset(row["text"].strip() for row in rows if row["text"])
    return _Live(task=task, until=validate.seconds_of(head["updated_at"]), texts=texts)


def _task_of(tx: Tx, session: str) -> str | None:
    """The task that a session turned to last, an open one first; else one that it has written to by key."""
    own = tx.rows(
        ("task_id", "status", "focus"),
        "SELECT task_id, status, focus FROM heads WHERE session_id = :session AND kind = 'task'"
        " AND root_id = task_id",
        session=session,
    )
    if own:
        best = max(own, key=lambda row: (row["status"] in rules.OPEN, row["focus"], row["task_id"]))
        return best["task_id"]
    moved = tx.rows(
        ("task_id",),
        "SELECT k.task_id FROM keys k JOIN heads h ON h.task_id = k.task_id"
        " WHERE k.key >= :low AND k.key < :high AND h.parent_id IS NULL ORDER BY k.key LIMIT 1",
        low=f"{session}/",
        high=f"{session}0",
    )
    return moved[0]["task_id"] if moved else None


def _title(request: str | None) -> str:
    """A task's name: the first line of its request that says something."""
    lines = map(one_line, (request or "").splitlines())
    return clip(next((line for line in lines if line.strip(" #*->`")), ""), NAME_CHARACTERS)


def _short(name: str) -> str:
    """An id as part of a key."""
    if len(name) <= _NAME and name.isascii() and name.isprintable():
        return name
    return blake2b(name.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
