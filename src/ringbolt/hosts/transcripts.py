# pyright: reportPrivateUsage=false
"""Transcripts: sessions that hosts have written down become tasks, after the fact, through the code of hooks.

A file is read from its beginning every time, a line at a time; what is in the store already is found there by
its key and not written again. So an import may be killed, repeated, or go on with a file that has grown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import BinaryIO

from ..memory import TaskMemory
from ..model.errors import InvalidInput
from ..model.types import Value
from .transcript_events import Happening, Lines
from .transcript_files import lines_of, transcript_files, understood
from .transcript_thread import AFTER_COMPACTION, Counts, Import, Thread, TranscriptClock

__all__ = ["AFTER_COMPACTION", "CaptureReport", "TranscriptClock", "capture_transcripts"]


class CaptureReport(Value, frozen=True, kw_only=True):
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
    counts, total, done = Counts(), sum(size for _, size in files), 0
    shared = Import(memory, clock, counts, dry_run)
    for path, size in files:
        for read in _import(_Feeding(shared), path, counts):
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


def _import(feeding: _Feeding, path: str, counts: Counts) -> Iterator[int]:
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

    def __init__(self, shared: Import) -> None:
        self._shared = shared
        self._threads: dict[tuple[str, str], Thread] = {}

    def feed(self, file: BinaryIO, lines: Lines) -> Iterator[int]:
        """Take every line; yields now and then how far that is."""
        for number, line in lines_of(file):
            try:
                if line is None:
                    raise ValueError("no JSON object")
                for happening in lines.take(line, number):
                    self._take(happening)
            except ValueError:
                self._shared.counts.skipped += 1
            if number % 100 == 0:
                yield file.tell()

    def _take(self, what: Happening) -> None:
        self._shared.counts.sessions.add(what.session)
        place = what.session, what.agent
        thread = self._threads.get(place)
        if thread is None:
            thread = self._threads[place] = Thread(self._shared, what)
        thread.take(what)

    def end(self) -> None:
        """Bring up to date what follows from the events."""
        for thread in self._threads.values():
            thread.end()
