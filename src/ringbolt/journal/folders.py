"""Where the journal of a store lies."""

from __future__ import annotations

import os

from ..config import user_folder
from ..model.validate import blake2b

# The tenant that a store has when nobody names one.
_NO_TENANT = ("", "default")
# Parts of a URL's query that say which database it is.
_NAMING = ("host", "port", "dbname", "tenant")


def journal_folders(location: str, tenant: str = "") -> list[str]:
    """The folders in which hooks may leave events for a store: they use the first that can be written.

    A SQLite store has its journal beside the file, and a second one in the user's data folder for a disk that
    cannot be written. A PostgreSQL store has only the latter. `tenant` is the setting of that name.
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
    """What names a server, its database and the tenant, whoever connects to it."""
    address, _, query = location.partition("://")[2].rpartition("@")[2].partition("?")
    given = {"tenant": tenant}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        given[name] = value
    if given["tenant"] in _NO_TENANT:
        del given["tenant"]
    kept = "&".join(f"{name}={given[name]}" for name in _NAMING if name in given)
    return f"{address}?{kept}" if kept else address
