"""The ledger's storage: two engines (SQLite, PostgreSQL) and one set of queries.

`open_store` chooses the engine for a path or URL. `Store.write` and `Store.read` call a function with a `Tx`,
the transaction with every query of the ledger. The room also holds the migrations, the process lock, the job
queue and the sessions.
"""

from __future__ import annotations

from ..model.errors import InvalidInput, StoreError
from ..model.settings import Settings
from .engine import Store
from .sqlite import SqliteStore
from .tx import Tx


def open_store(location: str, settings: Settings, *, create: bool = True) -> Store:
    """Open the store at a path or URL; with `create`, make it if it does not exist."""
    scheme, separator, rest = location.partition("://")
    if not separator or scheme in ("sqlite", "file"):
        return SqliteStore(rest if separator else location, settings, create)
    if scheme in ("postgresql", "postgres"):
        try:  # loaded late: an optional driver
            from .postgres import PostgresStore
        except ImportError as error:
            raise StoreError(
                "store_unavailable",
                f"The PostgreSQL driver is not installed ({error}).",
                "Install ringbolt with its extra: pip install 'ringbolt[postgres]'.",
            ) from None
        return PostgresStore(location, settings, create)
    raise InvalidInput(
        "invalid_argument",
        f"There is no engine for {scheme}:// stores.",
        "Pass the path of a file, or a postgresql:// URL.",
    )


__all__ = ["Store", "Tx", "open_store"]
