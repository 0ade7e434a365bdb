"""Errors of SQLite and the operating system, converted into ours."""

from __future__ import annotations

import errno

import apsw

from ..model.errors import RingboltError, StoreError
from . import migrate


class TypedErrors:
    """Converts errors of SQLite and the operating system into ours."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (apsw.Error, OSError, UnicodeDecodeError)):
            raise typed(error, self._path) from error


def typed(error: BaseException, path: str) -> BaseException:
    """Our error for one of SQLite or the operating system; other errors are returned unchanged."""
    if isinstance(error, RingboltError) or not isinstance(error, (apsw.Error, OSError, UnicodeDecodeError)):
        return error
    number = getattr(error, "errno", None)
    if isinstance(error, apsw.FullError) or number in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(
            "store_full",
            f"The disk is full: {path} cannot grow.",
            "Nothing was written and reading still works. Make room, then repeat the call.",
        )
    if isinstance(error, apsw.ConstraintError):
        return migrate.contradicting_event(error)
    if isinstance(error, apsw.BusyError):
        return StoreError(
            "store_busy",
            f"Another program holds {path}.",
            "Nothing was written. Try again; if it persists, find out which program has the file open.",
        )
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)):
        return StoreError(
            "store_corrupt",
            f"{path} is damaged or not a database: {error}.",
            "Keep the file as it is. `ringbolt repair FILE --to NEW` saves what it still has, and a backup"
            " may be intact.",
        )
    if isinstance(error, apsw.ReadOnlyError) or number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreError(
            "store_readonly",
            f"{path} cannot be written: {error}.",
            "Give this user write permission on the file and its folder, or name another store.",
        )
    return StoreError(
        "store_unavailable",
        f"{path} cannot be used: {error}.",
        "Check that the path exists, is a file, and that the disk works.",
    )


def foreign_database(path: str) -> StoreError:
    """The error for a database that is not a store."""
    return StoreError(
        "not_a_store",
        f"{path} is a database of another program.",
        "Name another file, or a path where no file exists yet.",
    )
