"""Read the files of a bank folder, ours or another project's; a bad file raises ValueError."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..model.errors import shown
from ..model.types import is_dict, is_list
from ..packet.encode import read_json
from .bank import LOG_WORDS, PLAN

_LOG_FIELDS = {
    "timestamp": "recorded_at",
    "stage": "stage",
    "sub_task_id": "sub_task_id",
    "step_narrative": "summary",
    "tool_name": "tool",
    "status": "status",
    "input_payload": "input",
    "result_data": "output",
    "resultData": "output",
    "error_info": "error",
    "errorInfo": "error",
    "duration_ms": "duration_ms",
    "ringbolt": "ringbolt",
}
_LOG_STATUSES = {
    **{word: (status, system) for (status, system), word in reversed(LOG_WORDS.items())},
    "SUCCESS": ("completed", False),
    "ERROR": ("failed", False),
}


def read_metadata(text: str) -> dict[str, Any]:
    """The metadata of a folder."""
    value = read_json(text)
    if not is_dict(value):
        raise ValueError("it is not a JSON object")
    version = value.get("version")
    if version is not None and not re.fullmatch(r"1(\.\d+)?", str(version)):
        raise ValueError(f"its schema version is {shown(version)}, and only 1.0 is supported")
    return value


def read_plan(text: str) -> tuple[list[Any], dict[str, dict[str, Any]]]:
    """The steps of a plan as input of an operation, and the fields that Ringbolt recorded, by step id."""
    value = read_json(text)
    if not is_list(value):
        raise ValueError("it is not a JSON array of stages")
    known: dict[str, dict[str, Any]] = {}
    stages: list[Any] = []
    for part in value:
        if is_dict(part) and is_list(part.get("steps")):
            stage = part.get("stage")
            stages += [_read_step(step, stage, known) for step in part["steps"]]
        else:
            stages.append(_read_step(part, None, known))
    return stages, known


def _read_step(step: Any, stage: Any, known: dict[str, dict[str, Any]]) -> Any:
    if not is_dict(step):
        return step if stage is None else {"title": step, "stage": stage}
    own: Any = step.get("ringbolt")
    fields = {key: value for key, value in step.items() if key != "ringbolt" and value not in (None, {})}
    if stage is not None:
        fields.setdefault("stage", stage)
    if is_dict(own) and isinstance(own.get("id"), str):
        known[own["id"]] = own
        if "stage" in own:
            fields.pop("stage", None)
        more: Any = own.get("detail")
        fields.update(more if is_dict(more) else {})
        fields.update(id=own["id"], depends_on=own.get("depends_on", []))
    return fields


def read_log_line(text: str) -> dict[str, Any]:
    """An entry of an execution log with our field names; unknown fields are under `bank`."""
    value = read_json(text)
    if not is_dict(value):
        raise ValueError("it is not a JSON object")
    entry: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, part in value.items():
        if key not in _LOG_FIELDS:
            rest[key] = part
        elif part is not None:
            entry[_LOG_FIELDS[key]] = part
    word = entry.pop("status", "FAILED" if "error" in entry else "COMPLETED")
    if not isinstance(word, str) or word.upper() not in _LOG_STATUSES:
        raise ValueError(f"{shown(word)} is not the status of a log entry: use {', '.join(_LOG_STATUSES)}")
    entry["status"], system = _LOG_STATUSES[word.upper()]
    own = entry.pop("ringbolt", None)
    own = own if is_dict(own) else {}
    kind = own.get("type") if isinstance(own.get("type"), str) else None
    entry["type"] = "system" if system else kind or ("tool" if "tool" in entry else "other")
    entry["step"] = own.get("step")
    if entry["type"] == "system":
        for name in ("tool", "stage"):
            if entry.get(name) == "System":
                del entry[name]
    if rest:
        entry["bank"] = rest
    return entry


def read_index(text: str) -> dict[str, dict[str, Any]]:
    """The labels, times and flags of contexts, by the names of their files."""
    value = read_json(text)
    if not is_list(value):
        raise ValueError("it is not a JSON array")
    return {row["file"]: row for row in value if is_dict(row) and isinstance(row.get("file"), str)}


def read_snapshot_name(name: str) -> tuple[int, str] | None:
    """The number and label in the file name of a context; None if it is not one."""
    match = re.fullmatch(r"(\d{1,9})_(.*)\.(?:txt|md)", name)
    return (int(match[1]), match[2].replace("_", " ").strip() or "context") if match else None


def plan_files(names: Iterable[str]) -> list[str]:
    """The plan files in the order in which the plans were made.

    `plan.json` follows the numbered versions; partial plans (`plan_replan_N.json`) come after it.
    """
    placed: list[tuple[int, int, str]] = []
    for name in names:
        if name == PLAN:
            placed.append((1, 0, name))
        elif match := re.fullmatch(r"plan_(v|replan_)(\d{1,9})\.json", name):
            placed.append((0 if match[1] == "v" else 2, int(match[2]), name))
    return [name for _, _, name in sorted(placed)]
