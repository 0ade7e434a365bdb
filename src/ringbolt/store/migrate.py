"""Numbered migrations: one transaction each, recorded with a checksum, never backwards."""

from __future__ import annotations

import os

from ..model.errors import InvalidInput, StoreError
from ..model.validate import blake2b

# The newest migration. Opening a store compares this number alone, so that it reads no file.
SCHEMA_VERSION = 6
FIRST = "0001_ledger"


def migrations(engine: str) -> list[tuple[int, str, str]]:
    """All migrations of an engine as (version, name, SQL), in order."""
    folder = os.path.join(os.path.dirname(__file__), "migrations", engine)
    found: list[tuple[int, str, str]] = []
    for file in sorted(os.listdir(folder)):
        if file.endswith(".sql"):
            with open(os.path.join(folder, file), encoding="utf-8") as lines:
                found.append((int(file.split("_")[0]), file[:-4], lines.read()))
    return found


def checksum(sql: str) -> str:
    """What is recorded of a migration."""
    return blake2b(sql.encode(), digest_size=16).hexdigest()


def check_version(version: int) -> None:
    """Raise if a store is newer than this library."""
    if version > SCHEMA_VERSION:
        raise StoreError(
            "schema_newer",
            f"The store has schema {version}; this Ringbolt knows up to {SCHEMA_VERSION}.",
            "A newer Ringbolt has opened this store. Upgrade this one; the data is safe.",
            schema=version,
            known=SCHEMA_VERSION,
        )


def no_store(url: str) -> StoreError:
    """The error for a store that is not there and should not be made."""
    return StoreError(
        "store_not_found", f"There is no store at {url}.", "Look whether the path or URL is right."
    )


def contradiction(reason: object) -> InvalidInput:
    """The error for events that do not fit the state they meet: only foreign ones can."""
    return InvalidInput(
        "import_invalid",
        f"An event contradicts what is there: {reason}.",
        "Export again. Nothing was written.",
    )


def check_applied(engine: str, applied: dict[int, str]) -> list[str]:
    """What is odd about the migrations that a store says it has had."""
    return [
        f"migration {name} was applied with another content"
        for version, name, sql in migrations(engine)
        if version in applied and applied[version] != checksum(sql)
    ]


def refuse_changed(engine: str, applied: dict[int, str]) -> None:
    """Raise if a store was made by other migrations than these."""
    if odd := check_applied(engine, applied):
        raise StoreError(
            "migration_changed",
            f"This store was not made by these migrations: {'; '.join(odd)}.",
            "Open it with the version that made it, export its events, and import them into a new store.",
        )


def pending(engine: str, version: int) -> list[tuple[int, str, str, str]]:
    """The migrations that a store has not had, as (version, name, SQL, checksum)."""
    return [
        (number, name, sql, checksum(sql)) for number, name, sql in migrations(engine) if number > version
    ]
