"""What operating systems do differently: opening, locking, syncing and replacing files, boots, mounts.

docs/reference/platforms.md lists every such call with its form on each system. Processes are in
`processes.py`, commands in `commands.py`; the calls of Windows that Python lacks are in `windows.py`.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, TypeVar

IS_MACOS = sys.platform == "darwin"
IS_WINDOWS = sys.platform == "win32"

if IS_WINDOWS or TYPE_CHECKING:
    from . import windows
if not IS_WINDOWS or TYPE_CHECKING:
    import fcntl

# Of macOS; Python knows their names only there.
F_FULLFSYNC, F_GETPATH = 51, 50
_BLOCK = 1 << 20
# Never inherited by a command, and without Windows' conversion of line ends.
_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# Opening a pipe for reading would wait for a writer.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
# How the gate opens a file: to read it, and to see that it is there. O_PATH needs no permission to read, and
# does not wait for a pipe or a device.
READ = os.O_RDONLY | _NO_WAIT | _ALWAYS
SEE = getattr(os, "O_PATH", os.O_RDONLY | _NO_WAIT) | _ALWAYS
# Another program, often a virus scanner, has the file open for a moment.
_SHARING = (5, 32, 33)  # ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
_SHARING_SECONDS = 2.0

Result = TypeVar("Result")

# --- files ------------------------------------------------------------------------------------------


def open_file(
    path: str, flags: int = os.O_RDONLY, mode: int = 0o600, *, follow: bool = False, above: int | None = None
) -> int:
    """Open a file; its bytes are read and written as they are, and no command inherits it.

    A symlink is refused unless `follow`. Reading never waits for the writer of a pipe. A file that is created
    with a mode that excludes others belongs to its owner alone on every system. `above` is an open folder
    that the path starts from; Windows has no such thing.
    """
    flags |= _ALWAYS | (0 if follow else _NO_LINK)
    if not flags & (os.O_WRONLY | os.O_RDWR):
        flags |= _NO_WAIT
    if not IS_WINDOWS:
        return os.open(path, flags, mode, dir_fd=above)
    if not follow and os.path.islink(path):
        raise OSError(errno.ELOOP, "it is a symbolic link", path)
    fresh = flags & os.O_CREAT and not mode & 0o077 and not os.path.exists(path)
    handle = _when_shared(lambda: os.open(path, flags, mode))
    if fresh:
        make_private(path)
    return handle


def open_folder(path: str, *, follow: bool = True, above: int | None = None) -> int:
    """Open a folder, to sync it or to open what is in it. Not on Windows."""
    return os.open(path, os.O_RDONLY | _FOLDER | _ALWAYS | (0 if follow else _NO_LINK), dir_fd=above)


def read_at(handle: int, size: int, offset: int) -> bytes:
    """Read from a place in an open file. Not for several threads with one handle: Windows moves it."""
    if hasattr(os, "pread"):
        return os.pread(handle, size, offset)
    os.lseek(handle, offset, os.SEEK_SET)
    return os.read(handle, size)


def write_at(handle: int, content: bytes, offset: int) -> int:
    """Write at a place in an open file; as for `read_at`."""
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, content, offset)
    os.lseek(handle, offset, os.SEEK_SET)
    return os.write(handle, content)


def replace(source: str, target: str) -> None:
    """Rename a file over another; on Windows repeatedly while another program has one of them open."""
    _when_shared(lambda: os.replace(source, target))


def put_if_absent(source: str, target: str) -> bool:
    """Give a file a new name unless something has it already; then it is removed, and this is False."""
    try:
        if IS_WINDOWS:
            os.rename(source, target)  # which never replaces there
        else:
            os.link(source, target)
            os.unlink(source)
    except FileExistsError:
        os.unlink(source)
        return False
    return True


def _when_shared(call: Callable[[], Result]) -> Result:
    until = time.monotonic() + _SHARING_SECONDS
    pause = 0.001
    while True:
        try:
            return call()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _SHARING or time.monotonic() > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def make_private(path: str, *, folder: bool = False) -> None:
    """Keep other users from a file or folder of ours that some other code made; a folder passes it on."""
    if not IS_WINDOWS:
        os.chmod(path, 0o700 if folder else 0o600)
        return
    with suppress(OSError):  # a file system without access lists, such as FAT
        windows.make_private(path, folder=folder)


def make_private_folders(path: str) -> None:
    """Make a folder and those above it where they are missing; what is made is for its owner alone."""
    if os.path.isdir(path):
        return
    os.makedirs(path, mode=0o700, exist_ok=True)
    if IS_WINDOWS:
        make_private(path, folder=True)


def others_may_use(path: str) -> bool:
    """Whether the permissions of a file let other users than its owner read or change it."""
    if IS_WINDOWS:
        return bool(windows.strangers(path))
    return bool(os.lstat(path).st_mode & 0o077)


def is_ours_alone(path: str) -> bool:
    """Whether a file belongs to this user, and nobody else may use it."""
    return not others_may_use(path) and (IS_WINDOWS or os.lstat(path).st_uid == os.getuid())


def others_may_replace_in(folder: str) -> bool:
    """Whether another user may replace files in a folder. The sticky bit protects the files of others."""
    if IS_WINDOWS:
        return bool(windows.strangers(folder))
    mode = os.stat(folder).st_mode
    return bool(mode & 0o022) and not mode & stat.S_ISVTX


def private_command(paths: Sequence[str], *, folder: bool = False) -> str:
    """The command with which a user keeps others from files, or from replacing files in a folder."""
    if IS_WINDOWS:
        rights = "%USERNAME%:(OI)(CI)F" if folder else "%USERNAME%:F"
        return " & ".join(f'icacls "{path}" /inheritance:r /grant:r {rights} SYSTEM:F' for path in paths)
    return f"chmod {'go-w' if folder else '600'} {' '.join(paths)}"


def set_mode(handle: int, mode: int) -> None:
    """Set the permissions of an open file; on Windows, nothing."""
    if hasattr(os, "fchmod") and not IS_WINDOWS:
        os.fchmod(handle, mode)


# --- locks ------------------------------------------------------------------------------------------


def lock(handle: int, *, wait: bool, shared: bool = False) -> bool:
    """Lock an open file against other handles; False if another has the lock and `wait` is not set.

    The system releases it when the handle is closed, also by the death of the process. OSError if the file
    system has no locks. On Windows, nothing else can be done with this handle while it waits.
    """
    if IS_WINDOWS:
        return windows.lock(handle, shared=shared, wait=wait)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(handle, kind | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def unlock(handle: int) -> None:
    """Release a lock, also in forked children that have the same handle."""
    if IS_WINDOWS:
        windows.unlock(handle)
    else:
        fcntl.flock(handle, fcntl.LOCK_UN)


# --- the disk ---------------------------------------------------------------------------------------


def sync(handle: int) -> None:
    """Write a file through to the disk.

    On macOS fsync leaves the data in the drive's cache, where a power cut loses it; F_FULLFSYNC does not.
    File systems without it (network shares) get what they can do.
    """
    if IS_MACOS:
        try:
            fcntl.fcntl(handle, F_FULLFSYNC)
        except OSError:
            os.fsync(handle)
    else:
        os.fsync(handle)


def sync_folder(folder: str) -> None:
    """Sync a folder, so that the names in it survive a power cut; NTFS has them in its own journal."""
    if IS_WINDOWS:
        return
    handle = open_folder(folder or ".")
    try:
        sync(handle)
    finally:
        os.close(handle)


def reserve(handle: int, size: int) -> None:
    """Give a file blocks on the disk up to a size; OSError if there is no room."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    # A file that is only made longer has no blocks: write them.
    done = os.fstat(handle).st_size
    os.lseek(handle, done, os.SEEK_SET)
    while done < size:
        done += os.write(handle, bytes(min(_BLOCK, size - done)))
    sync(handle)


