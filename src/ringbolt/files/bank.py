"""Render a task as the files of a task memory bank (bank_reading reads them back).

    <task id>/
        metadata.json           request, status, the six timestamps; other fields are under `ringbolt`
        plan.json               the current plan: stages with steps
        plan_v1.json, …         earlier plans, each in its last state
        execution.log.jsonl     actions, in the order in which they ended
        final_answer.md         the answer, if there is one
        context_history/        saved contexts, numbered, and index.json with their labels
        events.jsonl            the ledger itself, added by the exporter

The same history produces the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..model.foreign_statuses import write_task_status
from ..model.rules import EXTERNAL_ID
from ..model.types import Event, Task, is_dict
from ..packet.encode import pretty

Step = dict[str, Any]

METADATA = "metadata.json"
PLAN = "plan.json"
LOG = "execution.log.jsonl"
ANSWER = "final_answer.md"
CONTEXTS = "context_history"
INDEX = f"{CONTEXTS}/index.json"
EVENTS = "events.jsonl"
# These files are written piece by piece; every other file is written at once.
STREAMS = (LOG, INDEX)
FORMAT = 1
MOST_BEGUN = 1000  # started actions that are remembered until they end

LOG_WORDS = {
    ("completed", False): "COMPLETED",
    ("failed", False): "FAILED",
    ("skipped", False): "SKIPPED",
    ("completed", True): "SYSTEM_ACTION",
    ("failed", True): "SYSTEM_ERROR",
    ("skipped", True): "SKIPPED",
}
_STAMPS = {
    "createdAt": "created_at",
    "planGeneratedAt": "plan_generated_at",
    "executionStartedAt": "execution_started_at",
    "synthesisStartedAt": "synthesis_started_at",
    "completedAt": "completed_at",
}


def bank_files(
    task: Task, events: Iterable[Event], find: Callable[[int], Event | None] = lambda _: None
) -> dict[str, str]:
    """All files of a task's folder except `events.jsonl`, by their path below the folder."""
    files: dict[str, str] = {}
    for path, piece in bank_parts(task, events, find):
        files[path] = files.get(path, "") + piece
    files[METADATA] = metadata_json(task)
    return files


def bank_parts(
    task: Task, events: Iterable[Event], find: Callable[[int], Event | None]
) -> Iterator[tuple[str, str]]:
    """The files without the metadata, piece by piece, from the events of the task in order.

    `find` returns an event by its seq, for an action that ended long after it started.
    """
    plan: dict[str, Step] = {}
    begun: dict[int, Event] = {}
    version = number = 0
    yield LOG, ""
    for event in events:
        now = event.sets.get("heads", {}).get("plan_version") or version
        if now > version > 0:
            yield f"plan_v{version}.json", plan_json(plan)
        version = now
        _fold(plan, event.sets)
        if event.type == "action":
            status = event.sets.get("+records", {}).get(str(event.seq), {}).get("status")
            if status == "started":
                begun[event.seq] = event
                if len(begun) > MOST_BEGUN:
                    del begun[min(begun)]
            else:
                yield LOG, _log_line(event, event, status or "completed", plan)
        elif event.type == "action.ended" and event.ref is not None:
            first = begun.pop(event.ref, None) or find(event.ref) or event
            status = event.sets.get("records", {}).get(str(event.ref), {}).get("status")
            yield LOG, _log_line(event, first, status or "completed", plan)
        elif event.type == "snapshot" and event.text is not None:
            name = snapshot_name(number, str(event.data.get("label", "")))
            yield f"{CONTEXTS}/{name}", event.text
            yield INDEX, ("[\n  " if number == 0 else ",\n  ") + pretty(_indexed(name, event), None)
            number += 1
    if number:
        yield INDEX, "\n]\n"
    if version:
        yield PLAN, plan_json(plan)
    if task.answer is not None:
        yield ANSWER, task.answer


