"""The operations as MCP tools, with their descriptions for models. Does not import mcp.

Models always see the core tools, so these have few arguments and short descriptions. A call may pass only the
arguments that the schema shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from ...model import validate
from ...model.capabilities import Power
from ...model.operation import Operation, first_sentence
from ...model.types import is_dict
from ...operations import CORE_ROOMS, OPERATIONS, input_schema, output_schema, parameters

Schema = dict[str, Any]


SETS = ("core", "full")
# Calls that make a task the one of the caller's session.
TURNS = ("task_resume", "task_focus")
# Name for a result that is not an object: before 2026-07-28 structured content must be an object.
WRAPPED = "result"

_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
# Core tools show one simple type where the operation accepts several.
_SIMPLER: dict[str, Schema] = {
    "task_register.plan": _TEXTS,
    "task_plan.steps": _TEXTS,
    "task_recall.types": _TEXTS,
    "task_list.status": {"type": "string"},
}


def listed(tools: str) -> dict[str, Operation]:
    """The operations of a set of tools, by name, always in the same order."""
    validate.choice("tools", tools, SETS)
    names = (
        CORE_ROOMS if tools == "core" else [each.name for each in OPERATIONS.values() if each.tools in SETS]
    )
    return {name: OPERATIONS[name] for name in names}


def is_in(tools: str, name: str) -> bool:
    """Whether a tool is in a set."""
    return name in CORE_ROOMS or (tools == "full" and name in OPERATIONS and OPERATIONS[name].tools in SETS)


def described(tools: str) -> list[Schema]:
    """The tools of a set as `tools/list` shows them."""
    return [tool(operation, tools) for operation in listed(tools).values()]


def core_tools() -> list[Schema]:
    """The core tools from the file that `make docs` writes: each session lists them, so it must be fast."""
    with open(os.path.join(os.path.dirname(__file__), "core_tools.json"), "rb") as file:
        return json.load(file)


def tool(operation: Operation, tools: str) -> Schema:
    """A tool as `tools/list` shows it."""
    core = tools == "core"
    title = operation.name.replace("_", " ").capitalize()
    powers = _powers(operation, core)
    return {
        "name": operation.name,
        "title": title,
        "description": operation.description.split("\n\n")[0].replace("\n", " ")
        if core
        else operation.description,
        "inputSchema": _few_arguments(operation) if core else _all_arguments(operation),
        # Hosts show a model the structured content instead of the text, which loses its fence, and every
        # session pays for the schemas: only programs get both.
        **({} if core else {"outputSchema": result_schema(operation.name)}),
        "annotations": {
            "title": title,
            "readOnlyHint": operation.scope == "read"
            and not operation.writes_with
            and operation.name not in TURNS,
            "destructiveHint": operation.destructive or "commands" in powers,
            "idempotentHint": operation.repeatable,
            "openWorldHint": not powers.isdisjoint(("commands", "egress")),
        },
    }


def _powers(operation: Operation, core: bool) -> set[Power]:
    """What a call can make happen beyond the store."""
    arguments = operation.core if core else operation.powers
    return {power for argument in arguments for power in operation.powers.get(argument, ())}


def _few_arguments(operation: Operation) -> Schema:
    """The core arguments, each with the first sentence of its description."""
    shown = {
        parameter.name: {
            **_SIMPLER.get(f"{operation.name}.{parameter.name}", parameter.schema),
            "description": first_sentence(parameter.description),
        }
        for parameter in parameters(operation.name)
        if parameter.name in operation.core
    }
    required = [each.name for each in parameters(operation.name) if each.required and each.name in shown]
    return {
        "type": "object",
        "properties": shown,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _all_arguments(operation: Operation) -> Schema:
    whole = input_schema(operation.name)
    # Some hosts refuse a list without `items`.
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
