"""Make Python on Linux look like Python on another system to our code, before any of it is imported.

RINGBOLT_SIMULATE names the system: `macos` or `windows`. Modules of `ringbolt` get an `os`, a `sys` and a
`signal` without what that system lacks, and no module that it lacks; a call that would do something else
there (`os.kill` with 0, a file in text mode, an open folder) fails. The standard library and other packages
stay as they are: they have their own tests on that system. The file system and processes remain those of
Linux: what Windows has besides is done by a stand-in for `ringbolt/system/windows.py`, whose real form is
tried under Wine (tools/wine.sh).
"""

from __future__ import annotations

import builtins
import os
import signal
import subprocess
import sys
from types import ModuleType, SimpleNamespace

_SYSTEM = os.environ.get("RINGBOLT_SIMULATE", "")
_MACOS_LACKS = {
    "os": "posix_fallocate posix_fadvise fdatasync sched_getaffinity memfd_create getrandom pidfd_open O_PATH"
    " O_TMPFILE O_DIRECT",
    "signal": "SIGPWR SIGSTKFLT sigtimedwait sigwaitinfo",
    "time": "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
}
_WINDOWS_LACKS = {
    "os": _MACOS_LACKS["os"] + " O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_NOCTTY O_SYNC O_DSYNC"
    " pread pwrite preadv pwritev readv writev getuid geteuid getgid getegid getgroups fork forkpty"
    " killpg setsid getsid getpgid setpgid getpgrp mkfifo mknod openpty login_tty register_at_fork uname"
    " fchmod fchown chown lchown chroot nice getpriority setpriority getloadavg statvfs fstatvfs sysconf"
    " confstr pathconf set_blocking get_blocking pipe2 ttyname ctermid tcgetpgrp wait wait3 wait4 waitid"
    " WNOHANG lockf sendfile fchdir sync setuid initgroups sched_yield",
    "signal": "SIGALRM SIGKILL SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGPIPE SIGCHLD SIGXFSZ setitimer getitimer"
    " ITIMER_REAL alarm pause pthread_kill pthread_sigmask sigwait siginterrupt",
    "select": "poll epoll",
    "time": _MACOS_LACKS["time"] + " CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_REALTIME clock_gettime",
}
_WINDOWS_LACKS["_signal"] = _WINDOWS_LACKS["signal"]
_WINDOWS_LACKS["nt"] = _WINDOWS_LACKS["os"]
_NO_MODULES = "fcntl posix resource pwd grp termios tty pty syslog crypt spwd nis posixpath readline curses"
_BINARY, _NO_INHERIT = 1 << 28, 1 << 29  # bits that Linux does not use


class _Seen(ModuleType):
    """A module as our code sees it: without some names, and with others changed."""

    def __init__(self, real: object, lacks: str, **changed: object) -> None:
        super().__init__(getattr(real, "__name__", "module"))
        self.__dict__.update(changed, _real=real, _lacks=frozenset(lacks.split()))

    def __getattr__(self, name: str) -> object:
        if name in self._lacks:
            raise AttributeError(f"{_SYSTEM} has no {self.__name__}.{name}")
        return getattr(self._real, name)


def _hide_proc() -> None:
    """There is no /proc: our code that opens or lists a path below it is told so."""

    def hidden(call):
        def wrapped(path, *args, **more):
            below = isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith("/proc")
            if below and _is_called_by_us():
                raise FileNotFoundError(2, "No such file or directory", os.fsdecode(path))
            return call(path, *args, **more)

        return wrapped

    builtins.open = hidden(builtins.open)
    for name in ("open", "readlink", "listdir", "scandir", "stat", "lstat", "access"):
        setattr(os, name, hidden(getattr(os, name)))


def _is_called_by_us() -> bool:
    frame = sys._getframe(2)
    for _ in range(3):  # ours, or a function of os.path that ours has called
        if frame is not None and _is_ours(frame.f_globals):
            return True
        frame = frame and frame.f_back
    return False


def _show(seen: dict[str, ModuleType], missing: frozenset[str]) -> None:
    """Let modules of ours, and our programs, import these modules in place of the real ones."""
    load = builtins.__import__

    def imported(name, globals=None, locals=None, fromlist=(), level=0):
        ours = globals is not None and level == 0 and _is_ours(globals)
        if ours and name in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if ours and name in seen:
            return seen[name]
        return load(name, globals, locals, fromlist, level)

    builtins.__import__ = imported


def _is_ours(names: dict) -> bool:
    spec = names.get("__spec__")
    return (getattr(spec, "name", None) or names.get("__name__", "")).partition(".")[0] == "ringbolt"


def _sys(platform: str) -> ModuleType:
    return _Seen(sys, "getwindowsversion", platform=platform)


