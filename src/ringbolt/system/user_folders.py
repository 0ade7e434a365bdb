"""Ringbolt's own folders of a user."""

from __future__ import annotations

import os
from collections.abc import Mapping


def user_folder(kind: str, environ: Mapping[str, str] = os.environ) -> str:
    """Ringbolt's folder for the user's data or configuration (XDG)."""
    variable, below = {"data": ("XDG_DATA_HOME", ".local/share"), "config": ("XDG_CONFIG_HOME", ".config")}[
        kind
    ]
    base = environ.get(variable) or os.path.join(os.path.expanduser("~"), below)
    return os.path.join(base, "ringbolt")
