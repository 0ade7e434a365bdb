"""Read a folder that others may have written: links that leave it are rejected, sizes are limited."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..model.errors import InvalidInput, shown
from ..system.files import open_plain, read_bounded


class Source:
    """A folder that is being imported. Files that cannot be read raise `import_invalid` with their name."""

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.root, name)

    def names(self, below: str = "") -> list[str]:
        """The names of the regular files in it or in a folder below, in order; links are left out."""
        return [entry.name for entry in self._entries(below) if entry.is_file(follow_symlinks=False)]

    def odd_names(self, below: str = "") -> list[str]:
        """The names of links, pipes and devices, which are not read."""
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
        """Whether the file exists; an error if it must not be read."""
        try:
            open_plain(self.path(name), root=self.root).close()
        except FileNotFoundError:
            return False
        except InvalidInput as error:
            raise invalid(self.path(name), error.message) from None
        return True

    def text(self, name: str, most: int) -> str | None:
        """The text of a file; None if it is missing."""
        try:
            content = read_bounded(self.path(name), most, root=self.root)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except InvalidInput as error:
            raise invalid(self.path(name), error.message) from None
        return decoded(self.path(name), content)

    def lines(self, name: str, most: int) -> Iterator[tuple[int, str, bool]]:
        """The lines of a file that are not blank: number, text, and whether it ends with a newline."""
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
    """The content of a file as text; an error says which byte is not UTF-8."""
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
        "Correct it, or remove it from the folder. Nothing was imported from this folder.",
        file=path,
        **details,
    )
