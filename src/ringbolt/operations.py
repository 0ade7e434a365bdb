"""The one table of operations: what exists, whether it writes, and where it can be called.

Surfaces walk OPERATIONS and hold no rule about tasks: a method's docstring is the description of the tool,
the help of the command and the summary of the route; its signature is the schema; its result is JSON.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal

from .memory import TaskMemory
from .model import results, types
from .model.errors import Conflict, InvalidInput, NotFound, RingboltError, shown
from .model.types import Value, is_dict, is_list
from .operation_docs import meaning

Schema = dict[str, Any]


REQUIRED: Any = inspect.Parameter.empty
# What stands for no workspace, and so for all of them, where null means that nothing was given.
EVERYWHERE = "*"


class Operation(Value, frozen=True, kw_only=True):
    """An operation of TaskMemory: its name is that of the method.

    `tools`: with which set of MCP tools it comes (core, full, or none); `core` are the arguments that the
    core tool has, which models are shown always and should be few. `http`: whether there is a route: not for
    what takes a path on the server. `repeatable`: doing it again changes nothing more. `writes_with` are
    arguments with which one that reads writes all the same, if only a file.
    """

    name: str
    scope: Literal["read", "write"]
    tools: Literal["core", "full", "none"] = "full"
    core: tuple[str, ...] = ()
    http: bool = True
    repeatable: bool = False
    destructive: bool = False
    writes_with: tuple[str, ...] = ()
    example: Mapping[str, Any] = {}

    @property
    def method(self) -> Callable[..., Any]:
        """The method itself, unbound."""
        return getattr(TaskMemory, self.name)

    @property
    def description(self) -> str:
        """What it does, whole."""
        return inspect.cleandoc(self.method.__doc__ or "")

    @property
    def summary(self) -> str:
        """What it does, in its first sentence."""
        first = self.description.split("\n\n", 1)[0].replace("\n", " ")
        return re.split(r"(?<=[.:])\s", first, maxsplit=1)[0].rstrip(":") if len(first) > 120 else first


# The arguments that a core tool has: models are shown them always, so they are few.
_CORE: dict[str, tuple[str, ...]] = {
    "task_register": ("name", "plan", "request", "goal"),
    "task_update": ("task_id", "message", "status", "step", "step_status", "next", "blockers", "query"),
    "task_plan": ("task_id", "steps", "append", "reason"),
    "task_note": ("task_id", "text", "kind", "why", "name", "value", "step"),
    "task_resume": ("task_id", "budget"),
    "task_recall": ("query", "task_id", "types", "limit"),
    "task_list": ("status", "text", "limit"),
    "smart_wait": ("target", "until", "timeout", "task_id"),
}
_EXAMPLES: dict[str, dict[str, Any]] = {
    "task_register": {"name": "Deploy the shop", "plan": ["Build the image", "Push it", "Run it"]},
    "task_update": {"message": "The image is built.", "step": 1, "step_status": "completed"},
    "task_plan": {"steps": ["Build the image", "Push it", "Run it", "Check it"]},
    "task_note": {"kind": "decision", "text": "Push to ghcr.io", "why": "the key works there"},
    "task_resume": {"budget": 1500},
    "task_recall": {"query": "registry"},
    "task_list": {"status": "open"},
    "task_ask": {"question": "What is next?"},
    "task_event": {"seq": 1},
    "task_around": {"seq": 1},
    "task_item_update": {"item": 1, "status": "completed"},
    "task_plan_append": {"items": ["Tell the users"]},
    "task_plan_replace": {"plan": ["Build the image", "Run it"]},
    "task_plan_sync": {"items": [{"title": "Build the image", "status": "completed"}]},
    "task_log_action": {"summary": "Built the image", "type": "cli", "input": {"command": "make image"}},
    "task_log_append": {"action": 2, "content": "step 1/7"},
    "task_receipt": {"command": "make test", "exit_code": 0, "item": 1},
    "task_decide": {"choice": "ghcr.io", "reasoning": "the key works there"},
    "task_exclude": {"what": "Push to docker.io", "why": "no rights there"},
    "task_set": {"name": "version", "value": "v1.2.3"},
    "task_remember": {"summary": "The server has two free ports"},
    "task_snapshot": {"content": "…", "label": "before compaction"},
    "task_intent": {"what": "Run the container", "verify": "docker ps"},
    "task_outcome": {"intent": 4, "outcome": "did"},
    "task_finish": {"answer": "It runs at https://shop.example."},
    "task_link": {"target": "goal-1", "kind": "goal"},
    "memory_store": {"entity": "shop", "key": "next", "value": "check the logs"},
    "memory_recall": {"query": "logs"},
    "active_tasks_add": {"label": "shop", "description": "Deploy the shop"},
    "active_task_checkpoint": {"entity": "shop", "next": "check the logs"},
    "active_tasks_complete": {"label": "shop"},
    "learned_patterns": {"query": "docker push"},
    "jobs_retry": {"id": 1},
    "upkeep_run": {"dry_run": True},
    "tasks_hygiene": {"older_than": "7d"},
    "smart_wait": {"target": "time:1s", "timeout": 5},
    "wait_update": {"wait_id": "7#2", "message": "approved"},
    "wait_cancel": {"wait_id": "7#2", "reason": "not needed any more"},
    "goal_create": {
        "name": "The shop is live",
        "criteria": ["the owner is content", {"check": "http", "target": "https://shop.example/"}],
        "budget": {"attempts": 5},
    },
    "goal_promote": {"criteria": [{"text": "it is built", "check": "file", "target": "dist/app.whl"}]},
    "goal_status": {"goal_id": "7k3m"},
    "goal_check": {"goal_id": "7k3m"},
    "goal_decide": {"goal_id": "7k3m", "criterion": 2, "status": "met", "reason": "I have looked at it"},
    "goal_update": {"goal_id": "7k3m", "reset": "the key was renewed"},
    "goal_finish": {"goal_id": "7k3m", "answer": "It is live."},
    "purge": {"older_than": "90d"},
    "forget": {"source": "session:S1"},
    **{key: {"folder": "memory"} for key in ("export_bank", "export_states", "import_bank", "import_states")},
    **{key: {"path": "events.jsonl"} for key in ("export_events", "import_events")},
    **{key: {"path": "ringbolt.backup"} for key in ("backup", "restore")},
}
# With a path on the machine that has the store: for its own command line alone.
_LOCAL = (
    "task_handoff task_receive export_bank export_events export_states backup import_bank import_events"
    " import_states restore"
).split()
# What an agent need not do by itself, and what it never should.
_NO_TOOL = (*_LOCAL, "active_tasks_render", "mirrors_refresh", "jobs_retry", "reindex", "purge", "forget")
_READS = (
    "task_resume task_recall task_list task_ask task_get task_summary task_drill_down task_thread"
    " task_progress memory_recall task_event task_around task_history task_state task_line query_relevant"
    " task_plans learned_patterns active_tasks active_tasks_block active_tasks_stale mirrors_status"
    " jobs_status drill_results wait_status goal_status verify task_handoff export_bank export_events"
    " export_states backup"
).split()
_WRITES = (
    "task_register task_update task_plan task_note task_item_update task_plan_append task_plan_replace"
    " task_plan_sync task_log_action task_log_append task_receipt task_decide task_exclude task_set"
    " task_remember task_snapshot task_intent task_outcome task_finish task_focus task_link task_claim"
    " task_heartbeat task_release task_undo memory_store task_distill task_extract active_tasks_add"
    " active_task_checkpoint active_tasks_complete active_tasks_render mirrors_refresh jobs_retry reindex"
    " smart_wait wait_update wait_cancel upkeep_run tasks_reconcile tasks_hygiene goal_create goal_promote"
    " goal_check goal_decide goal_update goal_finish purge forget task_receive import_bank import_events"
    " import_states restore"
).split()
# Doing these again changes nothing more.
_REPEATABLE = (
    "task_plan_sync task_plan_replace task_set task_focus task_distill task_extract active_tasks_render"
    " mirrors_refresh reindex upkeep_run tasks_reconcile tasks_hygiene import_events import_bank"
    " import_states"
).split()

OPERATIONS: dict[str, Operation] = {
    name: Operation(
        name=name,
        scope="read" if name in _READS else "write",
        tools="core" if name in _CORE else "none" if name in _NO_TOOL else "full",
        core=_CORE.get(name, ()),
        http=name not in _LOCAL,
        repeatable=name in _READS or name in _REPEATABLE,
        destructive=name in ("restore", "purge", "forget"),
        writes_with=("render",) if name == "active_tasks" else (),
        example=_EXAMPLES.get(name, {}),
    )
    for name in dict.fromkeys((*_CORE, *_READS, *_WRITES))
}
# What TaskMemory has besides: no operation on tasks.
NOT_OPERATIONS = ("acting_as", "close", "events", "open")


# --- schemas ----------------------------------------------------------------------------------------


class Parameter(Value, frozen=True, kw_only=True):
    """An argument of an operation; `default` is REQUIRED where it must be given."""

    name: str
    schema: Mapping[str, Any]
    default: Any = REQUIRED
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED


_PLAIN: dict[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "Any": {},
    "Sequence[str]": {"type": "array", "items": {"type": "string"}},
    "Sequence[int]": {"type": "array", "items": {"type": "integer"}},
    "Sequence[Any]": {"type": "array"},
    "Mapping[str, Any]": {"type": "object"},
}


@cache
def parameters(name: str) -> tuple[Parameter, ...]:
    """The arguments of an operation, in order."""
    signature = inspect.signature(OPERATIONS[name].method)
    return tuple(
        Parameter(
            name=one.name,
            schema=_schema(str(one.annotation)),
            default=one.default,
            description=meaning(name, one.name),
        )
        for one in signature.parameters.values()
        if one.name != "self"
    )


def _schema(annotation: str) -> Schema:
    """The JSON schema of an annotation. None is left out: an argument that is None is not given."""
    parts = [part.strip() for part in annotation.split(" | ")]
    found = [_PLAIN[part] for part in parts if part in _PLAIN]
    if not found or any(not schema for schema in found):
        return {}
    if len(found) == 1:
        return found[0]
    kinds = [schema["type"] for schema in found]
    merged: Schema = {"type": list(dict.fromkeys(kinds))}
    for schema in found:
        merged |= {name: value for name, value in schema.items() if name != "type"}
    return merged


def input_schema(name: str) -> Schema:
    """The arguments of an operation as one JSON schema."""
    own = parameters(name)
    return {
        "type": "object",
        "properties": {
            one.name: {**one.schema, **({"description": one.description} if one.description else {})}
            for one in own
        },
        "required": [one.name for one in own if one.required],
        "additionalProperties": False,
    }


def output_schema(name: str) -> Schema:
    """The result of an operation as a JSON schema, with what it refers to in `$defs`."""
    found: dict[str, Schema] = {}
    schema = _result(_result_type(name), found)
    return {**schema, "$defs": found} if found else schema


def _result_type(name: str) -> str:
    return str(inspect.signature(OPERATIONS[name].method).return_annotation)


def _result(annotation: str, found: dict[str, Schema]) -> Schema:
    annotation = annotation.strip()
    if len(parts := _union(annotation)) > 1:
        return {"anyOf": [_result(part, found) for part in parts]}
    if annotation == "None":
        return {"type": "null"}
    if annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    if inner := re.fullmatch(r"tuple\[(.+), \.\.\.\]", annotation):
        return {"type": "array", "items": _result(inner[1], found)}
    if annotation.startswith("Mapping["):
        return {"type": "object"}
    if words := re.fullmatch(r"Literal\[(.+)\]", annotation):
        return {"enum": [word.strip(" \"'") for word in words[1].split(",")]}
    kind = getattr(types, annotation, None) or getattr(results, annotation, None)
    if isinstance(kind, type) and issubclass(kind, Value):
        if annotation not in found:
            found[annotation] = {}
            found[annotation] |= _record(kind, found)
        return {"$ref": f"#/$defs/{annotation}"}
    return {"type": "string"}  # a word: a status, a channel, a kind


def _union(annotation: str) -> list[str]:
    """The parts of `A | B`; a `|` inside brackets belongs to what is in them."""
    parts, depth = [""], 0
    for letter in annotation:
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _record(kind: type[Value], found: dict[str, Schema]) -> Schema:
    fields: dict[str, Schema] = {}
    for base in reversed(kind.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            if not name.startswith("_"):
                fields[name] = _result(str(annotation), found)
    return {"type": "object", "properties": fields, "required": list(fields)}


def scope_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Whether a call reads or writes, with the arguments that `read_arguments` has read."""
    operation = OPERATIONS[name]
    writes = any(arguments.get(argument) for argument in operation.writes_with)
    return "write" if writes else operation.scope


