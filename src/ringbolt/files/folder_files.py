"""Folders of files that others read too: written so that edits and strangers are seen, read with care."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..model.errors import InvalidInput, shown
from ..model.scope import workspace_of
from ..model.types import is_dict
from ..model.validate import blake2b
from ..packet.encode import pretty, read_json
from ..system.files import make_folder, open_plain, read_bounded, replacing, sweep, write_atomic

BLOCK = 1 << 16
MOST_VOUCHER = 1 << 28


def digest(content: bytes) -> str:
    """What a file's content is recognised by."""
    return blake2b(content, digest_size=16).hexdigest()


def file_digest(path: str) -> str | None:
    """The digest of a file; "" for what is no plain file, None for nothing."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return ""
    whole = blake2b(digest_size=16)
    with open_plain(path) as file:
        while block := file.read(BLOCK):
            whole.update(block)
    return whole.hexdigest()


def make_root(folder: str, ignored: bool) -> None:
    """Make the folder that holds all; one that is new in a git work tree is kept out of git, if wanted."""

    os.makedirs(folder, 0o700, exist_ok=True)
    if ignored and not os.listdir(folder) and workspace_of(folder)[1] is not None:
        write_atomic(os.path.join(folder, ".gitignore"), b"*\n", mode=0o644)


class Target:
    """A folder that is being written over an earlier state of it.

    `known` are the files of that state with their digests. A file that is not what it says there was
    edited, or is someone else's: it is kept under another name before ours takes its place. When `known` is
    None nothing can be said about what is there, as after an export that was cut off.
    """

    def __init__(self, folder: str, known: Mapping[str, str] | None) -> None:
        self._folder = folder
        self._known = known
        self.files: dict[str, str] = {}
        self.written = 0
        self.removed = 0
        self.warnings: list[str] = []
        sweep(folder)

    def below(self, name: str) -> None:
        """Make a folder within this one."""
        path = os.path.join(self._folder, name)
        if not make_folder(path):
            sweep(path)

    def put(self, name: str, content: bytes, mode: int = 0o600) -> None:
        """Write a file whole, unless it is there already."""
        path = os.path.join(self._folder, name)
        present = file_digest(path)
        self.files[name] = digest(content)
        if present != self.files[name]:
            self._set_aside(name, present)
            write_atomic(path, content, mode=mode)
            self.written += 1

    def overwrite(self, name: str, content: bytes) -> None:
        """Write a file whole, whatever was there: a pointer that everyone moves."""
        path = os.path.join(self._folder, name)
        self.files[name] = digest(content)
        if file_digest(path) != self.files[name]:
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
        # A second name for the same file: until the new one is there, the old one stays in its place.
        os.link(path, f"{path}.kept-{number}", follow_symlinks=False)
        self.warnings.append(f"{name} was not as Ringbolt wrote it; it is kept as {name}.kept-{number}")

    def finish(self, voucher: str, render: Callable[[dict[str, str], str], str]) -> None:
        """Remove what is no longer there, and write the file that vouches for the others.

        Of an earlier state only that is removed which still is as we wrote it.
        """
        self.files.pop(voucher, None)
        files = dict(sorted(self.files.items()))
        self._remove_rest(voucher)
        self._known = None  # what stands in the place of the voucher is our own mark
        self.put(voucher, signed(lambda mark: render(files, mark)).encode())

    def _remove_rest(self, voucher: str) -> None:
        for name, was in (self._known or {}).items():
            path = os.path.join(self._folder, name)
            if name in self.files or name == voucher or (present := file_digest(path)) is None:
                continue
            if present == was:
                os.unlink(path)
                self.removed += 1
            else:
                self.warnings.append(
                    f"{name} belongs to no file of the task any more, but was changed; it stays"
                )


# --- the file that vouches for the others -----------------------------------------------------------


def signed(render: Callable[[str], str]) -> str:
    """A JSON file with its own digest in it, taken while that was empty."""
    return render(digest(render("").encode()))


def is_intact(text: str) -> bool:
    """Whether a file with its own digest in it is as it was written."""
    value = read_json(text)
    own = value["ringbolt"]
    value["ringbolt"] = {**own, "digest": ""}
    return own.get("digest") == digest((pretty(value) + "\n").encode())


def vouched_by(text: str) -> dict[str, Any] | None:
    """What Ringbolt says about a folder in the file that vouches for it; None if that is not ours."""
    try:
        value = read_json(text)
    except ValueError:
        return None
    own: Any = value.get("ringbolt") if is_dict(value) else None
    return own if is_dict(own) else None


def begin(folder: str, voucher: str, is_ours: Callable[[str], bool]) -> Target:
    """Begin to write a folder over what is there, which from now on is marked as not complete."""
    text = Source(folder).text(voucher, MOST_VOUCHER)
    if text is None:
        # With nothing but our own files in it, a folder was left by an export that was cut off.
        return Target(folder, None if all(is_ours(name) for name in os.listdir(folder)) else {})
    own = vouched_by(text)
    if own is None:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(os.path.join(folder, voucher), 400)} was not written by Ringbolt.",
            "Export to another folder.",
        )
    if own.get("complete") is not True:
        return Target(folder, None)
    # Only what we may have written: the names come from a file that anyone may have edited.
    files: Any = own.get("files")
    known = {
        str(name): str(mark) for name, mark in (files if is_dict(files) else {}).items() if is_ours(name)
    }
    known[voucher] = digest(text.encode()) if is_intact(text) else ""
    target = Target(folder, known)
    unfinished = {**read_json(text), "ringbolt": {**own, "complete": False}}
    target.put(voucher, (pretty(unfinished) + "\n").encode())
    return target


class Stream:
    """A file that is written in pieces, and the digest of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = blake2b(digest_size=16)

    def write(self, text: str) -> None:
        """Write the next piece."""
        content = text.encode()
        self._file.write(content)
        self._digest.update(content)

    def digest(self) -> str:
        """The digest of all that was written."""
        return self._digest.hexdigest()


