"""Run `git status` once at the start of a session and before a compaction.

The output is stored as a snapshot of the session's task, from which `extract/work_tree.py` takes the branch
and the dirty files. If git takes too long, nothing is stored.
"""

from __future__ import annotations

import os

from ..extract.work_tree import STATUS_LABEL
from ..hook_memory import HookMemory
from ..system.commands import run
from .sessions import own_task

SECONDS = 0.1
_MOST_BYTES = 40_000
# Settings of a repository must not run programs: neither a file system monitor nor hooks.
_COMMAND = (
    "git", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=keep",
    "status", "--porcelain=v2", "--branch", "--ignore-submodules=all", "--no-renames",
)  # fmt: skip


def tree_status(folder: str) -> str:
    """The output of `git status` in a folder; empty outside a repository, or if git takes too long."""
    if not _is_repository(folder):
        return ""
    environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        code, output = run(_COMMAND, folder, SECONDS, _MOST_BYTES, environ)
    except (OSError, TimeoutError):
        return ""
    return output.decode("utf-8", "replace") if code == 0 else ""


def keep_tree_status(memory: HookMemory, folder: str) -> None:
    """Keep the state of a session's working tree in its task, if it has one and the state has changed."""
    task = own_task(memory)
    if task is None or not (text := tree_status(folder)):
        return
    rows = memory.store.read(lambda tx: tx.records(task, "snapshot", ("active",), 1, key=STATUS_LABEL))
    if not rows or rows[0]["text"] != text:
        memory.acting_as(channel="tool").task_snapshot(task, text, label=STATUS_LABEL)


def _is_repository(folder: str) -> bool:
    """Whether a folder is in a working copy; cheaper than starting git to find out."""
    place = os.path.abspath(folder)
    while not os.path.exists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return False
        place = above
    return True
