# pyright: reportPrivateUsage=false
"""Transcripts: sessions that hosts have written down become tasks, after the fact, through the code of hooks.

A file is read from its beginning every time, a line at a time; what is in the store already is found there by
its key and not written again. So an import may be killed, repeated, or go on with a file that has grown.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from ..checks import blake2b
from ..errors import InvalidInput
from ..types import Record
from ..views.encode import clip, one_line
from .capture import NAME_CHARACTERS, Capture, as_text, is_assent
from .happenings import mapping
from .transcript_files import lines_of, transcript_files, understood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from ..memory import TaskMemory
    from ..store.tx import Tx
    from .happenings import Happening, Lines

AFTER_COMPACTION = "after compaction"
_KEY = "transcript:"
_NAME = 50  # characters of an id within a key; longer ones are hashed


class CaptureReport(Record):
    """What an import found: events that are new and those that were known, lines that nobody understands,
    what the memory refused, sessions left alone, and files that are no transcripts, with the reason."""

    files: int
    sessions: int
    tasks: tuple[str, ...]
    new: int
    known: int
    skipped: int
    refused: int
    left: int
    no_transcripts: Mapping[str, str]
    dry_run: bool


class TranscriptClock:
    """A clock for a memory that follows the transcript which is read."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class _Counts:
    def __init__(self) -> None:
        self.files = self.new = self.known = self.skipped = self.refused = self.left = 0
        self.sessions: set[str] = set()
        self.tasks: dict[str, None] = {}
        self.no_transcripts: dict[str, str] = {}


