"""Write views of the store as files: where, how, and whether they are up to date.

This is the only writer of the room; the formats beside it only render texts. Every file written here
- is replaced atomically and leaves no temporary file behind (system.files);
- stays inside its folder: a link that leads out of it is rejected;
- records the state of the store that it shows, so that anyone can tell whether it is stale;
- never replaces a file that is not ours; edited content is kept beside the new file.

There are three ways to record the state that a file shows. A `StampedFile` has it in its last line.
`ListedFiles` cannot hold a stamp, so a list in our own folder has it. An `Export` is a folder that leaves the
store: one of its files is a manifest with the digests of the others. (A file that people edit too, whose
changes are never overwritten, is a shared_file.)
"""

from __future__ import annotations

import json
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..model.errors import InvalidInput, shown
from ..model.lazy_regex import lazy_regex
from ..model.results import FolderExport
from ..model.scope import workspace_of
from ..model.types import Task, Value, is_dict
from ..model.validate import blake2b
from ..packet.encode import pretty, read_json
from ..system import os_calls
from ..system.files import (
    is_below,
    make_folder,
    open_plain,
    read_bounded,
    replacing,
    sweep,
    sync_folder,
    write_atomic,
)
from ..system.os_calls import make_private_folders, open_file
from .import_source import Source
from .views import OWN, View

MISSING = "missing"
BEHIND = "behind"
EDITED = "edited by hand"
FOREIGN = "foreign file in the way"
MOST_BYTES = 64 << 20  # more than any view has: a larger file is not ours
MOST_MANIFEST = 1 << 28
_TAIL = 512
_BLOCK = 1 << 16
_STAMP = re.compile(
    rb"ringbolt: (task|workspace)=(\w+) seq=(\d{1,18}) head=([0-9a-f]+) digest=([0-9a-f]{16})"
)
_SPECIAL = lazy_regex(r"([\\*?\[\]!# ])")
_open_locks: set[int] = set()


class Obstacle(Exception):
    """A file cannot be written because something is in its place; the message is the reason for its
    status."""


class Mark(Value, frozen=True, kw_only=True):
    """A state of a task or a workspace: its number, and a check that distinguishes states of that number."""

    number: int
    check: str


class Shown(Value, frozen=True, kw_only=True):
    """The state that a file on disk shows, when it was written, and its problems besides age."""

    mark: Mark | None = None
    at: float | None = None
    reasons: tuple[str, ...] = ()


def digest(content: bytes) -> str:
    """The digest by which a file is recognised."""
    return blake2b(content, digest_size=16).hexdigest()


def short_digest(*parts: bytes) -> str:
    """A digest that fits into a stamp or a file name."""
    return blake2b(b"\0".join(parts), digest_size=8).hexdigest()


# --- the folder -------------------------------------------------------------------------------------


class Folder:
    """A folder to write files into; paths are relative to it and cannot leave it."""

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, relative: str) -> str:
        """The path of a file with all links on the way resolved; Obstacle if they lead out of the folder."""
        folder, name = os.path.split(os.path.join(self.root, relative))
        folder = os.path.realpath(folder)
        if name in ("", ".", "..") or not (folder == self.root or is_below(folder, self.root)):
            raise Obstacle("a link leads out of the folder")
        return os.path.join(folder, name)

    def exists(self, relative: str) -> bool:
        """Whether there is anything at a path, even a broken link."""
        return os.path.lexists(os.path.join(self.root, relative))

    def make(self, relative: str) -> None:
        """Create a folder inside this one if it is missing, accessible to the owner only."""
        if not relative or os.path.isdir(path := self.path(relative)):
            return
        make_private_folders(path)
        sync_folder(os.path.dirname(path))

    def content(self, relative: str) -> bytes | None:
        """The content of a file, None if it is missing; Obstacle if it is not a regular file of our size."""
        path = self.path(relative)
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise Obstacle(FOREIGN)
        try:
            return read_bounded(path, MOST_BYTES, root=self.root)
        except InvalidInput:
            raise Obstacle(FOREIGN) from None

    def write(self, relative: str, content: bytes) -> None:
        """Write a file atomically; its folder is created if it is missing."""
        self.make(os.path.dirname(relative))
        write_atomic(self.path(relative), content)

    def keep_edited(self, relative: str) -> None:
        """Copy an edited file before ours replaces it."""
        write_atomic(f"{self.path(relative)}.edited", self.content(relative) or b"")

    @contextmanager
    def lock(self, patience: float) -> Generator[bool]:
        """Hold the lock of all mirrors in this folder; False if another process holds it for too long.

        The state is read and the file is written under this lock, so an older state never replaces a newer
        one.
        """
        self.make(OWN)
        with locked(self.path(f"{OWN}/.lock"), patience) as held:
            yield held


