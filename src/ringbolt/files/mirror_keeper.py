"""Decide when mirrors are written: soon after every write, but not once for each of many.

The first write after a quiet time refreshes the mirrors at once. While more writes follow, refreshes pause
for ten times as long as the last one took, and at least a twentieth of a second. A thread that runs only
while a refresh is due does the last one; closing does it too. A process that is killed before that leaves a
mirror whose stamp says that it is behind; the next process that opens the store, or writes to it, refreshes
the mirror.
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
from ..system import os_calls
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
    mirror_for,
    short_digest,
)
from .views import OWN, VIEWS

PAUSE = 0.05  # seconds between two refreshes, at least
PAUSE_FACTOR = 10
PAUSE_AFTER_FAILURE = 1.0
AT_ONCE = 8  # tasks that a writer refreshes itself; the thread does the others
ON_OPEN = 0.02  # seconds that opening may spend on repairs; the thread does the rest
ON_CLOSE = 2.0
PATIENCE = 5.0
RECENT = 50  # tasks that are checked on opening, and whose state is the mark of a workspace
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
            names.remove("active-tasks")  # the file is the source of truth, not a mirror
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

    # --- scheduling -------------------------------------------------------------------------------

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
        """Start a thread for the mirrors that are still due."""
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
        """Refresh the mirrors that are due; those that another process is writing, or that there is no time
        for, stay due."""
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
        """Refresh the mirrors that are due, and stop; safe to call twice."""
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            self._mutex.notify_all()
        self._refresh_pending(ON_CLOSE / 2, ON_CLOSE)
        _keepers.discard(self)

    # --- refreshing -------------------------------------------------------------------------------

    def _refresh_tasks(
        self, tasks: list[str], patience: float, until: float | None
    ) -> tuple[bool, list[str]]:
        """Refresh the mirrors of tasks; returns whether one failed, and the tasks that are still due."""
        try:
            heads = self._store.read(lambda tx: [head for task in tasks if (head := tx.head(task))])
        except RingboltError:
            # The store is unavailable. The next operation reports that; the stamps show that mirrors are
            # behind.
            return True, []
        failed = False
        done: dict[str, bool] = {}  # a workspace's mirrors are refreshed once, not for each of its tasks
        left: list[str] = []
        for head, mirror in self._mirrors_of(heads):
            if mirror.path not in done:
                if done and until is not None and self.clock() > until:
                    left.append(head["task_id"])
                    continue
                done[mirror.path] = self._refresh(mirror, patience)
                failed = failed or mirror.path in self.failures.current
            if not done[mirror.path]:
                left.append(head["task_id"])
        return failed, list(dict.fromkeys(left))

    def _refresh(self, mirror: Mirror, patience: float) -> bool:
        """Update one mirror; False if another process held the folder's lock for too long."""
        try:
            with mirror.folder.lock(patience) as held:
                if not held:
                    return False
                self._let_git_ignore(mirror)
                self._put(mirror)
        except Exception as error:  # noqa: BLE001 - the store has the write; the file's failure is noted
            self.failures.note(mirror.path, error)
        else:
            self.failures.current.discard(mirror.path)
        return True

    def _let_git_ignore(self, mirror: Mirror) -> None:
        if self._settings.mirror_gitignore == "on":
            ignore_own_folder(mirror.folder)
            root = mirror.folder.root
            if (root, mirror.view.name) not in self._ignored:
                ignore_files(root, mirror.view.ignored)
                self._ignored.add((root, mirror.view.name))

    def _put(self, mirror: Mirror) -> None:
        """Render and write the current state, under the lock of the folder."""
        mark, files = self._rendered(mirror)
        if mark is None:  # the task is gone: the store was replaced
            return
        for relative in (f"{OWN}/.lock", *files):
            folder = os.path.dirname(mirror.folder.path(relative))
            if folder not in self._swept and os.path.isdir(folder):
                sweep(folder)
                self._swept.add(folder)
        mirror.put(mark, files)

    def _rendered(self, mirror: Mirror) -> tuple[Mark | None, Mapping[str, str]]:
        """The content of the files, and the state that it shows.

        While others write, the mark may be older than the content, never newer: at worst the mirror counts as
        behind and is refreshed once more.
        """
        mark = self._mark(mirror)
        tries = RENDERINGS
        while mark is not None:
            files = mirror.view.render(self._memory, mirror.subject)
            tries -= 1
            after = self._mark(mirror)
            if after == mark or not tries:
                return mark, files
            mark = after
        return None, {}

    def _mark(self, mirror: Mirror, head: Row | None = None) -> Mark | None:
        """The state that a mirror should show; `head` saves reading its task."""
        if mirror.view.scope == "workspace":
            return _workspace_mark(self._store.read(lambda tx: _recent(tx, mirror.subject, RECENT)))
        head = head or self._store.read(lambda tx: tx.head(mirror.subject))
        return None if head is None else _task_mark(head)

    def cleared(self, heads: Sequence[Row], gone: bool) -> tuple[str, ...]:
        """Remove forgotten content from the mirrors of tasks, or the mirrors themselves if the tasks are
        `gone`. Returns the files that may still contain it: edited by hand, or out of reach."""
        left: dict[str, None] = {}
        for head, mirror in self._mirrors_of(list(heads)):
            try:
                with mirror.folder.lock(PATIENCE) as held:
                    if not held or not mirror.exists():
                        left.update({mirror.path: None} if mirror.exists() else {})
                        continue
                    self._put(mirror)
                    last = gone and mirror.view.scope == "workspace" and self._mark(mirror) is None
                    left.update(dict.fromkeys(mirror.clear("" if last else head["task_id"], gone)))
            except Exception as error:  # noqa: BLE001 - the store has forgotten it; what is left is reported
                self.failures.note(mirror.path, error)
                left[mirror.path] = None
        return tuple(left)

    def _mirrors_of(self, heads: list[Row]) -> Iterator[tuple[Row, Mirror]]:
        """The mirrors of tasks, each with its task; a workspace's mirror is repeated for each of its
        tasks."""
        roots: dict[str | None, str | None] = {}
        for head in heads:
            workspace: str | None = head["workspace_path"]
            if workspace not in roots:
                roots[workspace] = self._root(workspace)
            if (root := roots[workspace]) is None:
                continue
            for view in self._views:
                if view.scope == "task":
                    yield head, mirror_for(view, head["task_id"], root)
                elif workspace is not None:
                    own = self._settings.mirror_folder and _workspace_folder(workspace)
                    yield head, mirror_for(view, workspace, os.path.join(root, own) if own else root)

    def _root(self, workspace: str | None) -> str | None:
        """The folder of the mirrors of a workspace; None if it is not on this machine."""
        if folder := self._settings.mirror_folder:
            return os.path.realpath(folder)
        if workspace is None or not os.path.isabs(workspace) or not os.path.isdir(workspace):
            return None
        return os.path.realpath(workspace)

    # --- checking ---------------------------------------------------------------------------------

    def check(self, workspace: str | None) -> None:
        """On opening: find and repair the mirrors that a killed process left behind; cheap if there are
        none."""
        try:
            heads = self._store.read(lambda tx: _recent(tx, workspace, RECENT))
        except RingboltError:
            return  # the first operation meets the same error and reports it
        mark = _workspace_mark(heads) if workspace else None  # all workspaces together have none
        late: dict[str, None] = {}
        folders: set[str] = set()
        seen: set[str] = set()
        for head, mirror in self._mirrors_of(heads):
            if mirror.view.scope == "workspace":
                if mirror.path in seen:
                    continue
                seen.add(mirror.path)
                folders.add(os.path.dirname(mirror.path))
            folders.add(os.path.join(mirror.folder.root, OWN))
            now = _task_mark(head) if mirror.view.scope == "task" else mark
            if now is not None and self._is_late(mirror, head, now):
                late[head["task_id"]] = None
        for folder in folders:
            self._sweep(folder)
        if late:
            with self._mutex:
                self.pending.update(late)
            self._refresh_pending(most=ON_OPEN)
            self._start_thread()

    def _is_late(self, mirror: Mirror, head: Row, now: Mark) -> bool:
        """Whether a mirror needs a refresh; the missing mirror of an ended task is not created again."""
        try:
            shown = mirror.inspect()
        except (OSError, Obstacle):
            return True  # the refresh meets the same error and notes it
        if shown.mark in (None, now):
            return MISSING in shown.reasons and (mirror.view.scope == "workspace" or _is_open(head))
        return True

    def _sweep(self, folder: str) -> None:
        try:
            if os.path.isdir(folder) and not os.path.islink(folder):
                sweep(folder)
        except OSError as error:
            self.failures.note(folder, error)

    def refresh(self, workspace: str | None, force: bool) -> None:
        """Update every mirror of a workspace, or of all workspaces; `force` also rewrites those that look
        current."""
        for mirror, head, now in self._all(workspace):
            if (force and mirror.exists()) or self._is_late(mirror, head, now):
                self._refresh(mirror, PATIENCE)

    def late(self, after: int, upto: int) -> dict[str, str]:
        """The mirrors that lack events between two positions, each with one of its tasks.

        If very many tasks changed, only the mirrors of those that changed last.
        """
        heads = self._store.read(lambda tx: _recent(tx, None, PAGE, upto + 1))
        return self._late([head for head in heads if head["position"] > after])

    def still_late(self, mirrors: Mapping[str, str]) -> dict[str, str]:
        """The given mirrors that are still behind, each with one of its tasks."""
        heads = self._store.read(lambda tx: [tx.head(task) for task in {*mirrors.values()}])
        late = self._late([head for head in heads if head is not None])
        return {path: task for path, task in late.items() if path in mirrors}

    def _late(self, heads: list[Row]) -> dict[str, str]:
        once = self._once(heads, set())
        return {
            mirror.path: head["task_id"] for mirror, head, now in once if self._is_late(mirror, head, now)
        }

    def failing(self) -> Collection[str]:
        """The mirrors whose last refresh by this process failed."""
        return self.failures.current

    def mend(self, task_id: str, path: str) -> None:
        """Update one mirror of a task, if it is on this machine; OSError if that fails."""
        head = self._store.read(lambda tx: tx.head(task_id))
        for _, mirror in self._mirrors_of([head] if head else []):
            if mirror.path != path:
                continue
            if not self._refresh(mirror, PATIENCE):
                raise TimeoutError(f"another process is writing {path}")
            if path in self.failures.current:
                noted = self.failures.of(path)
                raise OSError(f"{path} cannot be written: {noted['error'] if noted else 'unknown'}")

    def status(self, workspace: str | None) -> tuple[MirrorStatus, ...]:
        """The state of every mirror of a workspace, or of all workspaces."""
        self.failures.load()
        return tuple(
            self._status(mirror, now)
            for mirror, head, now in self._all(workspace)
            if mirror.view.scope == "workspace" or _is_open(head) or mirror.exists()
        )

    def _all(self, workspace: str | None) -> Iterator[tuple[Mirror, Row, Mark]]:
        """Every mirror once, with one of its tasks and its wanted state."""
        seen: set[str] = set()
        before: int | None = None
        while heads := self._store.read(lambda tx, b=before: _recent(tx, workspace, PAGE, b)):
            yield from self._once(heads, seen)
            before = heads[-1]["position"]

    def _once(self, heads: list[Row], seen: set[str]) -> Iterator[tuple[Mirror, Row, Mark]]:
        """Each mirror of these tasks that was not seen yet, with a task and its wanted state."""
        for head, mirror in self._mirrors_of(heads):
            if mirror.path not in seen:
                seen.add(mirror.path)
                if (now := self._mark(mirror, head)) is not None:
                    yield mirror, head, now

    def _status(self, mirror: Mirror, now: Mark) -> MirrorStatus:
        problem = None
        try:
            shown = mirror.inspect(deep=True)
        except Obstacle as obstacle:
            shown = Shown(reasons=(str(obstacle),))
        except OSError as error:
            shown, problem = Shown(), error.strerror or str(error)
        reasons = list(shown.reasons)
        if shown.mark is not None and shown.mark != now:
            reasons.append(BEHIND)
        noted = self.failures.of(mirror.path)
        at = None if shown.at is None else validate.stamp(shown.at)
        is_why = noted is not None and noted["error"] not in reasons and noted["at"] >= (at or "")
        if noted is not None and is_why and reasons and problem is None:
            problem = noted["error"]
        if problem is not None:
            reasons.append(f"failed: {problem}")
        return MirrorStatus(
            kind=mirror.view.name,
            path=mirror.path,
            task_id=mirror.subject if mirror.view.scope == "task" else None,
            workspace=mirror.subject if mirror.view.scope == "workspace" else None,
            seq_shown=shown.mark.number if shown.mark else None,
            seq_now=now.number,
            stale=bool(reasons),
            reasons=tuple(reasons),
            refreshed_at=at,
            failed_at=noted["at"] if noted else None,
        )


# --- marks ------------------------------------------------------------------------------------------


def _recent(tx: Tx, workspace: str | None, limit: int, before: int | None = None) -> list[Row]:
    """The most recently changed tasks of a workspace, or of all: open, ended and archived ones."""
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


os_calls.after_fork(_after_fork)
atexit.register(_at_exit)