# --- calling ----------------------------------------------------------------------------------------


def call(memory: TaskMemory, name: str, given: Mapping[str, Any]) -> Any:
    """Call an operation with arguments as a model or a program gives them; the result is plain JSON data."""
    if name not in OPERATIONS:
        raise InvalidInput(
            "invalid_argument",
            f"There is no operation {shown(name)}.",
            _nearest(name, OPERATIONS) or "See the list of operations.",
        )
    result = getattr(memory, name)(**read_arguments(name, given))
    return as_json(result)


def as_json(value: Any) -> Any:
    """A result as plain JSON data."""
    if isinstance(value, Value):
        return value.to_dict()
    if is_list(value):
        return [as_json(part) for part in value]
    return value


def read_arguments(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, forgiving where models err and strict where it matters.

    A number or a truth value may come as a text, a list or an object as a text of JSON, one text where a list
    of them is wanted. What is null is not given; the workspace `*` is all of them. A name that does not exist
    is an error that says which does.
    """
    known = {one.name: one for one in parameters(name)}
    arguments: dict[str, Any] = {}
    for argument, value in given.items():
        if argument not in known:
            raise InvalidInput(
                "invalid_argument",
                f"{name} has no argument {shown(argument)}.",
                _nearest(argument, known) or f"Its arguments are: {', '.join(known) or 'none'}.",
            )
        if argument == "workspace" and value == EVERYWHERE:
            arguments[argument] = None
        elif value is not None:
            arguments[argument] = _read(argument, value, known[argument].schema)
    missing = [one.name for one in known.values() if one.required and one.name not in arguments]
    if missing:
        example = json.dumps(OPERATIONS[name].example) if OPERATIONS[name].example else ""
        raise InvalidInput(
            "invalid_argument",
            f"{name} needs {', '.join(missing)}.",
            f"For example: {example}" if example else "Give it.",
        )
    return arguments


def _nearest(word: str, known: Mapping[str, Any]) -> str:

    close = get_close_matches(word, known, 1)
    return f"Did you mean {close[0]}?" if close else ""


def _read(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    wanted = schema.get("type")
    kinds: list[str] = wanted if is_list(wanted) else [wanted] if wanted else []
    if not kinds or ("string" in kinds and isinstance(value, str)):
        return value
    if isinstance(value, str):
        return _from_text(name, value, kinds)
    if isinstance(value, float) and value.is_integer() and "integer" in kinds and "number" not in kinds:
        return int(value)
    if "array" in kinds and not is_list(value) and not is_dict(value) and "integer" not in kinds:
        return [value]
    return value


def _from_text(name: str, text: str, kinds: list[str]) -> Any:
    plain = text.strip()
    if "integer" in kinds and re.fullmatch(r"[+-]?\d{1,18}", plain):
        return int(plain)
    if "number" in kinds and re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,3})?", plain):
        return float(plain)
    if "boolean" in kinds and plain.lower() in ("true", "false", "yes", "no", "1", "0", "on", "off"):
        return plain.lower() in ("true", "yes", "1", "on")
    if ("array" in kinds and plain[:1] == "[") or ("object" in kinds and plain[:1] == "{"):
        try:
            return json.loads(plain)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                "invalid_argument", f"{name} is no JSON: {error}.", "Give a list or an object, not a text."
            ) from None
    return [text] if "array" in kinds else text


# --- errors -----------------------------------------------------------------------------------------

_HTTP: dict[type[RingboltError], int] = {InvalidInput: 400, NotFound: 404, Conflict: 409}
_HTTP_CODES = {
    "too_large": 413,
    "store_busy": 503,
    "store_full": 507,
    "store_unavailable": 503,
    "embedder_unavailable": 424,
}


def http_status(error: RingboltError) -> int:
    """The HTTP status that tells an error."""
    return _HTTP_CODES.get(error.code) or _HTTP.get(type(error), 500)