def file_digest(path: str) -> str | None:
    """The digest of a file; None if it is missing, "" if it is not a regular file."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return ""
    whole = blake2b(digest_size=16)
    with open_plain(path) as file:
        while block := file.read(_BLOCK):
            whole.update(block)
    return whole.hexdigest()


@contextmanager
def locked(path: str, patience: float) -> Generator[bool]:
    """Hold a lock among processes; False if another process holds it for too long."""
    end = time.monotonic() + patience
    while (handle := _take_lock(path)) is None and time.monotonic() < end:
        threading.Event().wait(0.005)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            # Closing is not enough: a child that was forked in between has the same lock open.
            os_calls.unlock(handle)
            _close(handle)


def _take_lock(path: str) -> int | None:
    handle = open_file(path, os.O_RDWR | os.O_CREAT)
    _open_locks.add(handle)
    try:
        # If the folder was deleted and created again, this lock protects nothing.
        if os_calls.lock(handle, wait=False) and os.path.samestat(os.fstat(handle), os.lstat(path)):
            return handle
    except FileNotFoundError:  # the caller tries again until its patience ends
        return _close(handle)
    except BaseException:
        _close(handle)
        raise
    return _close(handle)


def _close(handle: int) -> None:
    _open_locks.discard(handle)
    os.close(handle)


def forget_locks() -> None:
    """In a forked child: close the parent's locks, which would otherwise outlive the parent."""
    while _open_locks:
        os.close(_open_locks.pop())


# --- git --------------------------------------------------------------------------------------------


def ignore_own_folder(folder: Folder) -> None:
    """Let git ignore our own folder; an existing .gitignore there is left unchanged."""
    path = folder.path(f"{OWN}/.gitignore")
    if not os.path.lexists(path):
        write_atomic(path, b"*\n")


