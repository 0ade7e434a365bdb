"""The event files of a journal: written, listed in order, read, rejected and dropped.

tmp/        events that are being written
new/        complete events, in the order of their names
tries/      for an event that could not be applied: how often it was tried, and why it failed
rejected/   events that were given up, each with its reason in a `.why` file
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ..model.redaction import storable
from ..model.types import Value, is_dict, is_list
from .folders import journal_folders
from .names import EventName, boot, boot_in, parse

MOST_BYTES = 8 << 20
# A writer that is still at it after this many seconds was killed.
_ABANDONED = 3600.0
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_LOCK_FILE = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_LOCK_POLL = 0.002
_END = ".json"
_WHY = ".why"


class EventFile(Value, frozen=True):
    """A complete event that waits in a journal."""

    folder: str
    name: str

    @property
    def parts(self) -> EventName | None:
        """What its name says; None if it is not a name as we know them."""
        return parse(self.name)

    @property
    def path(self) -> str:
        """The file itself."""
        return os.path.join(self.folder, "new", self.name)

    @property
    def session(self) -> str:
        """The digest of its session; of a name that we cannot read, the name: it waits for nobody."""
        return parts.session if (parts := self.parts) else self.name


class Tries(Value, frozen=True):
    """What became of an event so far."""

    times: int = 0
    slow: bool = False  # it took longer than a hook may
    why: str = ""


class NotAnEvent(ValueError):
    """A file in the journal that holds no event; the message says what is wrong with it."""


class Journal:
    """The journal of one store, in one or two folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(folders)

    @classmethod
    def of(cls, location: str, tenant: str = "") -> Journal:
        """The journal of the store at a path or URL; `tenant` is the setting of that name."""
        return cls(journal_folders(location, tenant))

    # --- writing ----------------------------------------------------------------------------------

    def write(self, name: str, event: Mapping[str, Any]) -> str | None:
        """Keep an event, safely on disk; returns its file, or None if it can be kept nowhere."""
        content = json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode()
        if len(content) > MOST_BYTES:
            return None
        for folder in self.folders:
            with suppress(OSError):
                return _write_event(folder, name, content)
        return None

    # --- listing ----------------------------------------------------------------------------------

    def waiting(self) -> list[EventFile]:
        """The events that wait, in the order in which they happened.

        The monotonic clock orders events of one boot, whatever people do to the wall clock. Events of earlier
        boots come first, ordered by the time of the first event of each boot.
        """
        boots: dict[str, list[EventFile]] = {}
        for folder in self.folders:
            for name in _names(os.path.join(folder, "new")):
                boots.setdefault(boot_in(name), []).append(EventFile(folder, name))
        for files in boots.values():
            files.sort(key=_name)  # the time has as many digits in all of them
        if len(boots) == 1:
            return next(iter(boots.values()))
        this = boot()
        # Names that we cannot read come last: nobody knows when they were written.
        order = sorted(boots, key=lambda one: (one == "", one == this, _began(boots[one][0])))
        return [file for one in order for file in boots[one]]

    def size(self) -> int:
        """How many events wait."""
        return sum(len(_names(os.path.join(folder, "new"))) for folder in self.folders)

    def is_empty(self) -> bool:
        """Whether no event waits."""
        return not any(_has_files(os.path.join(folder, "new")) for folder in self.folders)

    def read(self, file: EventFile) -> tuple[dict[str, Any], int] | None:
        """An event that waits, and its size; None if it is gone. Raises `NotAnEvent` for other content."""
        try:
            content = _content(file.path)
        except FileNotFoundError:
            return None
        return _event(content), len(content)

    def folder_id(self, folder: str) -> str:
        """What a folder is known by, under whatever path it is mounted. Only for who holds its lock."""
        path = os.path.join(folder, "id")
        try:
            with open(path, encoding="ascii") as file:
                if found := file.read(64).strip():
                    return found
        except (OSError, ValueError):
            pass
        fresh = os.urandom(8).hex()
        with suppress(OSError):
            _replace(path, fresh)
        return fresh

    # --- what became of them ----------------------------------------------------------------------

    def remove(self, files: Iterable[EventFile]) -> list[EventFile]:
        """Remove events that are in the store; returns those that could not be removed."""
        return [file for file in files if not _unlinked(file.path)]

    def reject(self, file: EventFile, why: str) -> None:
        """Set an event aside that can never be applied, with the reason."""
        folder = _made(file.folder, "rejected")
        _replace(os.path.join(folder, file.name + _WHY), why)
        with suppress(FileNotFoundError):
            os.rename(file.path, os.path.join(folder, file.name))
        self._forget_tries(file)

    def reject_content(self, name: str, event: Mapping[str, Any], why: str) -> None:
        """Set something aside that never had a file of its own."""
        for base in self.folders:
            with suppress(OSError):
                folder = _made(base, "rejected")
                _replace(os.path.join(folder, name + _WHY), why)
                _replace(os.path.join(folder, name), json.dumps(event, ensure_ascii=True))
                return

    def tries(self) -> dict[str, Tries]:
        """The events that were tried in vain, by name."""
        found: dict[str, Tries] = {}
        for folder in self.folders:
            for name in _names(os.path.join(folder, "tries"), ""):
                path = os.path.join(folder, "tries", name)
                with suppress(OSError, ValueError, TypeError), open(path, encoding="utf-8") as file:
                    found[name] = Tries(*json.load(file))
        return found

    def note_tries(self, file: EventFile, tries: Tries) -> None:
        """Remember that an event was tried in vain."""
        with suppress(OSError):
            _replace(
                os.path.join(_made(file.folder, "tries"), file.name),
                json.dumps([tries.times, tries.slow, tries.why]),
            )

    def forget_tries(self, files: Iterable[EventFile]) -> None:
        """Events were applied after all."""
        for file in files:
            self._forget_tries(file)

    def _forget_tries(self, file: EventFile) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(file.folder, "tries", file.name))

    # --- forgetting -------------------------------------------------------------------------------

    def count(self, wanted: Callable[[dict[str, Any]], bool]) -> int:
        """How many events, waiting or rejected, are wanted."""
        return sum(1 for _, event in self._all() if event is not None and wanted(event))

    def drop(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Remove events wherever they lie; a drain that is under way is waited for."""
        with self.locked(None):
            for path, event in self._all():
                if event is not None and wanted(event):
                    for one in (path, path + _WHY):
                        _unlinked(one)
            self.sweep(time.time(), abandoned=60.0)

    def _all(self) -> Generator[tuple[str, dict[str, Any] | None]]:
        for base in self.folders:
            for kind in ("new", "rejected"):
                folder = os.path.join(base, kind)
                for name in _names(folder):
                    path = os.path.join(folder, name)
                    try:
                        yield path, _event(_content(path))
                    except NotAnEvent:
                        yield path, _as_text(path)
                    except FileNotFoundError:
                        continue

    def sweep(self, now: float, abandoned: float = _ABANDONED) -> None:
        """Remove what writers that were killed left half written."""
        for base in self.folders:
            folder = os.path.join(base, "tmp")
            for name in _names(folder, ""):
                path = os.path.join(folder, name)
                with suppress(OSError):
                    if now - os.stat(path).st_mtime > abandoned:
                        os.unlink(path)

    # --- one drainer at a time --------------------------------------------------------------------

    @contextmanager
    def locked(self, seconds: float | None) -> Generator[bool]:
        """Hold the journal against other drainers; False if another has it for so long. None waits."""
        until = None if seconds is None else time.monotonic() + seconds
        with ExitStack() as stack:
            yield all(_lock(stack, folder, until) for folder in self.folders if os.path.isdir(folder))


def _lock(stack: ExitStack, folder: str, until: float | None) -> bool:
    """Take the lock of one folder; True also where none can be made: then no event can be removed either."""
    try:
        handle = os.open(os.path.join(folder, "drain.lock"), _LOCK_FILE, 0o600)
    except OSError:
        return True
    stack.callback(os.close, handle)
    if until is None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        return True
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOCK_POLL)


def _write_event(base: str, name: str, content: bytes) -> str:
    temp, path = os.path.join(_made(base, "tmp"), name), os.path.join(_made(base, "new"), name)
    handle = os.open(temp, _NEW_FILE, 0o600)
    try:
        try:
            with open(handle, "wb", closefd=False) as file:
                file.write(content)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temp, path)
    except OSError:
        _unlinked(temp)
        raise
    return path


def _made(base: str, kind: str) -> str:
    folder = os.path.join(base, kind)
    if not os.path.isdir(folder):
        os.makedirs(base, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    return folder


def _replace(path: str, text: str) -> None:
    """Put a small file in its place whole. It need not survive a power cut."""
    temp = f"{path}.{os.getpid()}~"
    with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    os.replace(temp, path)


def _names(folder: str, end: str = _END) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(end) and not name.endswith("~")]
    except OSError:
        return []


def _has_files(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(_END) for entry in entries)
    except OSError:
        return False


def _name(file: EventFile) -> str:
    return file.name


def _began(first: EventFile) -> float:
    """The wall time of an event, to order boots."""
    try:
        at = _event(_content(first.path)).get("at")
    except (OSError, NotAnEvent):
        return 0.0
    return float(at) if isinstance(at, (int, float)) else 0.0


def _content(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            size = os.fstat(handle).st_size
            content = os.read(handle, min(size, MOST_BYTES) + 1)
        finally:
            os.close(handle)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotAnEvent(f"it cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise NotAnEvent(f"it has more than {MOST_BYTES:,} bytes")
    return content


def _event(content: bytes) -> dict[str, Any]:
    try:
        event = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotAnEvent(f"it is not JSON: {error}"[:300]) from None
    if not is_dict(event):
        raise NotAnEvent("it is not a JSON object")
    # NUL, or half of a character: our own hooks write none.
    return _storable(event) if b"\\u0000" in content or b"\\ud" in content else event


def _storable(value: Any) -> Any:
    """A JSON value without characters that no engine can store."""
    if isinstance(value, str):
        return storable(value)
    if is_dict(value):
        return {storable(str(name)): _storable(one) for name, one in value.items()}
    return [_storable(one) for one in value] if is_list(value) else value


def _as_text(path: str) -> dict[str, Any]:
    """A file that holds no event, as something that can be searched for a text."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return {"raw": file.read(MOST_BYTES)}
    except OSError:
        return {}


def _unlinked(path: str) -> bool:
    """Remove a file; True if it is gone."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
