"""Run several operations in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..store.engine import Store
from ..store.tx import Tx

Result = TypeVar("Result")


class OneTransaction:
    """A store whose reads and writes all run in a transaction of it that is already open."""

    def __init__(self, tx: Tx, store: Store) -> None:
        self._tx = tx
        self._store = store
        self.catch_up = None

    def write(self, work: Callable[[Tx], Result], *, settles: bool = False) -> Result:
        return work(self._tx)

    def read(self, work: Callable[[Tx], Result], *, once: bool = False) -> Result:
        return work(self._tx)

    def files(self) -> tuple[str, ...]:
        """The files of the store, which the gate keeps from everybody."""
        return self._store.files()