class Source:
    """A folder that is being read: no link leads out of it, and no file is larger than it may be."""

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.root, name)

    def names(self, below: str = "") -> list[str]:
        """The names of the plain files in it or in a folder below, in order; links are left out."""
        return [entry.name for entry in self._entries(below) if entry.is_file(follow_symlinks=False)]

    def odd_names(self, below: str = "") -> list[str]:
        """The names of links, pipes and devices in it, which are not read."""
        return [
            entry.name
            for entry in self._entries(below)
            if not entry.is_file(follow_symlinks=False) and not entry.is_dir(follow_symlinks=False)
        ]

    def _entries(self, below: str) -> list[os.DirEntry[str]]:
        folder = self.path(below)
        if below and os.path.islink(folder):
            return []
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def has(self, name: str) -> bool:
        """Whether there is such a file; one that may not be read is an error."""
        try:
            open_plain(self.path(name), root=self.root).close()
        except FileNotFoundError:
            return False
        except InvalidInput as error:
            raise invalid(self.path(name), error.message) from None
        return True

    def text(self, name: str, most: int) -> str | None:
        """A file's text; None if there is no such file."""
        try:
            content = read_bounded(self.path(name), most, root=self.root)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except InvalidInput as error:
            raise invalid(self.path(name), error.message) from None
        return decoded(self.path(name), content)

    def lines(self, name: str, most: int) -> Iterator[tuple[int, str, bool]]:
        """The lines of a file that are not blank: number, text, and whether the line was ended."""
        try:
            file = open_plain(self.path(name), root=self.root)
        except FileNotFoundError:
            return
        except InvalidInput as error:
            raise invalid(self.path(name), error.message) from None
        with file:
            number = 0
            while raw := file.readline(most + 1):
                number += 1
                if len(raw) > most:
                    raise invalid(self.path(name), f"it has more than {most:,} bytes", number)
                if raw.strip():
                    yield number, decoded(self.path(name), raw, number), raw.endswith(b"\n")


def decoded(path: str, content: bytes, line: int = 1) -> str:
    """Bytes of a file as a text."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        raise invalid(path, f"byte {error.start} is not UTF-8", line) from None


def invalid(path: str, reason: str, line: int | None = None) -> InvalidInput:
    """The error for a file that cannot be imported."""
    where = f"Line {line} of {shown(path, 400)}" if line else shown(path, 400)
    details = {} if line is None else {"line": line}
    return InvalidInput(
        "import_invalid",
        f"{where} cannot be imported: {reason.rstrip('.')}.",
        "Correct it, or take it out of the folder. Nothing of this folder was written.",
        file=path,
        **details,
    )
