"""Where the journal of a store lies."""

from __future__ import annotations

import os

from ..config import user_folder
from ..model.validate import blake2b

# The tenant that a store has when nobody names one.
_NO_TENANT = ("", "default")


def journal_folders(location: str, tenant: str = "") -> list[str]:
    """The folders in which hooks may leave events for a store: they use the first that can be written.

    A SQLite store has its journal beside the file, with a second folder in the user's data folder for a disk that
    cannot be written. A PostgreSQL store has only the second. `tenant` is the setting of that name.
    """
    path = store_path(location)
    name = path if path is not None else _database(location, tenant)
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
    away = os.path.join(user_folder("data"), "journals", f"{digest}.journal")
    return [away] if path is None else [f"{path}.journal", away]


def store_path(location: str) -> str | None:
    """The file of a SQLite store, resolved as the store itself does; None for a database server."""
    scheme, separator, rest = location.partition("://")
    if separator and scheme not in ("sqlite", "file"):
        return None
    return os.path.realpath(os.path.expanduser(rest if separator else location))


def _database(location: str, tenant: str) -> str:
    """What names a database and its tenant, whoever connects to it."""
    address, _, query = location.partition("://")[2].rpartition("@")[2].partition("?")
    for part in query.split("&"):
        name, _, value = part.partition("=")
        tenant = value if name == "tenant" and value else tenant
    return address if tenant in _NO_TENANT else f"{address}?tenant={tenant}"
