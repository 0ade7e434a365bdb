"""What a command recorded, as a receipt for people: the event in words, and how its task stands now."""

from __future__ import annotations

from typing import Any

from ...ledger.base import Base
from ...ledger.values import read_event
from ...model import rules
from ...store.tx import Tx
from ..task_words import steps_done
from .wording import cut, event_words

_MARKED = {
    "completed": "done", "active": "started", "pending": "open again", "failed": "failed",
    "skipped": "skipped", "cancelled": "cancelled",
}  # fmt: skip


def receipt(memory: Base, result: dict[str, Any]) -> list[str]:
    """The lines about a write: what was recorded, and where the task is after it."""

    def read(tx: Tx) -> list[str]:
        task_id, seq = result["task_id"], result["seq"]
        row, head = tx.event(task_id, seq), tx.head(task_id)
        if row is None or head is None:
            return [f"{task_id} #{seq}"]
        titles = {step["item_id"]: step["title"] for step in tx.steps(task_id)}
        event = read_event(row).to_dict()
        words = _described(event, titles)
        if event["ref"] and event["type"] == "undone" and (undone := tx.event(task_id, event["ref"])):
            words = f"undid #{event['ref']}, {_described(read_event(undone).to_dict(), titles)}"
        return [f"#{seq} {words}", _standing(head["name"], result, titles)]

    return memory.store.read(read)


def _described(event: dict[str, Any], titles: dict[str, str]) -> str:
    """An event in words, with the step that it marked and the status that it set."""
    data, parts = event["data"], list[str]()
    if (step := event["step"]) in titles and (status := data.get("step_status")):
        parts.append(f"{cut(titles[step])}: {_MARKED.get(status, status)}")
    if event["type"] == "task.updated" and data.get("status"):
        parts.append(f"the task is {data['status']}")
    if event["type"] == "task.finished" and data.get("answer"):
        parts.append(f"{event_words(event)}: {cut(data['answer'])}")
    elif event["text"] or not parts:
        parts.insert(0, event_words(event))
    return "; ".join(parts)


def _standing(name: str, result: dict[str, Any], titles: dict[str, str]) -> str:
    parts = [] if result["status"] == "active" else [result["status"]]
    parts += [done] if (done := steps_done(result)) else []
    parts += [
        f"{word}: {cut(titles.get(result[which], result[which]))}"
        for word, which in (("now", "current"), ("next", "next"))
        if result[which] and result["status"] not in rules.ENDED
    ]
    standing = f": {'; '.join(parts)}" if parts else ""
    return f"{cut(name)} ({result['task_id']}){standing}"
