"""Which branch a worktree had when, read from git's own log of HEAD without running git."""

from __future__ import annotations

import os
import re

from ..model.lazy_regex import lazy_regex

_READ = 8192  # bytes at the end of the log, some forty entries
_CHECKOUT = lazy_regex(r"> (\d+) [+-]\d{4}\tcheckout: moving from (\S+) to (\S+)$", re.M)


def branch_changed(worktree: str, since: float, until: float) -> bool:
    """Whether another branch was checked out between two times and still is at the second.

    False where there is no repository or its log cannot be read.
    """
    try:
        with open(os.path.join(_git_folder(worktree), "logs", "HEAD"), "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _READ))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return False
    moves = [(old, new) for at, old, new in _CHECKOUT.findall(text) if since < int(at) <= until]
    return bool(moves) and moves[0][0] != moves[-1][1]


def _git_folder(worktree: str) -> str:
    """The git folder of a worktree; that of a linked one is named in its `.git` file."""
    marker = os.path.join(worktree, ".git")
    if os.path.isdir(marker):
        return marker
    with open(marker, "rb") as file:
        target = file.readline(4096).decode("utf-8", "replace").strip().removeprefix("gitdir: ")
    return os.path.join(worktree, target)
