"""The ledger itself: undo, verify, export, import, backup, restore."""

from __future__ import annotations

import json
import os

from .. import checks, rules
from ..errors import Conflict, InvalidInput, NotFound
from ..store import scratch
from ..store.tx import (
    EVENTS,
    KEPT,
    ORIGINS,
    STATE,
    blake2b,
    check_sets,
    event_hash,
    first_link,
    origin_id,
)
from ..types import Divergence, Event, ImportReport, Origin, Problem, VerifyReport, Written, is_dict
from .base import Base, Draft
from .reading import read_event, read_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..store.tx import Row, Tx

FORMAT = {"holdfast": "events", "version": 1}
PAGE = 1000
# How many events one scratch ledger takes before `verify` begins a new one, to keep memory flat.
FOLDED_AT_ONCE = 20_000
_FINAL = ("task.registered", "claim.taken", "claim.released", "task.focused")
_JSON_CELLS = ("blockers", "depends_on", "detail", "metadata", "acceptance")


class Ledger(Base):
    """Operations on the history itself."""

    # --- undo -------------------------------------------------------------------------------------

    def task_undo(
        self,
        task_id: str | None = None,
        seq: int | None = None,
        *,
        reason: str | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Take back what an event changed: the last one, or the one named. Nothing is erased.

        What it set gets the values from before, what it added is marked as invalidated or dropped, and
        the undoing is itself an event that can be undone.
        """
        reason = self._text("reason", reason)
        target = self.store.read(lambda tx: self._undoable(tx, self._find(tx, task_id), seq))
        found = target["task_id"]
        before, _ = self._as_of(found, target["seq"] - 1)
        sets: dict[str, Any] = json.loads(target["sets"]) if target["sets"] else {}

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            return Draft(
                "undone",
                text=reason,
                data={"type": target["event_type"]},
                sets=_inverse(tx, before, head, target, sets),
                item=target["item_id"],
                ref=target["seq"],
            )

        return self._write("task_undo", found, decide, key=key, token=token, arguments=[seq, reason])

    def _undoable(self, tx: Tx, head: Row, seq: int | None) -> Row:
        if seq is not None:
            row = tx.event(head["task_id"], checks.whole("seq", seq, 1, 1 << 62))
            if row is None:
                raise NotFound(
                    "record_not_found",
                    f"Task {head['task_id']} has no event #{seq}.",
                    f"Its events are #1 to #{head['last_seq']}.",
                )
            if row["event_type"] in _FINAL:
                raise Conflict(
                    "not_undoable",
                    f"#{seq} ({row['event_type']}) cannot be undone.",
                    "Cancel the task, or release the claim, instead.",
                )
            if tx.thread(head["task_id"], 1, None, types=("undone",), refs=(seq,)):
                raise Conflict("not_undoable", f"#{seq} is undone already.", "Undo the undoing to redo it.")
            return row
        gone: set[int] = set()
        before = None
        while rows := tx.thread(head["task_id"], 100, before):
            for row in rows:
                if row["event_type"] == "undone":
                    gone.add(row["ref_seq"])
                elif row["seq"] not in gone and row["event_type"] not in _FINAL:
                    return row
            before = rows[-1]["seq"]
        raise NotFound("record_not_found", "There is nothing to undo.", "")

    # --- verify -----------------------------------------------------------------------------------

    def verify(self, task_id: str | None = None) -> VerifyReport:
        """Fold the events again and compare: hashes, numbering, every state row, and the file itself."""
        problems = self.store.check() if task_id is None else []
        tasks = events = folded = 0
        folder = scratch()
        for name in self._task_ids(task_id):
            if folded > FOLDED_AT_ONCE:
                folder, folded = scratch(), 0
            count, found = self._verify_task(folder, name)
            tasks += 1
            events += count
            folded += count
            problems += found
        if task_id is None:
            for table in STATE:
                for name, rows in self.store.read(lambda tx, t=table: tx.strays(t)):
                    problems.append(
                        Problem(
                            kind="stray",
                            task_id=name,
                            detail=f"{rows} rows of {table} without events",
                        )
                    )
        return VerifyReport(ok=not problems, tasks=tasks, events=events, problems=tuple(problems))

    def _task_ids(self, task_id: str | None) -> Iterator[str]:
        if task_id is not None:
            yield self.store.read(lambda tx: self._find(tx, task_id))["task_id"]
            return
        after = ""
        while names := self.store.read(lambda tx, a=after: tx.task_ids(a, PAGE)):
            yield from names
            after = names[-1]

    def _verify_task(self, folder: Tx, task_id: str) -> tuple[int, list[Problem]]:
        fold = _Fold(folder, task_id)
        while True:
            # The last page comes with the state that belongs to it, from one snapshot.
            def page(tx: Tx, after: int = fold.seq) -> tuple[list[Row], Row | None, dict[str, list[Row]]]:
                rows = _readable(tx, task_id, after)
                if len(rows) == PAGE:
                    return rows, None, {}
                return rows, tx.head(task_id), {t: tx.state_rows(t, task_id) for t in STATE}

            rows, head, state = self.store.read(page)
            if fold.seq == 0:
                root = head or self.store.read(lambda tx: tx.head(task_id)) or {}
                fold.start(root.get("root_id", task_id))
            for row in rows:
                fold.add(row)
            if len(rows) < PAGE:
                fold.compare(state)
                return fold.count, fold.problems

    # --- export and import ------------------------------------------------------------------------

    def events(self, task_id: str | None = None, *, after: int = 0) -> Iterator[Event]:
        """All events in the order of their writing, read in short pages."""
        for row in self._ledger(task_id, after):
            yield read_event(row)

    def _ledger(self, task_id: str | None, after: int = 0) -> Iterator[Row]:
        found = None
        if task_id is not None:
            found = self.store.read(lambda tx: self._find(tx, task_id))["task_id"]
        end = self.store.read(lambda tx: tx.last_position())
        while rows := self.store.read(lambda tx, a=after: tx.ledger(a, PAGE, found)):
            for row in rows:
                if row["id"] > end:
                    return
                yield row
            after = rows[-1]["id"]

    def export_events(self, path: str | os.PathLike[str], task_id: str | None = None) -> int:
        """Write the ledger as JSON Lines, nothing left out; returns the number of events."""
        target = _real(path)
        part = f"{target}.part"
        count = 0
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(checks.dumps(FORMAT) + "\n")
            for row in self._ledger(task_id):
                file.write(checks.dumps(_line(row)) + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        return count

    def import_events(self, path: str | os.PathLike[str]) -> ImportReport:
        """Bring in an export: what is known is skipped, what is new is added, nothing is overwritten.

        Where the two stores continued one task differently, the other side's history is kept whole, as
        a task of its own, and reported. The file is read through once before anything is written.
        """
        source = _real(path)
        for _ in _checked_lines(source):
            pass
        merge = _Merge()
        batch: list[tuple[int, Row, Origin]] = []

        def flush() -> None:
            if batch:
                self.store.write(lambda tx: merge.add_all(tx, batch))
                batch.clear()

        for entry in _checked_lines(source):
            batch.append(entry)
            if len(batch) == PAGE:
                flush()
        flush()
        return merge.report()

    # --- backup -----------------------------------------------------------------------------------

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store into a file while everyone goes on writing."""
        self.store.backup(os.fspath(path))

    def restore(self, path: str | os.PathLike[str]) -> str:
        """Put a backup in the place of this store; returns where a copy of what was there is kept."""
        return self.store.restore(os.fspath(path))


# --- undo -------------------------------------------------------------------------------------------


def _inverse(tx: Tx, before: Tx, head: Row, target: Row, sets: dict[str, Any]) -> dict[str, Any]:
    """What must be set so that the effect of `sets` is gone, if nothing later builds on it."""
    task_id, seq = head["task_id"], target["seq"]
    result: dict[str, Any] = {}
    for name, rows in sets.items():
        table = name.lstrip("+")
        if name in ("+labels", "+keys"):
            continue
        now = {_key(table, row): row for row in tx.state_rows(table, task_id)}
        then = {_key(table, row): row for row in before.state_rows(table, task_id)}
        if name == "+steps":
            dropped = {"status": "cancelled", "dropped_in": head["plan_version"]}
            result.setdefault("steps", {}).update(
                {item: dict(dropped) for item in rows if now[item]["dropped_in"] is None}
            )
        elif name == "+records":
            for number, row in rows.items():
                back = "active" if row["status"] == "invalidated" else "invalidated"
                result.setdefault("records", {})[number] = {"status": back}
        elif table in ("files", "links", "claims"):
            result[table] = _previous_rows(table, rows, now, then)
        else:
            single = table in ("heads", "extras")
            for number, row in {"": rows}.items() if single else rows.items():
                old = _previous_cells(table, number, row, now, then, seq)
                if single:
                    result.setdefault(table, {}).update(old)
                else:
                    result.setdefault(table, {}).setdefault(number, {}).update(old)
    if not sets:
        result["+records"] = {str(seq): {"type": "message", "status": "invalidated"}}
    return {name: rows for name, rows in result.items() if rows}


def _key(table: str, row: Row) -> str:
    return "\n".join(str(row[column]) for column in STATE[table][1])


def _previous_cells(
    table: str, number: str, row: Row, now: dict[str, Row], then: dict[str, Row], seq: int
) -> dict[str, Any]:
    old: dict[str, Any] = {}
    for column, value in row.items():
        if table == "heads" and column in KEPT:
            continue
        cell = checks.dumps(value) if isinstance(value, (list, dict)) else value
        if now[number][column] != cell:
            later = now[number].get("version")
            raise Conflict(
                "undo_conflict",
                f"{column} of {number or 'the task'} was changed again after #{seq}"
                + (f", by #{later}." if later else "."),
                "Undo the later event first, or set the value you want.",
                later=later,
            )
        previous = then[number][column]
        if column in _JSON_CELLS and isinstance(previous, str):
            previous = json.loads(previous)
        old[column] = previous
    return old


def _previous_rows(
    table: str, rows: list[Row], now: dict[str, Row], then: dict[str, Row]
) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for row in rows:
        number = _key(table, row)
        old = then.get(number)
        if old is None:
            old = (
                {**now[number], "change": "undone"}
                if table == "files"
                else {**now[number], "status": "removed"}
            )
        result.append({name: value for name, value in old.items() if name != "task_id"})
    return result


# --- verify -----------------------------------------------------------------------------------------


def _readable(tx: Tx, task_id: str, after: int) -> list[Row]:
    """A page of events; where a damaged one cannot even be read, it is named and the rest is read."""
    try:
        return tx.events(task_id, after, PAGE)
    except UnicodeDecodeError:
        rows: list[Row] = []
    head = tx.head(task_id)
    last = min(after + PAGE, head["last_seq"] if head else 0)
    for seq in range(after + 1, last + 1):
        try:
            found = tx.event(task_id, seq)
        except UnicodeDecodeError as error:
            found = {"seq": seq, "unreadable": str(error)}
        if found is not None:
            rows.append(found)
    return rows


class _Fold:
    """The state of one task, made again from its events, with what was wrong on the way."""

    def __init__(self, folder: Tx, task_id: str) -> None:
        self._task_id = task_id
        self._tx = folder
        self._head: Row = {}
        self.seq = 0
        self.count = 0
        self.problems: list[Problem] = []
        self._broken = False
        self._last: bytes | None = None

    def start(self, root_id: str) -> None:
        self._head = {"task_id": self._task_id, "root_id": root_id}
        self._last = first_link(root_id)

    def add(self, row: Row) -> None:
        self.count += 1
        seq = row["seq"]
        if seq != self.seq + 1:
            self._say("gap", seq, f"#{self.seq + 1} to #{seq - 1} are missing")
            self._broken = True
        self.seq = seq
        if "unreadable" in row:
            self._say("damaged", seq, row["unreadable"])
            self._broken, self._last = True, None
            return
        try:
            origin = read_origin(row)
            if origin_id(origin) != row["origin_id"]:
                self._say("origin", seq, "the origin is not the one that was stamped")
            if self._last is not None and event_hash(self._last, row) != row["hash"]:
                self._say("hash", seq, "the content is not what was written, or the chain is broken")
            self._last = row["hash"]
            if not self._broken:
                self._head["last_hash"] = self._head.get("last_hash", b"")
                self._tx.append(self._head, dict(row), origin)
                # Go on from what the store has, so that one bad event is one problem.
                self._head["last_hash"] = row["hash"]
        except Exception as error:  # noqa: BLE001 - a damaged row can fail anywhere; the report goes on
            self._say("damaged", seq, f"{type(error).__name__}: {error}")
            self._broken = True

    def compare(self, state: dict[str, list[Row]]) -> None:
        if self._broken or self.seq == 0:
            return
        for table, stored in state.items():
            key = STATE[table][1]
            folded = {_key(table, row): row for row in self._tx.state_rows(table, self._task_id)}
            present = {_key(table, row): row for row in stored}
            for name in folded.keys() | present.keys():
                ours, theirs = folded.get(name), present.get(name)
                if ours is None or theirs is None:
                    what = "missing" if theirs is None else "not in the ledger"
                    self._say("state", None, f"{table} {name or ''} is {what}".replace("\n", "/"))
                    continue
                for column in ours.keys() - set(key) - {"task_id"}:
                    if column == "last_hash":
                        ours = {**ours, "last_hash": self._last}
                    if ours[column] != theirs[column]:
                        self._say(
                            "state",
                            None,
                            f"{table} {name}: {column} is {theirs[column]!r:.80}, the events say "
                            f"{ours[column]!r:.80}".replace("\n", "/"),
                        )

    def _say(self, kind: str, seq: int | None, detail: str) -> None:
        self.problems.append(Problem(kind=kind, task_id=self._task_id, seq=seq, detail=detail))


# --- export and import ------------------------------------------------------------------------------


def _real(path: str | os.PathLike[str]) -> str:
    return os.path.realpath(path if isinstance(path, str) else path.__fspath__())


def _line(row: Row) -> dict[str, Any]:
    line: dict[str, Any] = {
        "task": row["task_id"],
        "root": row["root_id"] if row["root_id"] != row["task_id"] else None,
        "seq": row["seq"],
        "type": row["event_type"],
        "at": row["timestamp"],
        "item": row["item_id"],
        "ref": row["ref_seq"],
        "text": row["text"],
        "data": json.loads(row["data"]) if row["data"] != "{}" else None,
        "sets": json.loads(row["sets"]) if row["sets"] else None,
        "origin": {name: row[name] for name in ORIGINS if row[name]},
        "correlation": row["correlation_id"] or None,
        "hash": row["hash"].hex(),
        "forgotten": row["forgotten"].hex() if row["forgotten"] else None,
    }
    return {name: value for name, value in line.items() if value is not None}


def _checked_lines(path: str) -> Iterator[tuple[int, Row, Origin]]:
    """The events of an export with their line numbers, each checked; the first bad one raises."""
    last: dict[str, tuple[int, bytes]] = {}
    line: Any
    with open(path, encoding="utf-8", errors="strict") as file:
        number = 0
        try:
            for text in file:
                number += 1
                line = json.loads(text)
                if number == 1:
                    if not is_dict(line) or line.get("holdfast") != "events":
                        raise ValueError("this is no export of Holdfast")
                    if line.get("version") != FORMAT["version"]:
                        raise ValueError(f"this is version {line.get('version')!r} of the format")
                    continue
                row, origin = _row(line)
                name = row["task_id"]
                seq, before = last.get(name, (row["seq"] - 1, b""))
                if row["seq"] == 1:
                    before = first_link(row["root_id"])
                if row["seq"] != seq + 1:
                    raise ValueError(f"#{seq + 1} of task {name} is missing")
                if before and event_hash(before, row) != row["hash"]:
                    raise ValueError("the hash does not fit the content and the event before it")
                last[name] = row["seq"], row["hash"]
                yield number, row, origin
        except InvalidInput:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                "import_invalid",
                f"Line {number} of {path} is not an event: {error}.",
                "Export again. From this file nothing more was written.",
                line=number,
            ) from None


