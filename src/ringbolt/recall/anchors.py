"""Anchors: files that an entry cites by their content, and whether they have changed since."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from ..model import validate
from ..model.errors import InvalidInput, RingboltError, shown
from ..model.results import Anchor
from ..model.types import is_dict, is_list
from ..system.files import is_below, open_plain
from ..system.gate import Gate

MOST = 50
MOST_BYTES = 32 << 20


def cite(paths: Any, workspace: str | None, gate: Gate) -> list[dict[str, Any]] | None:
    """The files that an entry cites, each with the digest of its current content; None without files."""
    anchors: list[dict[str, Any]] = []
    for path in validate.text_list("anchors", paths, 2000, MOST):
        digest = _digest(path, workspace, gate)
        if digest is None:
            raise InvalidInput(
                "invalid_argument",
                f"{shown(path)} is not a readable file of this workspace, so it cannot be cited.",
                "Name a file inside the workspace, by its relative or absolute path.",
            )
        anchors.append({"path": path, "digest": digest})
    return anchors or None


def read_anchors(
    event: Mapping[str, Any], gate_of_folder: Callable[[str | None], Gate]
) -> tuple[Anchor, ...]:
    """The files that an event cites: fresh, stale (changed or gone), or unverifiable on this machine."""
    if '"anchors"' not in event["data"]:
        return ()
    cited = json.loads(event["data"]).get("anchors")
    if not is_list(cited):
        return ()
    named = [part for part in cited[:MOST] if is_dict(part) and isinstance(part.get("path"), str)]
    gate = gate_of_folder(event["workspace_path"])
    return tuple(_anchor(part, event["workspace_path"], gate) for part in named)


def _anchor(cited: Mapping[str, Any], workspace: str | None, gate: Gate) -> Anchor:
    path: str = cited["path"]
    whole = _inside(path, workspace)
    if whole is None or not gate.allows_file(whole, content=True):
        return Anchor(path=path, state="unverifiable")
    now = _digest(path, workspace, gate)
    if now is None:
        # A missing file is stale; an unreadable one cannot be judged.
        return Anchor(path=path, state="unverifiable" if os.path.lexists(whole) else "stale")
    return Anchor(path=path, state="fresh" if now == cited.get("digest") else "stale")


def _inside(path: str, workspace: str | None) -> str | None:
    """The absolute path of a file in a workspace; None if the workspace is not here or the file is
    outside."""
    if workspace is None or not os.path.isdir(workspace) or "\0" in path:
        return None
    root = os.path.realpath(workspace)
    whole = os.path.realpath(os.path.join(root, path))
    return whole if is_below(whole, root) else None


def _digest(path: str, workspace: str | None, gate: Gate) -> str | None:
    whole = _inside(path, workspace)
    if whole is None or not gate.allows_file(whole, content=True):
        return None
    digest = validate.blake2b(digest_size=16)
    size = 0
    try:
        with open_plain(whole, root=workspace) as file:
            while piece := file.read(1 << 20):
                size += len(piece)
                if size > MOST_BYTES:
                    return None
                digest.update(piece)
    except (OSError, RingboltError):
        return None
    return digest.hexdigest()
