"""Approval modes: in some tasks, an agent needs the user's approval before it acts.

With the mode `confirm` that is every side effect, with `manual` also every step that begins. The gate is part
of every append, so no operation can bypass it: it takes the change out of the event and writes a request as a
separate event. Only the user's channel can answer.

A hook reports what has already happened, so nothing is held back there; before a call with a side effect,
`hosts/guard` lets the host ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.types import Origin
from ..store.tx import Row, Tx
from .drafts import Draft

KIND = "approval"
PENDING, APPROVED, REJECTED, OVERTAKEN = "pending", "approved", "rejected", "overtaken"
REASON = "approval"  # why the task waits
CONFIRM, MANUAL = "confirm", "manual"

_BEGUN = ("active", "completed")
_GATED = ("agent", "tool", "web")
# Events that restore or move what was recorded before; they need no approval.
_FREE = ("undone", "approval.decided", "task.split", "task.merged", "task.registered")
# The columns of a step that belong to its status; changes of other columns are not held back.
_OF_STATUS = ("status", "basis", "cause_seq", "evidence", "started_at", "completed_at", "duration_seconds")


class Gate:
    """Takes out of an event what needs approval first; `requests` follow the event."""

    def __init__(self, tx: Tx, head: Row, draft: Draft, origin: Origin, seq: int) -> None:
        self.requests: list[Draft] = []
        if origin.channel not in _GATED or draft.kind in _FREE:
            return
        changes_steps = any(
            row.get("status") in _BEGUN
            for name in ("steps", "+steps")
            for row in draft.sets.get(name, {}).values()
        )
        is_effect = draft.kind in ("intent", "outcome") and origin.channel == "agent"
        if not (changes_steps or is_effect):
            return
        mode = tx.extras(head["task_id"])["approval_mode"]
        if mode == MANUAL and changes_steps:
            self._hold_steps(tx, head, draft)
        if mode in (CONFIRM, MANUAL) and draft.kind == "intent":
            self._ask(tx, head, f"effect:{seq}", f"May this be done: {draft.text}", ref=seq, item=draft.item)
            _warn(draft, "It waits for the user's approval; do not do it before.")
        if draft.kind == "outcome" and draft.data.get("outcome") == "did":
            self._note_overtaken(tx, head, draft)

    def _hold_steps(self, tx: Tx, head: Row, draft: Draft) -> None:
        known = {row["item_id"]: row for row in tx.steps(head["task_id"])}
        held: set[str] = set()
        for name in ("steps", "+steps"):
            for item, row in draft.sets.get(name, {}).items():
                old = known.get(item, {"status": "pending", "title": row.get("title")})
                if row.get("status") not in _BEGUN or old["status"] != "pending":
                    continue
                key = f"step:{item}"
                if tx.records(head["task_id"], KIND, (APPROVED,), 1, key=key):
                    continue
                held.add(item)
                self._ask(
                    tx, head, key, f"May step {item} begin: {old['title']}", item=item, status=row["status"]
                )
                _warn(draft, f"Step {item} waits for the user's approval.")
        if held:
            _take_out(draft.sets, held)

    def _ask(
        self,
        tx: Tx,
        head: Row,
        key: str,
        text: str,
        *,
        item: str | None = None,
        ref: int | None = None,
        status: str | None = None,
    ) -> None:
        if tx.records(head["task_id"], KIND, (PENDING,), 1, key=key):
            return
        data = {"asks": key.partition(":")[0], "status": status, "intent": ref}
        record = {"type": KIND, "status": PENDING, "key": key}
        self.requests.append(
            Draft("approval.requested", text=text, data=data, item=item, ref=ref, record=record)
        )

    def _note_overtaken(self, tx: Tx, head: Row, draft: Draft) -> None:
        """The agent reports a side effect that was not approved: record it, and ask for attention."""
        rows = tx.records(head["task_id"], KIND, (PENDING, REJECTED), 1, key=f"effect:{draft.ref}")
        if not rows:
            return
        changed = {"status": OVERTAKEN, "ref_seq": head["last_seq"] + 1}
        draft.sets["records"] = {**draft.sets.get("records", {}), str(rows[0]["seq"]): changed}
        heads: dict[str, Any] = draft.sets.setdefault("heads", {})
        heads["attention"] = f"#{draft.ref} was done without the user's approval"
        if waits(head) and not others_wait(tx, head["task_id"], {rows[0]["seq"]}):
            heads |= {"status": "active", "reason": None}
        _warn(draft, "It was done without the user's approval; the task asks for the user's attention.")


def sets_gate(sets: Mapping[str, Any]) -> bool:
    """Whether an event gives its task an approval mode in which something waits."""
    rows = (sets.get("extras"), sets.get("+extras"))
    return any(row and row.get("approval_mode") in (CONFIRM, MANUAL) for row in rows)


def approval_hold(head: Row) -> dict[str, Any] | None:
    """The columns of a task that a request changes: an active task waits."""
    return {"status": "waiting", "reason": REASON} if head["status"] == "active" else None


def waits(head: Mapping[str, Any]) -> bool:
    """Whether a task waits for the user's approval."""
    return head["status"] == "waiting" and head["reason"] == REASON


def others_wait(tx: Tx, task_id: str, but: set[int]) -> bool:
    """Whether other requests of a task still wait for approval."""
    rows: Sequence[Row] = tx.records(task_id, KIND, (PENDING,), 1000)
    return any(row["seq"] not in but for row in rows)


def _take_out(sets: dict[str, Any], held: set[str]) -> None:
    """Keep the status of held steps, and of the step that they would have set aside."""
    for name in ("steps", "+steps"):
        rows: dict[str, dict[str, Any]] = sets.get(name, {})
        for item, row in rows.items():
            if item in held or (name == "steps" and row == {"status": "pending"}):
                rows[item] = {column: value for column, value in row.items() if column not in _OF_STATUS}
        if name == "steps" and name in sets:
            sets[name] = {item: row for item, row in rows.items() if row}
            if not sets[name]:
                del sets[name]


def _warn(draft: Draft, warning: str) -> None:
    draft.result["warnings"] = (*draft.result.get("warnings", ()), warning)
