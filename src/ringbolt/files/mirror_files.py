"""Mirrors on disk: stamped, put in place whole, never over a file that is not ours or outside a folder."""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from ..model.errors import InvalidInput
from ..model.scope import workspace_of
from ..model.types import Value, is_dict
from ..model.validate import blake2b
from ..system.files import is_below, read_bounded, sync_folder, write_atomic
from .mirror_kinds import OWN, Kind

MISSING = "missing"
BEHIND = "behind"
EDITED = "edited by hand"
FOREIGN = "foreign file in the way"
# More than any view has; what is larger is not ours.
MOST_BYTES = 64 << 20
TAIL = 512
_STAMP = re.compile(
    rb"ringbolt: (task|workspace)=(\w+) seq=(\d{1,18}) head=([0-9a-f]+) digest=([0-9a-f]{16})"
)
_SPECIAL = re.compile(r"([\\*?\[\]!# ])")
_held: set[int] = set()  # files of locks that this process has open


class Obstacle(Exception):
    """Something stands where a mirror should: the words are a reason of its status."""


class Mark(Value, frozen=True, kw_only=True):
    """A state of a task or a workspace: its number, and what tells it from another one with that number."""

    number: int
    check: str


class Shown(Value, frozen=True, kw_only=True):
    """What a mirror shows; `at` is when it was written, `reasons` what is wrong with it beyond its age."""

    mark: Mark | None = None
    at: float | None = None
    reasons: tuple[str, ...] = ()


def digest(*parts: bytes) -> str:
    return blake2b(b"\0".join(parts), digest_size=8).hexdigest()


def subject_name(kind: Kind, subject: str) -> str:
    """The name of a subject in stamps and file names; a path may have any characters in it."""
    return subject if kind.scope == "task" else digest(subject.encode())


# --- where it may stand -----------------------------------------------------------------------------


def inside(root: str, relative: str) -> str:
    """The whole path of a file below a folder, once all links on the way are followed."""
    folder, name = os.path.split(os.path.join(root, relative))
    folder = os.path.realpath(folder)
    if name in ("", ".", "..") or not (folder == root or is_below(folder, root)):
        raise Obstacle("a link leads out of the folder")
    return os.path.join(folder, name)


def make_folder(root: str, relative: str) -> None:
    """Make a folder below another one, for the owner alone, if it is not there."""
    if not relative:
        return
    path = inside(root, relative)
    if os.path.isdir(path):
        return
    os.makedirs(path, mode=0o700, exist_ok=True)
    sync_folder(os.path.dirname(path))


def lock_of(root: str) -> str:
    """The lock of all mirrors below a folder.

    The state is read and the file put in place under it: so whoever comes later has read later, and never is
    a newer state overwritten by an older one.
    """
    make_folder(root, OWN)
    return inside(root, f"{OWN}/.lock")


@contextmanager
def locked(path: str, patience: float) -> Generator[bool]:
    """Hold a lock among processes for the length of a block; False if another one does for too long."""
    end = time.monotonic() + patience
    while (handle := _taken(path)) is None and time.monotonic() < end:
        threading.Event().wait(0.005)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            # Not left to closing: a child that was forked meanwhile has the same lock open.
            fcntl.flock(handle, fcntl.LOCK_UN)
            _close(handle)


def _taken(path: str) -> int | None:
    """The file of a lock that is ours now; None if another has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    _held.add(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Someone may have deleted the folder and another made it anew: then this lock is nobody's.
        if os.path.samestat(os.fstat(handle), os.lstat(path)):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        _close(handle)
        raise
    _close(handle)
    return None


def _close(handle: int) -> None:
    _held.discard(handle)
    os.close(handle)


def forget_locks() -> None:
    """In a forked child: close the parent's locks, which would outlive the parent here."""
    while _held:
        os.close(_held.pop())


# --- git --------------------------------------------------------------------------------------------


def hide_own(root: str) -> None:
    """Have git overlook our own folder; a file that is there already is left as it is."""
    path = inside(root, f"{OWN}/.gitignore")
    if not os.path.lexists(path):
        write_atomic(path, b"*\n")


def hide(root: str, patterns: tuple[str, ...]) -> None:
    """Have git overlook files outside our own folder, by the list that each repository keeps for itself."""
    top, repository = workspace_of(root)
    if repository is None or not patterns:
        return
    below = "" if top == root else os.path.relpath(root, top) + "/"
    wanted = [_SPECIAL.sub(r"\\\1", f"/{below}") + pattern for pattern in patterns]
    folder = os.path.join(repository, "info")
    os.makedirs(folder, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(os.path.join(folder, "exclude"), flags, 0o644), "r+b") as file:
        present = file.read(MOST_BYTES)
        new = [line for line in wanted if line.encode() not in present.split(b"\n")]
        if new:
            cut = b"\n" if present and not present.endswith(b"\n") else b""
            file.write(cut + "".join(f"{line}\n" for line in new).encode())


# --- mirrors ----------------------------------------------------------------------------------------