def _fold(plan: dict[str, Step], sets: Mapping[str, Any]) -> None:
    for name, row in sets.get("+steps", {}).items():
        plan[name] = dict(row)
    for name, row in sets.get("steps", {}).items():
        plan.setdefault(name, {}).update(row)


# --- metadata ---------------------------------------------------------------------------------------


def metadata_json(task: Task, files: Mapping[str, str] | None = None, digest: str = "") -> str:
    """The metadata of a task; `files` holds the digests of the other files, so that edits can be detected."""
    imported: Any = task.metadata.get("bank")
    origin: dict[str, Any] = imported if is_dict(imported) else {}
    times_there: Any = origin.get("timestamps")
    stamps: dict[str, Any] = times_there if is_dict(times_there) else {}
    ours = task.timestamps.to_dict()
    times: dict[str, Any] = {
        # An imported task keeps the times of its origin, unless it was completed there and is open again.
        name: (stamps.get(name) if ours[own] is not None or name != "completedAt" else None) or ours[own]
        for name, own in _STAMPS.items()
    }
    value: dict[str, Any] = {
        "version": "1.0",
        "parentTaskId": origin.get("parentTaskId") or task.metadata.get(EXTERNAL_ID) or task.id,
        "originalUserTask": task.request if task.request is not None else task.name,
        "taskStatus": write_task_status("bank", task.status, task.phase, task.reason),
        "finalAnswerFile": None if task.answer is None else ANSWER,
    }
    if value["taskStatus"].startswith("FAILED"):
        theirs: Any = origin.get("errorSummary")
        value["errorSummary"] = {
            **(theirs if is_dict(theirs) else {}),
            "failedAtStage": _stage(task.error.stage) if task.error else None,
            "failedStepNarrative": task.error.step if task.error else None,
            "errorMessage": task.error.message if task.error else None,
        }
    value["timestamps"] = {**stamps, **times, "lastUpdatedAt": ours["last_updated_at"]}
    # What its origin says beyond the schema goes out as it came.
    value |= {name: part for name, part in origin.items() if name not in (*value, *_NOT_THEIRS)}
    own = {"format": FORMAT, "complete": True, "digest": digest, **_own(task), "files": files or {}}
    return pretty({**value, "ringbolt": own}) + "\n"


_NOT_THEIRS = ("digest", "errorSummary", "ringbolt")


def _own(task: Task) -> dict[str, Any]:
    """The fields that the schema of a bank does not have."""
    fields: dict[str, Any] = task.to_dict()
    names = (
        "id", "seq", "name", "kind", "status", "phase", "reason", "attention", "next_step", "blockers",
        "goal", "tags", "variables", "acceptance", "context", "metadata", "approval_mode", "callback_url",
        "workspace", "repository", "session", "parent", "archived", "plan_version", "conflict_of",
    )  # fmt: skip
    own = {name: fields[name] for name in names if fields[name] not in (None, "", [], {}, False)}
    return own if task.request is not None else {**own, "request": None}


# --- plans ------------------------------------------------------------------------------------------

_STEP_KEYS = {"tool": "toolName", "input": "sub_task_input", "narrative": "narrative_step"}
_STEP_OWN = (
    "basis", "evidence", "depends_on", "note", "active_issue", "plan_version", "replaced_by",
    "started_at", "completed_at", "duration_seconds",
)  # fmt: skip
_STEP_TAKEN = frozenset(
    "stepDescription toolName sub_task_input narrative_step ringbolt title description text content name id"
    " stage depends_on dependsOn dependencies steps items plan subtasks stages".split()
)


def plan_json(plan: Mapping[str, Step]) -> str:
    """A plan as an array of stages with their steps, without dropped steps."""
    live = [(name, step) for name, step in plan.items() if step.get("dropped_in") is None]
    stages: list[tuple[Any, list[Step]]] = []
    for name, step in sorted(live, key=lambda pair: (pair[1].get("ordinal", 0), pair[0])):
        stage = step.get("stage")
        if not stages or stages[-1][0] != stage:
            stages.append((stage, []))
        stages[-1][1].append(_step(name, step))
    rows = [
        {"stage": number if stage is None else _stage(stage), "steps": steps}
        for number, (stage, steps) in enumerate(stages, 1)
    ]
    return pretty(rows) + "\n"


