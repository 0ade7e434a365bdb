"""What operating systems do differently: syncing, reserving space, processes, boots, mounts.

docs/reference/platforms.md lists every such call with its form on each system.
"""

from __future__ import annotations

import os
import sys
from functools import cache

IS_MACOS = sys.platform == "darwin"
# Of macOS; Python knows their names only there.
F_FULLFSYNC, F_GETPATH = 51, 50
_BLOCK = 1 << 20


def sync(handle: int) -> None:
    """Write a file through to the disk.

    On macOS fsync leaves the data in the drive's cache, where a power cut loses it; F_FULLFSYNC does not.
    File systems without it (network shares) get what they can do.
    """
    if IS_MACOS:
        import fcntl

        try:
            fcntl.fcntl(handle, F_FULLFSYNC)
        except OSError:
            os.fsync(handle)
    else:
        os.fsync(handle)


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


def machine() -> str:
    """The name of this machine, as leases and holders record it."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "unknown")


def user() -> str:
    """The user whom this process acts for: a name, otherwise the number."""
    name = os.environ.get("USER") or os.environ.get("USERNAME")
    return name or (str(os.getuid()) if hasattr(os, "getuid") else "unknown")


@cache
def boot_id() -> str:
    """What identifies the current boot of this machine; empty if the system does not tell.

    Without it, durations across processes are measured by the wall clock.
    """
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


def mounts() -> set[str]:
    """The folders at which file systems are mounted; empty if the system does not tell."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return {line.split(" ", 5)[4].replace("\\040", " ") for line in file}
    except OSError:
        return {"/Volumes"} if IS_MACOS else set()


def path_of(handle: int) -> str:
    """The path of an open file as the kernel knows it: no link hides it. OSError if it does not tell."""
    if not IS_MACOS:
        return os.readlink(f"/proc/self/fd/{handle}")
    import fcntl

    return os.fsdecode(fcntl.fcntl(handle, F_GETPATH, bytes(1024)).partition(b"\0")[0])
