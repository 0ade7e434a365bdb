"""The calls of Windows that Python does not offer: locks, processes, jobs, access lists.

Only `os_calls.py`, `processes.py` and `commands.py` import this, and only there. Every function either does
what it says or raises OSError with the error of Windows.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Any

# Where this file is checked for types, these modules lack what they have on Windows.
ctypes: Any = import_module("ctypes")
wintypes: Any = import_module("ctypes.wintypes")
msvcrt: Any = import_module("msvcrt")

_kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)
_security: Any = ctypes.WinDLL("advapi32", use_last_error=True)
_nt: Any = ctypes.WinDLL("ntdll")

_EXCLUSIVE, _AT_ONCE = 2, 1
_HELD_BY_ANOTHER = (33, 997)  # ERROR_LOCK_VIOLATION, ERROR_IO_PENDING
_NO_SUCH_PROCESS = 87
_ASK, _WAIT, _RUNS = 0x1000, 0x100000, 258  # limited information, SYNCHRONIZE, WAIT_TIMEOUT
_ALL_PROCESSES, _INVALID = 2, ctypes.c_void_p(-1).value
_KILL_WITH_JOB, _JOB_LIMITS = 0x2000, 9
_ACCESS_LIST = 4  # DACL_SECURITY_INFORMATION
_OWNER = 1
SUSPENDED, NO_WINDOW = 4, 0x08000000
# What a file that is ours alone grants: everything to its owner, the system and the administrators, as all
# files in a user's profile do; `P` keeps the folder above from adding others.
_PRIVATE, _PRIVATE_FOLDER = (f"D:P(A;{of};FA;;;OW)(A;{of};FA;;;SY)(A;{of};FA;;;BA)" for of in ("", "OICI"))
_TRUSTED = ("OW", "SY", "BA", "CO", "S-1-3-4", "S-1-3-0", "S-1-5-18", "S-1-5-32-544")
_ENTRY = re.compile(r"\(([^;]*);[^;]*;[^;]*;[^;]*;[^;]*;([^;)]*)[^)]*\)")


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_void_p), ("internal_high", ctypes.c_void_p),
        ("offset", wintypes.DWORD), ("offset_high", wintypes.DWORD), ("event", wintypes.HANDLE),
    )  # fmt: skip


class _ProcessEntry(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD), ("usage", wintypes.DWORD), ("pid", wintypes.DWORD),
        ("heap", ctypes.c_void_p), ("module", wintypes.DWORD), ("threads", wintypes.DWORD),
        ("parent", wintypes.DWORD), ("priority", wintypes.LONG), ("flags", wintypes.DWORD),
        ("program", wintypes.WCHAR * 260),
    )  # fmt: skip


class _JobLimits(ctypes.Structure):
    _fields_ = (
        ("times", ctypes.c_int64 * 2), ("flags", wintypes.DWORD), ("working_set", ctypes.c_size_t * 2),
        ("processes", wintypes.DWORD), ("affinity", ctypes.c_size_t), ("priorities", wintypes.DWORD * 2),
        ("counters", ctypes.c_uint64 * 6), ("memory", ctypes.c_size_t * 4),
    )  # fmt: skip


def _declare() -> None:
    """The types of handles and pointers, which are longer than the int that ctypes assumes."""
    handle, pointer, text = wintypes.HANDLE, ctypes.c_void_p, wintypes.LPCWSTR
    number = wintypes.DWORD
    for library, name, result, arguments in (
        (_kernel, "LockFileEx", wintypes.BOOL, (handle, number, number, number, number, pointer)),
        (_kernel, "UnlockFileEx", wintypes.BOOL, (handle, number, number, number, pointer)),
        (_kernel, "OpenProcess", handle, (number, wintypes.BOOL, number)),
        (_kernel, "GetProcessTimes", wintypes.BOOL, (handle, pointer, pointer, pointer, pointer)),
        (_kernel, "WaitForSingleObject", number, (handle, number)),
        (_kernel, "CreateToolhelp32Snapshot", handle, (number, number)),
        (_kernel, "Process32FirstW", wintypes.BOOL, (handle, pointer)),
        (_kernel, "Process32NextW", wintypes.BOOL, (handle, pointer)),
        (_kernel, "CreateJobObjectW", handle, (pointer, text)),
        (_kernel, "SetInformationJobObject", wintypes.BOOL, (handle, ctypes.c_int, pointer, number)),
        (_kernel, "AssignProcessToJobObject", wintypes.BOOL, (handle, handle)),
        (_kernel, "TerminateJobObject", wintypes.BOOL, (handle, ctypes.c_uint)),
        (_kernel, "CloseHandle", wintypes.BOOL, (handle,)),
        (_kernel, "LocalFree", pointer, (pointer,)),
        (_kernel, "GetFinalPathNameByHandleW", number, (handle, wintypes.LPWSTR, number, number)),
        (_kernel, "GetLogicalDrives", number, ()),
        (_nt, "NtResumeProcess", ctypes.c_long, (handle,)),
        (_security, "SetFileSecurityW", wintypes.BOOL, (text, number, pointer)),
        (_security, "GetFileSecurityW", wintypes.BOOL, (text, number, pointer, number, pointer)),
        (
            _security, "ConvertStringSecurityDescriptorToSecurityDescriptorW", wintypes.BOOL,
            (text, number, pointer, pointer),
        ),
        (
            _security, "ConvertSecurityDescriptorToStringSecurityDescriptorW", wintypes.BOOL,
            (pointer, number, number, pointer, pointer),
        ),
    ):  # fmt: skip
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


_declare()


def _failure(path: str | None = None) -> OSError:
    return ctypes.WinError(ctypes.get_last_error()) if path is None else OSError(
        0, ctypes.FormatError(ctypes.get_last_error()).strip(), path, ctypes.get_last_error()
    )  # fmt: skip


# --- locks ------------------------------------------------------------------------------------------


def lock(handle: int, *, shared: bool, wait: bool) -> bool:
    """Lock an open file; False if another handle has the lock and `wait` is not set.

    Locks of Windows keep others from reading the locked bytes, so it is one far behind the end of the file.
    """
    flags = (0 if shared else _EXCLUSIVE) | (0 if wait else _AT_ONCE)
    place = _Overlapped(offset_high=1 << 30)
    if _kernel.LockFileEx(msvcrt.get_osfhandle(handle), flags, 0, 1, 0, ctypes.byref(place)):
        return True
    if ctypes.get_last_error() in _HELD_BY_ANOTHER:
        return False
    raise _failure()


def unlock(handle: int) -> None:
    """Release the lock of an open file."""
    place = _Overlapped(offset_high=1 << 30)
    if not _kernel.UnlockFileEx(msvcrt.get_osfhandle(handle), 0, 1, 0, ctypes.byref(place)):
        raise _failure()


# --- processes --------------------------------------------------------------------------------------


def process_start(pid: int) -> tuple[bool, int] | None:
    """Whether a process runs, and when it was created (100 ns); None if none has this number.

    OSError if it is there and may not be asked.
    """
    process = _kernel.OpenProcess(_ASK | _WAIT, False, pid)
    if not process:
        if ctypes.get_last_error() == _NO_SUCH_PROCESS:
            return None
        raise _failure()
    try:
        times = (wintypes.FILETIME * 4)()
        if not _kernel.GetProcessTimes(process, *(ctypes.byref(time) for time in times)):
            raise _failure()
        created = times[0].dwHighDateTime << 32 | times[0].dwLowDateTime
        return _kernel.WaitForSingleObject(process, 0) == _RUNS, created
    finally:
        _kernel.CloseHandle(process)


def parents() -> dict[int, int]:
    """The parent of every process. A parent may be gone, and its number belong to a later process."""
    snapshot = _kernel.CreateToolhelp32Snapshot(_ALL_PROCESSES, 0)
    if snapshot == _INVALID:
        raise _failure()
    try:
        entry = _ProcessEntry(size=ctypes.sizeof(_ProcessEntry))
        found: dict[int, int] = {}
        more = _kernel.Process32FirstW(snapshot, ctypes.byref(entry))
        while more:
            found[entry.pid] = entry.parent
            more = _kernel.Process32NextW(snapshot, ctypes.byref(entry))
        return found
    finally:
        _kernel.CloseHandle(snapshot)


class Job:
    """A set of processes that ends as a whole: one that was started suspended, and all that it starts."""

    def __init__(self, started: Any) -> None:
        process = int(started._handle)  # subprocess keeps it there
        self._job = _kernel.CreateJobObjectW(None, None)
        if not self._job:
            raise _failure()
        limits = _JobLimits(flags=_KILL_WITH_JOB)  # also if this process is killed
        if not (
            _kernel.SetInformationJobObject(
                self._job, _JOB_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
            )
            and _kernel.AssignProcessToJobObject(self._job, process)
        ):
            raise _failure()
        _nt.NtResumeProcess(process)

    def kill(self) -> None:
        """End every process in it."""
        _kernel.TerminateJobObject(self._job, 1)
        _kernel.CloseHandle(self._job)


# --- files ------------------------------------------------------------------------------------------


def make_private(path: str, *, folder: bool = False) -> None:
    """Let only the owner, the system and administrators use a file, or a folder and what is made in it."""
    descriptor = ctypes.c_void_p()
    if not _security.ConvertStringSecurityDescriptorToSecurityDescriptorW(
        _PRIVATE_FOLDER if folder else _PRIVATE, 1, ctypes.byref(descriptor), None
    ):
        raise _failure(path)
    try:
        if not _security.SetFileSecurityW(path, _ACCESS_LIST | 0x80000000, descriptor):
            raise _failure(path)
    finally:
        _kernel.LocalFree(descriptor)


def strangers(path: str) -> set[str]:
    """Who else may use a file, as Windows abbreviates it: WD is everyone, BU all users."""
    size = wintypes.DWORD()
    wanted = _OWNER | _ACCESS_LIST
    _security.GetFileSecurityW(path, wanted, None, 0, ctypes.byref(size))
    descriptor = ctypes.create_string_buffer(size.value)
    if not _security.GetFileSecurityW(path, wanted, descriptor, size, ctypes.byref(size)):
        raise _failure(path)
    text = wintypes.LPWSTR()
    if not _security.ConvertSecurityDescriptorToStringSecurityDescriptorW(
        descriptor, 1, wanted, ctypes.byref(text), None
    ):
        raise _failure(path)
    try:
        owner, _, entries = (text.value or "").partition("D:")
    finally:
        _kernel.LocalFree(text)
    if not entries or entries == "NO_ACCESS_CONTROL":
        return {"WD"}
    owner = owner.removeprefix("O:").partition("G:")[0]
    allowed = {who for kind, who in _ENTRY.findall(entries) if kind in ("A", "XA", "OA")}
    return allowed - {owner, *_TRUSTED}


def path_of(handle: int) -> str:
    """The path of an open file, without links."""
    text = ctypes.create_unicode_buffer(32768)
    if not _kernel.GetFinalPathNameByHandleW(msvcrt.get_osfhandle(handle), text, len(text), 0):
        raise _failure()
    path = text.value
    if path.startswith("\\\\?\\UNC\\"):
        return "\\\\" + path[8:]
    return path.removeprefix("\\\\?\\")


def drives() -> set[str]:
    """The roots of all drives but that of the system."""
    bits = _kernel.GetLogicalDrives()
    own = os.environ.get("SYSTEMDRIVE", "C:").upper() + "\\"
    return {f"{chr(65 + bit)}:\\" for bit in range(26) if bits >> bit & 1} - {own}


def boot_number() -> str:
    """The number of this boot, which Windows counts in its registry; OSError if it does not."""
    winreg: Any = import_module("winreg")
    place = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
        return f"{int(winreg.QueryValueEx(key, 'BootId')[0]):08x}"