def _row(line: dict[str, Any]) -> tuple[Row, Origin]:
    task_id = str(line["task"])
    if rules.normal_id(task_id) != task_id or len(task_id) != rules.ID_LENGTH:
        raise ValueError(f"{task_id[:40]!r} is no task id")
    if not isinstance(line["seq"], int) or line["seq"] < 1:
        raise ValueError("seq must be a positive number")
    given: dict[str, Any] = {name: str(value) for name, value in line.get("origin", {}).items()}
    checks.word("channel", given.get("channel", "agent"), rules.CHANNELS)
    origin = Origin(**given)
    sets = line.get("sets")
    if sets is not None:
        check_sets(sets)
    row: Row = dict.fromkeys(EVENTS)
    row.update(
        task_id=task_id,
        root_id=str(line.get("root", task_id)),
        seq=line["seq"],
        event_type=str(line["type"]),
        timestamp=str(line["at"]),
        item_id=line.get("item"),
        ref_seq=line.get("ref"),
        text=line.get("text"),
        data=checks.dumps(line.get("data", {})),
        sets=None if sets is None else checks.dumps(sets),
        origin_id=origin_id(origin),
        correlation_id=line.get("correlation", ""),
        hash=bytes.fromhex(line["hash"]),
        forgotten=bytes.fromhex(line["forgotten"]) if line.get("forgotten") else None,
    )
    return row, origin


