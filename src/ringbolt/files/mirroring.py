"""Keeping mirrors up to date: whoever has written refreshes them, soon but not after every write.

The first write of a quiet time refreshes at once. While more follow, a refresh rests for ten times as long
as the last one took, and for a twentieth of a second at least; a thread that lives only as long as something
is late sees to the last one, as does closing. Who is killed before leaves a mirror that says by its stamp
that it is late, and the next one to open the store, or to write, refreshes it.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from weakref import WeakSet

from ..ledger.base import Base
from ..model import validate
from ..model.errors import RingboltError
from ..model.results import MirrorStatus
from ..store.tx import Row
from ..system.files import sweep
from . import mirror_files
from .mirror_failures import Failures
from .mirror_files import BEHIND, MISSING, AnyMirror, Mark, Obstacle, Shown, mirror
from .mirror_kinds import KINDS, OWN
from .mirror_marks import folder_name, is_open, recent, task_mark, workspace_mark

REST = 0.05  # seconds between two refreshes, at least
REST_FACTOR = 10
REST_AFTER_FAILURE = 1.0
AT_ONCE = 8  # tasks that a writer refreshes itself; more are left to the thread
ON_OPEN = 0.02  # seconds that opening may spend on repairs; the thread does the rest
ON_CLOSE = 2.0
PATIENCE = 5.0
RECENT = 50  # tasks that are looked at on opening, and that make up the state of a workspace
PAGE = 200
RENDERINGS = 3

_keepers: WeakSet[Keeper] = WeakSet()


class Keeper:
    """Keeps the mirrors of a store; shared by all memories on it."""

    def __init__(self, memory: Base, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._store = memory.store
        self._settings = memory.settings
        names = memory.settings.mirrors.split(",")
        if memory.settings.active_tasks_ledger == "markdown" and "active-tasks" in names:
            names.remove("active-tasks")  # then the file is the truth, and nobody's mirror
        self.kinds = [KINDS[name] for name in names]
        self.clock = clock
        self.failures = Failures()
        self._hidden: set[tuple[str, str]] = set()
        self._swept: set[str] = set()
        self.reset()
        _keepers.add(self)

    def reset(self) -> None:
        """Begin with nothing to do, also in a forked child: what the parent had to do, the parent does."""
        self._mutex = threading.Condition(threading.Lock())
        self._refreshing = threading.Lock()
        self._pending: dict[str, None] = {}
        self._due = 0.0
        self._thread: threading.Thread | None = None
        self._closed = False

    # --- when -------------------------------------------------------------------------------------

    def touched(self, tasks: Iterable[str]) -> None:
        """Tasks were written to: refresh their mirrors now, or soon."""
        with self._mutex:
            self._pending.update(dict.fromkeys(tasks))
            at_once = self._thread is None and len(self._pending) <= AT_ONCE and self.clock() >= self._due
        if at_once:
            self._refresh_pending()
        self._see_to_the_rest()

    def _see_to_the_rest(self) -> None:
        with self._mutex:
            if not self._pending or self._thread is not None or self._closed:
                return
            self._thread = threading.Thread(target=self._refresh_late, name="ringbolt-mirrors", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads, or the interpreter is about to end: closing does it
                self._thread = None

    def _refresh_late(self) -> None:
        while True:
            with self._mutex:
                if self._closed or not self._pending:
                    self._thread = None
                    return
                pause = self._due - self.clock()
                if pause > 0:
                    self._mutex.wait(pause)
                    continue
            self._refresh_pending(REST)

    def _refresh_pending(self, patience: float = 0.0, most: float | None = None) -> None:
        """Refresh what is due; what another process is at, or what there is no time for, stays due."""
        if not self._refreshing.acquire(blocking=patience > 0):
            return
        try:
            with self._mutex:
                tasks, self._pending = list(self._pending), {}
            began = self.clock()
            failed, left = self._refresh_tasks(tasks, patience, None if most is None else began + most)
            ended = self.clock()
            rest = max(REST, REST_FACTOR * (ended - began), REST_AFTER_FAILURE if failed else 0)
            with self._mutex:
                self._due = ended + rest
                for task in left:
                    self._pending.setdefault(task)
        finally:
            self._refreshing.release()

    def close(self) -> None:
        """Refresh what is late, and end; safe to call twice."""
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            self._mutex.notify_all()
        self._refresh_pending(ON_CLOSE / 2, ON_CLOSE)
        _keepers.discard(self)

    # --- what -------------------------------------------------------------------------------------

    def _refresh_tasks(
        self, tasks: list[str], patience: float, until: float | None
    ) -> tuple[bool, list[str]]:
        """Refresh the mirrors of tasks; returns whether one failed, and the tasks that are still due."""
        try:
            heads = self._store.read(lambda tx: [head for task in tasks if (head := tx.head(task))])
        except RingboltError:
            # The store itself is out of reach. The next operation says so; the stamps say what is late.
            return True, []
        failed = False
        done: dict[str, bool] = {}  # a workspace's mirrors are refreshed once, not for each of its tasks
        left: list[str] = []
        for head, one in self._mirrors_of(heads):
            if one.path not in done:
                if done and until is not None and self.clock() > until:
                    left.append(head["task_id"])
                    continue
                done[one.path] = self._refresh(one, patience)
                failed = failed or one.path in self.failures.fresh
            if not done[one.path]:
                left.append(head["task_id"])
        return failed, list(dict.fromkeys(left))

    def _refresh(self, one: AnyMirror, patience: float) -> bool:
        """Bring one mirror up to date; False if another process was at it for too long."""
        try:
            with mirror_files.locked(mirror_files.lock_of(one.root), patience) as got:
                if not got:
                    return False
                self._hide(one)
                self._put(one)
        except Exception as error:  # noqa: BLE001 - whatever it is, the write has been made: it is noted
            self.failures.note(one.path, error)
        else:
            self.failures.fresh.discard(one.path)
        return True

    def _hide(self, one: AnyMirror) -> None:
        if self._settings.mirror_gitignore == "on":
            mirror_files.hide_own(one.root)
            if (one.root, one.kind.name) not in self._hidden:
                mirror_files.hide(one.root, one.kind.ignored)
                self._hidden.add((one.root, one.kind.name))

    def _put(self, one: AnyMirror) -> None:
        """Render and write what the store holds now, under the lock of the folder."""
        mark, files = self._rendered(one)
        if mark is None:  # no such task any more: another store was put in the place of this one
            return
        for relative in (f"{OWN}/.lock", *files):
            folder = os.path.dirname(mirror_files.inside(one.root, relative))
            if folder not in self._swept and os.path.isdir(folder):
                sweep(folder)
                self._swept.add(folder)
        one.put(mark, files)

    def _rendered(self, one: AnyMirror) -> tuple[Mark | None, Mapping[str, str]]:
        """The files as they should be, and the state that they show.

        In a storm of writes that state may be older than what is shown, never newer.
        """
        mark = self._mark(one)
        tries = RENDERINGS
        while mark is not None:
            files = one.kind.render(self._memory, one.subject)
            tries -= 1
            after = self._mark(one)
            if after == mark or not tries:
                return mark, files
            mark = after
        return None, {}

    def _mark(self, one: AnyMirror) -> Mark | None:
        if one.kind.scope == "workspace":
            return workspace_mark(self._store.read(lambda tx: recent(tx, one.subject, RECENT)))
        head = self._store.read(lambda tx: tx.head(one.subject))
        return None if head is None else task_mark(head)

    def cleared(self, heads: Sequence[Row], gone: bool) -> tuple[str, ...]:
        """Let the mirrors of tasks show nothing that is gone from the store; those of tasks that are `gone`
        are removed. Returns the files that may still show it: edited by hand, or out of reach."""
        left: dict[str, None] = {}
        for head, one in self._mirrors_of(list(heads)):
            try:
                with mirror_files.locked(mirror_files.lock_of(one.root), PATIENCE) as got:
                    if not got or not one.exists():
                        left.update({one.path: None} if one.exists() else {})
                        continue
                    self._put(one)
                    last = gone and one.kind.scope == "workspace" and self._mark(one) is None
                    left.update(dict.fromkeys(one.clear("" if last else head["task_id"], gone)))
            except Exception as error:  # noqa: BLE001 - it is gone from the store: what is left is told
                self.failures.note(one.path, error)
                left[one.path] = None
        return tuple(left)

    def _mirrors_of(self, heads: list[Row]) -> Iterator[tuple[Row, AnyMirror]]:
        """Each mirror that tasks have, with its task; one of a workspace comes with each of its tasks."""
        roots: dict[str | None, str | None] = {}
        for head in heads:
            workspace: str | None = head["workspace_path"]
            if workspace not in roots:
                roots[workspace] = self._root(workspace)
            if (root := roots[workspace]) is None:
                continue
            for kind in self.kinds:
                if kind.scope == "task":
                    yield head, mirror(kind, head["task_id"], root)
                elif workspace is not None:
                    alone = self._settings.mirror_folder and folder_name(workspace)
                    yield head, mirror(kind, workspace, os.path.join(root, alone) if alone else root)

    def _root(self, workspace: str | None) -> str | None:
        """The folder of the mirrors of a workspace; None if it is not on this machine."""
        if folder := self._settings.mirror_folder:
            return os.path.realpath(folder)
        if workspace is None or not os.path.isabs(workspace) or not os.path.isdir(workspace):
            return None
        return os.path.realpath(workspace)

    # --- looking ----------------------------------------------------------------------------------

    def check(self, workspace: str | None) -> None:
        """On opening: find what a process that was killed left behind, and mend it; else it is cheap."""
        try:
            heads = self._store.read(lambda tx: recent(tx, workspace, RECENT))
        except RingboltError:
            return  # the first operation meets the same error, and tells it
        mark = workspace_mark(heads) if workspace else None  # that of all workspaces together says nothing
        late: dict[str, None] = {}
        folders: set[str] = set()
        seen: set[str] = set()
        for head, one in self._mirrors_of(heads):
            if one.kind.scope == "workspace":
                if one.path in seen:
                    continue
                seen.add(one.path)
                folders.add(os.path.dirname(one.path))
            folders.add(os.path.join(one.root, OWN))
            now = task_mark(head) if one.kind.scope == "task" else mark
            if now is not None and self._is_late(one, head, now):
                late[head["task_id"]] = None
        for folder in folders:
            self._sweep(folder)
        if late:
            with self._mutex:
                self._pending.update(late)
            self._refresh_pending(most=ON_OPEN)
            self._see_to_the_rest()

    def _is_late(self, one: AnyMirror, head: Row, now: Mark) -> bool:
        """Whether a mirror should be refreshed; one of a task that has ended is not made anew."""
        try:
            shown = one.look()
        except (OSError, Obstacle):
            return True  # refreshing meets it again, and notes it
        if shown.mark in (None, now):
            return MISSING in shown.reasons and (one.kind.scope == "workspace" or is_open(head))
        return True

    def _sweep(self, folder: str) -> None:
        try:
            if os.path.isdir(folder) and not os.path.islink(folder):
                sweep(folder)
        except OSError as error:
            self.failures.note(folder, error)

    def refresh(self, workspace: str | None, force: bool) -> None:
        """Bring every mirror of a workspace up to date, or of all; forced, also those that seem to be."""
        for one, head, now in self._all(workspace):
            if (force and one.exists()) or self._is_late(one, head, now):
                self._refresh(one, PATIENCE)

    def late(self, after: int, upto: int) -> dict[str, str]:
        """The mirrors that do not show what was written between two positions, each with a task of it.

        Of a very busy time the tasks that were changed last.
        """
        heads = self._store.read(lambda tx: recent(tx, None, PAGE, upto + 1))
        return self._late([head for head in heads if head["position"] > after])

    def still_late(self, mirrors: Mapping[str, str]) -> dict[str, str]:
        """Of mirrors, each with a task of it, those that are late now."""
        heads = self._store.read(lambda tx: [tx.head(task) for task in {*mirrors.values()}])
        found = self._late([head for head in heads if head is not None])
        return {path: task for path, task in found.items() if path in mirrors}

    def _late(self, heads: list[Row]) -> dict[str, str]:
        found: dict[str, str] = {}
        for head, one in self._mirrors_of(heads):
            if one.path not in found:
                now = task_mark(head) if one.kind.scope == "task" else self._mark(one)
                if now is not None and self._is_late(one, head, now):
                    found[one.path] = head["task_id"]
        return found

    def failing(self) -> Collection[str]:
        """What could not be written lately, a sentence each."""
        return self.failures.fresh

    def mend(self, task_id: str, path: str) -> None:
        """Bring one mirror of a task up to date, if it is on this machine; an OSError says why it is not."""
        head = self._store.read(lambda tx: tx.head(task_id))
        for _, one in self._mirrors_of([head] if head else []):
            if one.path != path:
                continue
            if not self._refresh(one, PATIENCE):
                raise TimeoutError(f"another process is at {path}")
            if path in self.failures.fresh:
                noted = self.failures.of(path)
                raise OSError(f"{path} cannot be written: {noted['error'] if noted else 'unknown'}")

    def status(self, workspace: str | None) -> tuple[MirrorStatus, ...]:
        """How every mirror of a workspace stands, or of all."""
        self.failures.load()
        return tuple(
            self._status(one, now)
            for one, head, now in self._all(workspace)
            if one.kind.scope == "workspace" or is_open(head) or one.exists()
        )

    def _all(self, workspace: str | None) -> Iterator[tuple[AnyMirror, Row, Mark]]:
        """Every mirror once, with a task that it shows, and what it should show."""
        seen: set[str] = set()
        before: int | None = None
        while heads := self._store.read(lambda tx, b=before: recent(tx, workspace, PAGE, b)):
            for head, one in self._mirrors_of(heads):
                if one.path in seen:
                    continue
                seen.add(one.path)
                now = task_mark(head) if one.kind.scope == "task" else self._mark(one)
                if now is not None:
                    yield one, head, now
            before = heads[-1]["position"]

    def _status(self, one: AnyMirror, now: Mark) -> MirrorStatus:
        shown, problem = _looked_at(one)
        reasons = list(shown.reasons)
        if shown.mark is not None and shown.mark != now:
            reasons.append(BEHIND)
        noted = self.failures.of(one.path)
        at = None if shown.at is None else validate.stamp(shown.at)
        is_why = noted is not None and noted["error"] not in reasons and noted["at"] >= (at or "")
        if noted is not None and is_why and reasons and problem is None:
            problem = noted["error"]  # it is not up to date, and this is why
        if problem is not None:
            reasons.append(f"failed: {problem}")
        return MirrorStatus(
            kind=one.kind.name,
            path=one.path,
            task_id=one.subject if one.kind.scope == "task" else None,
            workspace=one.subject if one.kind.scope == "workspace" else None,
            seq_shown=shown.mark.number if shown.mark else None,
            seq_now=now.number,
            stale=bool(reasons),
            reasons=tuple(reasons),
            refreshed_at=at,
            failed_at=noted["at"] if noted else None,
        )


def _looked_at(one: AnyMirror) -> tuple[Shown, str | None]:
    try:
        return one.look(deep=True), None
    except Obstacle as obstacle:
        return mirror_files.Shown(reasons=(str(obstacle),)), None
    except OSError as error:
        return mirror_files.Shown(), error.strerror or str(error)


def _after_fork() -> None:
    mirror_files.forget_locks()
    for keeper in list(_keepers):
        keeper.reset()


def _at_exit() -> None:
    for keeper in list(_keepers):
        keeper.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
