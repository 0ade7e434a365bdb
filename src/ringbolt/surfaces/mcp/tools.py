"""The operations as MCP tools: which there are, and how each is described to a model. Loads no mcp.

Core tools are shown to a model always, so they have few arguments and few words; the rest comes with the
full set. Whatever a schema shows, all arguments of the operation are understood when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ...model import validate
from ...model.types import is_dict
from ...operations import OPERATIONS, Operation, input_schema, output_schema

Schema = dict[str, Any]


SETS = ("core", "full")
# A result that is no object stands under this name: before 2026-07-28 structured content must be an object.
WRAPPED = "result"

_TITLES: Schema = {"type": "array", "items": {"type": "string"}}
_TASK = "Id of the task; else the current one."
_STEP = "A step: id, number from 1, or title."
# How core tools show an argument, where the table of operations takes more forms or says more than a model
# needs: `operation.name`, or a name alone for all of them.
_SHOWN: dict[str, Schema] = {
    "task_id": {"type": "string", "description": _TASK},
    "task_recall.task_id": {"type": "string", "description": "Only this task; else all of the workspace."},
    "task_register.name": {"type": "string", "description": "A few words."},
    "task_register.plan": {**_TITLES, "description": "Titles of the steps, in order."},
    "task_register.request": {"type": "string", "description": "The user's request, word for word."},
    "task_register.goal": {"type": "string", "description": "What is to be reached."},
    "task_plan.steps": {**_TITLES, "description": "Titles, in order."},
    "step": {"type": ["string", "integer"], "description": _STEP},
    "task_update.status": {
        "type": "string",
        "description": "The task's: active, waiting, paused, completed, failed or cancelled.",
    },
    "step_status": {
        "type": "string",
        "description": "The step's: pending, active, completed, failed or skipped.",
    },
    "task_update.next": {"type": "string", "description": "What comes next, in words."},
    "task_update.blockers": {**_TITLES, "description": "What stands in the way; [] clears it."},
    "task_update.query": {"type": "string", "description": "A question about the task, to be answered."},
    "task_note.kind": {
        "type": "string",
        "description": "decision, exclusion (did not work: not to be tried again), variable (name and value),"
        " error, discovery, artifact, instruction (of the user), question or context.",
    },
    "task_note.value": {"description": "A variable's value."},
    "task_recall.query": {"type": "string", "description": 'Any words, "quoted phrases", beginnings*.'},
    "task_recall.types": {
        **_TITLES,
        "description": "Only these: decision, exclusion, error, variable, message, action, log, …",
    },
    "task_list.status": {"type": "string", "description": "open, ended, all, or a status."},
    "smart_wait.target": {
        "type": "string",
        "description": "file:PATH, log:PATH, process:PID, port:HOST:PORT, a URL, time:5m, task:ID, manual:"
        " (a person); any(a, b), all(a, b).",
    },
    "smart_wait.until": {
        "type": "string",
        "description": "exists, gone, changed, stable, contains X, exits, open, status 200, completed, …",
    },
    "smart_wait.timeout": {"type": "number", "description": "Seconds."},
    "limit": {"type": "integer", "description": "The most to answer."},
}


def listed(tools: str) -> dict[str, Operation]:
    """The operations of a set of tools, by name, always in the same order."""
    validate.choice("tools", tools, SETS)
    wanted = ("core",) if tools == "core" else SETS
    return {name: operation for name, operation in OPERATIONS.items() if operation.tools in wanted}


def tool(operation: Operation, tools: str) -> Schema:
    """A tool as `tools/list` shows it."""
    core = tools == "core"
    title = operation.name.replace("_", " ").capitalize()
    return {
        "name": operation.name,
        "title": title,
        "description": operation.description.split("\n\n")[0].replace("\n", " ")
        if core
        else operation.description,
        "inputSchema": _few_arguments(operation) if core else _all_arguments(operation),
        "outputSchema": result_schema(operation.name),
        "annotations": {
            "title": title,
            "readOnlyHint": operation.scope == "read",
            "destructiveHint": operation.destructive,
            "idempotentHint": operation.repeatable,
            "openWorldHint": False,
        },
    }


def _few_arguments(operation: Operation) -> Schema:
    whole = input_schema(operation.name)
    shown = {
        name: _SHOWN.get(f"{operation.name}.{name}") or _SHOWN.get(name) or whole["properties"][name]
        for name in operation.core
    }
    required = [name for name in whole["required"] if name in shown]
    return {"type": "object", "properties": shown, **({"required": required} if required else {})}


def _all_arguments(operation: Operation) -> Schema:
    whole = input_schema(operation.name)
    # A list that does not say of what is refused by some hosts.
    properties: dict[str, Schema] = {
        name: {**schema, "items": {}} if schema.get("type") == "array" and "items" not in schema else schema
        for name, schema in whole["properties"].items()
    }
    return {**whole, "properties": properties}


@cache
def result_schema(name: str) -> Schema:
    """The schema of a tool's structured content, with an object at its root."""
    schema = output_schema(name)
    defined: Schema = schema.get("$defs", {})
    if reference := schema.get("$ref"):
        return {**defined[reference.rpartition("/")[2]], "$defs": defined}
    plain = {key: value for key, value in schema.items() if key != "$defs"}
    return {
        "type": "object",
        "properties": {WRAPPED: plain},
        "required": [WRAPPED],
        **({"$defs": defined} if defined else {}),
    }


def structured(data: Any) -> Mapping[str, Any]:
    """The result of an operation as structured content."""
    return data if is_dict(data) else {WRAPPED: data}
