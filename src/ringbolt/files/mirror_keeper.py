"""When mirrors are written: after every write, soon, but not once for each of many.

The first write after a quiet time refreshes the mirrors at once. While more writes follow, refreshes pause
for ten times as long as the last one took, and at least a twentieth of a second. A thread that lives only
while something is due does the last one, and so does closing. A process that is killed before that leaves a
mirror whose stamp says that it is behind; the next one to open the store, or to write, refreshes it.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from weakref import WeakSet

from ..ledger.base import Base
from ..model import validate
from ..model.errors import RingboltError
from ..model.results import MirrorStatus
from ..model.rules import ENDED, TASK_STATUSES
from ..model.validate import blake2b
from ..store.tx import Row, Tx
from ..system.files import sweep
from .mirror_failures import Failures
from .projection import (
    BEHIND,
    MISSING,
    Mark,
    Mirror,
    Obstacle,
    Shown,
    forget_locks,
    ignore_files,
    ignore_own_folder,
    mirror,
    short_digest,
)
from .views import OWN, VIEWS

PAUSE = 0.05  # seconds between two refreshes, at least
PAUSE_FACTOR = 10
PAUSE_AFTER_FAILURE = 1.0
AT_ONCE = 8  # tasks that a writer refreshes itself; more are left to the thread
ON_OPEN = 0.02  # seconds that opening may spend on repairs; the thread does the rest
ON_CLOSE = 2.0
PATIENCE = 5.0
RECENT = 50  # tasks that are checked on opening, and that make up the state of a workspace
PAGE = 200
RENDERINGS = 3

_keepers: WeakSet[Keeper] = WeakSet()


class Keeper:
    """Keeps the mirrors of a store up to date; all memories on the store share it."""

    def __init__(self, memory: Base, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._store = memory.store
        self._settings = memory.settings
        names = memory.settings.mirrors.split(",")
        if memory.settings.active_tasks_ledger == "markdown" and "active-tasks" in names:
            names.remove("active-tasks")  # the file itself holds the rows, so it mirrors nothing
        self._views = [VIEWS[name] for name in names]
        self.clock = clock
        self.failures = Failures()
        self._ignored: set[tuple[str, str]] = set()
        self._swept: set[str] = set()
        self.reset()
        _keepers.add(self)

    def reset(self) -> None:
        """Start with nothing to do; a forked child leaves the parent's work to the parent."""
        self._mutex = threading.Condition(threading.Lock())
        self._refreshing = threading.Lock()
        self.pending: dict[str, None] = {}
        self.next_refresh = 0.0
        self.thread: threading.Thread | None = None
        self._closed = False

    # --- when -------------------------------------------------------------------------------------

    def touched(self, tasks: Iterable[str]) -> None:
        """Tasks were written to: refresh their mirrors now, or soon."""
        with self._mutex:
            self.pending.update(dict.fromkeys(tasks))
            at_once = (
                self.thread is None and len(self.pending) <= AT_ONCE and self.clock() >= self.next_refresh
            )
        if at_once:
            self._refresh_pending()
        self._start_thread()

    def _start_thread(self) -> None:
        """Let a thread refresh what is still due."""
        with self._mutex:
            if not self.pending or self.thread is not None or self._closed:
                return
            self.thread = threading.Thread(target=self._refresh_late, name="ringbolt-mirrors", daemon=True)
            try:
                self.thread.start()
            except RuntimeError:  # no more threads, or the interpreter is shutting down: closing does it
                self.thread = None

    def _refresh_late(self) -> None:
        while True:
            with self._mutex:
                if self._closed or not self.pending:
                    self.thread = None
                    return
                pause = self.next_refresh - self.clock()
                if pause > 0:
                    self._mutex.wait(pause)
                    continue
            self._refresh_pending(PAUSE)

    def _refresh_pending(self, patience: float = 0.0, most: float | None = None) -> None:
        """Refresh what is due; what another process is writing, or there is no time for, stays due."""
        if not self._refreshing.acquire(blocking=patience > 0):
            return
        try:
            with self._mutex:
                tasks, self.pending = list(self.pending), {}
            began = self.clock()
            failed, left = self._refresh_tasks(tasks, patience, None if most is None else began + most)
            ended = self.clock()
            rest = max(PAUSE, PAUSE_FACTOR * (ended - began), PAUSE_AFTER_FAILURE if failed else 0)
            with self._mutex:
                self.next_refresh = ended + rest
                for task in left:
                    self.pending.setdefault(task)
        finally:
            self._refreshing.release()

    def close(self) -> None:
        """Refresh what is due, and stop; safe to call twice."""
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
            # The store is unavailable. The next operation reports that; the stamps show what is behind.
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
                failed = failed or one.path in self.failures.current
            if not done[one.path]:
                left.append(head["task_id"])
        return failed, list(dict.fromkeys(left))

    def _refresh(self, one: Mirror, patience: float) -> bool:
        """Bring one mirror up to date; False if another process had the folder for too long."""
        try:
            with one.folder.lock(patience) as held:
                if not held:
                    return False
                self._let_git_ignore(one)
                self._put(one)
        except Exception as error:  # noqa: BLE001 - the store has the write; the file's failure is noted
            self.failures.note(one.path, error)
        else:
            self.failures.current.discard(one.path)
        return True

    def _let_git_ignore(self, one: Mirror) -> None:
        if self._settings.mirror_gitignore == "on":
            ignore_own_folder(one.folder)
            root = one.folder.root
            if (root, one.view.name) not in self._ignored:
                ignore_files(root, one.view.ignored)
                self._ignored.add((root, one.view.name))

    def _put(self, one: Mirror) -> None:
        """Render and write what the store holds now, under the lock of the folder."""
        mark, files = self._rendered(one)
        if mark is None:  # the task is gone: another store took the place of this one
            return
        for relative in (f"{OWN}/.lock", *files):
            folder = os.path.dirname(one.folder.path(relative))
            if folder not in self._swept and os.path.isdir(folder):
                sweep(folder)
                self._swept.add(folder)
        one.put(mark, files)

    def _rendered(self, one: Mirror) -> tuple[Mark | None, Mapping[str, str]]:
        """The files as they should be, and the state that they show.

        While others write, the mark may be older than what the files show, never newer: at worst the mirror
        counts as behind and is refreshed once more.
        """
        mark = self._mark(one)
        tries = RENDERINGS
        while mark is not None:
            files = one.view.render(self._memory, one.subject)
            tries -= 1
            after = self._mark(one)
            if after == mark or not tries:
                return mark, files
            mark = after
        return None, {}

    def _mark(self, one: Mirror, head: Row | None = None) -> Mark | None:
        """The state that a mirror should show; `head` saves reading its task."""
        if one.view.scope == "workspace":
            return _workspace_mark(self._store.read(lambda tx: _recent(tx, one.subject, RECENT)))
        head = head or self._store.read(lambda tx: tx.head(one.subject))
        return None if head is None else _task_mark(head)

    def cleared(self, heads: Sequence[Row], gone: bool) -> tuple[str, ...]:
        """Remove from the mirrors of tasks what was forgotten, or the mirrors themselves if the tasks are
        `gone`. Returns the files that may still show it: edited by hand, or out of reach."""
        left: dict[str, None] = {}
        for head, one in self._mirrors_of(list(heads)):
            try:
                with one.folder.lock(PATIENCE) as held:
                    if not held or not one.exists():
                        left.update({one.path: None} if one.exists() else {})
                        continue
                    self._put(one)
                    last = gone and one.view.scope == "workspace" and self._mark(one) is None
                    left.update(dict.fromkeys(one.clear("" if last else head["task_id"], gone)))
            except Exception as error:  # noqa: BLE001 - the store has forgotten it; what is left is reported
                self.failures.note(one.path, error)
                left[one.path] = None
        return tuple(left)

    def _mirrors_of(self, heads: list[Row]) -> Iterator[tuple[Row, Mirror]]:
        """Each mirror that tasks have, with its task; one of a workspace comes with each of its tasks."""
        roots: dict[str | None, str | None] = {}
        for head in heads:
            workspace: str | None = head["workspace_path"]
            if workspace not in roots:
                roots[workspace] = self._root(workspace)
            if (root := roots[workspace]) is None:
                continue
            for view in self._views:
                if view.scope == "task":
                    yield head, mirror(view, head["task_id"], root)
                elif workspace is not None:
                    own = self._settings.mirror_folder and _workspace_folder(workspace)
                    yield head, mirror(view, workspace, os.path.join(root, own) if own else root)

    def _root(self, workspace: str | None) -> str | None:
        """The folder of the mirrors of a workspace; None if it is not on this machine."""
        if folder := self._settings.mirror_folder:
            return os.path.realpath(folder)
        if workspace is None or not os.path.isabs(workspace) or not os.path.isdir(workspace):
            return None
        return os.path.realpath(workspace)

    # --- which are stale --------------------------------------------------------------------------

    def check(self, workspace: str | None) -> None:
        """On opening: find and repair what a killed process left behind. Cheap if there is nothing."""
        try:
            heads = self._store.read(lambda tx: _recent(tx, workspace, RECENT))
        except RingboltError:
            return  # the first operation meets the same error and reports it
        mark = _workspace_mark(heads) if workspace else None  # all workspaces together have none
        late: dict[str, None] = {}
        folders: set[str] = set()
        seen: set[str] = set()
        for head, one in self._mirrors_of(heads):
            if one.view.scope == "workspace":
                if one.path in seen:
                    continue
                seen.add(one.path)
                folders.add(os.path.dirname(one.path))
            folders.add(os.path.join(one.folder.root, OWN))
            now = _task_mark(head) if one.view.scope == "task" else mark
            if now is not None and self._is_late(one, head, now):
                late[head["task_id"]] = None
        for folder in folders:
            self._sweep(folder)
        if late:
            with self._mutex:
                self.pending.update(late)
            self._refresh_pending(most=ON_OPEN)
            self._start_thread()

    def _is_late(self, one: Mirror, head: Row, now: Mark) -> bool:
        """Whether a mirror needs a refresh; a missing one of an ended task is not made again."""
        try:
            shown = one.look()
        except (OSError, Obstacle):
            return True  # the refresh meets the same error and notes it
        if shown.mark in (None, now):
            return MISSING in shown.reasons and (one.view.scope == "workspace" or _is_open(head))
        return True

    def _sweep(self, folder: str) -> None:
        try:
            if os.path.isdir(folder) and not os.path.islink(folder):
                sweep(folder)
        except OSError as error:
            self.failures.note(folder, error)

    def refresh(self, workspace: str | None, force: bool) -> None:
        """Bring every mirror of a workspace up to date, or of all workspaces; `force` rewrites those as well
        whose stamp is right."""
        for one, head, now in self._all(workspace):
            if (force and one.exists()) or self._is_late(one, head, now):
                self._refresh(one, PATIENCE)

    def late(self, after: int, upto: int) -> dict[str, str]:
        """The mirrors that do not show what was written between two positions, each with one of its tasks.

        If very many tasks were written to, those that changed last.
        """
        heads = self._store.read(lambda tx: _recent(tx, None, PAGE, upto + 1))
        return self._late([head for head in heads if head["position"] > after])

    def still_late(self, mirrors: Mapping[str, str]) -> dict[str, str]:
        """Those of some mirrors, each given with one of its tasks, that are still behind."""
        heads = self._store.read(lambda tx: [tx.head(task) for task in {*mirrors.values()}])
        found = self._late([head for head in heads if head is not None])
        return {path: task for path, task in found.items() if path in mirrors}

    def _late(self, heads: list[Row]) -> dict[str, str]:
        once = self._once(heads, set())
        return {one.path: head["task_id"] for one, head, now in once if self._is_late(one, head, now)}

    def failing(self) -> Collection[str]:
        """The mirrors that this process could not write when it last tried."""
        return self.failures.current

    def mend(self, task_id: str, path: str) -> None:
        """Bring one mirror of a task up to date, if it is on this machine; OSError if that fails."""
        head = self._store.read(lambda tx: tx.head(task_id))
        for _, one in self._mirrors_of([head] if head else []):
            if one.path != path:
                continue
            if not self._refresh(one, PATIENCE):
                raise TimeoutError(f"another process is writing {path}")
            if path in self.failures.current:
                noted = self.failures.of(path)
                raise OSError(f"{path} cannot be written: {noted['error'] if noted else 'unknown'}")

    def status(self, workspace: str | None) -> tuple[MirrorStatus, ...]:
        """The state of every mirror of a workspace, or of all workspaces."""
        self.failures.load()
        return tuple(
            self._status(one, now)
            for one, head, now in self._all(workspace)
            if one.view.scope == "workspace" or _is_open(head) or one.exists()
        )

    def _all(self, workspace: str | None) -> Iterator[tuple[Mirror, Row, Mark]]:
        """Every mirror once, with one of its tasks and the state that it should show."""
        seen: set[str] = set()
        before: int | None = None
        while heads := self._store.read(lambda tx, b=before: _recent(tx, workspace, PAGE, b)):
            yield from self._once(heads, seen)
            before = heads[-1]["position"]

    def _once(self, heads: list[Row], seen: set[str]) -> Iterator[tuple[Mirror, Row, Mark]]:
        """Each mirror of some tasks that was not seen yet, with a task and the state that it should show."""
        for head, one in self._mirrors_of(heads):
            if one.path not in seen:
                seen.add(one.path)
                if (now := self._mark(one, head)) is not None:
                    yield one, head, now

    def _status(self, one: Mirror, now: Mark) -> MirrorStatus:
        problem = None
        try:
            shown = one.look(deep=True)
        except Obstacle as obstacle:
            shown = Shown(reasons=(str(obstacle),))
        except OSError as error:
            shown, problem = Shown(), error.strerror or str(error)
        reasons = list(shown.reasons)
        if shown.mark is not None and shown.mark != now:
            reasons.append(BEHIND)
        noted = self.failures.of(one.path)
        at = None if shown.at is None else validate.stamp(shown.at)
        is_why = noted is not None and noted["error"] not in reasons and noted["at"] >= (at or "")
        if noted is not None and is_why and reasons and problem is None:
            problem = noted["error"]  # this is why it is not up to date
        if problem is not None:
            reasons.append(f"failed: {problem}")
        return MirrorStatus(
            kind=one.view.name,
            path=one.path,
            task_id=one.subject if one.view.scope == "task" else None,
            workspace=one.subject if one.view.scope == "workspace" else None,
            seq_shown=shown.mark.number if shown.mark else None,
            seq_now=now.number,
            stale=bool(reasons),
            reasons=tuple(reasons),
            refreshed_at=at,
            failed_at=noted["at"] if noted else None,
        )


