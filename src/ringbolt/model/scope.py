"""The workspace of a folder: its worktree and repository, found without running git."""

from __future__ import annotations

import os


def workspace_of(folder: str) -> tuple[str, str | None]:
    """The worktree that contains a folder, and the common git folder of its repository.

    Outside a repository the folder itself is the workspace. Two worktrees of a repository are two workspaces.
    """
    here = os.path.realpath(folder)
    above = here
    while True:
        marker = os.path.join(above, ".git")
        if os.path.isdir(marker):
            return above, marker
        if os.path.isfile(marker) and (common := _common_folder(marker)):
            return above, common
        parent = os.path.dirname(above)
        if parent == above:
            return here, None
        above = parent


def _common_folder(marker: str) -> str | None:
    """Follow the `.git` file of a linked worktree or submodule to the shared git folder."""
    try:
        with open(marker, encoding="utf-8") as file:
            prefix, _, target = file.readline().strip().partition("gitdir: ")
        if prefix or not target:
            return None
        private = os.path.join(os.path.dirname(marker), target)
        shared = os.path.join(private, "commondir")
        if os.path.isfile(shared):
            with open(shared, encoding="utf-8") as file:
                private = os.path.join(private, file.readline().strip())
        return os.path.realpath(private)
    except (OSError, UnicodeDecodeError):
        return None
