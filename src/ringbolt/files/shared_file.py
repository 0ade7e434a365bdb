"""A text file that people edit too: it is replaced atomically.

Changes of others in the meantime are never overwritten. Unlike other projections it may be the source of
truth.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from ..model.errors import Conflict, InvalidInput, StoreError, shown
from ..system.files import FileErrors, locked_folder, replacing, sync_folder
from ..system.os_calls import open_file, set_mode, sync


def locate(name: str, workspace: str | None) -> str:
    """The path of a file of a workspace; InvalidInput if a link leads out of it.

    A cloned repository may contain any links: writes through them must stay inside.
    """
    if os.path.isabs(name):
        base = os.path.dirname(name)
    elif workspace and os.path.isdir(workspace):
        base = workspace
    else:
        raise InvalidInput(
            "invalid_argument",
            f"There is no folder for {shown(name)}: the workspace is {shown(workspace or 'none')}.",
            "Open the memory with a workspace folder, or set active_tasks_file to an absolute path.",
        )
    base = os.path.realpath(base)
    path = os.path.realpath(os.path.join(base, name))
    if os.path.commonpath((base, path)) != base or path == base:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(name)} leads out of {base}.",
            "Name a file inside the workspace; replace the link by a file.",
        )
    return path


def read(path: str, limit: int) -> tuple[bytes, os.stat_result] | None:
    """The content of a regular file with its stat result; None if it is missing."""
    with FileErrors(path):
        try:
            # Without blocking: opening a pipe would wait for a writer.
            handle = open_file(path, follow=True)
        except FileNotFoundError:
            return None
        with open(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            if about.st_size > limit:
                raise InvalidInput(
                    "too_large",
                    f"{path} has {about.st_size:,} bytes; the limit is {limit:,}.",
                    "Move old rows into another file, or raise max_text_bytes.",
                    limit=limit,
                    size=about.st_size,
                )
            return file.read(limit + 1), about


def edit(path: str, change: Callable[[bytes | None], bytes | None], limit: int) -> bool:
    """Replace a file with the result of `change`; False if that is None or unchanged.

    Our other processes wait. If anyone else changed the file in the meantime, nothing is written and the call
    fails with `stale_version`.
    """
    folder = os.path.dirname(path)
    with FileErrors(path), locked_folder(folder):  # of the folder, because the file itself is replaced
        current = read(path, limit)
        old = None if current is None else current[0]
        new = change(old)
        if new is None or new == old:
            return False
        if current is not None and not os.access(path, os.W_OK):
            raise StoreError("store_readonly", f"{path} is read-only.", "Make it writable first.")
        _replace(path, new, old, current[1].st_mode if current else None, limit)
        sync_folder(folder)
    return True


def _replace(path: str, new: bytes, old: bytes | None, mode: int | None, limit: int) -> None:
    with replacing(path, mode=0o644) as file:
        if mode is not None:
            set_mode(file.fileno(), stat.S_IMODE(mode))
        file.write(new)
        file.flush()
        sync(file.fileno())  # first, so that little time passes between the check and the replacement
        again = read(path, limit)
        if (None if again is None else again[0]) != old:
            raise Conflict(
                "stale_version",
                f"{path} was changed by someone else just now.",
                "Nothing was written. Read it again, then repeat the call.",
            )
