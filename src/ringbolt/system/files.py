"""Files shared with others: replaced atomically, and read without following unexpected links."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import count
from typing import BinaryIO

from ..model.errors import InvalidInput, StoreError, shown
from ..model.validate import blake2b
from . import os_calls
from .os_calls import IS_WINDOWS, open_file, open_folder, sync, sync_folder
from .user_folders import user_folder

TEMP = ".ringbolt-tmp"
_BLOCK = 1 << 20
_ABANDONED = 60.0
_numbers = count(1)
_CODES = {
    errno.ENOSPC: "store_full",
    getattr(errno, "EDQUOT", errno.ENOSPC): "store_full",
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
        with open(handle, "wb") as file:
            yield file
            file.flush()
            sync(file.fileno())
            if not IS_WINDOWS:  # closing it also unlocks it, so only after the rename
                os.replace(temp, path)
        if IS_WINDOWS:  # where no open file can be renamed
            os_calls.replace(temp, path)
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
            handle = open_file(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
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
    with os.scandir(folder) as entries:
        temps = [
            entry.path for entry in entries if is_temp(entry.name) and entry.is_file(follow_symlinks=False)
        ]
    return sum(map(_swept_on_windows if IS_WINDOWS else _swept, temps))


def _swept(temp: str) -> bool:
    try:
        handle = open_file(temp)
    except FileNotFoundError:  # finished, or swept by another process
        return False
    try:
        # A living writer holds the lock. The pid in the name says little inside a container.
        if _locked(handle, wait=False) and _names(temp, handle):
            os.unlink(temp)
            return True
    finally:
        os.close(handle)
    return False


def _swept_on_windows(temp: str) -> bool:
    """There no open file can be removed; a writer has closed it only for the moment before the rename."""
    with suppress(OSError):
        if time.time() - os.stat(temp).st_mtime > _ABANDONED:
            os.unlink(temp)
            return True
    return False


def _locked(handle: int, *, wait: bool) -> bool:
    """Lock a file; False if another process holds the lock, or if the file system has no locks."""
    try:
        return os_calls.lock(handle, wait=wait)
    except OSError:
        return False


def _names(path: str, handle: int) -> bool:
    """Whether a path still refers to the opened file."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(handle))


@contextmanager
def locked_folder(folder: str) -> Generator[None]:
    """Lock a folder against others that use this function, for the length of the block."""
    handle = open_file(_lock_file(folder), os.O_RDWR | os.O_CREAT) if IS_WINDOWS else open_folder(folder)
    try:
        _locked(handle, wait=True)
        yield
    finally:
        os.close(handle)


def _lock_file(folder: str) -> str:
    """The file that stands for a folder on Windows, which locks no folders: with the user's data."""
    name = os.path.normcase(os.path.realpath(folder)).encode("utf-8", "replace")
    place = os.path.join(user_folder("data"), "locks")
    os_calls.make_private_folders(place)
    return os.path.join(place, blake2b(name, digest_size=12).hexdigest())


def make_folder(path: str) -> bool:
    """Create a folder if it does not exist; True if it was created. Symlinks are rejected."""
    try:
        os.mkdir(path, 0o700)
        if IS_WINDOWS:
            os_calls.make_private(path, folder=True)
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
    handle = open_file(real) if root is None else _open_below(os.path.realpath(root), real)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput("invalid_argument", f"{shown(path, 400)} is not a regular file.", "Name a file.")
    return open(handle, "rb")


def _open_below(root: str, real: str) -> int:
    """Open a file by descending from a root folder by folder, so that no symlink is followed."""
    if not is_below(real, root):
        raise InvalidInput(
            "invalid_argument",
            f"{shown(real, 400)} is outside {shown(root, 400)}.",
            "Put the file itself there, not a link to it.",
        )
    if IS_WINDOWS:  # which opens no folders: judge the file that was opened
        handle = open_file(real)
        if is_below(os.path.realpath(os_calls.path_of(handle)), root):
            return handle
        os.close(handle)
        raise InvalidInput("invalid_argument", f"{shown(real, 400)} was replaced.", "Try again.")
    parts = os.path.relpath(real, root).split(os.sep)
    above = open_folder(root)
    try:
        for part in parts[:-1]:
            below = open_folder(part, follow=False, above=above)
            os.close(above)
            above = below
        return open_file(parts[-1], above=above)
    finally:
        os.close(above)


def is_below(path: str, root: str) -> bool:
    """Whether a path is below a root; both must be free of symlinks."""
    return os.path.normcase(path).startswith(os.path.normcase(root).rstrip(os.sep) + os.sep)
