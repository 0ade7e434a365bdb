"""Run `git status` once at the start of a session and before a compaction.

The output is stored as a snapshot of the session's task, from which `extract/work_tree.py` takes the branch
and the dirty files. If git takes too long, nothing is stored.
"""

from __future__ import annotations

import os

from ...ledger.base import Base
from ...model.rules import TREE_STATUS

SECONDS = 0.1
_MOST_BYTES = 40_000
# Settings of a repository must not run programs: neither a file system monitor nor hooks.
_COMMAND = (
    "git", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=keep",
    "status", "--porcelain=v2", "--branch", "--ignore-submodules=all", "--no-renames",
)  # fmt: skip


def changed_tree_status(memory: Base, task: str, folder: str) -> str:
    """The state of a working tree, if it differs from the last one that the task has; empty otherwise."""
    if memory.repository is None or not (text := _tree_status(folder)):
        return ""
    rows = memory.store.read(lambda tx: tx.records(task, "snapshot", ("active",), 1, key=TREE_STATUS))
    return "" if rows and rows[0]["text"] == text else text


def _tree_status(folder: str) -> str:
    """The output of `git status` in a folder; empty if git fails or takes too long."""
    from ...system.commands import run  # loads `subprocess`, which is needed inside a repository only

    environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        code, output = run(_COMMAND, folder, SECONDS, _MOST_BYTES, environ)
    except (OSError, TimeoutError):
        return ""
    return output.decode("utf-8", "replace") if code == 0 else ""
