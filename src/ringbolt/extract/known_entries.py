"""What a task already knows, and how far that is trusted: nothing is written twice, or by the wrong one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..model import rules
from ..store.tx import Row, Tx
from . import queries

AGENT = "ringbolt"  # who writes what is inferred
LATEST = ("variable", "context")  # of these the latest counts
FAILURES = ("exclusion", "error")
MOST = 20_000


def names_of(kind: str, key: str | None, text: str) -> tuple[str, str]:
    """What an entry is recognised by: its type with its key (else its words), and its words alone."""
    plain = " ".join(text.lower().split()).strip(".:;!,")
    return f"{kind}\0{key}" if key else f"{kind}\0\0{plain}", f"\0{plain}"


class KnownEntries:
    """The entries of a task, by what they are recognised by, up to an event."""

    def __init__(self, task_id: str, again: bool) -> None:
        self._task_id = task_id
        # Looked at once more, what was settled or replaced is known, too; else it may have come back.
        self._blocking = tuple(rules.ENTRY_TRANSITIONS) if again else ("active", "invalidated")
        self._until = 0
        self._rows: dict[str, Row] = {}
        self._own: set[str] = set()

    def copy(self) -> KnownEntries:
        """The same, for another transaction."""
        again = KnownEntries.__new__(KnownEntries)
        again.__dict__.update(self.__dict__, _rows=dict(self._rows), _own=set[str]())
        return again

    def read(self, tx: Tx, until: int) -> None:
        """Add the entries that came since the last time."""
        if until <= self._until:
            return
        found: dict[str, Row] = {}
        for row in queries.entries(tx, self._task_id, self._until, self._blocking, MOST):
            row["names"] = names_of(row["type"], row["key"], row.pop("text") or "")
            for name in row["names"]:
                found.setdefault(name, row)
        self._rows.update(found)
        self._until = until

    def has(self, kind: str, names: Sequence[str]) -> bool:
        """Whether an entry must not be written: it is there, was called wrong, or was just written."""
        if kind in LATEST and (row := self.active(names[0])):
            return row["names"] == names  # another value is news
        if names[0] in self._own or self._blocks(names[0]):
            return True
        # One attempt may fail for several reasons: by its words alone only what others wrote is the same.
        others_only = kind in FAILURES
        return any(
            (name in self._own and not others_only)
            or (self._blocks(name) and not (others_only and self._rows[name].get("agent") == AGENT))
            for name in names[1:]
        )

    def _blocks(self, name: str) -> bool:
        return name in self._rows and self._rows[name]["status"] in self._blocking

    def active(self, name: str) -> Row | None:
        """The active entry that is recognised by this."""
        row = self._rows.get(name)
        return row if row and row["status"] == "active" else None

    def asked(self, still_open: Collection[str]) -> Iterator[Row]:
        """The questions that were found and are open no more."""
        for row in list({id(row): row for row in self._rows.values()}.values()):
            ours = row["type"] == "question" and row["agent"] == AGENT and row["status"] == "active"
            if ours and row["names"][0] not in still_open:
                yield row

    def add(self, names: Sequence[str], row: Row) -> None:
        """An entry that was just written."""
        own = {**row, "names": names, "status": "active", "agent": AGENT}
        self._rows.update((name, own) for name in names)
        self._own.update(names)

    def change(self, row: Row, status: str) -> None:
        """An entry that has just got another status."""
        changed = {**row, "status": status}
        self._rows.update({name: changed for name in row["names"] if self._rows.get(name) is row})
