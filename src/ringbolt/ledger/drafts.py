"""An event in the making."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..extract.progress_operations import Following


class Draft:
    """An event in the making: what an operation has decided to write."""

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
        self.then: Following | None = None  # what is inferred from the event, and written after it

    def copy(self) -> Draft:
        """The same again, for work that may be tried more than once."""
        again = Draft(
            self.kind,
            text=self.text,
            data=self.data,
            sets=dict(self.sets),
            item=self.item,
            ref=self.ref,
            labels=self.labels,
            record=self.record,
        )
        again.result = dict(self.result)
        return again

    def complete(self, seq: int) -> None:
        """Fill in what depends on the event's own number."""
        if self.record is not None:
            row = {"item_id": self.item, **self.record}
            own = {name: value for name, value in row.items() if value is not None}
            self.sets["+records"] = {str(seq): own}
        if self.labels:
            self.sets["+labels"] = [[seq, kind, value] for kind, value in self.labels]
