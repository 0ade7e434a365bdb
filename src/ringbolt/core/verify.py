"""Verify: fold the events again and compare the result with the stored state."""

from __future__ import annotations

from ..ledger.base import Base
from ..ledger.values import read_origin
from ..model.operation import operation
from ..model.results import Problem, VerifyReport
from ..store import scratch
from ..store.hashes import event_hash, first_link, origin_id
from ..store.schema import STATE, row_key
from ..store.tombstones import carries_content
from ..store.tx import Row, Tx

PAGE = 1000
# After this many events `verify` starts a new scratch ledger, to keep memory flat.
FOLDED_AT_ONCE = 20_000


class Verify(Base):
    """The verify operation."""

    @operation(scope="read")
    def verify(self, task_id: str | None = None) -> VerifyReport:
        """Replay the events and check hashes, numbering, every row of state, and the file itself.

        Args:
            task_id: Only this task. Default: all tasks.
        """
        problems = self.store.check() if task_id is None else []
        tasks = events = folded = 0
        folder = scratch()
        names = self._task_ids(task_id)
        for name in names:
            if folded > FOLDED_AT_ONCE:
                folder, folded = scratch(), 0
            count, own_problems = self._verify_task(folder, name)
            tasks += 1
            events += count
            folded += count
            problems += own_problems
            if self.progress is not None:
                self.progress(tasks, len(names))
        if task_id is None:
            for table in STATE:
                for name, rows in self.store.read(lambda tx, t=table: tx.rows_without_events(t)):
                    problems.append(
                        Problem(kind="stray", task_id=name, detail=f"{rows} rows of {table} without events")
                    )
        return VerifyReport(ok=not problems, tasks=tasks, events=events, problems=tuple(problems))

    def _verify_task(self, folder: Tx, task_id: str) -> tuple[int, list[Problem]]:
        fold = _Fold(folder, task_id)
        while True:
            # The last page is read with the state in one snapshot, so that they belong together.
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


def _readable(tx: Tx, task_id: str, after: int) -> list[Row]:
    """A page of events; an event that is too damaged to read becomes a row with `unreadable`."""
    try:
        return tx.events(task_id, after, PAGE)
    except UnicodeDecodeError:
        rows: list[Row] = []
    head = tx.head(task_id)
    last = min(after + PAGE, head["last_seq"] if head else 0)
    for seq in range(after + 1, last + 1):
        try:
            row = tx.event(task_id, seq)
        except UnicodeDecodeError as error:
            row = {"seq": seq, "unreadable": str(error)}
        if row is not None:
            rows.append(row)
    return rows


class _Fold:
    """The state of one task, folded from its events, and the problems found on the way."""

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
            self._report("gap", seq, f"#{self.seq + 1} to #{seq - 1} are missing")
            self._broken = True
        self.seq = seq
        if "unreadable" in row:
            self._report("damaged", seq, row["unreadable"])
            self._broken, self._last = True, None
            return
        try:
            origin = read_origin(row)
            if origin_id(origin) != row["origin_id"]:
                self._report("origin", seq, "the origin does not match its id")
            if row["forgotten"] and carries_content(row):
                self._report("forged", seq, "it is marked as forgotten but has content")
            if self._last is not None and event_hash(self._last, row) != row["hash"]:
                self._report("hash", seq, "the content was changed, or the hash chain is broken")
            self._last = row["hash"]
            if not self._broken:
                self._head["last_hash"] = self._head.get("last_hash", b"")
                self._tx.fold(self._head, dict(row), origin)
                # Continue from the stored hash, so that one bad event is one problem.
                self._head["last_hash"] = row["hash"]
        except Exception as error:  # noqa: BLE001 - a damaged row can fail anywhere; the report goes on
            self._report("damaged", seq, f"{type(error).__name__}: {error}")
            self._broken = True

    def compare(self, state: dict[str, list[Row]]) -> None:
        if self._broken or self.seq == 0:
            return
        for table, stored in state.items():
            key = STATE[table][1]
            folded = {row_key(table, row): row for row in self._tx.state_rows(table, self._task_id)}
            present = {row_key(table, row): row for row in stored}
            for name in folded.keys() | present.keys():
                ours, theirs = folded.get(name), present.get(name)
                if ours is None or theirs is None:
                    what = "missing" if theirs is None else "not in the ledger"
                    self._report("state", None, f"{table} {name or ''} is {what}".replace("\n", "/"))
                    continue
                for column in ours.keys() - set(key) - {"task_id"}:
                    if column == "last_hash":
                        ours = {**ours, "last_hash": self._last}
                    if ours[column] != theirs[column]:
                        self._report(
                            "state",
                            None,
                            f"{table} {name}: {column} is {theirs[column]!r:.80}, the events say "
                            f"{ours[column]!r:.80}".replace("\n", "/"),
                        )

    def _report(self, kind: str, seq: int | None, detail: str) -> None:
        self.problems.append(Problem(kind=kind, task_id=self._task_id, seq=seq, detail=detail))
