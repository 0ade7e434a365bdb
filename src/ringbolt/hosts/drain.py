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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..hook_memory import HookMemory
from ..journal.cards import MOST_AGENTS, MOST_HEADS, Card, bounded, read_card, write_card
from ..journal.event_files import EventFile, Journal, NotAnEvent, Tries
from ..journal.names import boot_in, session_digest
from ..journal.side_files import PendingSideFiles
from ..ledger.base import Base, workspace_named
from ..ledger.one_transaction import OneTransaction
from ..model.errors import RingboltError, StoreError
from ..model.redaction import Redactor
from ..model.types import Origin, Value, is_dict
from ..model.validate import blake2b, seconds_of, stamp
from ..store.batch_tx import BatchTx
from ..store.queries import distilled
from ..store.tx import Tx
from ..system.files import sync_folder
from ..system.os_calls import user
from .capture import Capture
from .compaction_state import GOES_ON, Mark, is_repeated
from .events import MOST_VALUE, apply, cleaned, fitted, name_of, naming, tidied
from .guard import heads_of_interest
from .guard_rules import refresh
from .hook_parts.calls import call_heads, may_act_outside
from .host_schemas import read_event
from .host_table import HOSTS, Host
from .redaction_rules import rules_digest
from .session_rows import SessionRows
from .sessions import own_task, session_of
from .status_text import status_text
from .taken_tasks import call_hooks
from .transcripts.lines import compaction_summary
from .transcripts.tail import apply_transcript_tail

LIMIT = 1000  # events that one call takes
BATCH, BATCH_SECONDS, BATCH_BYTES = 100, 0.1, 1 << 20  # of one transaction
MOST_TRIES = 3
# How long a drainer waits for another one: with a deadline, and without.
_BRIEFLY, _PATIENTLY = 0.02, 0.05
# Seconds in which equal events count as one: two settings files of a host may name us.
_MOMENT = 2.0
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


class _Clock:
    """A clock that shows when the event that is being applied happened."""

    at = 0.0

    def __call__(self) -> float:
        return self.at


class _Touched:
    """Stands in for the mirrors during a transaction: collects the tasks that were written."""

    def __init__(self) -> None:
        self.tasks: dict[str, None] = {}

    def touched(self, tasks: Iterable[str]) -> None:
        self.tasks.update(dict.fromkeys(tasks))


class _Event:
    """An event file that was read: the event with our names, or the reason why it has none."""

    def __init__(self, file: EventFile, line: Mapping[str, Any], size: int = 0, why: str = "") -> None:
        self.file, self.session, self.size, self.why = file, file.session, size, why
        at = line.get("at")
        self.at = float(at) if isinstance(at, (int, float)) else time.time()
        self.host = str(line.get("host") or "")[:200]
        self.id = str(line.get("id") or file.name)
        self.shape: Host | None = HOSTS.get(self.host)
        # Whether the hook has redacted it by the rules of this version, so that nothing is left to redact.
        self.is_redacted = bool(rules_digest()) and line.get("redacted_by") == rules_digest()
        env: Any = line.get("env")
        self.env: Mapping[str, Any] = env if is_dict(env) else {}
        self.fields: dict[str, Any] = {} if why else self._translated(line)

    def _translated(self, line: Mapping[str, Any]) -> dict[str, Any]:
        payload = line.get("payload")
        if not is_dict(payload):
            self.why = "the host sent something that is not a JSON object"
            return {}
        length = line.get("transcript_bytes")
        length = length if isinstance(length, int) and not isinstance(length, bool) else None
        try:
            event = read_event(self.host, str(line.get("event") or ""), payload, length)
        except (ValueError, TypeError, RecursionError, AttributeError) as error:
            self.why = f"{type(error).__name__}: {error}"[:300]
            return {}
        if event is None:
            self.why = f"{line.get('event')} of {self.host} is not an event that this version knows"[:300]
            return {}
        if isinstance(project := self.env.get("project"), str) and project:
            event["cwd"] = project
        event = tidied(event)
        return {
            **(fitted(event) if self.size > MOST_VALUE else event),
            "transcript_bytes": length,
            "at": self.at,
        }

    def name(self, memory: HookMemory) -> str:
        """The name by which a repeated report of the event is recognised."""
        if self.fields.get("tool_use_id") or self.fields["event"] == "PreCompact":
            return f"hook/{self.id}"  # recognised by other means
        return name_of(memory, self.fields, f"{naming(self.fields)}/{self.at // _MOMENT:.0f}")


