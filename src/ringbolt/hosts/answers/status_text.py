"""The text of the status line: what a drain writes on a session's card."""

from __future__ import annotations

import json

from ...model.rules import ENDED
from ...packet import encode
from ...store.tx import Tx

_NAME, _STEP, _TARGET = 40, 60, 30  # characters


def status_text(tx: Tx, task: str) -> str:
    """The name of a task, its step with its place in the plan, and its waits; empty if the task has ended."""
    head = tx.head(task)
    if head is None or head["status"] in ENDED:
        return ""
    parts = [_short(head["name"], _NAME)]
    if head["total"]:
        at = head["current_item"] or head["next_item"]
        title = next((step["title"] for step in tx.steps(task) if step["item_id"] == at), "")
        parts.append(f"{head['done']}/{head['total']} {_short(title, _STEP)}".rstrip())
    if waits := tx.records(task, "wait", ("watching",), 10):
        target = _short(str(json.loads(waits[0]["data"]).get("target")), _TARGET)
        parts.append(f"waits for {target}" if len(waits) == 1 else f"{len(waits)} waits")
    return " · ".join(parts)


def _short(text: str, most: int) -> str:
    return encode.clip(encode.one_line(text), most)
