"""The OpenAPI 3.1 description of the server, generated from the operations."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from ..._version import __version__
from ...model.errors import CODES as ERROR_CODES
from ...model.types import is_dict, is_list
from ...operations import OPERATIONS, input_schema, output_schema, parameters
from .guard import CODES as HTTP_CODES

if TYPE_CHECKING:
    from .routes import Resource

_TOKEN = [{"token": list[str]()}]
_ERROR = {
    "type": "object",
    "required": ["schema_version", "error"],
    "properties": {
        "schema_version": {"const": 1},
        "error": {
            "type": "object",
            "required": ["code", "message", "hint", "details"],
            "properties": {
                "code": {"enum": sorted({*ERROR_CODES, *HTTP_CODES})},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "details": {"type": "object"},
            },
        },
    },
}
_STATUSES = {
    "400": "An argument is invalid.",
    "401": "No token, or an unknown one.",
    "403": "The token does not allow this, or a web page of another origin is calling.",
    "404": "Not found.",
    "408": "The request took too long.",
    "409": "Conflict with the current state.",
    "413": "Too large.",
    "415": "Not JSON.",
    "421": "A host name that is not the server's.",
    "424": "No embedder is configured, or it does not respond.",
    "500": "The server failed.",
    "503": "The store is busy, or there are too many requests.",
    "507": "The disk is full.",
}
_IDENTITY = [
    {
        "name": name,
        "in": "header",
        "required": False,
        "description": text,
        # The pattern excludes characters that a header cannot carry.
        "schema": {"type": "string", "maxLength": most, "pattern": f"^{first}[!-~]*$"},
    }
    for name, text, most, first in (
        ("X-Ringbolt-Workspace", "The workspace: the absolute path of a folder.", 2000, "/"),
        ("X-Ringbolt-Session", "The session that calls.", 200, ""),
        ("X-Ringbolt-Agent", "The agent that calls.", 200, ""),
    )
]
_NAMED = [{"$ref": f"#/components/parameters/{row['name']}"} for row in _IDENTITY]
_EVENT_PARAMETERS = [
    {"name": "after", "in": "query", "description": "Number of the last event that you know.",
     "schema": {"type": "integer", "minimum": 0, "default": 0}},
    {"name": "limit", "in": "query", "description": "Maximum number of events per page.",
     "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
]  # fmt: skip


@cache
def document(resources: tuple[Resource, ...]) -> str:
    """The whole description, as JSON."""
    schemas: dict[str, Any] = {"Error": _ERROR}
    paths: dict[str, Any] = {}
    for name, operation in OPERATIONS.items():
        if operation.http:
            paths[f"/api/{name}"] = {"post": _operation(name, schemas)}
    for resource in resources:
        paths[resource.path] = {"get": _resource(resource, schemas)}
    paths |= _plain(schemas)
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Ringbolt",
                "version": __version__,
                "description": "Task memory for LLM agents: each operation is a POST of its arguments.",
            },
            "security": _TOKEN,
            "paths": paths,
            "components": {
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "A token from the file that the server prints when it starts.",
                    }
                },
                "parameters": {row["name"]: row for row in _IDENTITY},
                "responses": {
                    status: {
                        "description": text,
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                    }
                    for status, text in _STATUSES.items()
                },
                "schemas": schemas,
            },
        }
    )


def _operation(name: str, schemas: dict[str, Any]) -> dict[str, Any]:
    operation = OPERATIONS[name]
    body: dict[str, Any] = {"schema": input_schema(name)}
    if operation.example:
        body["example"] = dict(operation.example)
    return {
        "operationId": name,
        "summary": operation.summary,
        "description": operation.description,
        "tags": [operation.scope],
        "x-scope": operation.scope,
        "parameters": _NAMED,
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": _responses(_answer(_result(name, schemas))),
    }


def _resource(resource: Resource, schemas: dict[str, Any]) -> dict[str, Any]:
    operation = OPERATIONS[resource.operation]
    arguments = {parameter.name: parameter for parameter in parameters(resource.operation)}
    fixed = dict(resource.path_names)
    renamed = dict(resource.query_names)
    inputs: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": arguments[argument].description,
            "schema": arguments[argument].schema,
        }
        for name, argument in fixed.items()
    ]
    for argument, parameter in arguments.items():
        if argument not in fixed.values():
            name = next((name for name, target in renamed.items() if target == argument), argument)
            row = {"name": name, "in": "query", "description": parameter.description}
            required = {"required": True} if parameter.required else {}
            inputs.append({**row, "schema": parameter.schema, **required})
    if resource.media_type:
        kind = "object" if resource.media_type == "application/yaml" else "string"
        content = {resource.media_type: {"schema": {"type": kind}}}
    elif resource.bare:
        content = {"application/json": {"schema": {"type": "object"}}}
    else:
        content = _answer(_result(resource.operation, schemas))
    return {
        "operationId": f"get_{resource.name}",
        "summary": operation.summary,
        "tags": ["read"],
        "x-scope": "read",
        "parameters": [*_NAMED, *inputs],
        "responses": _responses(content),
    }


def _plain(schemas: dict[str, Any]) -> dict[str, Any]:
    """The routes that are not operations."""
    event = _result("task_event", schemas)
    page = {
        "type": "object",
        "required": ["events", "next", "more"],
        "properties": {
            "events": {"type": "array", "items": event},
            "next": {"type": "integer"},
            "more": {"type": "boolean"},
        },
    }
    content = {**_answer(page), "text/event-stream": {"schema": {"type": "string"}}}
    task = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"},
            "description": "Task id or a unique prefix."}  # fmt: skip
    events = {"tags": ["read"], "x-scope": "read", "responses": _responses(content)}
    return {
        "/api/events": {
            "get": {
                **events,
                "operationId": "get_events",
                "summary": "Events of all tasks in the order of writing, as pages or as a stream.",
                "parameters": _EVENT_PARAMETERS,
            }
        },
        "/api/tasks/{id}/events": {
            "get": {
                **events,
                "operationId": "get_task_events",
                "summary": "Events of a task, as pages or as a stream.",
                "parameters": [task, *_EVENT_PARAMETERS],
            }
        },
        "/health": {
            "get": _fixed("health", "Whether the store can be read.", "application/json", token=False)
        },
        "/metrics": {"get": _fixed("metrics", "Metrics for Prometheus.", "text/plain")},
        "/openapi.json": {"get": _fixed("openapi", "This description.", "application/json")},
    }


def _fixed(name: str, summary: str, media_type: str, token: bool = True) -> dict[str, Any]:
    schema = {"type": "string" if media_type == "text/plain" else "object"}
    responses = _responses({media_type: {"schema": schema}})
    if not token:
        responses["503"] = {
            "description": "The store cannot be read.",
            "content": {media_type: {"schema": schema}},
        }
    return {
        "operationId": f"get_{name}",
        "summary": summary,
        "tags": ["read"],
        "security": _TOKEN if token else [],
        "responses": responses,
    }


def _responses(content: dict[str, Any]) -> dict[str, Any]:
    errors = {status: {"$ref": f"#/components/responses/{status}"} for status in _STATUSES}
    return {"200": {"description": "Success.", "content": content}, **errors}


def _answer(result: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": ["schema_version", "data"],
        "properties": {"schema_version": {"const": 1}, "data": result},
    }
    return {"application/json": {"schema": schema}}


def _result(name: str, schemas: dict[str, Any]) -> Any:
    """The schema of a result; the types it refers to are added to the schemas of the document."""
    own = dict(output_schema(name))
    for key, schema in own.pop("$defs", {}).items():
        schemas.setdefault(key, _moved(schema))
    return _moved(own)


def _moved(schema: Any) -> Any:
    if is_list(schema):
        return [_moved(part) for part in schema]
    if not is_dict(schema):
        return schema
    return {
        key: value.replace("#/$defs/", "#/components/schemas/") if key == "$ref" else _moved(value)
        for key, value in schema.items()
    }
