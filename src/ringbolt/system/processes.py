"""Processes of this machine: which ones started us, and whether one is still running.

A process is named `PID:START`, where START is its start time in clock ticks, so that a later process with the
same number is not mistaken for it. Systems without /proc know no processes: callers then decide by time.
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
    """Eight characters that tell one boot of this machine from another."""
    try:
        with open(_BOOT_FILE, encoding="ascii") as file:
            return file.read(8)
    except (OSError, ValueError):
        return "00000000"


def _fields(pid: str) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # A program's name may hold any character, brackets too: the numbers follow the last one.
            return file.read(4096).rpartition(b")")[2].decode("ascii", "replace").split()
    except OSError:
        return []


def ancestors() -> list[str]:
    """The processes that this one descends from, the nearest first."""
    found: list[str] = []
    pid = str(os.getppid())
    while len(found) < _MOST_ANCESTORS and pid not in ("0", "1") and len(fields := _fields(pid)) > _START:
        found.append(f"{pid}:{fields[_START]}")
        pid = fields[_PARENT]
    return found


def is_running(process: str) -> bool:
    """Whether a process of this boot still runs; a zombie does not."""
    pid, _, start = process.partition(":")
    if not pid.isdecimal():
        return False
    fields = _fields(pid)
    return len(fields) > _START and fields[_START] == start and fields[_STATE] not in ("Z", "X")
