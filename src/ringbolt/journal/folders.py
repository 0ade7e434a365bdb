"""The folders of a store's journal."""

from __future__ import annotations

import os

from ..config import user_folder
from ..model.validate import blake2b

_NO_TENANT = ("", "default")
_NAMING = ("host", "port", "dbname", "tenant")  # parts of a URL's query that identify the database


def journal_folders(location: str, tenant: str = "") -> list[str]:
    """The folders for the events of a store; hooks use the first one that they can write to.

    A SQLite store has its journal beside the file, and a second one in the user's data folder in case that
    disk cannot be written. A PostgreSQL store has only the latter. `tenant` is the setting of that name.
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
    """The server, database and tenant in a URL, without the user."""
    address, _, query = location.partition("://")[2].rpartition("@")[2].partition("?")
    values = {"tenant": tenant}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        values[name] = value
    if values["tenant"] in _NO_TENANT:
        del values["tenant"]
    kept = "&".join(f"{name}={values[name]}" for name in _NAMING if name in values)
    return f"{address}?{kept}" if kept else address
