"""Numbered migrations: each recorded with a checksum, never run backwards.

To change the schema, add `migrations/<engine>/0002_<what>.sql` for both engines and raise `SCHEMA_VERSION`.
Never edit a migration that was released: stores record its checksum, and `verify` compares it. A migration
that changes rows on PostgreSQL must suspend FORCE ROW LEVEL SECURITY meanwhile, because it runs without a
tenant.
"""

from __future__ import annotations

import os

from ..model.errors import InvalidInput, StoreError
from ..model.validate import blake2b

# The newest migration. Opening a store compares only this number, so no migration file is read.
SCHEMA_VERSION = 1
FIRST = "0001_ledger"
FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def migrations(engine: str) -> list[tuple[int, str, str]]:
    """All migrations of an engine as (version, name, SQL), in order."""
    folder = os.path.join(FOLDER, engine)
    numbered: list[tuple[int, str, str]] = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".sql"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                numbered.append((int(name.split("_")[0]), name[:-4], file.read()))
    return numbered


def pending(engine: str, version: int) -> list[tuple[int, str, str, str]]:
    """The migrations after a version, as (version, name, SQL, checksum)."""
    return [
        (number, name, sql, checksum(sql)) for number, name, sql in migrations(engine) if number > version
    ]


def checksum(sql: str) -> str:
    """The checksum that a store records for a migration."""
    return blake2b(sql.encode(), digest_size=16).hexdigest()


def check_version(version: int) -> None:
    """Raise `schema_newer` if a store has a newer schema than this library."""
    if version > SCHEMA_VERSION:
        raise StoreError(
            "schema_newer",
            f"The store has schema {version}; this Ringbolt knows up to {SCHEMA_VERSION}.",
            "A newer Ringbolt has opened this store. Upgrade this one; the data is safe.",
            schema=version,
            known=SCHEMA_VERSION,
        )


def changed_migrations(engine: str, applied: dict[int, str]) -> list[str]:
    """A sentence for each migration whose checksum in a store differs from ours."""
    return [
        f"migration {name} was applied with different content"
        for version, name, sql in migrations(engine)
        if version in applied and applied[version] != checksum(sql)
    ]


def check_applied(engine: str, applied: dict[int, str]) -> None:
    """Raise `migration_changed` if the migrations of a store differ from ours."""
    if changed := changed_migrations(engine, applied):
        raise StoreError(
            "migration_changed",
            f"This store was made by different migrations: {'; '.join(changed)}.",
            "Open it with the version that made it, export its events, and import them into a new store.",
        )


def store_not_found(url: str) -> StoreError:
    """The error for a store that does not exist and must not be created."""
    return StoreError(
        "store_not_found",
        f"There is no store at {url}.",
        "No tasks yet. Start with `ringbolt register`, or check --store.",
    )


def contradicting_event(reason: object) -> InvalidInput:
    """The error for an imported event that violates a constraint of the state."""
    return InvalidInput(
        "import_invalid", f"An event contradicts the store: {reason}.", "Export again. Nothing was written."
    )
