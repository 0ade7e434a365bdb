"""A draft: an event that an operation has decided to write."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from ..store.tx import Row, Tx

if TYPE_CHECKING:
    from .base import Base


class Following(Protocol):
    """Events inferred from a draft, appended after it in the same transaction.

    `position` holds the columns of the task's row that they will change.
    """

    position: dict[str, Any]

    def write(self, memory: Base, tx: Tx, head: Row, now: str) -> None:
        """Append the inferred events."""
        ...


class Draft:
    """An event that an operation has decided to write; extra arguments go into its result."""

    def __init__(
        self,
        kind: str,
        *,
        text: str | None = None,
        data: Mapping[str, Any] | None = None,
        sets: dict[str, Any] | None = None,
        item: str | None = None,
        ref: int | None = None,
        labels: list[tuple[str, str]] | None = None,
        record: Mapping[str, Any] | None = None,
        **result: Any,
    ) -> None:
        self.kind = kind
        self.text = text
        self.data = {name: value for name, value in (data or {}).items() if value is not None}
        self.sets = sets or {}
        self.item = item
        self.ref = ref
        self.labels = labels or []
        self.record = record
        self.result = result
        self.then: Following | None = None
        # Columns of the task that the event clears only to tidy up: it leaves what is the user's as it is.
        self.tidies: tuple[str, ...] = ()

    def copy(self) -> Draft:
        """A copy, for work that may be tried more than once."""
        again = copy(self)
        again.sets, again.result = dict(self.sets), dict(self.result)
        return again

    def complete(self, seq: int) -> None:
        """Fill in the rows that depend on the event's seq."""
        if self.record is not None:
            row = {"item_id": self.item, **self.record}
            own = {name: value for name, value in row.items() if value is not None}
            self.sets["+records"] = {str(seq): own}
        if self.labels:
            self.sets["+labels"] = [[seq, kind, value] for kind, value in self.labels]
