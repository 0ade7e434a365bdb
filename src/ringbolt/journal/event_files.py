"""The event files of a journal: listed in order, read, rejected and dropped.

tmp/        events that hooks are writing
new/        complete events, in the order of their names
tries/      for an event that could not be applied: how often it was tried, and why it failed
rejected/   events that were given up, each with its reason in a `.why` file
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread
from typing import Any

from ..model.redaction import storable
from ..model.types import Value, is_dict, is_list
from ..system import os_calls
from ..system.os_calls import open_file
from .folders import journal_folders
from .names import boot, boot_in, session_in

MOST_BYTES = 8 << 20
# A file that is still being written after this many seconds belongs to a killed writer.
_ABANDONED = 3600.0
_LOCK_POLL = 0.002
_WHY = ".why"
# So many files are removed by several threads, each of which takes a share.
_FEW_FILES = 16
_SHARE = 13


class EventFile(Value, frozen=True):
    """A complete event that waits in a journal."""

    folder: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.folder}/new/{self.name}"

    @property
    def session(self) -> str:
        """The digest of its session; the whole name if it has none, so that no other event waits for it."""
        return session_in(self.name) or self.name


class Tries(Value, frozen=True):
    """The failed attempts to apply an event."""

    times: int = 0
    slow: bool = False  # it took longer than a hook has
    why: str = ""


class NotAnEvent(ValueError):
    """A file in the journal is not an event; the message says what is wrong with it."""


class Journal:
    """The journal of one store, in one or two folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(folders)

    @classmethod
    def of(cls, location: str, tenant: str = "") -> Journal:
        """The journal of the store at a path or URL; `tenant` is the setting of that name."""
        return cls(journal_folders(location, tenant))

    # --- listing ----------------------------------------------------------------------------------

    def waiting(self) -> list[EventFile]:
        """The events that wait, in the order in which they happened.

        The monotonic clock orders events of one boot, whatever people do to the wall clock. Events of earlier
        boots come first, ordered by the time of the first event of each boot.
        """
        boots: dict[str, list[EventFile]] = {}
        for folder in self.folders:
            for name in json_files(folder, "new"):
                boots.setdefault(boot_in(name), []).append(EventFile(folder, name))
        for files in boots.values():
            files.sort(key=lambda file: file.name)  # the time has the same number of digits in all names
        if len(boots) > 1:
            this = boot()
            # Names without a boot come last: nothing says when they were written.
            order = sorted(boots, key=lambda one: (one == "", one == this, _began(boots[one][0])))
            boots = {one: boots[one] for one in order}
        return [file for files in boots.values() for file in files]

    def size(self) -> int:
        """How many events wait."""
        return sum(len(json_files(folder, "new")) for folder in self.folders)

    def is_empty(self) -> bool:
        """Whether no event waits."""
        return not any(json_files(folder, "new") for folder in self.folders)

    def read(self, file: EventFile) -> tuple[dict[str, Any], int] | None:
        """An event that waits, and its size; None if it is gone. Raises `NotAnEvent` for other content."""
        try:
            content = _content(file.path)
        except FileNotFoundError:
            return None
        return _event(content), len(content)

    def folder_id(self, folder: str) -> str:
        """The id of a folder, the same under whatever path it is mounted. The caller holds the lock.

        OSError if it exists and cannot be read: with another id, a drainer would miss its receipt.
        """
        path = os.path.join(folder, "id")
        with suppress(FileNotFoundError, UnicodeDecodeError), open(path, encoding="ascii") as file:
            if known := file.read(64).strip():
                return known
        fresh = os.urandom(8).hex()
        with suppress(OSError):  # a full disk: the keys of events still keep them from being applied twice
            replace_file(path, fresh)
        return fresh

    # --- outcomes ---------------------------------------------------------------------------------

    def remove(self, files: Iterable[EventFile]) -> list[EventFile]:
        """Remove events that are in the store; returns those that could not be removed."""
        every = list(files)
        if len(every) < _FEW_FILES:
            return [file for file in every if not _unlinked(file.path)]
        # A file system that is writing its own journal holds up each removal: several wait at once.
        left: list[EventFile] = []

        def remove(start: int) -> None:
            left.extend(self.remove(every[start : start + _SHARE]))

        threads = [Thread(target=remove, args=(start,)) for start in range(0, len(every), _SHARE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return left

    def reject(self, file: EventFile, why: str) -> None:
        """Set an event aside that can never be applied, with the reason."""
        folder = make_folder(file.folder, "rejected")
        replace_file(os.path.join(folder, file.name + _WHY), why)
        with suppress(FileNotFoundError):
            os.rename(file.path, os.path.join(folder, file.name))
        self.forget_tries([file])

    def reject_content(self, name: str, event: Mapping[str, Any], why: str) -> None:
        """Set an event aside that never had a file of its own."""
        for base in self.folders:
            with suppress(OSError):
                folder = make_folder(base, "rejected")
                replace_file(os.path.join(folder, name + _WHY), why)
                replace_file(os.path.join(folder, name), json.dumps(event))
                return

    def tries(self) -> dict[str, Tries]:
        """The failed attempts, by the names of events."""
        found: dict[str, Tries] = {}
        for folder in self.folders:
            for name in json_files(folder, "tries"):
                path = os.path.join(folder, "tries", name)
                with suppress(OSError, ValueError, TypeError), open(path, encoding="utf-8") as file:
                    found[name] = Tries(*json.load(file))
        return found

    def note_tries(self, file: EventFile, tries: Tries) -> None:
        """Keep the failed attempts at an event."""
        with suppress(OSError):
            path = os.path.join(make_folder(file.folder, "tries"), file.name)
            replace_file(path, json.dumps([tries.times, tries.slow, tries.why]))

    def forget_tries(self, files: Iterable[EventFile]) -> None:
        """Drop the failed attempts at events that are done with."""
        for file in files:
            _unlinked(os.path.join(file.folder, "tries", file.name))

    # --- forgetting -------------------------------------------------------------------------------

    def count(self, wanted: Callable[[dict[str, Any]], bool]) -> int:
        """How many events, waiting or rejected, `wanted` accepts."""
        return sum(1 for _, event in self._all() if wanted(event))

    def drop(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Remove events, waiting or rejected, that `wanted` accepts. Waits for a drain that is under way."""
        with self.locked(None):
            for path, event in self._all():
                if wanted(event):
                    for one in (path, path + _WHY):
                        _unlinked(one)
            self.sweep(time.time(), abandoned=60.0)

    def _all(self) -> Generator[tuple[str, dict[str, Any]]]:
        for folder in self.folders:
            for kind in ("new", "rejected"):
                for name in json_files(folder, kind):
                    path = os.path.join(folder, kind, name)
                    try:
                        yield path, _event(_content(path))
                    except NotAnEvent:
                        yield path, _as_text(path)
                    except FileNotFoundError:
                        continue

    def sweep(self, now: float, abandoned: float = _ABANDONED) -> None:
        """Remove the half-written files of killed writers."""
        for folder in self.folders:
            with suppress(OSError), os.scandir(os.path.join(folder, "tmp")) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if now - entry.stat(follow_symlinks=False).st_mtime > abandoned:
                            os.unlink(entry)

    # --- one drainer at a time --------------------------------------------------------------------

    @contextmanager
    def locked(self, seconds: float | None) -> Generator[bool]:
        """Lock the journal against other drainers; False if another holds it for so long. None waits."""
        until = None if seconds is None else time.monotonic() + seconds
        with ExitStack() as stack:
            yield all(_lock(stack, folder, until) for folder in self.folders if os.path.isdir(folder))


def _lock(stack: ExitStack, folder: str, until: float | None) -> bool:
    """Lock one folder; True also where no lock can be made: then no event can be removed either."""
    try:
        handle = open_file(os.path.join(folder, "drain.lock"), os.O_RDWR | os.O_CREAT)
    except OSError:
        return True
    stack.callback(os.close, handle)
    while not os_calls.lock(handle, wait=until is None):
        if until is None or time.monotonic() >= until:
            return False
        time.sleep(_LOCK_POLL)
    return True


def make_folder(base: str, kind: str) -> str:
    """Make a folder of a journal if it is missing, for the owner alone; returns its path."""
    folder = os.path.join(base, kind)
    if not os.path.isdir(folder):
        os_calls.make_private_folders(base)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    for path in (base, folder):
        if os.path.islink(path):
            raise NotADirectoryError(errno.ENOTDIR, "it is a symbolic link", path)
    return folder


def replace_file(path: str, text: str) -> None:
    """Replace a small file as a whole. It need not survive a power cut."""
    temp = f"{path}.{os.getpid()}~"
    with suppress(FileNotFoundError):
        os.unlink(temp)  # of a process with the same id that died; or a link, which we would follow
    with open(open_file(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    os_calls.replace(temp, path)


def json_files(folder: str, kind: str) -> list[str]:
    """The names of the complete files in a folder of a journal."""
    try:
        return [name for name in os.listdir(os.path.join(folder, kind)) if name.endswith(".json")]
    except OSError:
        return []


def _began(first: EventFile) -> float:
    """The wall time of an event, to order boots."""
    try:
        at = _event(_content(first.path)).get("at")
    except (OSError, NotAnEvent):
        return 0.0
    return float(at) if isinstance(at, (int, float)) else 0.0


def _content(path: str) -> bytes:
    try:
        handle = open_file(path)
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
    return storable_json(event) if b"\\u0000" in content or b"\\ud" in content else event


def storable_json(value: Any) -> Any:
    """A JSON value without characters that no engine can store."""
    if isinstance(value, str):
        return storable(value)
    if is_dict(value):
        return {storable(str(name)): storable_json(one) for name, one in value.items()}
    return [storable_json(one) for one in value] if is_list(value) else value


def _as_text(path: str) -> dict[str, Any]:
    """The content of a file that is not an event, so that it can be searched for a text."""
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