class _Kept:
    """What every mirror has: a kind, a subject, and a place below a folder."""

    def __init__(self, kind: Kind, subject: str, root: str) -> None:
        self.kind = kind
        self.subject = subject
        self.root = root
        self.name = subject_name(kind, subject)
        self.path = os.path.join(root, kind.place(subject))

    def exists(self) -> bool:
        """Whether anything stands in its place."""
        return os.path.lexists(self.path)

    def _taken_away(self, relative: str, ours: Callable[[bytes], bool]) -> list[str]:
        """Remove a file if it is as we wrote it; returns what is left there: that, or a copy of edits."""
        path = inside(self.root, relative)
        content = _content(self.root, path)
        if content is not None and ours(content):
            os.unlink(path)
        return [one for one in (path, f"{path}.edited") if os.path.lexists(one)]


class StampedFile(_Kept):
    """A file that says in its last line what it shows."""

    def look(self, deep: bool = False) -> Shown:
        """What it shows; whether it was edited is found out only by a deep look."""
        if not deep and (mark := self._last_line()):
            return Shown(mark=mark)
        path = inside(self.root, self.kind.place(self.subject))
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return Shown(reasons=(MISSING,))
        if not stat.S_ISREG(found.st_mode):
            return Shown(reasons=(FOREIGN,))
        mark, intact = self._read(_content(self.root, path) or b"")
        if mark is None:
            return Shown(reasons=(FOREIGN,))
        return Shown(mark=mark, at=found.st_mtime, reasons=() if intact else (EDITED,))

    def put(self, mark: Mark, files: Mapping[str, str]) -> None:
        """Show a state; what was edited is kept beside it, and what is not ours is left alone."""
        ((relative, text),) = files.items()
        path = inside(self.root, relative)
        new = self._stamped(mark, text)
        old = _content(self.root, path)
        if old == new:
            return
        if old is not None:
            known, intact = self._read(old)
            if known is None:
                raise Obstacle(FOREIGN)
            if not intact:
                write_atomic(f"{path}.edited", old)
        make_folder(self.root, os.path.dirname(relative))
        write_atomic(path, new)

    def clear(self, about: str, gone: bool) -> list[str]:
        """Remove it if what it shows is gone; returns the files that may still show it."""
        place = self.kind.place(self.subject)
        if gone and self.subject == about:
            return self._taken_away(place, lambda content: self._read(content)[1])
        edited = f"{self.path}.edited"
        return [edited] if os.path.lexists(edited) else []

    def _stamped(self, mark: Mark, text: str) -> bytes:
        body = text.encode() if text.endswith("\n") else f"{text}\n".encode()
        says = f"ringbolt: {self.kind.scope}={self.name} seq={mark.number} head={mark.check}"
        before, after = self.kind.comment or ("", "")
        return body + f"{before}{says} digest={digest(body, says.encode())}{after}\n".encode()

    def _read(self, content: bytes) -> tuple[Mark | None, bool]:
        """The mark of the last stamp in a content, and whether the content is as it was written."""
        end = len(content)
        while end > 0:
            begin = content.rfind(b"\n", 0, end - 1) + 1
            if found := self._match(content[begin:end]):
                says = found[0].rpartition(b" digest=")[0]
                intact = end == len(content) and digest(content[:begin], says).encode() == found[5]
                return Mark(number=int(found[3]), check=found[4].decode()), intact
            end = begin
        return None, False

    def _match(self, line: bytes) -> re.Match[bytes] | None:
        before, after = (part.encode() for part in self.kind.comment or ("", ""))
        if not (line.startswith(before) and line.endswith(after + b"\n")):
            return None
        found = _STAMP.fullmatch(line, len(before), len(line) - len(after) - 1)
        ours = found and (found[1].decode(), found[2].decode()) == (self.kind.scope, self.name)
        return found if ours else None

    def _last_line(self) -> Mark | None:
        """The mark that stands at the end of the file, if all is as usual."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            tail = os.pread(handle, TAIL, max(0, os.fstat(handle).st_size - TAIL))
        except OSError:  # a folder or a pipe
            return None
        finally:
            os.close(handle)
        found = self._match(tail[tail.rfind(b"\n", 0, len(tail) - 1) + 1 :])
        return Mark(number=int(found[3]), check=found[4].decode()) if found else None


# --- files that can hold no stamp -------------------------------------------------------------------


class ListedFiles(_Kept):
    """Files without a stamp; a list in our own folder says what they show and what we wrote.

    The list is written before the files, with what will be in them, and again when they are all in place:
    after a kill in between each file is known as ours, and the list says that they are behind.
    """

    def __init__(self, kind: Kind, subject: str, root: str) -> None:
        super().__init__(kind, subject, root)
        self._list = f"{OWN}/{self.name}.{kind.name}.json"
        self.shown: frozenset[str] = frozenset()  # by the last `put`

    def exists(self) -> bool:
        """Whether anything stands in its place."""
        return os.path.lexists(os.path.join(self.root, self._list)) or super().exists()

    def look(self, deep: bool = False) -> Shown:
        """What it shows; whether it was edited is found out only by a deep look."""
        listed, at = self._listed()
        if listed is None:
            return Shown(reasons=(FOREIGN if super().exists() else MISSING,))
        reasons: dict[str, None] = {}
        for relative, known in listed["files"].items():
            path = inside(self.root, relative)
            if not os.path.lexists(path):
                reasons[MISSING] = None
            elif deep and _digest_of(self.root, path) not in known:
                reasons[EDITED] = None
        mark = Mark(number=listed["seq"], check=listed["head"])
        return Shown(mark=mark, at=at, reasons=tuple(reasons))

    def put(self, mark: Mark, files: Mapping[str, str]) -> None:
        """Show a state; what was edited is kept beside it, and what is not ours is left alone."""
        self.shown = frozenset(files)
        listed, _ = self._listed()
        old = listed or {"seq": 0, "head": "", "files": {}}
        known: dict[str, list[str]] = old["files"]
        late: dict[str, bytes] = {}
        foreign: list[str] = []
        for relative, text in files.items():
            path = inside(self.root, relative)
            new = text.encode()
            present = _digest_of(self.root, path)
            if present == digest(new):
                continue
            if present is not None and relative not in known:
                foreign.append(relative)
                continue
            if present is not None and present not in known[relative]:
                write_atomic(f"{path}.edited", _content(self.root, path) or b"")
            late[relative] = new
        wanted = {name: digest(text.encode()) for name, text in files.items() if name not in foreign}
        if late:
            both = {name: [*known.get(name, [])[-1:], new] for name, new in wanted.items()}
            self._write_list(old["seq"], old["head"], {**known, **both})
        for relative, content in late.items():
            make_folder(self.root, os.path.dirname(relative))
            write_atomic(inside(self.root, relative), content)
        now = {**known, **{name: [new] for name, new in wanted.items()}}
        if foreign:
            self._write_list(old["seq"], old["head"], now)
            raise Obstacle(f"{FOREIGN}: {', '.join(sorted(foreign)[:5])}")
        if late or now != known or (old["seq"], old["head"]) != (mark.number, mark.check):
            self._write_list(mark.number, mark.check, now)

    def clear(self, about: str, gone: bool) -> list[str]:
        """Remove the files about a task that are not shown any more; returns those that may still show it."""
        listed, _ = self._listed()
        if listed is None:
            return []
        known: dict[str, list[str]] = listed["files"]
        left: list[str] = []
        for relative in [name for name in known if about in name]:  # of nothing: all of them
            if gone or relative not in self.shown:
                left += self._taken_away(relative, lambda text, r=relative: digest(text) in known[r])
                del known[relative]
        edited = [f"{inside(self.root, relative)}.edited" for relative in known]
        left += [path for path in edited if os.path.lexists(path)]
        if gone and self.subject == about:
            os.unlink(inside(self.root, self._list))
        else:
            self._write_list(listed["seq"], listed["head"], known)
        return left

    def _listed(self) -> tuple[dict[str, Any] | None, float | None]:
        """The list, and when it was written; None if there is none that could be ours."""
        path = inside(self.root, self._list)
        content = _content(self.root, path)
        if content is None:
            return None, None
        try:
            found = json.loads(content)
            if _is_list_of(found, self.kind, self.name):
                return found, os.lstat(path).st_mtime
        except (ValueError, RecursionError):
            pass
        raise Obstacle(FOREIGN)

    def _write_list(self, seq: int, head: str, files: Mapping[str, list[str]]) -> None:
        content = {
            "ringbolt": "mirror",
            "kind": self.kind.name,
            self.kind.scope: self.name,
            "seq": seq,
            "head": head,
            "files": dict(sorted(files.items())),
        }
        write_atomic(inside(self.root, self._list), json.dumps(content, indent=1).encode() + b"\n")


def _is_list_of(found: Any, kind: Kind, name: str) -> bool:
    return (
        is_dict(found)
        and found.get("ringbolt") == "mirror"
        and (found.get("kind"), found.get(kind.scope)) == (kind.name, name)
        and type(found.get("seq")) is int
        and isinstance(found.get("head"), str)
        and is_dict(files := found.get("files"))
        and all(isinstance(known, list) for known in files.values())
    )


def _content(root: str, path: str) -> bytes | None:
    """What is in a file; None if there is none."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise Obstacle(FOREIGN)
    try:
        return read_bounded(path, MOST_BYTES, root=root)
    except InvalidInput:  # more than any view has
        raise Obstacle(FOREIGN) from None


def _digest_of(root: str, path: str) -> str | None:
    content = _content(root, path)
    return None if content is None else digest(content)


AnyMirror = StampedFile | ListedFiles


def mirror(kind: Kind, subject: str, root: str) -> AnyMirror:
    """The mirror of a kind for a subject below a folder."""
    return (StampedFile if kind.comment else ListedFiles)(kind, subject, root)
