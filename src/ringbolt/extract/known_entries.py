"""The entries that a task has already, so that extraction writes nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy

from ..ledger.trust import AGENT
from ..model import rules
from ..store.tx import Row, Tx
from . import queries

LATEST = ("variable", "context")  # only the latest entry of these types counts
FAILURES = ("exclusion", "error")
BLOCKER = "blocker "  # how the keys of inferred blockers begin
MODEL_BLOCKER = "model blocker "  # and of those that a model found
MOST = 20_000


def names_of(kind: str, key: str | None, text: str) -> tuple[str, str]:
    """The names an entry is recognised by: its type with its key (or its words), and its words alone."""
    plain = " ".join(text.lower().split()).strip(".:;!,")
    return f"{kind}\0{key}" if key else f"{kind}\0\0{plain}", f"\0{plain}"


class KnownEntries:
    """The entries of a task up to an event, by the names they are recognised by."""

    def __init__(self, task_id: str, again: bool) -> None:
        self._task_id = task_id
        # When a step is read again, settled and replaced entries count as known; otherwise they may return.
        self._blocking = tuple(rules.ENTRY_TRANSITIONS) if again else ("active", "invalidated")
        self._until = 0
        self._rows: dict[str, Row] = {}
        self._own: set[str] = set()

    def copy(self) -> KnownEntries:
        """A copy for another transaction."""
        again = copy(self)
        again._rows, again._own = dict(self._rows), set()
        return again

    def read(self, tx: Tx, until: int) -> None:
        """Add the entries written since the last call."""
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
        """Whether an entry must not be written because it exists, was invalidated, or was just written."""
        if kind in LATEST and (row := self.active(names[0])):
            return row["names"] == names  # another value is new
        if names[0] in self._own or self._blocks(names[0]):
            return True
        # One attempt may fail for several reasons, so equal words alone match only what others wrote.
        others_only = kind in FAILURES
        return any(
            (name in self._own and not others_only)
            or (self._blocks(name) and not (others_only and self._rows[name].get("agent") == AGENT))
            for name in names[1:]
        )

    def _blocks(self, name: str) -> bool:
        return name in self._rows and self._rows[name]["status"] in self._blocking

    def active(self, name: str) -> Row | None:
        """The active entry with this name."""
        row = self._rows.get(name)
        return row if row and row["status"] == "active" else None

    def asked(self, still_open: Collection[str], user_spoke: bool) -> Iterator[Row]:
        """The questions and blockers that extraction found and that are no longer open.

        The blockers that a model found end when the user has spoken; if one is left, the model will find it
        again.
        """
        ending = (BLOCKER, MODEL_BLOCKER) if user_spoke else (BLOCKER,)
        for row in list({id(row): row for row in self._rows.values()}.values()):
            blocks = row["type"] == "context" and str(row.get("key") or "").startswith(ending)
            ours = (
                row["agent"] == AGENT and row["status"] == "active" and (blocks or row["type"] == "question")
            )
            if ours and row["names"][0] not in still_open:
                yield row

    def add(self, names: Sequence[str], row: Row) -> None:
        """Add an entry that was just written."""
        own = {**row, "names": names, "status": "active", "agent": AGENT}
        self._rows.update((name, own) for name in names)
        self._own.update(names)

    def change(self, row: Row, status: str) -> None:
        """Note the new status of an entry."""
        changed = {**row, "status": status}
        self._rows.update({name: changed for name in row["names"] if self._rows.get(name) is row})
