"""The operation by which the user approves or rejects what an agent wants to do; see ledger.approvals."""

from __future__ import annotations

import json
from typing import Any

from ..ledger import approvals
from ..ledger.base import Base, Draft, find_item
from ..ledger.step_changes import begin_work, item_changes
from ..model import rules, validate
from ..model.errors import Conflict, NotFound
from ..model.operation import operation
from ..model.types import Written
from ..store.tx import Row, Tx

MOST = 1000
_DECIDABLE = {True: (approvals.PENDING, approvals.REJECTED), False: (approvals.PENDING, approvals.APPROVED)}


class Approvals(Base):
    """The operation that approves and rejects."""

    @operation(scope="write", tools="none", example={"what": "Push", "note": "but not on Friday"})
    def task_approve(
        self,
        task_id: str | None = None,
        what: str | int | None = None,
        *,
        approve: bool = True,
        note: str | None = None,
        mode: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Approve or reject what waits for the user's approval. Only the user can.

        An approved step begins, or is completed if that was asked. A rejected side effect counts as not done.

        Args:
            what: A step (id, number from 1, title), or the `#seq` of a side effect or request. Default:
                everything that waits.
            approve: False rejects it.
            note: What the agent should know about it.
            mode: New approval mode of the task: auto, confirm or manual. `auto` approves what waits.
        """
        if self.origin.channel != "user":
            raise Conflict(
                "illegal_transition",
                "Only the user approves and rejects.",
                "Ask the user: `ringbolt approve` on their terminal, or the task's page.",
            )
        note = self._text("note", note)
        if mode is not None:
            mode = validate.choice("approval mode", mode, rules.APPROVAL_MODES)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            only_mode = what is None and mode is not None and mode != "auto"
            chosen = [] if only_mode else _chosen(tx, head, what, approve)
            if not chosen and (mode is None or what is not None):
                about = "" if what is None else f" about {what}"
                raise NotFound(
                    "record_not_found",
                    f"Nothing{about} waits for approval.",
                    "task_get shows what waits, in `approvals`.",
                )
            return _decision(tx, head, now, chosen, bool(approve), note, mode)

        return self._write("task_approve", task_id, decide, key=key, arguments=[what, approve, note, mode])


def _chosen(tx: Tx, head: Row, what: str | int | None, approve: bool) -> list[Row]:
    """The requests that an answer is about."""
    if what is None:
        return tx.records(head["task_id"], approvals.KIND, (approvals.PENDING,), MOST)
    rows = tx.records(head["task_id"], approvals.KIND, _DECIDABLE[approve], MOST)
    if isinstance(what, str) and what.startswith("#") and what[1:].isdecimal():
        number = int(what[1:])
        return [row for row in rows if row["seq"] == number or row["key"] == f"effect:{number}"]
    item = find_item(tx.steps(head["task_id"]), what)["item_id"]
    return [row for row in rows if row["key"] == f"step:{item}"]


def _decision(
    tx: Tx, head: Row, now: str, chosen: list[Row], approve: bool, note: str | None, mode: str | None
) -> Draft:
    seq = head["last_seq"] + 1
    status = approvals.APPROVED if approve else approvals.REJECTED
    records = {str(row["seq"]): {"status": status, "ref_seq": seq, "ended_at": now} for row in chosen}
    sets: dict[str, Any] = {"records": records}
    heads: dict[str, Any] = {}
    warnings: list[str] = []
    for row in chosen:
        asks, _, name = row["key"].partition(":")
        if asks == "step" and approve:
            steps = tx.steps(head["task_id"])
            step = find_item(steps, name)
            wanted = json.loads(row["data"]).get("status") or "active"
            if step["status"] == "pending" and step["dropped_in"] is None:
                changes, more = item_changes(tx, head, steps, step, now, status=wanted)
                sets.setdefault("steps", {}).update(changes)
                warnings += more
                heads |= begin_work(head, now)
        elif asks == "effect" and not approve:
            effect = tx.record(head["task_id"], int(name))
            if effect is not None and effect["status"] == "intended":
                records[name] = {"status": "did_not", "ref_seq": seq, "ended_at": now}
    decided = {row["seq"] for row in chosen}
    if approvals.waits(head) and not approvals.others_wait(tx, head["task_id"], decided):
        heads |= {"status": "active", "reason": None}
    if heads:
        sets["heads"] = heads
    if mode is not None:
        sets["extras"] = {"approval_mode": mode}
    if not records:
        del sets["records"]
    numbers = ", ".join(f"#{number}" for number in sorted(decided))
    text = f"{status.capitalize()} {numbers}" if chosen else f"Approval mode {mode}"
    return Draft(
        "approval.decided",
        text=f"{text}: {note}" if note else text,  # views read the note from here
        ref=chosen[0]["seq"] if len(chosen) == 1 else None,
        data={"approved": approve, "requests": sorted(decided), "note": note, "mode": mode},
        sets=sets,
        warnings=tuple(warnings),
    )
