"""The current task: the task of a call without an id.

With a session, it is the task that the session focused last, even if that task has ended. A session that
never had a task begins a draft when it writes, so that no report of an agent is refused or ends up on the
task of another session.

Without a session, the task that the user chose for the folder comes first, as long as it is open; then tasks
that a live session works on, other open tasks, and paused ones; among equals, the most recently changed wins.
The result says which task was chosen, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.errors import NotFound
from ..store import sessions
from ..store.queries import folder_tasks
from ..store.tx import Row, Tx
from .access import append_event, new_task_id, seconds_now, time_now
from .drafts import Draft

if TYPE_CHECKING:
    from .base import Base

# Marks a task, in its metadata, that was never registered: begun by hooks, or by a write without a task.
DRAFT = "draft"
# Tags an instruction that asks for something new. The first request of a task is its first event's text.
REQUEST = "request"
# Further tags of such an instruction: the state of the request before it.
FINISHED, LEFT_OPEN = "previous finished", "previous open"
UNNAMED = "Work without a request"


def request_tags(finished: bool) -> list[str]:
    """The tags of an instruction that begins a new request."""
    return [REQUEST, FINISHED if finished else LEFT_OPEN]


def current_task(memory: Base, tx: Tx, writing: bool, repository: str | None = None) -> tuple[str, str]:
    """The current task's id; if there was a choice, also a sentence that names the task and says why.

    With `repository`, a task of any of its worktrees.
    """
    if memory.origin.session:
        if own := session_task(memory, tx) or session_task(memory, tx, ended=True):
            return own, ""
        if writing:
            return begin_draft(memory, tx), "This session had no task, so one was begun for it."
    return _chosen(memory, tx, repository)


def session_task(memory: Base, tx: Tx, *, ended: bool = False) -> str | None:
    """The open task of this session, or with `ended` its last one; None if it has none.

    A session named by the caller has a task in each workspace. A host's session has a single task, whichever
    folder it moves to.
    """
    session = memory.origin.session
    if not session:
        return None
    workspace = memory.workspace

    def find() -> str | None:
        is_hosts = workspace is not None and sessions.get(tx, session) is not None
        find = tx.last_session_task if ended else tx.session_task
        return find(session, None if is_hosts else workspace)

    return tx.until_heads_change(("session task", session, workspace, ended), find)


def _chosen(memory: Base, tx: Tx, repository: str | None) -> tuple[str, str]:
    tasks = tx.open_tasks(memory.workspace, repository=repository)
    if not tasks:
        raise NotFound(
            "no_current_task",
            "No task is open in this workspace and session.",
            "Start one with task_register, or name one by its id.",
        )
    if len(tasks) == 1:
        return tasks[0]["task_id"], ""
    own = folder_tasks.chosen(tx, memory.workspace) if memory.workspace else None
    if own is not None and any(row["task_id"] == own for row in tasks):
        return own, ""
    live = {
        session.id
        for session in sessions.live(tx, None if repository else memory.workspace, seconds_now(memory))
    }
    best = min(tasks, key=lambda row: _rank(row, live))  # the first of equals: the one worked on last
    why = "a live session works on it" if best["session_id"] in live else "it was worked on last"
    chosen = f"{len(tasks)} tasks are open here. This is “{best['name'][:60]}”: {why}."
    return best["task_id"], f"{chosen} Pass task_id for another."


def _rank(row: Row, live: set[str]) -> tuple[bool, bool, bool]:
    """The rank of a task, lowest first; a helper's task ranks after its parent's."""
    return row["status"] == "paused", row["session_id"] not in live, row["parent_id"] is not None


def begin_draft(memory: Base, tx: Tx, name: str = UNNAMED) -> str:
    """Begin a task for a session that has none; `task_register` or the next request gives it a name."""
    task_id = new_task_id(memory, tx)
    session = memory.origin.session
    heads = {
        "kind": "task",
        "name": name,
        "status": "active",
        "phase": "received",
        "workspace_path": memory.workspace,
        "repository": memory.repository,
        "session_id": session,
        "focus": tx.last_focus(session) + 1,
    }
    draft = Draft("task.registered", sets={"heads": heads, "+extras": {"metadata": {DRAFT: True}}})
    head: Row = {"task_id": task_id, "root_id": task_id, **heads}
    append_event(memory, tx, head, draft, time_now(memory), "task_register")
    return task_id