def mounts() -> set[str]:
    """The folders at which file systems are mounted; empty if the system does not say."""
    if IS_WINDOWS:
        return windows.drives()
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return {line.split(" ", 5)[4].replace("\\040", " ") for line in file}
    except OSError:
        return {"/Volumes"} if IS_MACOS else set()


def path_of(handle: int) -> str:
    """The path of an open file as the kernel knows it: no link hides it. OSError if it does not say."""
    if IS_WINDOWS:
        return windows.path_of(handle)
    if not IS_MACOS:
        return os.readlink(f"/proc/self/fd/{handle}")
    return os.fsdecode(fcntl.fcntl(handle, F_GETPATH, bytes(1024)).partition(b"\0")[0])


# --- the machine ------------------------------------------------------------------------------------


def machine() -> str:
    """The name of this machine, as leases and holders record it."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "unknown")


def user() -> str:
    """The user whom this process acts for: a name, otherwise the number."""
    name = os.environ.get("USER") or os.environ.get("USERNAME")
    return name or (str(os.getuid()) if hasattr(os, "getuid") else "unknown")


@cache
def boot_id() -> str:
    """What identifies the current boot of this machine; empty if the system does not say.

    Without it, durations across processes are measured by the wall clock.
    """
    if IS_WINDOWS:
        with suppress(OSError):
            return windows.boot_number()
        return ""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return _boot_session() if IS_MACOS else ""


def _boot_session() -> str:
    """The boot session of macOS, which changes with every boot."""
    from .commands import run

    try:
        code, output = run(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"], None, 2, 200)
    except (OSError, TimeoutError):
        return ""
    return output.decode("ascii", "replace").strip() if code == 0 else ""


_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None) if IS_MACOS else None)


def steady() -> float:
    """Seconds since the machine started: the same for all processes, and not affected by clock changes.

    Time in which the machine sleeps counts on every system.
    """
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


def after_fork(call: Callable[[], None]) -> None:
    """Call a function in every forked child; Windows does not fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)
