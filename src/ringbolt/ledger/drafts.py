"""A draft: an event that an operation has decided to write."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from ..store.schema import MESSAGE_TYPES
from ..store.tx import Row, Tx

if TYPE_CHECKING:
    from .base import Base


# Longer messages are shortened in the payload; the column `text` has them whole.
_MOST_MESSAGE = 2000


def payload(draft: Draft) -> dict[str, Any]:
    """What a message, a change or a registration says, as the `data` of its event.

    Other projects store events in this form, so a program of theirs needs only `data`. The state itself is
    folded from `sets`.
    """
    if draft.kind not in MESSAGE_TYPES and draft.kind != "task.registered":
        return {}
    heads = draft.sets.get("heads", {})
    own = draft.sets.get("steps", {}).get(draft.item, {})
    text = draft.text
    fields: dict[str, Any] = {
        "message": f"{text[:_MOST_MESSAGE]}…" if text and len(text) > _MOST_MESSAGE else text,
        "step": draft.item,
        "step_status": own.get("status"),
    }
    if draft.kind == "task.registered":
        fields["name"] = heads.get("name")
        fields["plan"] = [row["title"] for row in draft.sets.get("+steps", {}).values()] or None
    else:
        fields |= {name: heads.get(name) for name in ("status", "phase", "reason")}
        fields |= {"next": heads.get("next_step"), "blockers": heads.get("blockers")}
    return {name: value for name, value in fields.items() if value is not None}


def link_row(kind: str, target: str, seq: int, status: str = "active") -> dict[str, Any]:
    """A link from a task to another one, as the event `seq` sets it."""
    return {"kind": kind, "target": target, "seq": seq, "status": status}


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
        # Columns of the task that the event clears only to tidy up; texts of the user stay.
        self.tidies: tuple[str, ...] = ()
        # A copy from another task: it reports nothing new, so it closes no questions or texts.
        self.is_copy = False

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
