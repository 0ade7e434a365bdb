"""A folder as a remote, such as one on a shared drive: one file per segment."""

from __future__ import annotations

import os
import time

from ..model.errors import InvalidInput, shown
from ..system.files import FileErrors, is_temp, make_folder, read_bounded, sweep, write_atomic
from .segments import MAX_BYTES

_FOLDER = "ringbolt-sync"


def new_name() -> str:
    """A name for a segment: they sort by age, as far as the clocks of the machines agree."""
    return f"{int(time.time() * 1000):012x}-{os.urandom(8).hex()}"


class FolderRemote:
    """Segments as files in a folder."""

    def __init__(self, path: str) -> None:
        self.name = os.path.realpath(path)
        self._folder = os.path.join(self.name, _FOLDER)
        if not os.path.isdir(self.name):
            # Not created: a shared drive that is not mounted must not look like an empty remote.
            raise InvalidInput(
                "sync_remote",
                f"There is no folder {shown(path, 400)}.",
                "Create it first, or mount the drive that it is on.",
            )

    def names(self) -> list[str]:
        """The names of all segments, the oldest first."""
        with FileErrors(self._folder):
            try:
                found = os.listdir(self._folder)
            except FileNotFoundError:
                return []
        return sorted(name for name in found if not name.startswith(".") and not is_temp(name))

    def read(self, name: str) -> bytes:
        """A segment."""
        with FileErrors(path := os.path.join(self._folder, name)):
            return read_bounded(path, MAX_BYTES, root=self._folder)

    def add(self, segments: list[bytes]) -> list[str] | None:
        """Add segments; returns their names."""
        names: list[str] = []
        with FileErrors(self._folder):
            make_folder(self._folder)
            sweep(self._folder)
            for content in segments:
                name = new_name()
                write_atomic(os.path.join(self._folder, name), content, mode=0o600)
                names.append(name)
        return names
