"""Processes on this machine: our ancestors, and whether a process is still running.

A process is named `PID:START`, where START is its start time as the system reports it, so that a later
process with the same number is not mistaken for it. Linux has it in /proc, other Unix systems in `ps`, and
Windows has calls for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from . import os_calls
from .os_calls import IS_WINDOWS

if IS_WINDOWS or TYPE_CHECKING:
    from . import windows

# The fields of /proc/PID/stat that follow the program's name: state, parent, …, start time.
_STATE, _PARENT, _START = 0, 1, 19
_MOST_ANCESTORS = 30


class Process(NamedTuple):
    """What the system reports about a process."""

    state: str  # its first letter: Z for a zombie
    parent: str
    start: str

    @property
    def runs(self) -> bool:
        """Whether it runs; a zombie does not."""
        return self.state[:1] not in ("Z", "X")


def boot() -> str:
    """Eight characters that identify the current boot of this machine."""
    return os_calls.boot_id()[:8] or "00000000"


def look_up(pid: str) -> Process | None:
    """A process; None if none has this number, or the system does not say."""
    if IS_WINDOWS:
        return _from_windows(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # A program's name may contain any character, even brackets: the numbers follow the last bracket.
            fields = file.read(4096).rpartition(b")")[2].decode("ascii", "replace").split()
    except OSError:
        return None if os.path.isdir("/proc/self") else _from_ps(pid)
    return Process(fields[_STATE], fields[_PARENT], fields[_START]) if len(fields) > _START else None


def _from_ps(pid: str) -> Process | None:
    from .commands import run  # loads `subprocess`, which systems with /proc do not need

    try:
        code, output = run(
            ["ps", "-o", "stat=,ppid=,lstart=", "-p", pid], None, 2, 500, {**os.environ, "LC_ALL": "C"}
        )
    except (OSError, TimeoutError):
        return None
    words = output.decode("ascii", "replace").split(maxsplit=2)
    if code != 0 or len(words) != 3:
        return None
    return Process(words[0], words[1], "-".join(words[2].split()))


def _from_windows(pid: str, parents: dict[int, int] | None = None) -> Process | None:
    try:
        found = windows.process_start(int(pid))
    except OSError:  # a process of the system, which may not be asked
        return None
    if found is None:
        return None
    runs, start = found
    return Process("R" if runs else "Z", str((parents or {}).get(int(pid), 0)), str(start))


def ancestors() -> list[str]:
    """The parent processes of this one, the nearest first."""
    if IS_WINDOWS:
        return _ancestors_on_windows()
    processes: list[str] = []
    pid = str(os.getppid())
    while len(processes) < _MOST_ANCESTORS and pid not in ("0", "1") and (process := look_up(pid)):
        processes.append(f"{pid}:{process.start}")
        pid = process.parent
    return processes


def _ancestors_on_windows() -> list[str]:
    parents = windows.parents()
    processes: list[str] = []
    child = _from_windows(str(os.getpid()), parents)
    while child and len(processes) < _MOST_ANCESTORS:
        above = _from_windows(child.parent, parents) if child.parent != "0" else None
        # A process keeps the number of its parent when that is gone, and a later process may get it.
        if above is None or int(above.start) > int(child.start):
            break
        processes.append(f"{child.parent}:{above.start}")
        child = above
    return processes


def is_gone(pid: str) -> bool:
    """Whether certainly no process with this number runs."""
    found = look_up(pid)
    if found is not None:
        return not found.runs
    try:
        if IS_WINDOWS:  # where `os.kill` with 0 ends a process
            return windows.process_start(int(pid)) is None
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def program(pid: str) -> str | int | None:
    """Something cheap to ask that changes when a process ends: its program, its start, or an error number.

    Another process may get the same number and program.
    """
    try:
        if IS_WINDOWS:
            return str(windows.process_start(int(pid)))
        if os.path.isdir("/proc/self"):
            return os.readlink(f"/proc/{pid}/exe")
        os.kill(int(pid), 0)
    except (OSError, OverflowError) as error:
        return getattr(error, "errno", None)
    return "running"


def is_running(process: str) -> bool:
    """Whether a process of this boot is still running; a zombie is not."""
    pid, _, start = process.partition(":")
    if not pid.isdecimal():
        return False
    found = look_up(pid)
    return found is not None and found.start == start and found.runs