class _Merge:
    """Adds foreign events to a store, event by event, and remembers where they went."""

    def __init__(self) -> None:
        self._events = 0
        self._added = 0
        self._known = 0
        self._tasks: dict[str, None] = {}
        self._home: dict[str, str] = {}  # where the events of a foreign task go, once it has diverged
        self._conflicts: dict[str, Divergence] = {}

    def add_all(self, tx: Tx, batch: list[tuple[int, Row, Origin]]) -> None:
        heads: dict[str, Row] = {}
        for number, row, origin in batch:
            self._add(tx, heads, number, row, origin)

    def _add(self, tx: Tx, heads: dict[str, Row], number: int, row: Row, origin: Origin) -> None:
        self._events += 1
        foreign: str = row["task_id"]
        home = self._home.get(foreign, foreign)
        while True:
            head = heads.get(home) or tx.head(home, lock=True)
            if head is None:
                head = self._branch(tx, foreign, home, row)
            heads[home] = head
            last = head["last_seq"]
            if row["seq"] > last:
                if row["seq"] != last + 1:
                    raise InvalidInput(
                        "import_invalid",
                        f"Line {number}: task {home} ends at #{last} here; #{last + 1} is missing.",
                        "Export the whole task.",
                        line=number,
                    )
                self._append(tx, head, home, row, origin, number)
                self._added += 1
                self._tasks[home] = None
                return
            known = tx.event(home, row["seq"])
            if known is not None and known["hash"] == row["hash"]:
                self._known += 1
                return
            content = f"{home}\n{row['hash'].hex()}".encode()
            home = rules.make_id(blake2b(content, digest_size=rules.ID_LENGTH).digest())
            self._home[foreign] = home
            self._conflicts.setdefault(home, Divergence(task_id=foreign, seq=row["seq"], kept_as=home))

    def _branch(self, tx: Tx, foreign: str, home: str, row: Row) -> Row:
        """An empty task; for the other side of a conflict, with the history that both sides share."""
        head: Row = {"task_id": home, "root_id": row["root_id"], "last_seq": 0}
        if home != foreign:
            while head["last_seq"] < row["seq"] - 1:
                after = head["last_seq"]
                for shared in tx.events(foreign, after, PAGE, row["seq"] - 1):
                    event = {name: shared[name] for name in EVENTS}
                    tx.append(head, {**event, "task_id": home}, read_origin(shared))
        return head

    def _append(self, tx: Tx, head: Row, home: str, row: Row, origin: Origin, number: int) -> None:
        event = {name: row[name] for name in EVENTS}
        event["task_id"] = home
        tx.append(head, event, origin)
        if event["hash"] != row["hash"]:
            raise InvalidInput(
                "import_invalid",
                f"Line {number}: the hash does not fit the events before it.",
                "Export the whole task.",
                line=number,
            )

    def report(self) -> ImportReport:
        return ImportReport(
            events=self._events,
            added=self._added,
            known=self._known,
            tasks=tuple(self._tasks),
            conflicts=tuple(self._conflicts.values()),
        )
