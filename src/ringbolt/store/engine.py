"""The interface of a store. Its methods are documented here, once for both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from ..model.errors import StoreError
from ..model.results import Problem
from .tx import Tx

Result = TypeVar("Result")


class CatchingUp(Protocol):
    """Applies the events that hooks have written: the interface of `journal.catch_up.CatchUp`."""

    def __call__(self) -> None:
        """Apply waiting events; called before each read and write."""

    def ruled_out(self, session: str) -> None:
        """Tell the hooks of a session at once that its task rules something out."""


class Store(Protocol):
    """A ledger in a file or database: the interface of both engines, and the little that they share.

    The work of a transaction is a plain function of a `Tx`, so nothing between its start and its commit waits
    for a model or a network.
    """

    url: str
    catch_up: CatchingUp | None = None
    _closed: bool = False

    def write(
        self, work: Callable[[Tx], Result], *, settles: bool = False, patience: float | None = None
    ) -> Result:
        """Run `work` in a transaction and return when it is safely on disk.

        `settles`: the work can be repeated safely, because its key shows whether it was already done; an
        engine may repeat it after a commit whose outcome it does not know. `patience`: how many seconds to
        wait for other writers; default is the setting `lock_timeout`.
        """
        ...

    def read(self, work: Callable[[Tx], Result], *, once: bool = False) -> Result:
        """Run `work` on one consistent snapshot.

        `once`: the work makes a single batch of queries, so an engine may end the transaction with it.
        """
        ...

    def check(self) -> list[Problem]:
        """The problems that the engine itself finds in the store."""
        ...

    def waiting(self, tx: Tx) -> list[dict[str, Any]]:
        """Events that are not in the full-text index yet; searches scan them directly."""
        ...

    def index(self) -> None:
        """Add all waiting events to the full-text index."""

    def reindex(self) -> None:
        """Delete the vectors and rebuild the full-text index."""

    def scrub(self) -> bool:
        """Erase deleted content from the store's files; False if this must be tried again."""
        ...

    def refresh_statistics(self) -> None:
        """Update the statistics of the query planner; call it after a large import."""

    def files(self) -> tuple[str, ...]:
        """The files of the store; empty for a database server."""
        ...

    def grant(self, role: str) -> None:
        """Let another role of the server use the store, without owning it."""

    def backup(self, path: str) -> None:
        """Copy the store into a new file while others keep writing."""

    def restore(self, path: str) -> str:
        """Replace the store's content with a backup; returns the path of a copy of the old content."""
        ...

    def info(self) -> dict[str, Any]:
        """Facts about the store: engine, version, sizes."""
        ...

    def close(self) -> None:
        """Close files and connections; safe to call twice."""

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("store_closed", "The store was closed.", "Open it again.")