def _step(name: str, step: Step) -> Step:
    detail: dict[str, Any] = step.get("detail") or {}
    own: dict[str, Any] = {"id": name, "status": step.get("status") or "pending"}
    if step.get("stage") is None:
        own["stage"] = None
    own.update((key, step[key]) for key in _STEP_OWN if step.get(key) not in (None, []))
    others = {key: value for key, value in detail.items() if key not in _STEP_KEYS}
    if hidden := {key: value for key, value in others.items() if key in _STEP_TAKEN}:
        own["detail"] = hidden
    return {
        "stepDescription": step.get("title", ""),
        "toolName": detail.get("tool"),
        "sub_task_input": detail.get("input", {}),
        "narrative_step": detail.get("narrative"),
        **{key: value for key, value in others.items() if key not in _STEP_TAKEN},
        "ringbolt": own,
    }


def _stage(stage: Any) -> Any:
    """A numeric stage as a number; any other name unchanged."""
    plain = isinstance(stage, str) and re.fullmatch(r"0|-?[1-9][0-9]{0,14}", stage)
    return int(stage) if plain else stage


# --- log and contexts -------------------------------------------------------------------------------


def _log_line(event: Event, first: Event, status: str, plan: Mapping[str, Step]) -> str:
    """The line of a finished action: `first` is the event that started it, `event` the one that ended it."""
    data: dict[str, Any] = {**first.data, **event.data}
    system = data.get("type") == "system"
    word = LOG_WORDS.get((status, system), "COMPLETED")
    item = event.step or first.step
    stage = data.get("stage") or ("System" if system else plan.get(item or "", {}).get("stage"))
    line: dict[str, Any] = {
        "timestamp": data.get("recorded_at") or event.at,
        "stage": _stage(stage),
        "sub_task_id": data.get("sub_task_id"),
        "step_narrative": first.text or event.text or "",
        "tool_name": data.get("tool") or ("System" if system else None),
        "status": word,
    }
    if data.get("input") is not None:
        line["input_payload"] = data["input"]
    line["result_data"] = data.get("output")
    if word in ("FAILED", "SYSTEM_ERROR") or data.get("error") is not None:
        line["error_info"] = _error_info(data.get("error"))
    line["duration_ms"] = data.get("duration_ms")
    more: Any = data.get("bank")
    if is_dict(more):
        line.update((key, value) for key, value in more.items() if key not in line)
    own: dict[str, Any] = {"seq": event.seq, "type": data.get("type"), "step": item}
    if event is not first:
        own.update(began=first.seq, note=event.text if first.text else None)
    line["ringbolt"] = {key: value for key, value in own.items() if value is not None}
    return pretty(line, None) + "\n"


def _error_info(error: Any) -> dict[str, Any]:
    if is_dict(error) and isinstance(error.get("message"), str):
        return {"message": error["message"], "details": error.get("details"), **error}
    if error is None or isinstance(error, str):
        return {"message": error or "", "details": None}
    return {"message": pretty(error, None), "details": error}


def snapshot_name(number: int, label: str) -> str:
    """The file name of a context: its number, and its label in characters that every file system allows."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", label)[:60].strip("_")
    return f"{number:02d}_{plain or 'context'}.txt"


def _indexed(name: str, event: Event) -> dict[str, Any]:
    row = {
        "file": name,
        "label": event.data.get("label", ""),
        "at": event.data.get("recorded_at") or event.at,
        "summarized": bool(event.data.get("summarized")),
        "seq": event.seq,
        "step": event.step,
    }
    return {key: value for key, value in row.items() if value is not None}
