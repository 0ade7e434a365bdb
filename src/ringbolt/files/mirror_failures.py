"""Failures to write mirrors, stored in the user's data folder, because the mirror's own may be read-only."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ..config import user_folder
from ..model import validate
from ..model.errors import RingboltError
from ..model.types import is_dict
from ..system.files import read_bounded, write_atomic
from ..system.os_calls import make_private_folders
from .projection import locked

MOST_KEPT = 200
MOST_BYTES = 1 << 20
PATIENCE = 0.2


class Failures:
    """The last failure of each mirror of this user."""

    def __init__(self) -> None:
        self._path = os.path.join(user_folder("data"), "mirrors.json")
        self._known: dict[str, dict[str, str]] = {}
        self.current: set[str] = set()  # mirrors whose last refresh by this process failed

    def note(self, path: str, error: Exception) -> None:
        """Record a failure for this and other processes."""
        self.current.add(path)
        self._known[path] = {"at": validate.stamp(time.time()), "error": _error_text(error)}
        try:
            make_private_folders(os.path.dirname(self._path))
            with locked(f"{self._path}.lock", PATIENCE) as held:
                if held:
                    self.load()
                    newest = sorted(self._known.items(), key=lambda pair: pair[1]["at"])[-MOST_KEPT:]
                    write_atomic(self._path, json.dumps(dict(newest), indent=1).encode() + b"\n")
        except OSError:
            return  # a full disk: this process has the failure in memory, others see the stamp

    def load(self) -> None:
        """Read the failures of other processes."""
        try:
            failures = json.loads(read_bounded(self._path, MOST_BYTES))
        except (OSError, ValueError, RecursionError, RingboltError):
            return  # missing or unreadable
        for path, noted in failures.items() if is_dict(failures) else ():
            if _is_note(noted) and noted["at"] > self._known.get(path, {"at": ""})["at"]:
                self._known[path] = noted

    def of(self, path: str) -> dict[str, str] | None:
        """The last failure of a mirror."""
        return self._known.get(path)


def _is_note(noted: Any) -> bool:
    return is_dict(noted) and isinstance(noted.get("at"), str) and isinstance(noted.get("error"), str)


def _error_text(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (text or type(error).__name__)[:500]