# --- the state that a mirror should show ------------------------------------------------------------


def _recent(tx: Tx, workspace: str | None, limit: int, before: int | None = None) -> list[Row]:
    """The tasks of a workspace, or of all, that changed last: open, ended and archived ones."""
    return tx.recent_heads(TASK_STATUSES, limit, workspace, before)


def _task_mark(head: Row) -> Mark:
    return Mark(number=head["last_seq"], check=bytes(head["last_hash"][:4]).hex())


def _workspace_mark(heads: list[Row]) -> Mark | None:
    """The state of a workspace: the position of its last event, and the last hashes of its recent tasks.

    The position alone is not enough: PostgreSQL may show an event before one with a lower position.
    """
    if not heads:
        return None
    check = blake2b(digest_size=4)
    for head in heads:
        check.update(bytes(head["last_hash"]))
    return Mark(number=max(head["position"] for head in heads), check=check.hexdigest())


def _is_open(head: Row) -> bool:
    return head["status"] not in ENDED and head["archived_at"] is None


def _workspace_folder(workspace: str) -> str:
    """The name of a workspace's folder in a mirror folder that several workspaces share."""
    plain = re.sub(r"[^\w.-]+", "-", os.path.basename(workspace.rstrip("/")), flags=re.ASCII).strip(".-")
    return f"{plain[:40] or 'workspace'}-{short_digest(workspace.encode())}"


def _after_fork() -> None:
    forget_locks()
    for keeper in list(_keepers):
        keeper.reset()


def _at_exit() -> None:
    for keeper in list(_keepers):
        keeper.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
