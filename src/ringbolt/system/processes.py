"""Processes on this machine: our ancestors, and whether a process is still running.

A process is named `PID:START`, where START is its start time in clock ticks, so that a later process with the
same number is not mistaken for it. On a system without /proc no process is known, and callers go by time.
"""

from __future__ import annotations

import os
from functools import cache

_BOOT_FILE = "/proc/sys/kernel/random/boot_id"
# The fields of /proc/PID/stat that follow the program's name: state, parent, …, start time.
_STATE, _PARENT, _START = 0, 1, 19
_MOST_ANCESTORS = 30


@cache
def boot() -> str:
    """Eight characters that identify the current boot of this machine."""
    try:
        with open(_BOOT_FILE, encoding="ascii") as file:
            return file.read(8)
    except (OSError, ValueError):
        return "00000000"


def _fields(pid: str) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # A program's name may contain any character, even brackets: the numbers follow the last bracket.
            return file.read(4096).rpartition(b")")[2].decode("ascii", "replace").split()
    except OSError:
        return []


def ancestors() -> list[str]:
    """The parent processes of this one, the nearest first."""
    processes: list[str] = []
    pid = str(os.getppid())
    while len(processes) < _MOST_ANCESTORS and pid not in ("0", "1") and len(fields := _fields(pid)) > _START:
        processes.append(f"{pid}:{fields[_START]}")
        pid = fields[_PARENT]
    return processes


def is_running(process: str) -> bool:
    """Whether a process of this boot is still running; a zombie is not."""
    pid, _, start = process.partition(":")
    if not pid.isdecimal():
        return False
    fields = _fields(pid)
    return len(fields) > _START and fields[_START] == start and fields[_STATE] not in ("Z", "X")
