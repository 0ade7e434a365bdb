"""The changes that follow from a new status of a step, to itself and to other steps."""

from __future__ import annotations

from typing import Any

from ..model import rules, validate
from ..model.errors import Conflict
from ..signals.expected_failure import expects_failure
from ..store.tx import Row, Tx

# Keys of action records: a check with an exit code, and an edit of files.
RECEIPT, EDIT = "receipt", "edit"

StepChanges = dict[str, dict[str, Any]]


def begun_phase(head: Row) -> str | None:
    """The phase that a task enters when work on it starts; None if it has already started."""
    return "executing" if head["phase"] in ("received", "planning", "planned") else None


def begin_work(head: Row, now: str) -> dict[str, Any]:
    """The columns of a task that change when work on it starts; empty if it has already started."""
    phase = begun_phase(head)
    return {} if phase is None else {**rules.phase_stamps(head, phase, now), "phase": phase}


def item_changes(
    tx: Tx, head: Row, steps: list[Row], row: Row, now: str, *, status: str, basis: str = "explicit"
) -> tuple[StepChanges, list[str]]:
    """The changes of a new status to the step itself and to the previously active one, and warnings."""
    item = row["item_id"]
    if row["dropped_in"] is not None:
        raise Conflict(
            "illegal_transition",
            f"Step {item} was dropped from the plan in version {row['dropped_in']}.",
            "A dropped step stays dropped; add a new one with task_plan_append.",
            current="cancelled",
            legal=[],
        )
    if row["basis"] != "inferred":  # an inferred status may be corrected to any other
        rules.check_transition(rules.ITEM_TRANSITIONS, f"Step {item}", row["status"], status)
    own: dict[str, Any] = {"status": status, "basis": basis, "cause_seq": head["last_seq"] + 1}
    over = status in rules.ITEM_OVER
    own["evidence"] = _evidence(tx, head, row) if status == "completed" else None
    if status == "active" and row["started_at"] is None:
        own["started_at"] = now
    own["completed_at"] = now if over else None
    started = row["started_at"]
    # After the clock was set back, no duration is better than a wrong one.
    own["duration_seconds"] = (
        round(validate.seconds_of(now) - validate.seconds_of(started), 3)
        if over and started and started <= now
        else None
    )
    if over and row["active_issue"]:
        own["active_issue"] = None
    changes: StepChanges = {item: {k: v for k, v in own.items() if row[k] != v}}
    warnings: list[str] = []
    if status == "active":
        claimed = {claim["item_id"] for claim in tx.claims(head["task_id"]) if claim["status"] == "held"}
        for other in steps:
            # One step at a time, except those that agents have claimed.
            if other["status"] == "active" and other["item_id"] != item and other["item_id"] not in claimed:
                changes[other["item_id"]] = {"status": "pending"}
                warnings.append(f"{other['item_id']} set aside as pending")
    statuses = {step["item_id"]: step["status"] for step in steps}
    if status in ("active", "completed") and not rules.is_ready(row["depends_on"], statuses):
        waiting = [name for name in row["depends_on"] if statuses.get(name) != "completed"]
        warnings.append(f"{item} depends on {', '.join(waiting)}, not completed yet")
    return changes, warnings


def last_receipt(tx: Tx, task: str, item: str) -> Row | None:
    """The last check of a step."""
    return _last(tx, task, item, RECEIPT)


def _last(tx: Tx, task: str, item: str, key: str) -> Row | None:
    rows = tx.records(task, "action", rules.ACTION_STATUSES, 1, item=item, key=key)
    return rows[0] if rows else None


def failed_evidence(step: Row) -> str:
    """The evidence of a completed step whose check failed: a contradiction, unless it was meant to fail."""
    return "reported" if expects_failure(step["title"]) else "contradicted"


def _evidence(tx: Tx, head: Row, step: Row) -> str:
    """What shows that a step is done: `verified`, `reported` or `contradicted`.

    It is verified if its last receipt succeeded after its last edit, contradicted if its last receipt failed.
    """
    item = step["item_id"]
    receipt = last_receipt(tx, head["task_id"], item)
    if receipt is None:
        return "reported"
    if receipt["status"] == "failed":
        return failed_evidence(step)
    if receipt["status"] != "completed":
        return "reported"
    edit = _last(tx, head["task_id"], item, EDIT)
    edited = max(edit["seq"], edit["replaced_by"] or 0) if edit else 0
    return "verified" if receipt["seq"] > edited else "reported"
