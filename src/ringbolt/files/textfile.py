"""A text file that people edit too: read whole, and replaced whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable

from ..model.errors import Conflict, InvalidInput, StoreError, shown
from ..system.files import FileErrors, replacing


def locate(name: str, workspace: str | None) -> str:
    """The path of a file of a workspace; a link that leads out of the workspace is refused.

    A cloned repository may hold links of anyone's making: what is written through them must stay inside.
    """
    if os.path.isabs(name):
        base = os.path.dirname(name)
    elif workspace and os.path.isdir(workspace):
        base = workspace
    else:
        raise InvalidInput(
            "invalid_argument",
            f"There is no folder for {shown(name)}: the workspace is {shown(workspace or 'none')}.",
            "Open the memory with the workspace's folder, or give active_tasks_file an absolute path.",
        )
    base = os.path.realpath(base)
    path = os.path.realpath(os.path.join(base, name))
    if os.path.commonpath((base, path)) != base or path == base:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(name)} leads out of {base}.",
            "Name a file inside the workspace, and put a file where the link is.",
        )
    return path


def read(path: str, limit: int) -> tuple[bytes, os.stat_result] | None:
    """The content of a regular file, or None if there is none."""
    with FileErrors(path):
        try:
            # Not blocking: opening a pipe would wait for someone to write.
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with open(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EINVAL, "it is no regular file")
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
    """Replace a file by what `change` makes of it; None or the same bytes: nothing is written.

    Other processes of ours wait for their turn. If anyone else changed the file meanwhile, nothing is
    written and the call fails with `stale_version`.
    """
    folder = os.path.dirname(path)
    with FileErrors(path):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # on the folder: the file itself is replaced
            found = read(path, limit)
            old = None if found is None else found[0]
            new = change(old)
            if new is None or new == old:
                return False
            if found is not None and not os.access(path, os.W_OK):
                raise StoreError(
                    "store_readonly", f"{path} is read-only.", "Make it writable if it is to be changed."
                )
            _replace(path, new, old, found[1].st_mode if found else None, limit)
            os.fsync(lock)
        finally:
            os.close(lock)
    return True


def _replace(path: str, new: bytes, old: bytes | None, mode: int | None, limit: int) -> None:
    with replacing(path, mode=0o644) as file:
        if mode is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        file.write(new)
        file.flush()
        os.fsync(file.fileno())  # so that little time is left between the look and the replacing
        again = read(path, limit)
        if (None if again is None else again[0]) != old:
            raise Conflict(
                "stale_version",
                f"{path} was changed by someone else just now.",
                "Nothing was written. Look at it again, then repeat the call.",
            )