def capture_transcripts(
    memory: TaskMemory | None,
    clock: TranscriptClock,
    paths: Sequence[str],
    *,
    since: float | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CaptureReport:
    """Bring transcripts into a memory that has this clock: files, and all below folders.

    `since`: only files that were changed after that time. With `dry_run` nothing is written, and there may be
    no memory. `progress` is told how many bytes of how many were read.
    """
    if memory is None and not dry_run:
        raise InvalidInput("invalid_argument", "There is no memory to write to.", "Give one, or dry_run.")
    files = [(path, size) for path, size, at in transcript_files(paths) if since is None or at >= since]
    counts, total, done = _Counts(), sum(size for _, size in files), 0
    for path, size in files:
        for read in _import(_Feeding(memory, clock, counts, dry_run), path, counts):
            if progress is not None:
                progress(min(done + read, total), total)
        done += size
    return CaptureReport(
        files=counts.files,
        sessions=len(counts.sessions),
        tasks=tuple(counts.tasks),
        new=counts.new,
        known=counts.known,
        skipped=counts.skipped,
        refused=counts.refused,
        left=counts.left,
        no_transcripts=counts.no_transcripts,
        dry_run=dry_run,
    )


def _import(feeding: _Feeding, path: str, counts: _Counts) -> Iterator[int]:
    """Bring one file in; yields now and then how far that is."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(path, "rb"))
        except OSError as error:
            counts.no_transcripts[path] = f"it cannot be read: {error.strerror}"
            return
        lines = understood(file, path)
        if isinstance(lines, str):
            counts.no_transcripts[path] = lines
            return
        counts.files += 1
        yield from feeding.feed(file, lines)
    feeding.end()


# --- feeding ----------------------------------------------------------------------------------------


class _Feeding:
    """One file on its way into the memory."""

    def __init__(
        self, memory: TaskMemory | None, clock: TranscriptClock, counts: _Counts, dry_run: bool
    ) -> None:
        self._memory = memory
        self._clock = clock
        self._counts = counts
        self._dry_run = dry_run
        self._threads: dict[tuple[str, str], _Thread] = {}

    def feed(self, file: BinaryIO, lines: Lines) -> Iterator[int]:
        """Take every line; yields now and then how far that is."""
        for number, line in lines_of(file):
            try:
                if line is None:
                    raise ValueError("no JSON object")
                for happening in lines.take(line, number):
                    self._take(happening)
            except ValueError:
                self._counts.skipped += 1
            if number % 100 == 0:
                yield file.tell()

    def _take(self, what: Happening) -> None:
        self._counts.sessions.add(what.session)
        place = what.session, what.agent
        thread = self._threads.get(place)
        if thread is None:
            thread = _Thread(self._memory, self._clock, what, self._counts, self._dry_run)
            self._threads[place] = thread
        thread.take(what)

    def end(self) -> None:
        """Bring up to date what follows from the events."""
        for thread in self._threads.values():
            thread.end()
            if thread.task is not None and not thread.left:
                self._counts.tasks[thread.task] = None
                if self._memory is not None and not self._dry_run:
                    self._memory.task_distill(thread.task)


class _Thread:
    """A session, or a sub-agent of one, with the task that it becomes."""

    def __init__(
        self,
        memory: TaskMemory | None,
        clock: TranscriptClock,
        first: Happening,
        counts: _Counts,
        dry_run: bool,
    ) -> None:
        self._clock = clock
        self._counts = counts
        self._dry_run = dry_run
        self._prefix = f"{_KEY}{_short(first.session)}/{_short(first.agent)}"
        self._session = first.session
        self._agent = first.agent
        self._begun = False
        self._last = 0.0
        # To-do lists without an event, which may have changed nothing when they were told, or be new.
        self._held: list[tuple[Happening, float]] = []
        self.task: str | None = None
        self.left = False
        self._memory = None
        if memory is not None:
            session = "/".join(part for part in (first.session, first.agent) if part)
            session = session if len(session.encode()) <= 200 else _short(session)
            folder = "" if first.folder is None or len(first.folder.encode()) > 2000 else first.folder
            self._memory = memory.acting_as(session=session, workspace=folder, channel="agent")
            self.task = _registered(self._memory, self._prefix)
            current = self._memory.store.read(lambda tx: tx.session_task(session, None))
            # The session's own hooks have written it down, or somebody has ended or taken over its task.
            self.left = current != self.task
            self._counts.left += self.left
        self._resumed = self.task is not None

    def take(self, what: Happening) -> None:
        """Take in what happened next."""
        if self.left:
            return
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

    def _key(self, what: Happening) -> str:
        return f"{self._prefix}:{_short(what.key)}"

    def _keys(self, what: Happening) -> list[str]:
        """The keys of all events that something becomes."""
        key = self._key(what)
        if what.kind == "answered":
            answers = mapping(what.output).values()
            return [f"{key}/{place}" for place, answer in enumerate(answers) if as_text(answer).strip()]
        said = what.kind in ("prompt", "message", "notice", "compacted")
        return [] if said and not what.text.strip() else [key]

    def _write(self, keys: list[str], tell: Callable[[TaskMemory], object]) -> bool:
        """Write what has these keys, unless all of it is there; False if the memory refuses it."""
        there = self._there(keys)
        self._counts.known += there
        if self._memory is None or self._dry_run:
            self._counts.new += len(keys) - there
        elif there < len(keys):
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
        request = what.text if what.kind == "prompt" else None
        if not self._agent:
            memory = memory.acting_as(channel="user") if request else memory
            memory.task_register(
                _title(request) or "Work without a request", request=request, key=self._prefix
            )
        else:  # another agent asked for this; no user did
            name = _title(request) or f"Sub-agent {self._agent}"[:NAME_CHARACTERS]
            parent = memory.store.read(lambda tx: tx.session_task(self._session, None))
            memory.task_register(name, request=request, parent=parent, key=self._prefix)

    def _tell(self, memory: TaskMemory, what: Happening) -> None:
        capture, key = Capture(memory), self._key(what)
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


def _title(request: str | None) -> str:
    """A task's name: the first line of its request that says something."""
    lines = map(one_line, (request or "").splitlines())
    return clip(next((line for line in lines if line.strip(" #*->`")), ""), NAME_CHARACTERS)


def _short(name: str) -> str:
    """An id as part of a key."""
    if len(name) <= _NAME and name.isascii() and name.isprintable():
        return name
    return blake2b(name.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
