"""Operations on folders: export a task in the formats of other projects, and import their folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from ..core.tasks import Tasks
from ..core.transfer import Transfer
from ..ledger.one_transaction import OneTransaction
from ..ledger.values import read_event
from ..model import validate
from ..model.operation import operation
from ..model.results import Divergence, FolderExport, FolderImport
from ..model.rules import ENTRY_TRANSITIONS
from ..model.types import Entry, Event, Task
from ..store.tx import Row, Tx
from ..system.files import FileErrors
from .arrival import Arrival
from .bank_folder import bank_folders, bank_texts, bring_bank, read_bank, write_bank
from .states import FIELDS
from .states_folder import bring_states, read_states, states_texts, write_states

MOST_ENTRIES = 20_000  # of each type; a folder for people should not hold more


class Folders(Tasks, Transfer):
    """The operations that write and read folders."""

    @operation(scope="read", tools="none", http=False, example={"folder": "memory"})
    def export_bank(self, folder: str | os.PathLike[str], task_id: str | None = None) -> FolderExport:
        """Write a task as a folder `<folder>/<task id>/`: metadata, plans, execution log, answer, contexts,
        ledger.

        Each file is replaced as a whole, the metadata last: it lists the other files with their digests.
        Edited files are kept under another name. A new folder inside a git work tree is kept out of git.

        Args:
            folder: The folder to write below. It is created if needed.
            task_id: Task id or a unique prefix; default: the current task.
        """
        root = validate.path("the folder", folder)
        task = self.task_get(task_id)
        with FileErrors(root):
            return write_bank(root, task, *self._history(task))

    def _bank_texts(self, task_id: str) -> dict[str, str]:
        """The files of a bank folder as texts, for a mirror."""
        task = self.task_get(task_id)
        return bank_texts(task, *self._history(task))

    def _history(self, task: Task) -> tuple[Iterator[Row], Callable[[int], Event | None]]:
        def find(seq: int) -> Event | None:
            row = self.store.read(lambda tx: tx.event(task.id, seq))
            return None if row is None else read_event(row)

        return self._signed(self._ledger(task.id, until=task.seq)), find

    @operation(scope="write", tools="none", http=False, repeatable=True, example={"folder": "memory"})
    def import_bank(self, folder: str | os.PathLike[str]) -> FolderImport:
        """Import the folder of a task, or all task folders in a folder; nothing is added twice.

        A folder that Ringbolt wrote is restored event by event, with its id and hashes. A folder of another
        project becomes a new task, in one transaction; its own times are kept in the data of the events.

        Args:
            folder: The folder of a task, or one with several of them.
        """
        root = validate.path("the folder", folder)
        totals = _ImportTotals()
        with FileErrors(root):
            for path in bank_folders(root):
                bank = read_bank(path, self.settings)
                totals.warn(path, bank.warnings)
                if bank.ledger:
                    only = bank.own.get("id")
                    only = only if isinstance(only, str) else None
                    report = self._import(bank.source.path("events.jsonl"), root=path, only=only)
                    conflicts = {conflict.task_id: conflict.kept_as for conflict in report.conflicts}
                    names = report.tasks or ((conflicts.get(only, only),) if only is not None else ())
                    totals.add(names, report.added, report.known, report.conflicts)
                    continue
                task_id, added, warnings = self._commit(
                    lambda tx, b=bank: bring_bank(self._arriving(tx), tx, b),
                    settles=True,
                    tasks=lambda result: (result[0],),
                )
                totals.warn(path, warnings)
                known = 0 if added else self.task_get(task_id).seq
                totals.add((task_id,), added, known)
        return totals.report()

    @operation(scope="read", tools="none", http=False, example={"folder": "memory"})
    def export_states(self, folder: str | os.PathLike[str], task_id: str | None = None) -> FolderExport:
        """Write a task as the files of a states folder: state, decisions, context map.

        It becomes the active task of the folder. Edited files are kept under another name.

        Args:
            folder: The folder to write to. It is created if needed.
            task_id: Task id or a unique prefix; default: the current task.
        """
        root = validate.path("the folder", folder)
        task, entries = self._noted(task_id)
        with FileErrors(root):
            return write_states(root, task, entries)

    def _states_texts(self, task_id: str) -> dict[str, str]:
        """The files of a task in a states folder as texts, for a mirror."""
        return states_texts(*self._noted(task_id))

    def _noted(self, task_id: str | None) -> tuple[Task, dict[str, tuple[Entry, ...]]]:
        def work(tx: Tx) -> tuple[Task, dict[str, tuple[Entry, ...]]]:
            task = self._read(tx, task_id)
            statuses = {**dict.fromkeys(FIELDS, tuple(ENTRY_TRANSITIONS)), "variable": ("active",)}
            return task, {
                kind: self._entries(tx, task.id, kind, wanted, MOST_ENTRIES)
                for kind, wanted in statuses.items()
            }

        return self.store.read(work)

    @operation(scope="write", tools="none", http=False, repeatable=True, example={"folder": "memory"})
    def import_states(self, folder: str | os.PathLike[str]) -> FolderImport:
        """Import the tasks of a states folder; nothing is added twice.

        An unknown task becomes a new one, in one transaction. A task that exists, or was imported from these
        files before, gets the decisions and exclusions that it lacks; other differences are reported and not
        written.

        Args:
            folder: A states folder.
        """
        root = validate.path("the folder", folder)
        totals = _ImportTotals()
        active = None
        with FileErrors(root):
            for files in read_states(root, self.settings):
                totals.warn(root, files.warnings)
                task_id, added, known, warnings = self._commit(
                    lambda tx, f=files: bring_states(self._arriving(tx), tx, f),
                    settles=True,
                    tasks=lambda result: (result[0],),
                )
                totals.warn(root, warnings)
                totals.add((task_id,), added, known)
                active = task_id if files.active else active
        return totals.report(active)

    def _arriving(self, tx: Tx) -> Arrival:
        """A memory within a transaction that writes as an import, without a session."""
        store: Any = OneTransaction(tx, self.store)
        return Arrival(
            store,
            self.settings,
            origin=self.origin.replace(channel="import", session=""),
            workspace=self.workspace,
            repository=self.repository,
            correlation=self._correlation,
            clock=self._clock,
            random=self._random,
        )


class _ImportTotals:
    """The totals of an import of several folders."""

    def __init__(self) -> None:
        self._tasks: dict[str, None] = {}
        self._added = self._known = 0
        self._conflicts: list[Divergence] = []
        self._warnings: list[str] = []

    def warn(self, path: str, warnings: Any) -> None:
        self._warnings += [f"{path}: {warning}." for warning in warnings]

    def add(self, tasks: Any, added: int, known: int, conflicts: Any = ()) -> None:
        self._tasks.update(dict.fromkeys(tasks))
        self._added += added
        self._known += known
        self._conflicts += conflicts

    def report(self, active: str | None = None) -> FolderImport:
        return FolderImport(
            tasks=tuple(self._tasks),
            active=active,
            added=self._added,
            known=self._known,
            conflicts=tuple(self._conflicts),
            warnings=tuple(self._warnings),
        )