def _macos() -> None:
    import fcntl

    real, read_link = fcntl.fcntl, os.readlink

    def control(handle, what, *more):
        if what == 51:  # F_FULLFSYNC, which Linux refuses as network shares on macOS do
            raise OSError(22, "Invalid argument")
        if what == 50:  # F_GETPATH
            return os.fsencode(read_link(f"/proc/self/fd/{handle}")) + bytes(8)
        return real(handle, what, *more)

    seen = {name: _Seen(__import__(name), lacks) for name, lacks in _MACOS_LACKS.items()}
    seen["sys"] = _sys("darwin")
    seen["fcntl"] = _Seen(fcntl, "", fcntl=control)
    _show(seen, frozenset(("winreg", "msvcrt", "nt", "_winapi")))
    _hide_proc()


# --- Windows ----------------------------------------------------------------------------------------


def _open(path, flags, mode=0o777, *, dir_fd=None):
    """os.open as Windows has it: no folders, no open folder to start from, text unless told otherwise."""
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if not flags & _BINARY and path != os.devnull:
        raise AssertionError(f"{path} is opened in text mode")
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return os.open(path, flags & ~(_BINARY | _NO_INHERIT), mode)


def _kill(pid, number):
    if number not in (signal.SIGTERM, signal.SIGINT):
        raise AssertionError(f"os.kill with {number} ends a process on Windows")
    os.kill(pid, number)


def _rename(source, target):
    """os.rename, which replaces nothing there."""
    if os.path.lexists(target):
        raise FileExistsError(17, "Cannot create a file when that file already exists", source)
    os.rename(source, target)


def _popen(words, *args, creationflags=0, start_new_session=False, preexec_fn=None, **more):
    """subprocess.Popen: a job is a session here, whose leader need not be resumed."""
    if preexec_fn is not None:
        raise ValueError("preexec_fn is not supported on Windows platforms")
    return subprocess.Popen(words, *args, start_new_session=bool(creationflags & 4), **more)


class _Job:
    def __init__(self, started) -> None:
        self._session = started.pid

    def kill(self) -> None:
        try:
            os.killpg(self._session, signal.SIGKILL)
        except ProcessLookupError:
            return


def _stand_in(open_proc, read_link) -> ModuleType:
    """What `ringbolt/system/windows.py` offers, by the means of Linux."""
    import fcntl

    def lock(handle, *, shared, wait):
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def fields(pid):
        with open_proc(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()

    def process_start(pid):
        try:
            found = fields(pid)
        except (FileNotFoundError, ProcessLookupError):
            return None
        return found[0] not in (b"Z", b"X"), int(found[19])

    def parents():
        found, pid = {}, os.getpid()
        while pid > 1:
            found[pid] = pid = int(fields(pid)[1])
        return found

    def make_private(path, *, folder=False):
        os.chmod(path, 0o700 if folder else 0o600)

    def strangers(path):
        status = os.stat(path)
        return {"WD"} if status.st_mode & 0o077 and not status.st_mode & 0o1000 else set()

    module = ModuleType("ringbolt.system.windows")
    module.__dict__.update(
        lock=lock, unlock=lambda handle: fcntl.flock(handle, fcntl.LOCK_UN), process_start=process_start,
        parents=parents, Job=_Job, SUSPENDED=4, NO_WINDOW=0x08000000, make_private=make_private,
        strangers=strangers, path_of=lambda handle: read_link(f"/proc/self/fd/{handle}"), drives=set,
        boot_number=lambda: "0000000a",
    )  # fmt: skip
    return module


class _Registry(ModuleType):
    HKEY_LOCAL_MACHINE = 0

    @staticmethod
    def OpenKey(*_):
        import contextlib

        return contextlib.nullcontext()

    @staticmethod
    def QueryValueEx(_, name):
        return {"BootId": 10}[name], 4


def _windows() -> None:
    sys.modules["ringbolt.system.windows"] = _stand_in(builtins.open, os.readlink)
    os_calls = {
        "name": "nt", "open": _open, "kill": _kill, "rename": _rename,
        "O_BINARY": _BINARY, "O_NOINHERIT": _NO_INHERIT, "supports_dir_fd": frozenset(),
    }  # fmt: skip
    seen: dict[str, ModuleType] = {
        name: _Seen(__import__(name), _WINDOWS_LACKS[name])
        for name in ("signal", "_signal", "select", "time")
    }
    seen["os"] = _Seen(os, _WINDOWS_LACKS["os"], **os_calls)
    seen["nt"] = _Seen(
        os, _WINDOWS_LACKS["nt"], **os_calls, environ=SimpleNamespace(get=lambda name: os.environ.get(name))
    )
    seen["subprocess"] = _Seen(subprocess, "", Popen=_popen)
    seen["sys"] = _sys("win32")
    seen["winreg"] = _Registry("winreg")
    _show(seen, frozenset(_NO_MODULES.split()))
    _hide_proc()


if _SYSTEM == "macos":
    _macos()
elif _SYSTEM == "windows":
    _windows()
