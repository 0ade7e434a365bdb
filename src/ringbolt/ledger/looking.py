"""The gate of a caller: what its grant and the operator's settings let it look at outside the store."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from ..model.errors import NotAllowed
from ..model.settings import Settings
from ..system.gate import REFUSALS, Gate, own_places

if TYPE_CHECKING:  # `base` imports modules that import this one
    from .base import Base


def gate_of(memory: Base, folder: str | None = "") -> Gate:
    """The gate of a memory; `folder` is the workspace whose files may be looked at, by default its own."""
    grant = memory.grant
    place = memory.workspace if folder == "" else folder
    if place is not None and not grant.anywhere and place != memory.workspace:
        place = place if place in (grant.workspaces or ()) else None
    return make_gate(memory, place, grant.powers, grant.anywhere)


def make_gate(memory: Base, folder: str | None, powers: Collection[str], anywhere: bool) -> Gate:
    """The gate for these powers, as far as the settings allow them now."""
    settings = memory.settings
    allowed = {
        "files": True,
        "displays": settings.wait_displays == "on",
        "commands": settings.wait_commands == "on",
        "egress": settings.wait_urls == "on",
    }
    return Gate(
        powers=tuple(power for power in powers if allowed.get(power)),
        folders=_folders(settings, folder),
        own=own_places(memory.store.files()[:1]),
        anywhere=anywhere,
        private=settings.wait_private == "on",
    )


def _folders(settings: Settings, workspace: str | None) -> tuple[str, ...]:
    """The folders whose files may be read.

    A workspace that is the whole disk or a home folder does not count: it was not chosen as a project.
    """
    folders: list[str] = []
    for name in (part.strip() for part in settings.wait_folders.split(",")):
        folder = workspace if name == "workspace" else name
        too_wide = name == "workspace" and folder and os.path.realpath(folder) in _whole_places()
        if folder and not too_wide:
            folders.append(folder)
    return tuple(folders)


def _whole_places() -> tuple[str, ...]:
    return "/", os.path.realpath(os.path.expanduser("~"))


def refused_look(memory: Base, target: str) -> NotAllowed:
    """Record that a caller was refused a look; returns the error to raise."""
    origin = memory.origin
    about = {"channel": origin.channel, "agent": origin.agent, "session": origin.session}
    return REFUSALS.add(_caller(memory), target, workspace=memory.workspace, **about)


def check_callback(memory: Base, url: str) -> None:
    """Raise unless the caller may have this URL called."""
    if "egress" not in memory.grant.powers:
        raise refused_look(memory, url)


def check_patience(memory: Base) -> None:
    """Raise if a caller was refused too many looks lately."""
    REFUSALS.check(_caller(memory))


def _caller(memory: Base) -> str:
    return f"{memory.grant.name} on {memory.settings.store.rpartition('@')[2] or 'the default store'}"
