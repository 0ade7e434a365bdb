"""Move ledgers: export and import as JSON Lines, merging, backup and restore."""

from __future__ import annotations

import json
import os
from collections import ChainMap
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from ..ledger.base import Base
from ..ledger.values import read_event, read_origin
from ..ledger.without_secrets import redacted_event
from ..model import rules, validate
from ..model.errors import Conflict, InvalidInput, RingboltError, shown
from ..model.operation import operation
from ..model.results import Divergence, ImportReport
from ..model.trust import Overruled
from ..model.types import Event, Origin, is_dict
from ..model.validate import blake2b
from ..store import jobs
from ..store.forgetting import is_purged
from ..store.hashes import event_hash, first_link, origin_id
from ..store.imported_sets import check_sets
from ..store.schema import EVENTS, ORIGINS, SOURCES
from ..store.tombstones import redacted
from ..store.tx import Row, Tx
from ..system.files import FileErrors, open_plain, replacing
from .signing import Signer

FORMAT = {"ringbolt": "events", "version": 1}
PAGE = 1000
# What reading a line can raise if it is not an event.
INVALID = (RingboltError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


class Transfer(Base):
    """Operations that move a ledger."""

    def events(self, task_id: str | None = None, *, after: int = 0) -> Iterator[Event]:
        """Iterate over events in order, reading short pages.

        Tasks come in the order of their last change, oldest first: the same in every store that holds the
        same ledger.

        Args:
            task_id: Only this task. Default: every task in turn.
            after: With a task: only events after this seq. Without one: only events after this position of
                the store.
        """
        for row in self._ledger(task_id, after):
            yield read_event(row)

    def _ledger(self, task_id: str | None, after: int = 0, until: int | None = None) -> Iterator[Row]:
        validate.whole("after", after, 0, 1 << 62)
        if after and task_id is None:
            raise InvalidInput("invalid_argument", "`after` needs a task.", "Name a task.")
        for name in self._task_ids(task_id):
            head = self.store.read(lambda tx, n=name: tx.head(n)) or {"last_seq": 0, "root_id": name}
            last, end = after, head["last_seq"] if until is None else until
            while last < end:
                rows = self.store.read(lambda tx, n=name, a=last, e=end: tx.events(n, a, PAGE, e))
                for row in rows:
                    row["root_id"] = head["root_id"]
                    yield row
                last = rows[-1]["seq"]

    @operation(scope="read", tools="none", http=False, example={"path": "events.jsonl"})
    def export_events(self, path: str | os.PathLike[str], task_id: str | None = None) -> int:
        """Write the complete ledger, or one task, as JSON Lines; returns the number of events.

        Args:
            path: The file to write.
            task_id: Only this task. Default: all tasks.
        """
        target = validate.path("the export", path)
        if target in self.store.files():
            raise InvalidInput(
                "invalid_argument", f"{target} is the store itself.", "Name another file for the export."
            )
        with FileErrors(target):
            return self._export(target, task_id)

    def _export(self, target: str, task_id: str | None) -> int:
        if os.path.isdir(target):
            raise IsADirectoryError(None, "it is a folder")
        count = 0
        with replacing(target) as file:
            file.write(f"{validate.dumps(FORMAT)}\n".encode())
            for row in self._signed(self._ledger(task_id)):
                file.write(f"{validate.dumps(event_line(row))}\n".encode())
                count += 1
        return count

    def _signer(self) -> Signer:
        return Signer(self.store.url, self.settings)

    def _signed(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Rows of the ledger, each with the signature of this store."""
        signer = self._signer()
        for row in rows:
            row["signature"] = signer.sign(row["root_id"], row["hash"])
            yield row

    @operation(scope="write", tools="none", http=False, repeatable=True, example={"path": "events.jsonl"})
    def import_events(self, path: str | os.PathLike[str]) -> ImportReport:
        """Import an export: known events are skipped, new ones are added, nothing is overwritten.

        Forgotten content stays forgotten, and purged tasks stay purged. What this store exported itself keeps
        its origins; everything else arrives through the channel `import`, with the channel that the file
        names as `claimed`, and can neither end nor replace what is here.

        Where the two stores continued a task differently, the other history is kept in full as a separate
        task, and reported. The whole file is checked before anything is written.

        Args:
            path: An export.
        """
        source = validate.path("the export", path)
        with FileErrors(source):
            return self._import(source)

    def _import(self, source: str, root: str | None = None, only: str | None = None) -> ImportReport:
        """Import an export; with `root` the file must be inside it, with `only` it must hold just that
        task."""
        begins: dict[str, tuple[int, Row]] = {}
        number = 1
        signer = self._signer()
        for number, row, _ in _checked_lines(source, signer, root):
            begins.setdefault(row["task_id"], (number, row))
        if only is not None and set(begins) != {only}:
            raise InvalidInput(
                "import_invalid",
                f"{source} is not the ledger of task {only}: it has events of {', '.join(begins) or 'none'}.",
                "Import it with import_events if you trust it. Nothing was written.",
            )
        self.store.read(lambda tx: _check_begins(tx, begins))
        merge = Merge(all_tasks=False, keep_secrets=self.settings.keep_secrets == "on")
        batch: list[tuple[int, Row, Origin]] = []

        def flush() -> None:
            if batch:
                merge.take(self._commit(lambda tx: merge.add_all(tx, batch), settles=True, tasks=Merge.tasks))
                batch.clear()
                if self.progress is not None:
                    self.progress(merge.events, number - 1)  # the first line is the header

        for entry in _checked_lines(source, signer, root):
            batch.append(entry)
            if len(batch) == PAGE:
                flush()
        flush()
        report = merge.report()
        if report.added >= PAGE:
            self.store.refresh_statistics()
        return report

    @operation(scope="read", tools="none", http=False, example={"path": "ringbolt.backup"})
    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store to a file while others keep writing.

        Args:
            path: The file to write.
        """
        self.store.backup(validate.path("the backup", path))

    @operation(
        scope="admin",
        tools="none",
        http=False,
        destructive=True,
        whole_store=True,
        example={"path": "ringbolt.backup"},
    )
    def restore(self, path: str | os.PathLike[str]) -> str:
        """Replace this store with a backup; returns the path of a copy of the previous content.

        Args:
            path: A backup.
        """
        source = validate.path("the backup", path)
        if self._authority != "user":
            raise Conflict(
                "needs_user",
                "Only the user may replace the whole store.",
                "Ask the user to run `ringbolt restore`.",
            )
        kept = self.store.restore(source)
        self.store.write(jobs.publish_again)
        if self._mirrors is not None:
            self._mirrors.refresh(self.workspace, force=True)
        return kept


def event_line(row: Row) -> dict[str, Any]:
    """A signed event as a line of an export."""
    line: dict[str, Any] = {
        "task": row["task_id"],
        "root": row["root_id"] if row["root_id"] != row["task_id"] else None,
        "seq": row["seq"],
        "type": row["event_type"],
        "at": row["timestamp"],
        "step": row["item_id"],
        "ref": row["ref_seq"],
        "text": row["text"],
        "data": json.loads(row["data"]) if row["data"] != "{}" else None,
        "sets": json.loads(row["sets"]) if row["sets"] else None,
        "origin": {name: row[name] for name in ORIGINS if row[name]},
        "correlation": row["correlation_id"] or None,
        "hash": row["hash"].hex(),
        "forgotten": row["forgotten"].hex() if row["forgotten"] else None,
        "signature": row.get("signature"),
    }
    return {name: value for name, value in line.items() if value is not None}


class ChainCheck:
    """Checks that events are numbered without gaps, and that each hash covers the one before."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        self._last: dict[str, tuple[int, bytes]] = {}

    def begin(self, task_id: str, seq: int, link: bytes) -> None:
        """The events of a task that follow come after this one."""
        self._last[task_id] = seq, link

    def read(self, line: dict[str, Any]) -> tuple[Row, Origin]:
        """The event of a line, with whether this store signed it and the hash before it, if that is known."""
        row, origin = event_of_line(line)
        name = row["task_id"]
        seq, before = self._last.get(name, (row["seq"] - 1, b""))
        if row["seq"] == 1:
            before = first_link(row["root_id"])
        if row["seq"] != seq + 1:
            raise ValueError(f"#{seq + 1} of task {name} is missing")
        if before and event_hash(before, row) != row["hash"]:
            raise ValueError("the hash does not match the content and the previous event")
        self._last[name] = row["seq"], row["hash"]
        row["signed"] = self._signer.verify(row["root_id"], row["hash"], line.get("signature"))
        row["link"] = before
        return row, origin


def _checked_lines(path: str, signer: Signer, root: str | None = None) -> Iterator[tuple[int, Row, Origin]]:
    """The events of an export with their line numbers; raises at the first invalid one."""
    check = ChainCheck(signer)
    line: Any
    number = 0
    with open(path, "rb") if root is None else open_plain(path, root=root) as file:
        try:
            for raw in file:
                number += 1
                line = json.loads(raw.decode())
                if number == 1:
                    if not is_dict(line) or line.get("ringbolt") != "events":
                        raise ValueError("this is not an export of Ringbolt")
                    if line.get("version") != FORMAT["version"]:
                        raise ValueError(f"this is version {shown(line.get('version'))} of the format")
                    continue
                row, origin = check.read(line)
                yield number, row, origin
            if number == 0:
                raise ValueError("the file is empty")
        except INVALID as error:
            reason = error.message if isinstance(error, RingboltError) else str(error)
            raise InvalidInput(
                "import_invalid",
                f"Line {number} of {path} is not an event: {reason}",
                "Export again. Nothing was written.",
                line=number,
            ) from None


def _check_begins(tx: Tx, begins: dict[str, tuple[int, Row]]) -> None:
    """Raise if a part of a task does not continue the events in this store."""
    for name, (number, row) in begins.items():
        before = tx.event(name, row["seq"] - 1) if row["seq"] > 1 else None
        # After an import, the events here have other hashes than where they came from.
        imported = before is not None and before["channel"] == "import"
        if row["seq"] > 1 and (
            before is None or (not imported and event_hash(before["hash"], row) != row["hash"])
        ):
            raise InvalidInput(
                "import_invalid",
                f"Line {number}: #{row['seq']} of task {name} does not continue the events of this store.",
                "Export the whole task. Nothing was written.",
                line=number,
            )


def event_of_line(line: dict[str, Any]) -> tuple[Row, Origin]:
    """The event of a line of an export, validated; its hash is not checked."""
    task_id = str(line["task"])
    if rules.normal_id(task_id) != task_id or len(task_id) != rules.ID_LENGTH:
        raise ValueError(f"{task_id[:40]!r} is not a task id")
    seq, ref = line["seq"], line.get("ref")
    if type(seq) is not int or not 0 < seq < 1 << 62:
        raise ValueError("seq must be a positive number")
    if ref is not None and (type(ref) is not int or not 0 < ref < 1 << 62):
        raise ValueError("ref must be a positive number")
    root: str = line.get("root", task_id)
    if rules.normal_id(root) != root:
        raise ValueError(f"{shown(root)} is not a task id")
    if not is_dict(line.get("data", {})):
        raise ValueError("data must be an object")
    validate.check_storable(line.get("data"))
    for name in ("step", "text", "correlation"):
        validate.optional(name, line.get(name), 1 << 30)
    validate.line("type", line["type"], 100)
    if validate.moment("at", validate.line("at", line["at"], 100)) != line["at"]:
        raise ValueError(f"{shown(line['at'])} is not a time in our format")
    author: dict[str, Any] = {
        name: validate.text(name, value, 1000) for name, value in line.get("origin", {}).items()
    }
    validate.choice("channel", author.get("channel", "agent"), rules.CHANNELS)
    origin = Origin(**author)
    sets = line.get("sets")
    if sets is not None or seq == 1:
        check_sets(sets, seq)
    if line.get("forgotten") and (line.get("text") or line.get("data") or (sets and redacted(sets) != sets)):
        raise ValueError("it is marked as forgotten but has content")
    row: Row = dict.fromkeys(EVENTS)
    row.update(
        task_id=task_id,
        root_id=root,
        seq=seq,
        event_type=line["type"],
        timestamp=line["at"],
        item_id=line.get("step"),
        ref_seq=ref,
        text=line.get("text"),
        data=validate.dumps(line.get("data", {})),
        sets=None if sets is None else validate.dumps(sets),
        origin_id=origin_id(origin),
        correlation_id=line.get("correlation", ""),
        hash=bytes.fromhex(line["hash"]),
        forgotten=bytes.fromhex(line["forgotten"]) if line.get("forgotten") else None,
    )
    return row, origin


def as_import(event: Row, origin: Origin, *, keep_secrets: bool) -> tuple[Row, Origin]:
    """An event of a foreign file as this store imports it: through the channel `import`, which keeps the
    claimed channel beside it.

    Keys of calls, the session of the task, and the sources of texts are dropped, because a file could forge
    them. Secrets are redacted, as in every write, unless the operator keeps them.
    """
    claimed = origin.claimed if origin.channel == "import" and origin.claimed else origin.channel
    author = origin.replace(channel="import", claimed=claimed)
    sets: dict[str, Any] = json.loads(event["sets"]) if event["sets"] else {}
    sets.pop("+keys", None)
    for name, cites in SOURCES.items():
        for table in (name, f"+{name}"):
            rows: Any = sets.get(table, {})
            for row in rows.values() if name == "steps" else (rows,):
                for cite in (*cites.values(), "session_id", "focus"):
                    row.pop(cite, None)
    event = {**event, "sets": validate.dumps(sets) if sets else None}
    return {**redacted_event(event, keep_secrets=keep_secrets), "origin_id": origin_id(author)}, author


def without_changes(event: Row) -> Row:
    """An imported event without its changes to existing rows: it only adds."""
    sets: dict[str, Any] = json.loads(event["sets"])
    own = str(event["seq"])
    kept = {name: rows for name, rows in sets.items() if name in ("+steps", "+labels", "files", "links")}
    if record := sets.get("+records", {}).get(own):
        ends = {"status": "superseded"} if record.get("type") == "variable" else {}
        kept["+records"] = {own: {**record, **ends}}
    event["sets"] = validate.dumps(kept) if kept else None
    return event


def is_import_of(tx: Tx, known: Row, row: Row, origin: Origin) -> bool:
    """Whether one of two events is what an import made of the other."""
    if known["channel"] == "import":
        before = tx.event(known["task_id"], known["seq"] - 1) if known["seq"] > 1 else None
        link = before["hash"] if before else first_link(row["root_id"])
        if any(event_hash(link, form) == known["hash"] for form in _imported_forms(row, origin)):
            return True
    if origin.channel == "import" and (link := row.get("link")):
        return any(
            event_hash(link, form) == row["hash"] for form in _imported_forms(known, read_origin(known))
        )
    return False


def _imported_forms(row: Row, origin: Origin) -> Iterator[Row]:
    """The forms in which a store may have imported an event."""
    for keeps in (False, True):
        event, _ = as_import({name: row[name] for name in EVENTS}, origin, keep_secrets=keeps)
        yield event
        if event["sets"] is not None:
            yield without_changes(event)


class Merge:
    """Adds events of another store one by one, and remembers the task id under which each task is stored.

    A task whose histories diverge is kept twice: the imported side becomes a separate task, with the shared
    events copied, under an id derived from the first different event. So a repeated import finds it again.
    """

    def __init__(
        self,
        homes: MutableMapping[str, str] | None = None,
        all_tasks: bool = True,
        foreign: frozenset[str] = frozenset(),
        keep_secrets: bool = False,
    ) -> None:
        self._keep_secrets = keep_secrets
        # Tasks with an event that this store neither has nor signed: all that follows is an import too.
        self._foreign = set(foreign)
        self._all_tasks = all_tasks  # even tasks that were purged here
        self.events = 0  # how many were read
        self._purged = 0
        self._added = 0
        self._known = 0
        self._tasks: dict[str, None] = {}
        # The task id under which the events of a foreign task are stored, once that is known.
        self._homes = ChainMap({}, homes or {})
        self._conflicts: dict[str, Divergence] = {}

    def add_all(self, tx: Tx, batch: Sequence[tuple[int, Row, Origin]]) -> Merge:
        """Add a batch in a transaction. Returns the counts, because a transaction may be tried repeatedly."""
        part = Merge(self._homes, self._all_tasks, frozenset(self._foreign), self._keep_secrets)
        heads: dict[str, Row] = {}
        for number, row, origin in batch:
            part._add(tx, heads, number, row, origin)
        return part

    def take(self, part: Merge) -> None:
        """Add the counts of a committed batch."""
        self.events += part.events
        self._added += part._added
        self._known += part._known
        self._purged += part._purged
        self._tasks.update(part._tasks)
        self._homes.update(part._homes.maps[0])
        self._foreign |= part._foreign
        for name, conflict in part._conflicts.items():
            self._conflicts.setdefault(name, conflict)

    def _add(self, tx: Tx, heads: dict[str, Row], number: int, row: Row, origin: Origin) -> None:
        self.events += 1
        foreign: str = row["task_id"]
        home = self._homes.get(foreign)
        if home is None:
            # The other side of a conflict may be ours: then its events belong to the original task.
            root: str = row["root_id"]
            home = root if root != foreign and tx.head(root) else foreign
            if root != foreign:
                self._homes[foreign] = home
        shares_with = home
        while True:
            head = heads.get(home) or tx.head(home, lock=True)
            if head is None:
                if not self._all_tasks and is_purged(tx, home):
                    self._purged += 1
                    return
                head = self._begin(tx, home, shares_with, row)
            heads[home] = head
            if row["seq"] > head["last_seq"]:
                self._append(tx, head, home, row, origin, number)
                return
            known = tx.event(home, row["seq"])
            if known is not None and (known["hash"] == row["hash"] or is_import_of(tx, known, row, origin)):
                if known["hash"] != row["hash"]:  # what follows has no place in our chain as it is
                    self._foreign.add(foreign)
                self._known += 1
                return
            # The histories diverge here. The id of the other side is derived from its first different
            # event, so that it is found again when more of it arrives.
            content = f"{home}\n{row['hash'].hex()}".encode()
            shares_with = home
            home = rules.make_id(blake2b(content, digest_size=rules.ID_LENGTH).digest())
            self._homes[foreign] = home
            if home != foreign:  # otherwise the other store has the same conflict under the same id
                self._conflicts.setdefault(home, Divergence(task_id=foreign, seq=row["seq"], kept_as=home))

    def _begin(self, tx: Tx, home: str, shares_with: str, row: Row) -> Row:
        """Begin a task; for the other side of a conflict, with the history that both sides share."""
        head: Row = {"task_id": home, "root_id": row["root_id"], "last_seq": 0}
        if home != shares_with:
            while head["last_seq"] < row["seq"] - 1:
                for shared in tx.events(shares_with, head["last_seq"], PAGE, row["seq"] - 1):
                    event = {name: shared[name] for name in EVENTS}
                    tx.fold(head, {**event, "task_id": home}, read_origin(shared))
        return head

    def _append(self, tx: Tx, head: Row, home: str, row: Row, origin: Origin, number: int) -> None:
        event: Row = {**{name: row[name] for name in EVENTS}, "task_id": home}
        if not row.get("signed", True):  # a row of another store of ours needs no signature
            self._foreign.add(row["task_id"])
        if row["task_id"] in self._foreign:
            event, origin = as_import(event, origin, keep_secrets=self._keep_secrets)
            try:
                tx.append(head, event, origin)
            except Overruled:
                tx.append(head, without_changes(event), origin)
        else:
            tx.fold(head, event, origin)
        if row["task_id"] not in self._foreign and event["hash"] != row["hash"]:
            raise InvalidInput(
                "import_invalid",
                f"Line {number}: the hash does not match the events before it.",
                "Export the whole task.",
                line=number,
            )
        self._added += 1
        self._tasks[home] = None

    def tasks(self) -> tuple[str, ...]:
        """The tasks with new events."""
        return tuple(self._tasks)

    def count_purged(self, events: int) -> None:
        """Count events of a task that was purged here."""
        self.events += events
        self._purged += events

    def home_of(self, task_id: str) -> str:
        """The id under which the events of a task were stored."""
        return self._homes.get(task_id, task_id)

    def report(self) -> ImportReport:
        return ImportReport(
            events=self.events,
            added=self._added,
            known=self._known,
            tasks=tuple(self._tasks),
            conflicts=tuple(self._conflicts.values()),
            purged=self._purged,
        )
