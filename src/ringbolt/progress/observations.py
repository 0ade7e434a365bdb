"""Ledger events as observations of the work on a plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..model.types import is_dict
from ..store.tx import Row
from .plan_progress import CHARACTERS, Observation

_SAID = ("message", "task.updated", "step.updated", "task.finished")
_PLANNED = ("task.registered", "plan.replaced", "plan.appended")
_TOOLS = {"cli": "shell", "edit": "edit"}


def changes_plan(row: Row) -> bool:
    """Whether an event changes the plan: steps are added, dropped, moved or renamed."""
    if row["event_type"] in ("message", "action", "log"):
        return False
    sets = sets_of(row)
    changed: Sequence[Mapping[str, Any]] = list(sets.get("steps", {}).values())
    return (
        row["event_type"] in _PLANNED
        or "+steps" in sets
        or any("title" in columns or "dropped_in" in columns for columns in changed)
    )


def sets_of(row: Row) -> dict[str, Any]:
    """What an event sets; in an event about to be written it is a mapping already."""
    sets: Any = row["sets"] or {}
    return json.loads(sets) if isinstance(sets, str) else sets


def observation(row: Row, sets: Mapping[str, Any]) -> Observation | None:
    """An event as an observation; None if it says nothing about a plan."""
    kind, seq = row["event_type"], row["seq"]
    if kind in _SAID:
        # Only the agent's own words count: nothing that users and tools say completes a step.
        if row["channel"] == "agent" and row["text"]:
            captured = '"captured"' in row["data"] and json.loads(row["data"]).get("captured")
            return Observation(at=seq, kind="agent" if captured else "report", text=row["text"])
    elif kind in ("action", "action.ended") and row["channel"] in ("agent", "tool"):
        data: dict[str, Any] = json.loads(row["data"])
        ended = kind == "action.ended"
        of = row["ref_seq"] if ended else seq
        record = sets.get("records" if ended else "+records", {}).get(str(of), {})
        status = record.get("status")
        if status == "skipped":
            return None
        ok = None if status == "started" else status == "completed"
        text = _tail(data.get("output") or data.get("error"))
        if ended:
            return Observation(at=seq, kind="outcome", of=of, ok=ok, text=text)
        tool = data.get("tool") or _TOOLS.get(data.get("type", ""), "")
        return Observation(
            at=seq, kind="action", tool=tool, input=_input(data, row["text"], sets), ok=ok, text=text
        )
    return None


def _input(data: Mapping[str, Any], summary: str | None, sets: Mapping[str, Any]) -> dict[str, Any]:
    """The input of an action as a mapping; hosts also record it as text, or not at all."""
    arguments: Any = data.get("input")
    if not is_dict(arguments):
        arguments = {"command": arguments if isinstance(arguments, str) else summary or ""}
    if files := sets.get("files"):
        arguments = {"path": files[0]["path"], **arguments}
    return arguments


def _tail(output: Any) -> str:
    """The end of an output."""
    text = output if isinstance(output, str) else "" if output is None else json.dumps(output)
    return text[-CHARACTERS:]
