"""A permanent installation, for a process that runs in a temporary one: `uvx ringbolt install claude-code`.

A host needs paths that stay. uvx and `pipx run` keep their environments in a cache that is cleaned, so
Ringbolt is installed with the same tool first, and that installation does the rest.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from itertools import pairwise
from pathlib import PurePath

from ..._version import __version__
from ...model.errors import Conflict

_SECONDS = 600
# Two folders in a row that the path of a temporary environment contains, and the tool that made it.
_TEMPORARY = {
    ("uv", "archive-v0"): "uv",
    ("uv", "environments-v2"): "uv",
    ("pipx", ".cache"): "pipx",
    (".cache", "pipx"): "pipx",
}
# How each tool names the folder of its programs, and installs one.
_FOLDER = {"uv": ("tool", "dir", "--bin"), "pipx": ("environment", "--value", "PIPX_BIN_DIR")}
_INSTALL = {"uv": ("tool", "install"), "pipx": ("install",)}


def permanent_ringbolt(*, install: bool, prefix: str = sys.prefix) -> str | None:
    """The program of a permanent installation, if this process runs in a temporary one; otherwise None.

    With `install` a missing one is made.
    """
    parts = PurePath(prefix).parts
    pairs = set(pairwise(parts))
    tool = next((name for pair, name in _TEMPORARY.items() if pair in pairs), None)
    if tool is None:
        return None
    program = (os.environ.get("UV") if tool == "uv" else None) or shutil.which(tool) or tool
    ringbolt = os.path.join(_run([program, *_FOLDER[tool]]).strip(), "ringbolt")
    if not os.access(ringbolt, os.X_OK):
        if not install:
            return None
        _run([program, *_INSTALL[tool], _source()])
    return ringbolt


def _source() -> str:
    """What was installed here: a file or URL, otherwise this version."""
    origin = distribution("ringbolt").read_text("direct_url.json")
    return json.loads(origin)["url"] if origin else f"ringbolt=={__version__}"


def _run(words: list[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "stderr", "") or str(error)
        raise Conflict(
            "not_installed",
            f"Ringbolt could not be installed permanently: {reason.strip()[-400:]}",
            f"Run `{' '.join(words)}` yourself, then `ringbolt install` again.",
        ) from None
    return done.stdout
