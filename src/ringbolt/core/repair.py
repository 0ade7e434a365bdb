"""Salvage a damaged SQLite store: every event that can still be read and proven, written into a new store.

The pages of the old file are read one by one (`store.salvage`), so damage to indexes and pointers hides no
event. An event counts if its hash covers its content and the event before it. What the old file has lost may
still be in a backup, an export or a folder of a mirror, so these are read too. An event that no file has is
replaced by an event of type `lost`: all others keep their numbers, but the hashes after it are new. The old
file is only read.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..journal.event_files import Journal, make_folder
from ..journal.folders import store_path
from ..model.errors import InvalidInput, shown
from ..model.results import LostEvents, RepairReport
from ..model.types import Origin
from ..model.validate import dumps
from ..store.hashes import event_hash, first_link, origin_id
from ..store.imported_sets import check_sets
from ..store.salvage import Salvage
from ..store.schema import EVENTS, OWN_AGENT
from ..store.tx import Row, Tx
from .transfer import INVALID, PAGE, event_of_line
from .verify import Verify

LOST = "lost"  # the type of an event that stands for one that was lost
_OURS = Origin(agent=OWN_AGENT, channel="system")
# Whose words they were is lost: they count no more than those of an import.
_UNKNOWN = Origin(agent="unknown", channel="import")
_MISSING, _CHANGED = "no file has it any more", "its content was changed"
_MOST_GAP = 1_000_000  # events in a row; a larger number is damage itself


def repair(
    old: str, new: Verify, others: Sequence[str] = (), progress: Callable[[int, int], None] | None = None
) -> RepairReport:
    """Write every event of the damaged store `old` that can be proven into the empty store `new`.

    `others` are files or folders that may have what the store lost: backups, exports, mirrored folders.
    `progress` is called with the number of written events and the total.
    """
    path = store_path(old)
    if path is None or not os.path.isfile(path):
        raise InvalidInput(
            "invalid_argument", f"{shown(old, 400)} is not a file.", "Name the file of a SQLite store."
        )
    found = _Found()
    found.read_store(path, main=True)
    for other in (*_copies_beside(path), *others):
        found.read(other)
    tasks = [_Task(task_id, found) for task_id in found.tasks()]
    _write(new, tasks, progress)
    lost = [gap for task in tasks for gap in task.lost]
    if (newest := found.newest()) < (mark := _mark(path)):
        lost.append(
            LostEvents(
                task_id="",
                first=newest + 1,
                last=mark,
                why="they were committed, by their position in the store",
            )
        )
    verified = new.verify()
    elsewhere: dict[str, int] = {}
    for task in tasks:
        for source in task.sources:
            elsewhere[source] = elsewhere.get(source, 0) + 1
    unproven = sum(task.unproven for task in tasks)
    return RepairReport(
        ok=verified.ok and not lost and not unproven and not found.skipped,
        tasks=len(tasks),
        events=sum(len(task.events) for task in tasks),
        lost=tuple(lost),
        unproven=unproven,
        elsewhere=elsewhere,
        waiting=_copy_journal(path, new.store.url),
        skipped=tuple(found.skipped),
        verified=verified,
    )


# --- finding ----------------------------------------------------------------------------------------


class _Found:
    """Every version of every event that some file has."""

    def __init__(self) -> None:
        self.versions: dict[str, dict[int, list[Row]]] = {}
        self.last: dict[str, int] = {}  # the last event of each task, as its row says
        self.skipped: list[str] = []
        self._roots: dict[str, set[str]] = {}
        self._purged: set[str] = set()

    def read_store(self, path: str, *, main: bool = False) -> None:
        """Add what is in a store's file."""
        salvage = Salvage(path)
        try:
            for head in salvage.heads.values():
                self._roots.setdefault(head["task_id"], set()).add(head["root_id"])
                if main and head["last_seq"] < self.last.get(head["task_id"], 0) + _MOST_GAP:
                    self.last[head["task_id"]] = head["last_seq"]
            for row in salvage.events:
                author = salvage.origins.get(row["origin_id"])
                if author is not None and origin_id(Origin(**author)) != row["origin_id"]:  # pyright: ignore[reportArgumentType]
                    author = None
                self._add({**row, "author": author, "source": "" if main else path})
        finally:
            salvage.close()

    def read(self, path: str) -> None:
        """Add what is in a store, an export, or the exports below a folder."""
        if os.path.isdir(path):
            for folder, _, names in os.walk(path):
                for name in sorted(names):
                    if name.endswith(".jsonl"):
                        self._read_export(os.path.join(folder, name))
        elif path.endswith(".jsonl"):
            self._read_export(path)
        elif os.path.isfile(path):
            self.read_store(path)
        else:
            self.skipped.append(f"{path}: there is no such file")

    def _read_export(self, path: str) -> None:
        with open(path, "rb") as file:
            for raw in file:
                try:
                    line: Any = json.loads(raw)
                    if "seq" in line:
                        row, origin = event_of_line(line)
                        self._roots.setdefault(row["task_id"], set()).add(row["root_id"])
                        self._add({**row, "id": None, "author": _author(origin), "source": path})
                except INVALID:
                    continue  # a damaged line, or the log of something else

    def _add(self, row: Row) -> None:
        known = self.versions.setdefault(row["task_id"], {}).setdefault(row["seq"], [])
        if row not in known:
            # A tombstone before the content that was forgotten, which may still be on a free page.
            known.insert(0 if row["forgotten"] is not None else len(known), row)
        if row["event_type"] == "purged" and isinstance(name := _purged_task(row), str):
            self._purged.add(name)

    def tasks(self) -> list[str]:
        """The tasks that any file has, except purged ones."""
        return [name for name in self.versions if name not in self._purged]

    def newest(self) -> int:
        """The highest position of an event of the damaged store."""
        rows = (row for task in self.versions.values() for rows in task.values() for row in rows)
        return max((row["id"] for row in rows if row["source"] == "" and row["id"] is not None), default=0)

    def root_of(self, task_id: str) -> str:
        """What the hash chain of a task begins with: its own id, except for the other side of a conflict."""
        first = self.versions[task_id].get(1, ())
        candidates = [task_id, *sorted(self._roots.get(task_id, ())), *self.versions]
        proven = (
            root for root in candidates for row in first if event_hash(first_link(root), row) == row["hash"]
        )
        return next(proven, candidates[1] if len(self._roots.get(task_id, ())) == 1 else task_id)


