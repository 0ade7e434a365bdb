"""Ringbolt's own folders of a user."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .os_calls import IS_WINDOWS

_PLACES = {
    "data": ("XDG_DATA_HOME", "LOCALAPPDATA", ".local/share"),
    "config": ("XDG_CONFIG_HOME", "APPDATA", ".config"),
}


def user_folder(kind: str, environ: Mapping[str, str] = os.environ) -> str:
    """Ringbolt's folder for the user's data or configuration (XDG; on Windows the profile's own folders).

    The capture hook, which imports nothing, has the same rule.
    """
    variable, on_windows, below = _PLACES[kind]
    base = environ.get(variable) or (environ.get(on_windows) if IS_WINDOWS else "")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), below), "ringbolt")
