"""The gate: the one policy for looking at the world outside the store, for every caller and purpose.

Waits, criteria of goals and anchors look at files, terminals, screens, processes, commands, ports and URLs.
Each look passes a `Gate`, made from what the caller was granted and what the operator's settings allow:

- Files: the content only below the gate's folders. Without `anywhere`, nothing else about other files either.
- Never our own files (tokens, keys, settings, store), and never the kernel's (/proc, /sys, /dev), which
  would show the memory and the environment of this process.
- A file is judged after it was opened, by the handle: links, `..`, another case or a race change nothing.
- A refusal says the same whether or not the target exists. Refusals are limited in number and written to an
  audit file.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ..model.capabilities import Power
from ..model.errors import NotAllowed
from ..model.redaction import Redactor
from ..model.types import Value
from . import os_calls
from .user_folders import user_folder

# The power that a look at each kind of target needs. Times, tasks and people are not outside the store.
POWER_OF: dict[str, Power] = {
    "file": "files",
    "log": "files",
    "process": "displays",
    "terminal": "displays",
    "screen": "displays",
    "window": "displays",
    "command": "commands",
    "port": "egress",
    "http": "egress",
}
REFUSED = "this is not allowed here"
_OF_THE_KERNEL = ("/proc", "/sys", "/dev")
_MOST_OWN_FILES = 5000
_SEE, _READ = os_calls.SEE, os_calls.READ

Identity = tuple[int, int]  # device and inode


class LookRefused(OSError):
    """This may not be looked at, and was not."""

    def __init__(self) -> None:
        super().__init__(REFUSED)


class Gate(Value, frozen=True, kw_only=True):
    """What one caller may look at.

    `folders` are those whose files may be read, `own` the files and folders that nobody may look at.
    `anywhere`: the caller may see whether other files exist or change. `private`: addresses that are not
    public may be called.
    """

    powers: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    anywhere: bool = False
    private: bool = False

    def admits(self, kind: str) -> bool:
        """Whether targets of a kind may be looked at, as far as the kind decides it."""
        return kind not in POWER_OF or POWER_OF[kind] in self.powers

    def allows_file(self, path: str, *, content: bool) -> bool:
        """Whether a file may be looked at now, by its path."""
        try:
            self.check_path(path, content=content)
        except LookRefused:
            return False
        return True

    def check_path(self, path: str, *, content: bool) -> None:
        """Raise LookRefused unless this file may be looked at now, whether or not it exists."""
        self._look(path, content)

    def status(self, path: str) -> os.stat_result | None:
        """The `stat` of a file; None if it does not exist. Raises LookRefused."""
        return self._look(path, content=False)

    def _look(self, path: str, content: bool) -> os.stat_result | None:
        try:
            handle = os.open(path, _SEE)
        except (OSError, ValueError):
            self._judge(os.path.realpath(path), None, content)
            return None
        try:
            return self._judge_handle(handle, path, content)
        finally:
            os.close(handle)

    def open_file(self, path: str) -> int:
        """A handle for reading a file. Raises LookRefused, or OSError if it cannot be opened."""
        try:
            handle = os.open(path, _READ)
        except OSError:
            self._judge(os.path.realpath(path), None, content=True)
            raise
        try:
            self._judge_handle(handle, path, content=True)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _judge_handle(self, handle: int, path: str, content: bool) -> os.stat_result:
        status = os.fstat(handle)
        self._judge(_path_of(handle, path), status, content)
        return status

    def _judge(self, real: str, status: os.stat_result | None, content: bool) -> None:
        """Raise LookRefused unless the file at a real path may be looked at; `status` if it exists."""
        if "files" not in self.powers or _is_below(real, _OF_THE_KERNEL) or self._is_own(real, status):
            raise LookRefused
        if self.anywhere and not content:
            return
        if not _is_below(real, [os.path.realpath(folder) for folder in self.folders]):
            raise LookRefused

    def _is_own(self, real: str, status: os.stat_result | None) -> bool:
        own = [os.path.realpath(path) for path in (*self.own, *_protected)]
        if any(real == path or real.startswith((f"{path}{os.sep}", f"{path}-", f"{path}.")) for path in own):
            return True
        # Compare identities too: a file system may ignore case, or be mounted in two places.
        identities = set(_identities(own))
        above = [real]
        while (upper := os.path.dirname(above[-1])) != above[-1]:
            above.append(upper)
        if identities.intersection(_identities(above)):
            return True
        # A hard link is another name of the same file.
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return False
        return (status.st_dev, status.st_ino) in set(_identities(_files_below(own)))


def _path_of(handle: int, path: str) -> str:
    """The real path of an open file: from the kernel if possible, so that nothing can change meanwhile."""
    with suppress(OSError):
        return os_calls.path_of(handle).removesuffix(" (deleted)")
    return os.path.realpath(path)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}") for folder in folders)


def _identities(paths: Iterable[str]) -> Iterator[Identity]:
    for path in paths:
        with suppress(OSError, ValueError):
            status = os.stat(path)
            yield status.st_dev, status.st_ino


def _files_below(paths: Iterable[str]) -> Iterator[str]:
    """Our own files, of which a hard link could be another name: those in our folders, and beside a store."""
    count = 0
    for path in paths:
        yield path
        beside = os.path.dirname(path)
        with suppress(OSError):
            begin = os.path.basename(path)
            yield from (os.path.join(beside, name) for name in os.listdir(beside) if name.startswith(begin))
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in names)
            count += len(names)
            if count > _MOST_OWN_FILES:
                return


_protected: set[str] = set()


def protect(path: str) -> None:
    """Never let anyone look at this file, for files of ours that are not in our folders."""
    _protected.add(os.path.abspath(path))


def own_places(store_files: Iterable[str]) -> tuple[str, ...]:
    """The files and folders that are ours: those of the user, the settings file, and those of a store."""
    settings = os.environ.get("RINGBOLT_CONFIG")
    named = [user_folder("data"), user_folder("config"), *store_files]
    return tuple(named if not settings else [*named, os.path.abspath(settings)])


# --- refusals ---------------------------------------------------------------------------------------

MOST_REFUSED, REFUSED_SECONDS = 20, 600.0
MOST_AUDIT = 1 << 20


_REDACTOR = Redactor()


class Refusals:
    """Counts the refused looks of each caller, writes them to an audit file, and stops those who go on."""

    def __init__(self) -> None:
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()
        self.total = 0

    def check(self, caller: str) -> None:
        """Raise if a caller was refused so often that it looks like a search."""
        with self._lock:
            if len(self._recent(caller)) < MOST_REFUSED:
                return
        raise NotAllowed(
            "too_many_looks",
            f"{MOST_REFUSED} looks were refused within {REFUSED_SECONDS / 60:g} minutes.",
            "Ask the user what you may look at; looks are possible again in a few minutes.",
        )

    def add(self, caller: str, target: str, **about: str | None) -> NotAllowed:
        """Record a refusal; returns the error, which says the same for every reason."""
        with self._lock:
            self._recent(caller).append(time.monotonic())
            self.total += 1
            _audit({"at": _utc_now(), "caller": caller, "target": _REDACTOR.text(target[:500]), **about})
        return NotAllowed(
            "look_refused",
            "Looking at this, or calling it, is not allowed here, whether or not it exists.",
            "Look at something below the workspace, or ask the user: what a caller may look at is decided by"
            " its token, and by the settings wait_folders, wait_displays, wait_urls and wait_commands.",
        )

    def _recent(self, caller: str) -> deque[float]:
        times = self._times.setdefault(caller, deque(maxlen=MOST_REFUSED))
        while times and times[0] < time.monotonic() - REFUSED_SECONDS:
            times.popleft()
        return times


def _utc_now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def audit_path() -> str:
    """The file that lists refused looks, one JSON object per line."""
    return os.path.join(user_folder("data"), "refused-looks.jsonl")


def _audit(entry: dict[str, str | None]) -> None:
    path = audit_path()
    with suppress(OSError):  # a full disk must not turn a refusal into another error
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > MOST_AUDIT:
            os.replace(path, f"{path}.1")
        handle = os_calls.open_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with open(handle, "ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")


REFUSALS = Refusals()