def _author(origin: Origin) -> dict[str, str]:
    return {name: getattr(origin, name) for name in ("principal", "agent", "channel", "session", "claimed")}


def _purged_task(row: Row) -> object:
    try:
        return json.loads(row["data"]).get("task")
    except (ValueError, AttributeError):
        return None


# --- choosing ---------------------------------------------------------------------------------------


class _Task:
    """The events of one task as they go into the new store."""

    def __init__(self, task_id: str, found: _Found) -> None:
        self.task_id = task_id
        self.root_id = found.root_of(task_id)
        self.events: list[tuple[Row, Origin]] = []
        self.lost: list[LostEvents] = []
        self.sources: list[str] = []
        self.unproven = 0
        versions = found.versions[task_id]
        last = max(versions)
        self._choose(versions, last)
        if (end := found.last.get(task_id, 0)) > last:
            self.lost.append(LostEvents(task_id=task_id, first=last + 1, last=end, why=_MISSING))

    def _choose(self, versions: dict[int, list[Row]], last: int) -> None:
        link: bytes | None = first_link(self.root_id)
        gone: list[tuple[int, str]] = []
        for seq in range(1, last + 1):
            rows = versions.get(seq, [])
            row = next(
                (row for row in rows if link is not None and event_hash(link, row) == row["hash"]), None
            )
            if row is None and rows and link is None:  # the event before it is lost, so nothing proves it
                row = next(filter(_is_sound, rows), None)
                self.unproven += row is not None
            if row is not None:
                self._take(row)
                link = row["hash"]
                continue
            gone.append((seq, _CHANGED if rows else _MISSING))
            self._take_place(seq, gone[-1][1], versions)
            link = next((row["hash"] for row in rows if _goes_on(row, versions.get(seq + 1, ()))), None)
        numbered = enumerate(gone)
        for (_, why), group in groupby(numbered, key=lambda item: (item[1][0] - item[0], item[1][1])):
            seqs = [seq for _, (seq, _) in group]
            self.lost.append(LostEvents(task_id=self.task_id, first=seqs[0], last=seqs[-1], why=why))

    def _take(self, row: Row) -> None:
        if row["author"] is None:
            self.unproven += 1
        if row["source"]:
            self.sources.append(row["source"])
        origin = _UNKNOWN if row["author"] is None else Origin(**row["author"])
        event = {name: row[name] for name in EVENTS}
        self.events.append(({**event, "origin_id": origin_id(origin), "id": row["id"]}, origin))

    def _take_place(self, seq: int, why: str, versions: dict[int, list[Row]]) -> None:
        self.events.append((_placeholder(self.task_id, seq, why, _time_near(versions, seq)), _OURS))


