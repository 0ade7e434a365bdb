# pyright: reportPrivateUsage=false
"""Import transcripts: create tasks from sessions that hosts have recorded in files.

Every file is read from its beginning each time. Events that are already in the store are recognised by their
keys and not written again, so an import may be killed, repeated, or run again on a file that has grown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ...memory import TaskMemory
from ...model.errors import InvalidInput
from ...model.types import Value
from .reader import TranscriptReader, parser_for, transcript_files
from .session import Counts, Import, SessionImport
from .session import TranscriptClock as TranscriptClock

_PROGRESS_EVENTS = 100  # events between two reports of progress


class CaptureReport(Value, frozen=True, kw_only=True):
    """The result of an import.

    `new` and `known` count events, `skipped` lines that could not be parsed, `refused` events that the memory
    rejected, and `left` sessions whose task has ended or moved on. `no_transcripts` are the files that are
    not transcripts, with the reason.
    """

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
    """Import transcripts (files, and all .jsonl files below folders) into a memory that runs on `clock`.

    `since` leaves out files that were last changed before that time. With `dry_run` nothing is written, and
    `memory` may be None. `progress` is called with the bytes read so far and the total.
    """
    if memory is None and not dry_run:
        raise InvalidInput(
            "invalid_argument", "There is no memory to write to.", "Pass a memory, or dry_run=True."
        )
    files = [(path, size) for path, size, at in transcript_files(paths) if since is None or at >= since]
    counts, total, done = Counts(), sum(size for _, size in files), 0
    shared = Import(memory, clock, counts, dry_run)
    for path, size in files:
        for position in _import_file(shared, path):
            if progress is not None:
                progress(min(done + position, total), total)
        done += size
    sums: dict[str, Any] = {**vars(counts), "sessions": len(counts.sessions), "tasks": tuple(counts.tasks)}
    return CaptureReport(**sums, dry_run=dry_run)


def _import_file(shared: Import, path: str) -> Iterator[int]:
    """Import one file; yields its position now and then."""
    counts = shared.counts
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(path, "rb"))
            parser = parser_for(file, path)
        except OSError as error:
            counts.no_transcripts[path] = f"it cannot be read: {error.strerror}"
            return
        except ValueError as error:
            counts.no_transcripts[path] = str(error)
            return
        counts.files += 1
        reader = TranscriptReader(file, parser, partial=True)
        sessions: dict[tuple[str, str], SessionImport] = {}
        for number, event in enumerate(reader.events()):
            place = event.session, event.agent
            if place not in sessions:
                counts.sessions.add(event.session)
                sessions[place] = SessionImport(shared, event)
            sessions[place].take(event)
            if number % _PROGRESS_EVENTS == 0:
                yield reader.position
        counts.skipped += reader.skipped
    for session in sessions.values():
        session.end()
