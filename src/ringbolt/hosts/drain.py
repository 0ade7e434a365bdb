"""Draining: events of hosts move from the journal into the store, in order, each exactly once.

Many events are written in one transaction. If one of them fails, the transaction is repeated with a savepoint
for each, so that it takes no other with it. The same transaction keeps a receipt: which files it covers, and
what is to be written into side files. After the commit the side files are written and the event files are
removed. A drainer that is killed in between leaves its receipt, by which the next one finishes that work and
applies nothing twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..journal.event_files import EventFile, Journal, NotAnEvent, Tries
from ..journal.names import session_digest
from ..journal.side_files import PendingSideFiles
from ..ledger.base import Base
from ..model.errors import RingboltError, StoreError
from ..model.types import Value
from ..model.validate import stamp
from ..store.queries import distilled
from ..store.tx import Tx
from ..system.files import sync_folder
from .answers.taken_tasks import call_hooks
from .drained_events import BATCH, BATCH_BYTES, Batch, DrainContext, JournalEvent

LIMIT = 1000  # events that one call takes
MOST_TRIES = 3
# How long a drainer waits for another one: with a deadline, and without.
_BRIEFLY, _PATIENTLY = 0.02, 0.05
_RECEIPT = "journal/"  # begins the kind under which receipts are kept


class DrainReport(Value, frozen=True, kw_only=True):
    """What a drain did: events applied and given up, those left, and why it stopped early."""

    applied: int = 0
    rejected: int = 0
    left: int = 0
    stopped: str = ""


def drain(
    memory: Base,
    journal: Journal,
    *,
    deadline: float | None = None,
    seconds: float | None = None,
    limit: int = LIMIT,
    first: str = "",
) -> DrainReport:
    """Move events from a journal into the store of a memory, in order, at most `limit`.

    `deadline` is a `time.monotonic()` at which the caller will be interrupted: events known to be slow are
    skipped, with those that follow in their sessions. No transaction begins after `seconds`. The events of
    the session `first` come before all others. Errors of the store itself are in the report, not raised.
    """
    return Drainer(memory, journal, deadline, seconds).run(limit, first)


class Drainer(DrainContext):
    """One drain of a journal."""

    def __init__(
        self, memory: Base, journal: Journal, deadline: float | None = None, seconds: float | None = None
    ) -> None:
        super().__init__(memory, journal)
        self._deadline = deadline
        self._until = None if seconds is None else time.monotonic() + seconds
        self._receipts: dict[str, str] = {}
        self._ahead: dict[str, JournalEvent] = {}
        self._one_by_one = False
        self._applied = self._rejected = 0

    def run(self, limit: int, first: str = "") -> DrainReport:
        """Drain, unless another drainer holds the lock for longer than we may wait."""
        stopped = ""
        with self.journal.locked(_PATIENTLY if self._deadline is None else _BRIEFLY) as held:
            if not held:
                return DrainReport(left=self.journal.size(), stopped="another process is draining")
            files = self._in_order(first)
            try:
                files = self._finish_last(files)
                while files and not stopped:
                    stopped = self._stop_reason(limit)
                    if not stopped:
                        files = self._drain_some(files)
            except (StoreError, OSError) as error:
                stopped = error.code if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
        return DrainReport(
            applied=self._applied, rejected=self._rejected, left=self.journal.size(), stopped=stopped
        )

    def apply(self, line: Mapping[str, Any]) -> None:
        """Apply an event that could not be kept in the journal, straight from the hook."""
        event = JournalEvent(EventFile("", str(line["id"])), line)

        def work(tx: Tx) -> Batch:
            batch = Batch(self, tx)
            batch.run([event], apart=False)
            return batch

        if not event.why:
            self.memory.store.write(work, settles=True).files.write()

    def note_slow(self) -> None:
        """After an interruption: leave an event that took most of the time to drainers without a deadline."""
        if self.applying is None or self._deadline is None:
            return
        file, since = self.applying
        if time.monotonic() - since > max(0.05, (self._deadline - since) / 2):
            self.journal.note_tries(file, self._tries().get(file.name, Tries()).replace(slow=True))

    # --- choosing ---------------------------------------------------------------------------------

    def _in_order(self, first: str) -> list[EventFile]:
        files = self.journal.waiting()
        if first:
            digest = session_digest(first)
            files.sort(key=lambda file: file.session != digest)  # stable: the order within a session stays
        if self._deadline is None:
            return files
        slow = {name for name, tries in self._tries().items() if tries.slow}
        held = {file.session for file in files if file.name in slow}
        if not held:
            return files
        found: list[EventFile] = []
        passed: set[str] = set()
        for file in files:
            if file.name in slow:
                passed.add(file.session)
            if file.session not in passed:
                found.append(file)
        return found

    def _tries(self) -> dict[str, Tries]:
        return self.journal.tries()

    def _stop_reason(self, limit: int) -> str:
        if self._applied + self._rejected >= limit:
            return "the limit was reached"
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            return "the time was up"
        # Every drain writes at least one batch: listing thousands of files alone may take longer than that.
        began = self._applied or self._rejected
        return "the time was up" if began and self._until is not None and now >= self._until else ""

    # --- a batch ----------------------------------------------------------------------------------

    def _drain_some(self, files: list[EventFile]) -> list[EventFile]:
        """Apply one transaction's worth of events; returns the files that are left."""
        events = self._read(files)
        good = [event for event in events if not event.why]
        for event in events:
            if event.why:
                self._reject(event.file, event.why)
        try:
            batch = self._write_all(good) if good else None
        except StoreError:
            raise
        except RingboltError as error:
            # The engine refused the transaction for what one of its events says: find out which.
            if len(good) > 1:
                self._one_by_one = True
                return [*(event.file for event in good), *files[len(events) :]]
            self._note_failure(good[0].file, f"{error.code}: {error.message}")
            return [file for file in files[len(events) :] if file.session != good[0].file.session]
        finally:
            self.applying = None
        if batch is None:
            return files[len(events) :]
        done = (
            {file.name for file in batch.applied} | set(batch.failed) | {e.file.name for e in events if e.why}
        )
        for file, why in batch.failed.values():
            self._note_failure(file, why)
        held = {file.session for file, _ in batch.failed.values()}
        # What was read and did not fit into the transaction is not read again.
        self._ahead = {event.file.name: event for event in good if event.file.name not in done}
        return [file for file in files if file.name not in done and (not held or file.session not in held)]

    def _read(self, files: Sequence[EventFile]) -> list[JournalEvent]:
        """Read the events of the next transaction, before it begins."""
        events: list[JournalEvent] = []
        size = 0
        ahead, self._ahead = self._ahead, {}
        for file in files[: 1 if self._one_by_one else BATCH]:
            if (known := ahead.get(file.name)) is not None:
                events.append(known)
                size += known.size
                continue
            try:
                found = self.journal.read(file)
            except NotAnEvent as error:
                events.append(JournalEvent(file, {}, why=str(error)))
                continue
            line, length = found or (dict[str, Any](), 0)
            size += length
            if events and size > BATCH_BYTES:
                break  # a large event has a transaction of its own
            events.append(JournalEvent(file, line, length, "" if found else "it is gone"))
        return events

    def _write_all(self, events: Sequence[JournalEvent]) -> Batch:
        try:
            return self._write(events, apart=False)
        except (StoreError, OSError):
            raise
        except Exception:  # noqa: BLE001 - one of them failed, and nothing was written: savepoints say which
            return self._write(events, apart=True)

    def _write(self, events: Sequence[JournalEvent], *, apart: bool) -> Batch:
        def work(tx: Tx) -> Batch:
            batch = Batch(self, tx)
            batch.run(events, apart)
            for folder in {file.folder for file in batch.applied}:
                names = [file.name for file in batch.applied if file.folder == folder]
                receipt = {"files": names, "side_files": batch.files.changes}
                distilled.put(tx, "", self._receipt(folder), 0, stamp(time.time()), receipt)
            return batch

        batch = self.memory.store.write(work, settles=True)
        self._finish(batch.files, batch.applied)
        self._applied += len(batch.applied)
        for name, line, why in batch.unreported_failures:
            self.journal.reject_content(f"{name}.json", line, why)
        mirrors: Any = self.memory._mirrors  # pyright: ignore[reportPrivateUsage]
        if mirrors is not None and batch.touched.tasks:
            mirrors.touched(batch.touched.tasks)
        call_hooks(self.memory, self.journal)
        return batch

    # --- after the commit -------------------------------------------------------------------------

    def _finish_last(self, files: list[EventFile]) -> list[EventFile]:
        """Finish the work of a drainer that was killed after its commit; returns the other files."""
        if not files:
            return files
        gone: set[str] = set()
        for folder in {file.folder for file in files}:
            _, receipt = self.memory.store.read(lambda tx, f=folder: distilled.get(tx, "", self._receipt(f)))
            names = frozenset[str](receipt.get("files", ()))
            done = [file for file in files if file.name in names and file.folder == folder]
            if done:
                self._finish(PendingSideFiles(self.journal, receipt.get("side_files")), done)
                gone.update(file.name for file in done)
        return [file for file in files if file.name not in gone]

    def _receipt(self, folder: str) -> str:
        """The kind under which the receipt of a folder is kept."""
        if folder not in self._receipts:
            self._receipts[folder] = f"{_RECEIPT}{self.journal.folder_id(folder)}"
        return self._receipts[folder]

    def _finish(self, side: PendingSideFiles, done: Sequence[EventFile]) -> None:
        side.write()
        tried = self._tries()
        self.journal.forget_tries(file for file in done if file.name in tried)
        if self.journal.remove(done):
            raise OSError("event files cannot be removed")  # the receipt must not be replaced before they are
        if self.memory.settings.synchronous != "off":
            for folder in {file.folder for file in done}:
                sync_folder(os.path.join(folder, "new"))

    def _note_failure(self, file: EventFile, why: str) -> None:
        """Count a failed attempt: later drains try again, and the last one rejects the event."""
        tries = self._tries().get(file.name, Tries())
        tries = tries.replace(times=tries.times + 1, why=why[:500])
        if tries.times >= MOST_TRIES:
            self._reject(file, why)
        else:
            self.journal.note_tries(file, tries)

    def _reject(self, file: EventFile, why: str) -> None:
        self.journal.reject(file, why[:500])
        self._rejected += 1
