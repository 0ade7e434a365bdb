"""Stores: where the ledger lives. `open_store` finds the engine for a path or URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from ..model.errors import InvalidInput, StoreError
from ..model.results import Problem
from ..model.settings import Settings
from .sqlite import SqliteStore, scratch_database
from .tx import Tx

Result = TypeVar("Result")


class CatchingUp(Protocol):
    """What hooks have left for a store to take in: `journal.catch_up.CatchUp`, seen from below."""

    def __call__(self) -> None:
        """Take in what waits; called before each read and write."""
        ...

    def ruled_out(self, session: str, known: Iterable[Any]) -> None:
        """A call was ruled out on the task of a session, by one of these texts."""
        ...


class Store(Protocol):
    """A place for a ledger. Work is a plain function of a transaction, run to its end: nothing
    that waits for a model or a network can get between its beginning and its commit."""

    url: str
    catch_up: CatchingUp | None

    def write(
        self, work: Callable[[Tx], Result], *, settles: bool = False, patience: float | None = None
    ) -> Result:
        """Run `work` in a transaction and return when it is safely on disk.

        `settles`: the work finds out by a key whether it was done before, so that an engine may
        repeat it after a commit whose outcome it does not know. `patience`: seconds to wait for
        other writers, if not those of the setting.
        """
        ...

    def read(self, work: Callable[[Tx], Result], *, once: bool = False) -> Result:
        """Run `work` on one consistent snapshot, which does not outlive the call.

        `once`: the work asks one batch of questions, so that an engine may end with its answer.
        """
        ...

    def check(self) -> list[Problem]:
        """What the engine itself finds wrong with the store."""
        ...

    def waiting(self, tx: Tx) -> list[dict[str, Any]]:
        """Events that are not in the full-text index yet: a search looks at them itself."""
        ...

    def index(self) -> None:
        """Put all that waits into the full-text index."""
        ...

    def reindex(self) -> None:
        """Throw the vectors and the full-text index away, and make the index anew."""
        ...

    def scrub(self) -> bool:
        """Leave nothing of what was removed in the store's files; False if that must be tried again."""
        ...

    def loaded(self) -> None:
        """Much was written at once: the engine may look at what it now has."""
        ...

    def files(self) -> tuple[str, ...]:
        """The files that the store is made of, if it is made of files."""
        ...

    def backup(self, path: str) -> None:
        """Copy the store into a new file while others go on writing."""
        ...

    def restore(self, path: str) -> str:
        """Put a backup's content in the place of this store's; returns where the old one is kept."""
        ...

    def info(self) -> dict[str, Any]:
        """Facts about the store: engine, version, sizes."""
        ...

    def close(self) -> None:
        """Let go of files and connections; safe to call twice."""
        ...


def open_store(location: str, settings: Settings, *, create: bool = True) -> Store:
    """Open the store at a path or URL, making it if there is none, unless that is not wanted."""
    scheme, separator, rest = location.partition("://")
    if not separator or scheme in ("sqlite", "file"):
        return SqliteStore(rest if separator else location, settings, create)
    if scheme in ("postgresql", "postgres"):
        try:
            from .postgres import PostgresStore
        except ImportError as error:
            raise StoreError(
                "store_unavailable",
                f"PostgreSQL needs a driver that is not installed ({error}).",
                "Install ringbolt with its extra: pip install 'ringbolt[postgres]'.",
            ) from None
        return PostgresStore(location, settings, create)
    raise InvalidInput(
        "invalid_argument",
        f"There is no engine for {scheme}:// stores.",
        "Give the path of a file, or a postgresql:// URL.",
    )


def scratch() -> Tx:
    """An empty ledger in memory, to fold events into."""

    return Tx(scratch_database())


__all__ = ["Tx", "open_store", "scratch"]