class _Batch:
    """The work of one transaction. There is a new one each time an engine repeats the transaction."""

    def __init__(self, drainer: Drainer, tx: Tx) -> None:
        self._drainer, self._tx = drainer, BatchTx(tx)
        self.files = PendingSideFiles(drainer.journal)
        self.touched = _Touched()
        self.applied: list[EventFile] = []
        self.failed: dict[str, tuple[EventFile, str]] = {}
        self.unreported_failures: list[tuple[str, Mapping[str, Any], str]] = []
        self.ended_early = False
        self._clock = _Clock()
        self._memories: dict[tuple[str | bool, ...], tuple[HookMemory, Capture]] = {}
        # The time of the last event of each memory.
        self._times: dict[HookMemory, float] = {}
        self._sessions: dict[str, tuple[HookMemory, dict[str, None]]] = {}
        # The programs of each session that may have done something outside.
        self._done: dict[str, dict[str, None]] = {}
        self._session_rows = SessionRows(self._tx)

    def run(self, events: Sequence[_Event], apart: bool) -> None:
        """Apply events until the time of the transaction is up.

        `apart`: each in a savepoint, so that one that fails is undone alone. Else its error is raised.
        """
        begun = time.monotonic()
        passed: set[str] = set()
        for event in events:
            if event.session in passed:
                continue
            if self.applied and time.monotonic() - begun > BATCH_SECONDS:
                self.ended_early = True
                break
            self._drainer.applying = event.file, time.monotonic()
            before = dict(self.files.changes)
            error = None
            if apart:
                error = self._tx.nested(lambda event=event: self._apply(event))
            else:
                self._apply(event)
            if error is None:
                self.applied.append(event.file)
            elif isinstance(error, (StoreError, OSError)):
                raise error
            else:
                self.files.changes = before
                self.failed[event.file.name] = (event.file, f"{type(error).__name__}: {error}")
                passed.add(event.session)  # what follows must not overtake it
        self._drainer.applying = None
        self._session_rows.write()
        self._write_cards()

    def _with_summary(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A PostCompact with the host's own summary, which Codex has only in its transcript."""
        path = fields.get("transcript")
        if fields["event"] != "PostCompact" or fields.get("summary") or not isinstance(path, str):
            return fields
        found = compaction_summary(path, fields.get("transcript_bytes"))
        return {**fields, **cleaned({"summary": found}, self._drainer.redactor)} if found else fields

    def _apply(self, event: _Event) -> None:
        if event.shape is None:
            return
        fields, session = event.fields, str(event.fields.get("session") or "")
        memory, capture = self._memory(event)
        self._clock.at = self._times[memory] = self._not_before(memory, event.at)
        if event.shape.transcript:
            apply_transcript_tail(
                self.files,
                event.shape.transcript,
                fields,
                self._drainer.redactor,
                lambda one, name: self._apply_unreported(memory, one, name),
            )
        if fields["event"] in GOES_ON:
            Mark(self.files, session).went_on(event.at)
        process, machine = event.env.get("process"), boot_in(event.file.name)
        if fields["event"] == "SessionStart":
            self._take_over(memory, fields, process, machine)
        if not is_repeated(self.files, event.shape, fields):
            apply(memory, self._with_summary(fields), event.name(memory), capture)
        line = self._session_rows.note(
            fields,
            event.host,
            self._clock.at,
            workspace=memory.workspace,
            pinned=bool(event.env.get("project")),
            process=process,
            machine=machine,
        )
        if line:
            capture.aside(line, key=f"hook/{event.id}/session")
        _, agents = self._sessions.setdefault(event.session, (memory, {}))
        if agent := str(fields.get("agent_id") or ""):
            agents[session_of(fields, agent)] = None
        if fields["event"] == "PostToolUse":
            tool_input, tool = fields.get("input"), str(fields.get("tool") or "")
            if is_dict(tool_input) and may_act_outside(tool, tool_input):
                self._done.setdefault(event.session, {}).update(dict.fromkeys(call_heads(tool, tool_input)))

    def _take_over(self, memory: HookMemory, fields: Mapping[str, Any], process: Any, machine: str) -> None:
        """Give a session that continues another under a new id the task of that one."""
        previous = self._session_rows.predecessor(fields, process, machine, self._drainer.now())
        if previous is None or own_task(memory):
            return
        if task := own_task(memory.acting_as(session=previous)):
            memory.task_focus(task)

    def _apply_unreported(self, memory: HookMemory, fields: Mapping[str, Any], name: str) -> None:
        error = self._tx.nested(lambda: apply(memory, fields, name))
        if isinstance(error, (StoreError, OSError)):
            raise error
        if error is not None:  # it must not hold up the event itself or what follows
            line = {"v": 1, "id": name, "host": memory.origin.agent, "payload": fields}
            self.unreported_failures.append((_digest(name), line, f"{type(error).__name__}: {error}"))

    def _memory(self, event: _Event) -> tuple[HookMemory, Capture]:
        """The memory of the session that an event belongs to, within this transaction."""
        folder, principal = event.fields.get("cwd"), event.env.get("principal")
        folder = folder if isinstance(folder, str) else ""
        principal = principal[:200] if isinstance(principal, str) and principal else self._drainer.principal
        session = session_of(event.fields)
        key = (event.host, session, folder, principal, event.is_redacted)
        if (found := self._memories.get(key)) is None:
            own: Any = self._drainer.memory
            store: Any = OneTransaction(self._tx, own.store)
            touched: Any = self.touched
            workspace, repository = workspace_named(folder or None)
            memory = HookMemory(
                store,
                own.settings.replace(keep_secrets="on") if event.is_redacted else own.settings,
                origin=Origin(principal=principal, agent=event.host, channel="agent", session=session),
                workspace=workspace,
                repository=repository,
                clock=self._clock,
                mirrors=touched,
            )
            found = self._memories[key] = (memory, Capture(memory))
        return found

    def _not_before(self, memory: HookMemory, at: float) -> float:
        """The time of an event: not in the future, and not before what its task has already."""
        least = self._times.get(memory)
        if least is None:
            task = own_task(memory)
            head = self._tx.head(task) if task else None
            least = seconds_of(head["updated_at"]) if head else 0.0
        return max(min(at, self._drainer.now()), least)

    def _write_cards(self) -> None:
        for digest, (memory, agents) in self._sessions.items():
            known = read_card(self.files, digest)
            every = tuple(dict.fromkeys((*known.agents, *agents)))[-MOST_AGENTS:]
            tasks = [
                task
                for session in (memory.origin.session, *every)
                if session and (task := self._tx.session_task(session, memory.workspace))
            ]
            heads = [head for task in tasks for head in heads_of_interest(self._tx, task)]
            # A person decides about side effects: the store is asked about every call.
            gated = any(self._tx.extras(task)["approval_mode"] != "auto" for task in tasks)
            done, now = self._done.get(digest, ()), stamp(time.time())
            shared = refresh(self._tx, self.files, memory.workspace, memory.repository, done, now)
            own = self._tx.session_task(memory.origin.session or "", memory.workspace)
            card = Card(
                heads=bounded(heads, MOST_HEADS),
                agents=every,
                shared=shared,
                stale=gated,
                status=status_text(self._tx, own) if own else "",
            )
            write_card(self.files, digest, card)


class Drainer:
    """One drain of a journal."""

    def __init__(
        self, memory: Base, journal: Journal, deadline: float | None = None, seconds: float | None = None
    ) -> None:
        self.memory, self.journal = memory, journal
        self._deadline = deadline
        self._until = None if seconds is None else time.monotonic() + seconds
        self._receipts: dict[str, str] = {}
        self._ahead: dict[str, _Event] = {}
        self._one_by_one = False
        self._applied = self._rejected = 0
        # The event that is being applied, and since when.
        self.applying: tuple[EventFile, float] | None = None
        # For what is read from transcripts.
        self.redactor = Redactor(keep=memory.settings.keep_secrets == "on")
        self.principal = _principal()

    def now(self) -> float:
        """The time by the drainer's own clock."""
        return self.memory._clock()  # pyright: ignore[reportPrivateUsage]

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
        event = _Event(EventFile("", str(line["id"])), line)

        def work(tx: Tx) -> _Batch:
            batch = _Batch(self, tx)
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

    def _read(self, files: Sequence[EventFile]) -> list[_Event]:
        """Read the events of the next transaction, before it begins."""
        events: list[_Event] = []
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
                events.append(_Event(file, {}, why=str(error)))
                continue
            line, length = found or (dict[str, Any](), 0)
            size += length
            if events and size > BATCH_BYTES:
                break  # a large event has a transaction of its own
            events.append(_Event(file, line, length, "" if found else "it is gone"))
        return events

    def _write_all(self, events: Sequence[_Event]) -> _Batch:
        try:
            return self._write(events, apart=False)
        except (StoreError, OSError):
            raise
        except Exception:  # noqa: BLE001 - one of them failed, and nothing was written: savepoints say which
            return self._write(events, apart=True)

    def _write(self, events: Sequence[_Event], *, apart: bool) -> _Batch:
        def work(tx: Tx) -> _Batch:
            batch = _Batch(self, tx)
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


def _principal() -> str:
    return (os.environ.get("RINGBOLT_PRINCIPAL") or user())[:200]


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
