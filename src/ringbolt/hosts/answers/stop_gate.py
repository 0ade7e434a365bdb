"""The gate at the end of a turn (setting `stop_gate`): a step was called done, and its check says otherwise.

The agent is asked about each such claim once. A small file lists the claims it was asked about; if the file
cannot be written, the gate stays open, because a turn must never be held up twice for the same reason.
"""

from __future__ import annotations

import json
from typing import Any

from ...journal.side_files import SideFiles, gate_file
from ...ledger.step_changes import EDIT, RECEIPT, last_receipt
from ...model.rules import ACTION_STATUSES
from ...model.types import is_dict
from ...packet import encode
from ...store.tx import Row, Tx

_MOST_SAID = 5  # claims that one answer names
_MOST_KEPT = 200  # claims that are remembered for a task
_COMMAND = 120  # characters


def unproven_claims(tx: Tx, files: SideFiles, task: str) -> str:
    """The objections to claims of a task that were not raised before; empty if there are none."""
    head = tx.head(task)
    if head is None:
        return ""
    file = gate_file(task)
    known = files.read(file).split()
    claims = {claim: text for claim, text in _claims(tx, task).items() if claim not in known}
    if not claims:
        return ""
    now = " ".join([*known, *claims][-_MOST_KEPT:])
    files.set(file, now)
    if files.read(file) != now:
        return ""
    texts = list(claims.values())
    more = f"\nSo were {len(texts) - _MOST_SAID} other steps." if len(texts) > _MOST_SAID else ""
    return (
        "\n".join(texts[:_MOST_SAID])
        + more
        + "\nRun the check, or say that the step is not done. This is said once."
    )


def _claims(tx: Tx, task: str) -> dict[str, str]:
    """The steps that are called done without proof, by an identity that changes if one is done again."""
    passed = _newest(tx, task, ("completed",))
    checks_exist = bool(tx.records(task, "action", ACTION_STATUSES, 1, key=RECEIPT))
    found: dict[str, str] = {}
    for number, step in enumerate((row for row in tx.steps(task) if row["dropped_in"] is None), 1):
        if step["status"] != "completed" or _is_users(tx, task, step):
            continue
        name = f"Step {number} ({encode.quoted(encode.clip(encode.one_line(step['title']), 100))})"
        identity = f"{step['item_id']}@{step['completed_at']}"
        if step["evidence"] == "contradicted":
            found[identity] = f"{name} was called done, but its last check failed{_check(tx, task, step)}."
        elif step["evidence"] == "reported" and checks_exist and _last_edit(tx, task, step) > passed:
            found[identity] = f"{name} was called done, but no check has passed since it last changed files."
    return found


def _is_users(tx: Tx, task: str, step: Row) -> bool:
    """Whether a person called the step done."""
    event = tx.event(task, step["cause_seq"]) if step["cause_seq"] else None
    return event is not None and event.get("channel") == "user"


def _newest(tx: Tx, task: str, statuses: tuple[str, ...]) -> int:
    """The newest check of any step with one of these outcomes."""
    rows = tx.records(task, "action", statuses, 1, key=RECEIPT)
    return max((_end(row) for row in rows), default=0)


def _last_edit(tx: Tx, task: str, step: Row) -> int:
    rows = tx.records(task, "action", ACTION_STATUSES, 1, item=step["item_id"], key=EDIT)
    return max((_end(row) for row in rows), default=0)


def _end(row: Row) -> int:
    """The event in which an action ended."""
    return max(row["seq"], row["replaced_by"] or 0)


def _check(tx: Tx, task: str, step: Row) -> str:
    receipt = last_receipt(tx, task, step["item_id"])
    data: Any = json.loads(receipt["data"]) if receipt is not None else {}
    given = data.get("input") if is_dict(data) else None
    command = given.get("command") or given.get("cmd") if is_dict(given) else None
    if not isinstance(command, str):
        return ""
    return f": {encode.quoted(encode.clip(encode.one_line(command), _COMMAND))}"
