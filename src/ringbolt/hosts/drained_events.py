"""One event of the journal, read, and the transaction that applies many of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..hook_memory import HookMemory
from ..journal.cards import MOST_AGENTS, MOST_HEADS, Card, bounded, read_card, write_card
from ..journal.event_files import EventFile, Journal
from ..journal.names import boot_in
from ..journal.side_files import PendingSideFiles
from ..ledger.base import Base, workspace_named
from ..ledger.one_transaction import OneTransaction
from ..model.errors import StoreError
from ..model.redaction import Redactor
from ..model.types import Origin, is_dict
from ..model.validate import blake2b, seconds_of, stamp
from ..store.batch_tx import BatchTx
from ..store.tx import Tx
from ..system.os_calls import user
from .answers.compaction_state import COMPACTED, GOES_ON, Mark, is_repeated
from .answers.status_text import status_text
from .capture.events import MOST_VALUE, apply, cleaned, fitted, name_of, naming, tidied
from .capture.session_capture import Capture
from .capture.session_rows import SessionRows
from .guard.cards import heads_of_interest, refresh
from .handover import read_handover
from .hook_parts.calls import call_heads, may_act_outside
from .host_schemas import read_event
from .host_table import HOSTS, Host
from .redaction_rules import rules_digest
from .sessions import own_task, session_of
from .transcripts.lines import compaction_summary
from .transcripts.tail import apply_transcript_tail

BATCH, BATCH_SECONDS, BATCH_BYTES = 100, 0.1, 1 << 20  # of one transaction
# Seconds in which equal events count as one: two settings files of a host may name us.
_MOMENT = 2.0


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


class JournalEvent:
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


class DrainContext:
    """What the transactions of one drain share."""

    def __init__(self, memory: Base, journal: Journal) -> None:
        self.memory, self.journal = memory, journal
        # The event that is being applied, and since when.
        self.applying: tuple[EventFile, float] | None = None
        # For what is read from transcripts.
        self.redactor = Redactor(keep=memory.settings.keep_secrets == "on")
        self.principal = (os.environ.get("RINGBOLT_PRINCIPAL") or user())[:200]

    def now(self) -> float:
        """The time by the drainer's own clock."""
        return self.memory._clock()  # pyright: ignore[reportPrivateUsage]


class Batch:
    """The work of one transaction. There is a new one each time an engine repeats the transaction."""

    def __init__(self, drain: DrainContext, tx: Tx) -> None:
        self._drain, self._tx = drain, BatchTx(tx)
        self.files = PendingSideFiles(drain.journal)
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

    def run(self, events: Sequence[JournalEvent], apart: bool) -> None:
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
            self._drain.applying = event.file, time.monotonic()
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
        self._drain.applying = None
        self._session_rows.write()
        self._write_cards()

    def _with_summary(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A PostCompact with the host's own summary, which Codex has only in its transcript."""
        path = fields.get("transcript")
        if fields["event"] != "PostCompact" or fields.get("summary") or not isinstance(path, str):
            return fields
        found = compaction_summary(path, fields.get("transcript_bytes"))
        return {**fields, **cleaned({"summary": found}, self._drain.redactor)} if found else fields

    def _apply(self, event: JournalEvent) -> None:
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
                self._drain.redactor,
                lambda one, name: self._apply_unreported(memory, event, one, name),
            )
        if fields["event"] in GOES_ON:
            Mark(self.files, session).went_on(event.at)
        process, machine = event.env.get("process"), boot_in(event.file.name)
        if fields["event"] == "SessionStart":
            self._take_over(memory, fields, process, machine)
        begins = fields["event"] == "UserPromptSubmit" and own_task(memory) is None
        if not is_repeated(self.files, event.shape, fields):
            apply(memory, self._with_summary(fields), event.name(memory), capture)
        if begins and self._knows_nothing_of_its_task(memory, event):
            Mark(self.files, session).set(COMPACTED, event.at)
        if line := self._note_session(memory, event, fields, self._clock.at):
            capture.aside(line, key=f"hook/{event.id}/session")
        _, agents = self._sessions.setdefault(event.session, (memory, {}))
        if agent := str(fields.get("agent_id") or ""):
            agents[session_of(fields, agent)] = None
        if fields["event"] == "PostToolUse":
            tool_input, tool = fields.get("input"), str(fields.get("tool") or "")
            if is_dict(tool_input) and may_act_outside(tool, tool_input):
                self._done.setdefault(event.session, {}).update(dict.fromkeys(call_heads(tool, tool_input)))

    def _knows_nothing_of_its_task(self, memory: HookMemory, event: JournalEvent) -> bool:
        """Whether the first prompt of a session took over an earlier task, without the packet in it."""
        task = own_task(memory)
        if task is None or read_handover(str(event.fields.get("prompt") or "")) is not None:
            return False
        return memory.task_get(task).created_at < stamp(event.at)

    def _note_session(
        self, memory: HookMemory, event: JournalEvent, fields: Mapping[str, Any], at: float
    ) -> str:
        """Update the session of an event; returns a line for its task, usually empty."""
        return self._session_rows.note(
            fields,
            event.host,
            at,
            workspace=memory.workspace,
            pinned=bool(event.env.get("project")),
            process=event.env.get("process"),
            machine=boot_in(event.file.name),
        )

    def _take_over(self, memory: HookMemory, fields: Mapping[str, Any], process: Any, machine: str) -> None:
        """Give a session that continues another under a new id the task of that one."""
        previous = self._session_rows.predecessor(fields, process, machine, self._drain.now())
        if previous is None or own_task(memory):
            return
        if task := own_task(memory.acting_as(session=previous)):
            memory.task_focus(task)

    def _apply_unreported(
        self, memory: HookMemory, event: JournalEvent, fields: Mapping[str, Any], name: str
    ) -> None:
        error = self._tx.nested(lambda: apply(memory, fields, name))
        if error is None and fields["event"] == "StopFailure":
            self._note_session(memory, event, fields, fields["at"])
        if isinstance(error, (StoreError, OSError)):
            raise error
        if error is not None:  # it must not hold up the event itself or what follows
            line = {"v": 1, "id": name, "host": memory.origin.agent, "payload": fields}
            self.unreported_failures.append((_digest(name), line, f"{type(error).__name__}: {error}"))

    def _memory(self, event: JournalEvent) -> tuple[HookMemory, Capture]:
        """The memory of the session that an event belongs to, within this transaction."""
        folder, principal = event.fields.get("cwd"), event.env.get("principal")
        folder = folder if isinstance(folder, str) else ""
        principal = principal[:200] if isinstance(principal, str) and principal else self._drain.principal
        session = session_of(event.fields)
        key = (event.host, session, folder, principal, event.is_redacted)
        if (found := self._memories.get(key)) is None:
            own: Any = self._drain.memory
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
        return max(min(at, self._drain.now()), least)

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


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
