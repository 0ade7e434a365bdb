"""Verify: fold the events again and compare the result with the stored state."""

from __future__ import annotations

from ..ledger.base import Base
from ..ledger.values import read_origin
from ..model.errors import StoreError
from ..model.operation import operation
from ..model.results import Problem, VerifyReport
from ..model.types import Origin
from ..store.folding import Folder
from ..store.forgetting import replace_past
from ..store.hashes import event_hash, first_link, origin_id
from ..store.schema import ORIGINS, STATE, row_key
from ..store.tombstones import carries_content
from ..store.tx import Row, Tx

PAGE = 1000
Past = dict[str, Row]
# After this many events `verify` starts a new scratch ledger, to keep memory flat.
FOLDED_AT_ONCE = 20_000


class Verify(Base):
    """The verify operation."""

    @operation(scope="read", whole_store=True)
    def verify(self, task_id: str | None = None) -> VerifyReport:
        """Replay the events and check hashes, numbering, every row of state, and the file itself.

        Rows that only time travel reads are rebuilt if they are wrong, which is reported as a problem of kind
        `past` once.

        Args:
            task_id: Only this task. Default: all tasks.
        """
        problems = self.store.check() if task_id is None else []
        tasks = events = folded = 0
        folder = Folder()
        names = self._task_ids(task_id)
        for name in names:
            if folded > FOLDED_AT_ONCE:
                folder, folded = Folder(), 0
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

    def _verify_task(self, folder: Folder, task_id: str) -> tuple[int, list[Problem]]:
        fold = _Fold(folder, task_id)
        while True:
            # The last page is read with the state in one snapshot, so that they belong together.
            def page(
                tx: Tx, after: int = fold.seq
            ) -> tuple[list[Row], Row | None, dict[str, list[Row]], Past]:
                rows = _readable(tx, task_id, after)
                if len(rows) == PAGE:
                    return rows, None, {}, {}
                state = {table: tx.state_rows(table, task_id) for table in STATE}
                return rows, tx.head(task_id), state, tx.past_rows(task_id)

            rows, head, state, past = self.store.read(page)
            if fold.seq == 0:
                root = head or self.store.read(lambda tx: tx.head(task_id)) or {}
                fold.start(root.get("root_id", task_id))
            for row in rows:
                fold.add(row)
            if len(rows) < PAGE:
                fold.compare(state)
                if (wrong := fold.wrong_past(past)) and not fold.problems:
                    self._rebuild_past(folder, fold, wrong)
                folder.drop(task_id)
                return fold.count, fold.problems

    def _rebuild_past(self, folder: Folder, fold: _Fold, wrong: int) -> None:
        """Replace the earlier rows of a task, unless it got another event in the meantime."""

        def work(tx: Tx) -> bool:
            head = tx.head(fold.task_id, lock=True)
            if head is None or head["last_seq"] != fold.seq:
                return False
            replace_past(tx, folder, fold.task_id)
            return True

        try:
            state = "they were rebuilt" if self.store.write(work) else "verify again to rebuild them"
        except StoreError as error:
            state = f"they could not be rebuilt: {error.message}"
        fold.report("past", None, f"{wrong} earlier rows were wrong or missing; {state}")


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

    def __init__(self, folder: Folder, task_id: str) -> None:
        self.task_id = task_id
        self._tx = folder
        self._head: Row = {}
        self.seq = 0
        self.count = 0
        self.problems: list[Problem] = []
        self._broken = False
        self._last: bytes | None = None
        self._origins: dict[tuple[str, ...], tuple[Origin, int]] = {}

    def start(self, root_id: str) -> None:
        self._head = {"task_id": self.task_id, "root_id": root_id}
        self._last = first_link(root_id)

    def add(self, row: Row) -> None:
        self.count += 1
        seq = row["seq"]
        if seq != self.seq + 1:
            self.report("gap", seq, f"#{self.seq + 1} to #{seq - 1} are missing")
            self._broken = True
        self.seq = seq
        if "unreadable" in row:
            self.report("damaged", seq, row["unreadable"])
            self._broken, self._last = True, None
            return
        try:
            origin, number = self._origin(row)
            if number != row["origin_id"]:
                self.report("origin", seq, "the origin does not match its id")
            if row["forgotten"] and carries_content(row):
                self.report("forged", seq, "it is marked as forgotten but has content")
            if self._last is not None and event_hash(self._last, row) != row["hash"]:
                self.report("hash", seq, "the content was changed, or the hash chain is broken")
            self._last = row["hash"]
            if not self._broken:
                self._tx.fold(self._head, row, origin)
        except Exception as error:  # noqa: BLE001 - a damaged row can fail anywhere; the report goes on
            self.report("damaged", seq, f"{type(error).__name__}: {error}")
            self._broken = True

    def _origin(self, row: Row) -> tuple[Origin, int]:
        """The origin of an event and its id; a task has few different ones."""
        names = tuple(row[name] for name in ORIGINS)
        if names not in self._origins:
            origin = read_origin(row)
            self._origins[names] = origin, origin_id(origin)
        return self._origins[names]

    def wrong_past(self, stored: Past) -> int:
        """How many earlier rows differ from those that the events say."""
        if self._broken or self.seq == 0:
            return 0
        folded = self._tx.past_rows(self.task_id)
        return sum(folded.get(name) != stored.get(name) for name in folded.keys() | stored.keys())

    def compare(self, state: dict[str, list[Row]]) -> None:
        if self._broken or self.seq == 0:
            return
        for table, stored in state.items():
            key = STATE[table][1]
            folded = {row_key(table, row): row for row in self._tx.state_rows(table, self.task_id)}
            present = {row_key(table, row): row for row in stored}
            for name in folded.keys() | present.keys():
                ours, theirs = folded.get(name), present.get(name)
                if ours is None or theirs is None:
                    what = "missing" if theirs is None else "not in the ledger"
                    self.report("state", None, f"{table} {name or ''} is {what}".replace("\n", "/"))
                    continue
                for column in ours.keys() - set(key) - {"task_id"}:
                    if ours[column] != theirs[column]:
                        self.report(
                            "state",
                            None,
                            f"{table} {name}: {column} is {theirs[column]!r:.80}, the events say "
                            f"{ours[column]!r:.80}".replace("\n", "/"),
                        )

    def report(self, kind: str, seq: int | None, detail: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(kind=kind, task_id=self.task_id, seq=seq, detail=detail))
