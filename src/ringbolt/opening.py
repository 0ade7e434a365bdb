"""Opening a memory: settings, who acts, workspace and store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Self

from .config import changed, load_settings, store_location
from .journal.catch_up import CatchUp
from .journal.event_files import Journal
from .ledger.base import Base, channel_named, workspace_named
from .model import validate
from .model.errors import InvalidInput, shown
from .model.settings import Settings
from .model.types import Origin
from .store import open_store
from .system.os_calls import user

# How long one read or write may spend on draining the journal.
_DRAIN_SECONDS = 0.1


class Opening(Base):
    """A memory that can be opened by a path or URL."""

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str] | None = None,
        *,
        workspace: str | None = "",
        session: str | None = None,
        agent: str | None = None,
        principal: str | None = None,
        channel: str = "agent",
        settings: Settings | None = None,
        create: bool = True,
        catch_up: bool = True,
        clock: Callable[[], float] = time.time,
        random: Callable[[int], bytes] = os.urandom,
        **overrides: Any,
    ) -> Self:
        """Open the memory at a path or URL, and create it if it does not exist (unless `create` is false).

        Without a location: RINGBOLT_STORE, then the settings file, then the user's data folder. Any setting
        can be passed as an argument.

        Args:
            location: Path of the SQLite file, `sqlite:///path`, or `postgresql://…`. Default: see above.
            workspace: The workspace of new tasks. `""`: the worktree of the current folder. A folder: its
                worktree. `None`: no workspace.
            session: The agent's session. Default: `RINGBOLT_SESSION`.
            agent: Name of the agent. Default: `RINGBOLT_AGENT`.
            principal: The person it acts for. Default: `RINGBOLT_PRINCIPAL`, then `USER`, then the user id.
            channel: Channel of trust: user, agent, tool, web, import or system.
            settings: Settings that are already loaded, instead of loading them. The location and overrides
                are applied on top.
            create: False: fail with `store_not_found` if the store does not exist.
            catch_up: Apply events that hooks left in the journal, now and before every read and write.
            clock: Returns seconds since 1970.
            random: Returns the requested number of random bytes.
            overrides: Any setting by its name.
        """
        overrides.setdefault("store", _location(location))
        settings = load_settings(**overrides) if settings is None else changed(settings, **overrides)
        workspace, repository = workspace_named(_here() if workspace == "" else workspace)
        environ = os.environ
        origin = Origin(
            principal=validate.text(
                "principal",
                principal or environ.get("RINGBOLT_PRINCIPAL") or user(),
                200,
            ),
            agent=validate.text("agent", agent or environ.get("RINGBOLT_AGENT", ""), 200),
            channel=channel_named(channel),
            session=validate.text("session", session or environ.get("RINGBOLT_SESSION", ""), 200),
        )
        place = store_location(settings)
        # Events from hooks need a store, even if nobody has created it yet.
        create = create or (catch_up and not Journal.of(place, settings.tenant).is_empty())
        store = open_store(place, settings, create=create)
        memory = cls(
            store,
            settings,
            origin=origin,
            workspace=workspace,
            repository=repository,
            clock=clock,
            random=random,
        )
        if settings.otel == "on":
            from .telemetry import install

            install()
        if settings.mirrors:
            from .files.mirror_keeper import Keeper

            keeper = Keeper(memory)
            keeper.check(workspace)
            memory._mirrors = keeper
        if catch_up:
            store.catch_up = CatchUp(Journal.of(store.url, settings.tenant), lambda: _drain(memory))
            store.catch_up()
        return memory


def _drain(memory: Opening) -> bool:
    """Spend a short time applying events from the journal; False if it applied and rejected none."""
    # Imported by name, because hosts is a room above this one, and most processes never need it.
    hosts = import_module("ringbolt.hosts.drain")
    journal = Journal.of(memory.store.url, memory.settings.tenant)
    try:
        report = hosts.drain(memory, journal, limit=hosts.BATCH, seconds=_DRAIN_SECONDS)
    except Exception:
        # A bug of ours must not make the caller's read or write fail.
        from logging import getLogger  # not needed otherwise

        getLogger("ringbolt.journal").exception("the journal could not be drained")
        return False
    return bool(report.applied or report.rejected)


def _location(location: Any) -> str | None:
    """The path or URL of a store, or None."""
    if location is None:
        return None
    path = location if isinstance(location, str) else getattr(location, "__fspath__", lambda: None)()
    if not isinstance(path, str) or not path.strip():
        raise InvalidInput(
            "invalid_argument", f"{shown(location)} is not the location of a store.", "Pass a path or a URL."
        )
    return validate.text("the location", path, 1 << 20)


def _here() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # the folder was removed
        return None