def _goes_on(row: Row, following: Iterable[Row]) -> bool:
    """Whether the hash of an event is right, although its content is not: the next event's covers it."""
    return any(event_hash(row["hash"], after) == after["hash"] for after in following)


def _is_sound(row: Row) -> bool:
    """Whether an unproven event can be folded."""
    try:
        json.loads(row["data"])
        if row["sets"]:
            check_sets(json.loads(row["sets"]), row["seq"])
    except INVALID:
        return False
    return row["seq"] > 1 or bool(row["sets"])


def _time_near(versions: dict[int, list[Row]], seq: int) -> str:
    """The time of the next event that is left, or of the last one."""
    later = min((number for number in versions if number > seq), default=max(versions))
    return str(versions[later][0]["timestamp"])


def _placeholder(task_id: str, seq: int, why: str, at: str) -> Row:
    """An event that stands for a lost one; in the place of the first it registers the task."""
    begin = {
        "heads": {
            "kind": "task",
            "name": f"Recovered task {task_id}",
            "status": "active",
            "phase": "received",
        },
        "+extras": {},
    }
    row: Row = dict.fromkeys(EVENTS)
    row.update(
        task_id=task_id,
        seq=seq,
        event_type="task.registered" if seq == 1 else LOST,
        timestamp=at,
        data=dumps({"lost": why}),
        sets=dumps(begin) if seq == 1 else None,
        origin_id=origin_id(_OURS),
        correlation_id="",
        id=None,
    )
    return row


# --- writing ----------------------------------------------------------------------------------------


def _write(new: Verify, tasks: Sequence[_Task], progress: Callable[[int, int], None] | None) -> None:
    """Fold the events into the new store, in the order of the old one."""
    events = list(_in_order(tasks))
    heads: dict[str, Row] = {
        task.task_id: {"task_id": task.task_id, "root_id": task.root_id, "last_seq": 0} for task in tasks
    }
    for begin in range(0, len(events), PAGE):
        page = events[begin : begin + PAGE]
        touched = {row["task_id"]: heads[row["task_id"]] for row, _ in page}
        heads |= new.store.write(lambda tx, page=page, touched=touched: _fold_page(tx, touched, page))
        if progress is not None:
            progress(begin + len(page), len(events))


def _fold_page(tx: Tx, heads: Mapping[str, Row], page: Sequence[tuple[Row, Origin]]) -> dict[str, Row]:
    """Fold events in one transaction; returns the rows of their tasks afterwards."""
    own = {name: dict(head) for name, head in heads.items()}
    for row, origin in page:
        _fold(tx, own[row["task_id"]], row, origin)
    return own


def _fold(tx: Tx, head: Row, row: Row, origin: Origin) -> None:
    event = {name: row[name] for name in EVENTS}
    trial = dict(head)
    error = tx.database.nested(lambda: _void(tx.fold(trial, dict(event), origin)))
    if error is None:
        head.update(trial)
    else:  # it builds on something that is lost
        why = f"it could not be applied: {error}"
        tx.fold(head, _placeholder(row["task_id"], row["seq"], why[:500], row["timestamp"]), _OURS)


def _void(_: object) -> None:
    """Drop a result."""


def _in_order(tasks: Sequence[_Task]) -> Iterator[tuple[Row, Origin]]:
    """All events by their position in the old store; one without a position follows the event before it."""
    placed: list[tuple[int, str, int, tuple[Row, Origin]]] = []
    for task in tasks:
        place = 0
        for row, origin in task.events:
            place = max(place, row["id"] or 0)
            placed.append((place, task.task_id, row["seq"], (row, origin)))
    placed.sort(key=lambda item: item[:3])
    return (item[3] for item in placed)


# --- beside the store -------------------------------------------------------------------------------


def _copies_beside(path: str) -> list[str]:
    """The copies of the store that `restore` left beside it."""
    folder, name = os.path.split(path)
    return [
        os.path.join(folder, copy)
        for copy in sorted(os.listdir(folder))
        if copy.startswith(f"{name}.before-restore")
    ]


def _mark(path: str) -> int:
    """The position of the newest event that was ever committed, as the lock file says; 0 if it does not."""
    try:
        with open(f"{path}.lock", "rb") as file:
            words = file.read(64).split()
    except OSError:
        return 0
    return int(words[1]) if len(words) == 2 and words[1].isdigit() else 0


def _copy_journal(old: str, new: str) -> int:
    """Copy the events of hooks that wait beside the old store; returns how many."""
    waiting = Journal.of(old).waiting()
    target = Journal.of(new).folders[0]
    for file in waiting:
        folder = make_folder(target, "new")
        shutil.copyfile(file.path, os.path.join(folder, file.name))
    return len(waiting)
