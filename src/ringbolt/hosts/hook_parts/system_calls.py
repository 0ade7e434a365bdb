"""The system as the capture hook uses it: standard input and output, time limit, environment, files."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing takes longer to load than `ringbolt statusline` to answer
if TYPE_CHECKING:
    from typing import Any

if sys.platform == "win32":
    import nt as system
else:
    import posix as system
# The C module below `signal`, which imports `enum`.
_signal: Any = __import__("_signal")
MOST_INPUT = 32 << 20
BLOCK = 1 << 16
# On Windows: the seconds that an interrupted process has to end, and what stops its alarm.
_GRACE = 1.0
_AGAIN = 0.25  # seconds until an alarm rings again
_watch: list[Any] = []
READ_ONLY = system.O_RDONLY | getattr(system, "O_CLOEXEC", 0) | getattr(system, "O_BINARY", 0)
CREATE_NEW = (
    system.O_WRONLY
    | system.O_CREAT
    | system.O_EXCL
    | getattr(system, "O_CLOEXEC", 0)
    | getattr(system, "O_NOFOLLOW", 0)
    | getattr(system, "O_BINARY", 0)
)


class Late(BaseException):
    """The time is up. Not an Exception, so that nothing that handles errors catches it."""


def variable(name: str) -> str:
    """A variable of the environment; empty if it is not set."""
    return variable_or_none(name) or ""


def variable_or_none(name: str) -> str | None:
    if (loaded := sys.modules.get("os")) is not None:
        return loaded.environ.get(name)  # the environment as it is now, not as it was at the start
    if sys.platform == "win32":
        return system.environ.get(name)
    # posix.environ holds bytes; os.environ would decode all of them, and means loading `os`.
    value = system.environ.get(name.encode())
    return None if value is None else value.decode(sys.getfilesystemencoding(), "surrogateescape")


def is_link(path: str) -> bool:
    try:
        return system.lstat(path).st_mode & 0o170000 == 0o120000
    except OSError:
        return False


def make_folder(path: str) -> None:
    try:
        system.mkdir(path, 0o700)
    except FileExistsError:  # another hook made it in this moment
        return


def exists(path: str) -> bool:
    try:
        system.stat(path)
    except OSError:
        return False
    return True


def unlink(path: str) -> None:
    try:
        system.unlink(path)
    except OSError:
        return


def listed(folder: str) -> list[str]:
    """The names in a folder; none if it cannot be read."""
    try:
        return system.listdir(folder)
    except OSError:
        return []


def read_small(path: str, most: int = 1 << 20) -> bytes:
    """The content of a file, up to a limit; nothing if it cannot be read."""
    return read_part(path, 0, most)


def read_part(path: str, begin: int, most: int) -> bytes:
    try:
        file = system.open(path, READ_ONLY)
    except (OSError, ValueError):
        return b""
    try:
        if begin:
            system.lseek(file, begin, 0)
        content = b""
        while len(content) < most and (block := system.read(file, min(most - len(content), BLOCK))):
            content += block
        return content
    except OSError:
        return b""
    finally:
        system.close(file)


def read_input() -> bytes:
    """Standard input up to a limit; the rest is read too, so that the host can finish, and dropped."""
    blocks: list[bytes] = []
    size = 0
    while block := system.read(0, BLOCK):
        if size < MOST_INPUT:
            blocks.append(block)
        size += len(block)
    return b"".join(blocks)


def write_all(file: int, data: bytes) -> None:
    while data:
        data = data[system.write(file, data) :]


def complain(text: str) -> None:
    """Write one line for the host's log; the model does not see it."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[:500])
    try:
        system.write(2, f"ringbolt-hook: {plain}\n".encode("utf-8", "replace"))
    except OSError:
        return


def set_alarm(seconds: float | None, kind: type[Late] = Late) -> None:
    """Raise `kind` in so many seconds, wherever the process is then; None stops the alarm.

    It is raised again after a moment: Python drops an exception that comes in a callback of its own.
    Windows has no such timer: there a thread interrupts the main one, which notices it between two steps of
    Python. If it does not, because it waits for input or a lock, the process ends; what it wrote is whole.
    """

    def ring(number: int, frame: object) -> None:
        raise kind

    if hasattr(_signal, "setitimer"):
        if seconds is None:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
            return
        _signal.signal(_signal.SIGALRM, ring)
        _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001), _AGAIN)
        return
    import _thread

    if _watch:
        _watch.pop().release()  # ends the thread of the last alarm
    _signal.signal(_signal.SIGINT, ring if seconds is not None else _signal.default_int_handler)
    if seconds is not None:
        stopped = _thread.allocate_lock()
        stopped.acquire()
        _watch.append(stopped)
        _thread.start_new_thread(_interrupt, (stopped, max(seconds, 0.001)))


def _interrupt(stopped: Any, seconds: float) -> None:
    import _thread

    if stopped.acquire(timeout=seconds):
        return
    _thread.interrupt_main()
    if not stopped.acquire(timeout=_GRACE):
        complain("the time was up")
        system._exit(0)  # pyright: ignore[reportPrivateUsage]