def ignore_files(root: str, pattern: str) -> None:
    """Let git ignore files outside our own folder, in the repository's private list (info/exclude)."""
    top, repository = workspace_of(root)
    if repository is None or not pattern or not belongs_to(top, repository):
        return
    below = "" if top == root else os.path.relpath(root, top) + "/"
    line = (_SPECIAL.sub(r"\\\1", f"/{below}") + pattern).encode()
    folder = os.path.join(repository, "info")
    os.makedirs(folder, exist_ok=True)
    if os.path.islink(folder):
        return
    exclude = open_file(os.path.join(folder, "exclude"), os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    with open(exclude, "r+b") as file:
        present = file.read(MOST_BYTES)
        if line not in present.split(b"\n"):
            file.write((b"\n" if present and not present.endswith(b"\n") else b"") + line + b"\n")


def belongs_to(top: str, repository: str) -> bool:
    """Whether a git folder is that of this worktree, and not one that a `.git` file in it merely names.

    A plain repository has its folder inside. The folder of a linked worktree or a submodule names the
    worktree itself, in `gitdir` or in `core.worktree`; a file in a hostile checkout cannot write there.
    """
    marker = os.path.join(top, ".git")
    if os.path.isdir(marker):
        return not os.path.islink(marker) and os.path.realpath(marker) == os.path.realpath(repository)
    try:
        with open(marker, encoding="utf-8") as file:
            private = os.path.realpath(os.path.join(top, file.readline().strip().partition("gitdir: ")[2]))
        for name, prefix in (("gitdir", ""), ("config", "worktree = ")):
            path = os.path.join(private, name)
            if not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as file:
                lines = [line.strip() for line in file.read(MOST_BYTES).splitlines()]
            named = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
            if any(os.path.realpath(os.path.join(private, one)) in (top, marker) for one in named if one):
                return True
    except (OSError, UnicodeDecodeError):
        return False
    return False


# --- mirrors: files that follow the store -----------------------------------------------------------


class _Mirror:
    """A view of one subject, kept below a folder."""

    def __init__(self, view: View, subject: str, root: str) -> None:
        self.view = view
        self.subject = subject
        self.folder = Folder(root)
        self.place = view.place.format(subject)
        self.path = os.path.join(root, self.place)
        # A workspace is a path, which may hold any character.
        self.name = subject if view.scope == "task" else short_digest(subject.encode())

    def exists(self) -> bool:
        """Whether there is anything at its path."""
        return self.folder.exists(self.place)

    def _remove(self, relative: str, is_ours: Callable[[bytes], bool]) -> list[str]:
        """Remove a file if it is unedited; returns the remaining paths: the file, or a copy of edits."""
        path = self.folder.path(relative)
        content = self.folder.content(relative)
        if content is not None and is_ours(content):
            os.unlink(path)
        return [left for left in (path, f"{path}.edited") if os.path.lexists(left)]


class StampedFile(_Mirror):
    """A file whose last line records the state it shows."""

    def inspect(self, deep: bool = False) -> Shown:
        """The state it shows; only a deep inspection detects edits."""
        if not deep and (mark := self._last_mark()):
            return Shown(mark=mark)
        try:
            status = os.lstat(self.folder.path(self.place))
        except FileNotFoundError:
            return Shown(reasons=(MISSING,))
        content = self.folder.content(self.place) if stat.S_ISREG(status.st_mode) else None
        mark, intact = self._read(content or b"")
        if mark is None:
            return Shown(reasons=(FOREIGN,))
        return Shown(mark=mark, at=status.st_mtime, reasons=() if intact else (EDITED,))

    def put(self, mark: Mark, files: Mapping[str, str]) -> None:
        """Write a state; edited content is kept beside it, and a foreign file is left alone."""
        ((relative, text),) = files.items()
        new = self._stamped(mark, text)
        old = self.folder.content(relative)
        if old == new:
            return
        if old is not None:
            known, intact = self._read(old)
            if known is None:
                raise Obstacle(FOREIGN)
            if not intact:
                self.folder.keep_edited(relative)
        self.folder.write(relative, new)

    def clear(self, about: str, gone: bool) -> list[str]:
        """Remove it if its task is gone; returns the files that may still show that task."""
        if gone and self.subject == about:
            return self._remove(self.place, lambda content: self._read(content)[1])
        edited = f"{self.path}.edited"
        return [edited] if os.path.lexists(edited) else []

    def _stamped(self, mark: Mark, text: str) -> bytes:
        body = text.encode() if text.endswith("\n") else f"{text}\n".encode()
        stamp = f"ringbolt: {self.view.scope}={self.name} seq={mark.number} head={mark.check}"
        before, after = self.view.comment or ("", "")
        return body + f"{before}{stamp} digest={short_digest(body, stamp.encode())}{after}\n".encode()

    def _read(self, content: bytes) -> tuple[Mark | None, bool]:
        """The mark of the last stamp in a file's content, and whether the content is unedited."""
        end = len(content)
        while end > 0:
            begin = content.rfind(b"\n", 0, end - 1) + 1
            if match := self._match(content[begin:end]):
                stamp = match[0].rpartition(b" digest=")[0]
                intact = end == len(content) and short_digest(content[:begin], stamp).encode() == match[5]
                return _mark(match), intact
            end = begin
        return None, False

    def _match(self, line: bytes) -> re.Match[bytes] | None:
        before, after = (part.encode() for part in self.view.comment or ("", ""))
        if not (line.startswith(before) and line.endswith(after + b"\n")):
            return None
        match = _STAMP.fullmatch(line, len(before), len(line) - len(after) - 1)
        ours = match and (match[1].decode(), match[2].decode()) == (self.view.scope, self.name)
        return match if ours else None

    def _last_mark(self) -> Mark | None:
        """The mark in the last line, read without the rest of the file; None if anything is unusual."""
        try:
            handle = open_file(self.path)
        except OSError:
            return None
        try:
            tail = os_calls.read_at(handle, _TAIL, max(0, os.fstat(handle).st_size - _TAIL))
        except OSError:  # a folder or a pipe
            return None
        finally:
            os.close(handle)
        match = self._match(tail[tail.rfind(b"\n", 0, len(tail) - 1) + 1 :])
        return _mark(match) if match else None


def _mark(stamp: re.Match[bytes]) -> Mark:
    return Mark(number=int(stamp[3]), check=stamp[4].decode())


class ListedFiles(_Mirror):
    """Files that cannot hold a stamp; a list in our own folder has the state they show and their digests.

    The list is written before the files, with both the old and the new digests, and again when all files are
    written. After a kill in between, every file is still recognised as ours, and the list is behind.
    """

    def __init__(self, view: View, subject: str, root: str) -> None:
        super().__init__(view, subject, root)
        self._list = f"{OWN}/{self.name}.{view.name}.json"
        self._shown: frozenset[str] = frozenset()  # by the last `put`

    def exists(self) -> bool:
        """Whether the list or anything at its path exists."""
        return self.folder.exists(self._list) or super().exists()

    def inspect(self, deep: bool = False) -> Shown:
        """The state they show; only a deep inspection detects edits."""
        listed, at = self._read_list()
        if listed is None:
            return Shown(reasons=(FOREIGN if super().exists() else MISSING,))
        reasons: dict[str, None] = {}
        for relative, known in listed["files"].items():
            if not os.path.lexists(self.folder.path(relative)):
                reasons[MISSING] = None
            elif deep and self._digest(relative) not in known:
                reasons[EDITED] = None
        mark = Mark(number=listed["seq"], check=listed["head"])
        return Shown(mark=mark, at=at, reasons=tuple(reasons))

    def put(self, mark: Mark, files: Mapping[str, str]) -> None:
        """Write a state; edited content is kept beside it, and foreign files are left alone."""
        self._shown = frozenset(files)
        listed, _ = self._read_list()
        old = listed or {"seq": 0, "head": "", "files": {}}
        known: dict[str, list[str]] = old["files"]
        late: dict[str, bytes] = {}
        foreign: list[str] = []
        for relative, text in files.items():
            new = text.encode()
            present = self._digest(relative)
            if present == digest(new):
                continue
            if present is not None and relative not in known:
                foreign.append(relative)
                continue
            if present is not None and present not in known[relative]:
                self.folder.keep_edited(relative)
            late[relative] = new
        wanted = {name: digest(text.encode()) for name, text in files.items() if name not in foreign}
        if late:
            both = {name: [*known.get(name, [])[-1:], new] for name, new in wanted.items()}
            self._write_list(old["seq"], old["head"], {**known, **both})
        for relative, content in late.items():
            self.folder.write(relative, content)
        now = {**known, **{name: [new] for name, new in wanted.items()}}
        if foreign:
            self._write_list(old["seq"], old["head"], now)
            raise Obstacle(f"{FOREIGN}: {', '.join(sorted(foreign)[:5])}")
        if late or now != known or (old["seq"], old["head"]) != (mark.number, mark.check):
            self._write_list(mark.number, mark.check, now)

    def clear(self, about: str, gone: bool) -> list[str]:
        """Remove the files of a task (of all tasks, if `about` is empty) that are no longer part of the view;
        returns those that may still show it."""
        listed, _ = self._read_list()
        if listed is None:
            return []
        known: dict[str, list[str]] = listed["files"]
        left: list[str] = []
        for relative in [name for name in known if about in name]:
            if gone or relative not in self._shown:
                left += self._remove(relative, lambda content, r=relative: digest(content) in known[r])
                del known[relative]
        edited = [f"{self.folder.path(relative)}.edited" for relative in known]
        left += [path for path in edited if os.path.lexists(path)]
        if gone and self.subject == about:
            os.unlink(self.folder.path(self._list))
        else:
            self._write_list(listed["seq"], listed["head"], known)
        return left

    def _digest(self, relative: str) -> str | None:
        present = file_digest(self.folder.path(relative))
        if present == "":
            raise Obstacle(FOREIGN)
        return present

    def _read_list(self) -> tuple[dict[str, Any] | None, float | None]:
        """The list, and when it was written; None if there is none, Obstacle if it is not ours."""
        content = self.folder.content(self._list)
        if content is None:
            return None, None
        try:
            listed = json.loads(content)
        except (ValueError, RecursionError):  # not JSON, so not ours
            raise Obstacle(FOREIGN) from None
        if not self._is_own_list(listed):
            raise Obstacle(FOREIGN)
        return listed, os.lstat(self.folder.path(self._list)).st_mtime

    def _is_own_list(self, listed: Any) -> bool:
        return (
            is_dict(listed)
            and listed.get("ringbolt") == "mirror"
            and (listed.get("kind"), listed.get(self.view.scope)) == (self.view.name, self.name)
            and type(listed.get("seq")) is int
            and isinstance(listed.get("head"), str)
            and is_dict(files := listed.get("files"))
            and all(isinstance(known, list) for known in files.values())
        )

    def _write_list(self, seq: int, head: str, files: Mapping[str, list[str]]) -> None:
        listed = {
            "ringbolt": "mirror",
            "kind": self.view.name,
            self.view.scope: self.name,
            "seq": seq,
            "head": head,
            "files": dict(sorted(files.items())),
        }
        self.folder.write(self._list, json.dumps(listed, indent=1).encode() + b"\n")


Mirror = StampedFile | ListedFiles


def mirror_for(view: View, subject: str, root: str) -> Mirror:
    """The mirror of a view of a subject below a folder."""
    return (StampedFile if view.comment else ListedFiles)(view, subject, root)


# --- exports: folders that leave the store ----------------------------------------------------------


def make_export_root(folder: str, ignored: bool) -> None:
    """Create the folder of exports; with `ignored`, git ignores it if it is empty and in a work tree."""
    make_private_folders(folder)
    if ignored and not os.listdir(folder) and workspace_of(folder)[1] is not None:
        write_atomic(os.path.join(folder, ".gitignore"), b"*\n", mode=0o644)


class Export:
    """A folder that is written over an earlier export.

    `known` holds the digests of the earlier files. A file that differs from them was edited or is foreign: it
    is kept under another name before ours replaces it. If `known` is None, an earlier export was interrupted
    and nothing is known about the files.
    """

    def __init__(self, folder: str, known: Mapping[str, str] | None) -> None:
        self._folder = folder
        self._known = known
        self.files: dict[str, str] = {}
        self.written = 0
        self.removed = 0
        self.warnings: list[str] = []
        sweep(folder)

    def make_folder(self, name: str) -> None:
        """Create a folder within this one."""
        path = os.path.join(self._folder, name)
        if not make_folder(path):
            sweep(path)

    def put(self, name: str, content: bytes, *, keep_other: bool = True) -> None:
        """Write a file unless it is up to date; `keep_other` keeps a different file under another name."""
        path = os.path.join(self._folder, name)
        present = file_digest(path)
        self.files[name] = digest(content)
        if present != self.files[name]:
            if keep_other:
                self._set_aside(name, present)
            write_atomic(path, content)
            self.written += 1

    @contextmanager
    def stream(self, name: str) -> Generator[Stream]:
        """Write a file piece by piece."""
        path = os.path.join(self._folder, name)
        self._set_aside(name, file_digest(path))
        with replacing(path) as file:
            stream = Stream(file)
            yield stream
        self.files[name] = stream.digest()
        self.written += 1

    def _set_aside(self, name: str, present: str | None) -> None:
        if present is None or self._known is None or present == self._known.get(name):
            return
        path = os.path.join(self._folder, name)
        number = 1
        while os.path.lexists(f"{path}.kept-{number}"):
            number += 1
        # A second name for the same file: the old one stays in place until the new one is there.
        os.link(path, f"{path}.kept-{number}", follow_symlinks=False)
        self.warnings.append(
            f"{name} was changed since Ringbolt wrote it; it is kept as {name}.kept-{number}"
        )

    def finish(self, manifest: str, render: Callable[[dict[str, str], str], str]) -> None:
        """Remove files that no longer belong here, and write the manifest.

        A file of the earlier export is removed only if it is unedited.
        """
        self.files.pop(manifest, None)
        files = dict(sorted(self.files.items()))
        self._remove_rest(manifest)
        self._known = None  # the existing manifest is our own mark of an unfinished export
        self.put(manifest, self_digested(lambda own: render(files, own)).encode())

    def report(self, task: Task, *warnings: str) -> FolderExport:
        """The result of the export."""
        return FolderExport(
            task_id=task.id,
            path=self._folder,
            seq=task.seq,
            files=tuple(sorted(self.files)),
            written=self.written,
            removed=self.removed,
            warnings=(*self.warnings, *warnings),
        )

    def _remove_rest(self, manifest: str) -> None:
        for name, was in (self._known or {}).items():
            path = os.path.join(self._folder, name)
            if name in self.files or name == manifest or (present := file_digest(path)) is None:
                continue
            if present == was:
                os.unlink(path)
                self.removed += 1
            else:
                self.warnings.append(f"{name} no longer belongs to the task, but was changed; it is kept")


class Stream:
    """A file that is written in pieces, and the digest of its content."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = blake2b(digest_size=16)

    def write(self, text: str) -> None:
        """Write the next piece."""
        content = text.encode()
        self._file.write(content)
        self._digest.update(content)

    def digest(self) -> str:
        """The digest of the content so far."""
        return self._digest.hexdigest()


def begin_export(folder: str, manifest: str, is_ours: Callable[[str], bool]) -> Export:
    """Begin to write over an earlier export, and mark its manifest as incomplete.

    `is_ours` says whether an export can have written a file of this name. InvalidInput if the manifest was
    not written by Ringbolt.
    """
    text = Source(folder).text(manifest, MOST_MANIFEST)
    if text is None:
        # A folder with only our own files was left by an interrupted export.
        return Export(folder, None if all(is_ours(name) for name in os.listdir(folder)) else {})
    own = _manifest(text)
    if own is None:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(os.path.join(folder, manifest), 400)} was not written by Ringbolt.",
            "Export to another folder.",
        )
    if own.get("complete") is not True:
        return Export(folder, None)
    # Only names that we may have written: the list may have been edited.
    files: Any = own.get("files")
    known = {
        str(name): str(mark) for name, mark in (files if is_dict(files) else {}).items() if is_ours(name)
    }
    known[manifest] = digest(text.encode()) if is_intact(text) else ""
    export = Export(folder, known)
    unfinished = {**read_json(text), "ringbolt": {**own, "complete": False}}
    export.put(manifest, (pretty(unfinished) + "\n").encode())
    return export


def self_digested(render: Callable[[str], str]) -> str:
    """A JSON file that contains its own digest, computed while that field was empty."""
    return render(digest(render("").encode()))


def is_intact(text: str) -> bool:
    """Whether a file that contains its own digest is unedited."""
    value = read_json(text)
    own = value["ringbolt"]
    value["ringbolt"] = {**own, "digest": ""}
    return own.get("digest") == digest((pretty(value) + "\n").encode())


def _manifest(text: str) -> dict[str, Any] | None:
    """Ringbolt's fields of a manifest; None if the file is not ours."""
    try:
        value = read_json(text)
    except ValueError:
        return None
    own: Any = value.get("ringbolt") if is_dict(value) else None
    return own if is_dict(own) else None
