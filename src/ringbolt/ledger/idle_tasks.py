"""The next write about a task that upkeep paused for being idle makes it active again."""

from __future__ import annotations

from typing import Any

from ..model import rules
from ..model.trust import may_overrule
from ..model.types import Origin
from ..store.schema import is_activity
from ..store.tx import Row, Tx
from .drafts import Draft

# Events that do not show that someone works on the task.
_NOT_WORK = ("task.focused", "task.linked", "claim.released", "undone")
_PAUSED_BY_UPKEEP = (rules.IDLE, rules.SESSION_GONE)


def resumption(tx: Tx, head: Row, draft: Draft, origin: Origin) -> dict[str, Any]:
    """The columns of a paused task that an event changes by showing that someone works on it again."""
    heads: dict[str, Any] = draft.sets.get("heads", {})
    if head["reason"] not in _PAUSED_BY_UPKEEP or heads.keys() & {"status", "reason"}:
        return {}  # paused for another reason, or this event sets the status itself
    if draft.kind in _NOT_WORK or not is_activity(draft.kind, origin):
        return {}
    if origin.channel == "tool" and (draft.text or "").startswith(rules.SESSION_ENDED):
        return {}
    paused = tx.event(head["task_id"], head["status_seq"]) if head["status_seq"] else None
    if paused is not None and not may_overrule(origin.channel, paused["channel"]):
        return {}  # a pause of the user, whatever reason it has
    resumed: dict[str, Any] = {"status": "active", "reason": None}
    if (head["attention"] or "").startswith(rules.NEEDS_REVIEW):
        resumed["attention"] = None
    return resumed
