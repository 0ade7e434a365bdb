"""Files shared with others: replaced atomically, and read without following unexpected links."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from typing import BinaryIO

from ..model.errors import InvalidInput, StoreError, shown
from .os_calls import sync

TEMP = ".ringbolt-tmp"
_BLOCK = 1 << 20
_numbers = count(1)
_CODES = {
    errno.ENOSPC: "store_full",
    errno.EDQUOT: "store_full",
    errno.EACCES: "store_readonly",
    errno.EPERM: "store_readonly",
    errno.EROFS: "store_readonly",
}


class FileErrors:
    """Converts errors of the operating system about a file into ours."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise StoreError(
                _CODES.get(error.errno or 0, "store_unavailable"),
                f"{self._path} cannot be read or written: {error.strerror or error}.",
                "Check that the path and its folder exist and that you have permission.",
            ) from error


def write_atomic(path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Replace a file atomically: readers see the old content or the new one, even after a power cut."""
    with replacing(path, mode=mode) as file:
        file.write(content)


@contextmanager
def replacing(path: str, *, mode: int = 0o600) -> Generator[BinaryIO]:
    """A new file to write to; it replaces the one at `path` when the block ends without an error."""
    folder, name = os.path.split(path)
    temp, handle = _begin(folder, name, mode)
    try:
        with open(handle, "wb") as file:  # closing it also unlocks it, so only after the rename
            yield file
            file.flush()
            sync(file.fileno())
            os.replace(temp, path)
    except BaseException:
        if os.path.lexists(temp):
            os.unlink(temp)
        raise
    sync_folder(folder)


def _begin(folder: str, name: str, mode: int) -> tuple[str, int]:
    """Create a temporary file in a folder, locked while it is written so that `sweep` leaves it alone."""
    while True:
        temp = os.path.join(folder, f".{name[:50]}.{os.getpid()}-{next(_numbers)}{TEMP}")
        try:
            handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileExistsError:  # left behind by a killed process with the same pid
            continue
        try:
            if _locked(handle, wait=True) and not _names(temp, handle):
                os.close(handle)  # swept before we had locked it
                continue
        except BaseException:
            os.close(handle)
            raise
        return temp, handle


def is_temp(name: str) -> bool:
    """Whether this is the name of a temporary file."""
    return name.startswith(".") and name.endswith(TEMP)


def sweep(folder: str) -> int:
    """Remove temporary files whose writer is gone; returns how many."""
    removed = 0
    with os.scandir(folder) as entries:
        temps = [
            entry.path for entry in entries if is_temp(entry.name) and entry.is_file(follow_symlinks=False)
        ]
    for temp in temps:
        try:
            handle = os.open(temp, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:  # finished, or swept by another process
            continue
        try:
            # A living writer holds the lock. The pid in the name says little inside a container.
            if _locked(handle, wait=False) and _names(temp, handle):
                os.unlink(temp)
                removed += 1
        finally:
            os.close(handle)
    return removed


def _locked(handle: int, *, wait: bool) -> bool:
    """Lock a file; False if another process holds the lock, or if the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _names(path: str, handle: int) -> bool:
    """Whether a path still refers to the opened file."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(handle))


def sync_folder(folder: str) -> None:
    """Sync a folder, so that the names in it survive a power cut."""
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked_folder(folder: str) -> Generator[None]:
    """Lock a folder against others that use this function, for the length of the block."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _locked(handle, wait=True)
        yield
    finally:
        os.close(handle)


def make_folder(path: str) -> bool:
    """Create a folder if it does not exist; True if it was created. Symlinks are rejected."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise InvalidInput(
                "invalid_argument",
                f"{shown(path, 400)} exists and is not a folder.",
                "Move it away, or choose another folder.",
            ) from None
        return False
    return True


# --- reading ----------------------------------------------------------------------------------------


def read_bounded(path: str, most: int, *, root: str | None = None) -> bytes:
    """Read a regular file of at most `most` bytes; with `root`, it must be inside that folder."""
    content = bytearray()
    with open_plain(path, root=root) as file:
        # Block by block: reading up to the limit at once would allocate that much.
        while len(content) <= most and (block := file.read(_BLOCK)):
            content += block
    if len(content) > most:
        raise InvalidInput(
            "too_large",
            f"{shown(path, 400)} has more than {most:,} bytes.",
            "Make it smaller, or raise the limit in the settings.",
            limit=most,
        )
    return bytes(content)


def open_plain(path: str, *, root: str | None = None) -> BinaryIO:
    """Open a regular file for reading; rejects devices, pipes, and symlinks that leave `root`."""
    real = os.path.realpath(path)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(real, flags) if root is None else _open_below(os.path.realpath(root), real, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput("invalid_argument", f"{shown(path, 400)} is not a regular file.", "Name a file.")
    return open(handle, "rb")


def _open_below(root: str, real: str, flags: int) -> int:
    """Open a file by descending from a root folder by folder, so that no symlink is followed."""
    if not is_below(real, root):
        raise InvalidInput(
            "invalid_argument",
            f"{shown(real, 400)} is outside {shown(root, 400)}.",
            "Put the file itself there, not a link to it.",
        )
    parts = os.path.relpath(real, root).split(os.sep)
    above = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
            os.close(above)
            above = below
        return os.open(parts[-1], flags, dir_fd=above)
    finally:
        os.close(above)


def is_below(path: str, root: str) -> bool:
    """Whether a path is below a root; both must be free of symlinks."""
    return path.startswith(root.rstrip(os.sep) + os.sep)
