"""Every operation of TaskMemory: the registry, JSON schemas, and calls with arguments from outside.

Surfaces walk OPERATIONS and hold no rule about tasks. An operation is declared at its method: see
model/operation.py. Every call from outside passes `prepare`: names, types, access, workspaces.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from .ledger.base import Base, with_operations
from .model.capabilities import Access, Grant, access_refused, workspace_refused
from .model.errors import Conflict, InvalidInput, NotAllowed, NotFound, RingboltError, shown
from .model.operation import SYNONYMS, Operation, declared
from .model.types import Value, as_json, is_dict, is_list

if TYPE_CHECKING:
    from .memory import TaskMemory

Schema = dict[str, Any]

REQUIRED: Any = object()  # stands for the default of an argument that has none
# Stands for all workspaces in arguments from outside, where null means that an argument is absent.
EVERYWHERE = "*"


# The rooms of the operations that agents call most. They can be loaded alone, faster than all of TaskMemory.
CORE_ROOMS = {
    "task_resume": "packet.operations.Views",
    "task_recall": "recall.operations.Recalling",
    "task_register": "core.tasks.Tasks",
    "task_update": "core.tasks.Tasks",
    "task_list": "core.tasks.Tasks",
    "task_note": "core.notes.Notes",
    "task_plan": "core.notes.Notes",
    "smart_wait": "waits.operations.Waiting",
}


class _Operations(Mapping[str, Operation]):
    """Every operation by name: core tools first, then in the order of the parts of TaskMemory."""

    @cached_property
    def _all(self) -> dict[str, Operation]:
        parts = all_rooms().__mro__
        found = [operation for part in parts for operation in map(declared, vars(part).values()) if operation]
        return {each.name: each for each in sorted(found, key=lambda each: each.tools != "core")}

    def __getitem__(self, name: str) -> Operation:
        own = declared(getattr(room(name), name)) if name in CORE_ROOMS else None
        return own or self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


OPERATIONS = _Operations()


@cache
def room(name: str) -> type[Base]:
    """A class that has an operation: a single room for the core operations, otherwise all of TaskMemory."""
    if name not in CORE_ROOMS:
        return all_rooms()
    module, _, part = CORE_ROOMS[name].rpartition(".")
    return getattr(import_module(f"ringbolt.{module}"), part)


def all_rooms() -> type[TaskMemory]:
    """The class with every operation, which takes longer to load than the rooms of the core operations."""
    from .memory import TaskMemory

    return TaskMemory


# Public methods of TaskMemory that are not operations on tasks.
NOT_OPERATIONS = ("acting_as", "close", "events", "open", "task_item_update")


# --- schemas ----------------------------------------------------------------------------------------


class Parameter(Value, frozen=True, kw_only=True):
    """An argument of an operation; `default` is REQUIRED if it has no default."""

    name: str
    schema: Mapping[str, Any]
    default: Any = REQUIRED
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether every call must pass it."""
        return self.default is REQUIRED


@cache
def parameters(operation_name: str) -> tuple[Parameter, ...]:
    """The arguments of an operation, in order."""
    docs = OPERATIONS[operation_name].parameter_docs
    return tuple(
        each.replace(description=docs.get(each.name, "")) for each in _arguments(operation_name).values()
    )


@cache
def _hints(operation_name: str) -> dict[str, Any]:
    return get_type_hints(OPERATIONS[operation_name].method)


@cache
def _arguments(operation_name: str) -> dict[str, Parameter]:
    """The arguments of an operation by name, without their descriptions, which a call does not need."""
    operation = OPERATIONS[operation_name]
    method: Any = operation.method
    hints, code = _hints(operation_name), method.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    last: tuple[Any, ...] = method.__defaults__ or ()
    positional = names[: code.co_argcount - 1]
    defaults: dict[str, Any] = dict(zip(positional[len(positional) - len(last) :], last, strict=True))
    defaults.update(method.__kwdefaults__ or {})
    defaults.update(dict.fromkeys(operation.needed, REQUIRED))
    return {
        name: Parameter(name=name, schema=_argument_schema(hints[name]), default=defaults.get(name, REQUIRED))
        for name in names
    }


def _argument_schema(hint: Any) -> Schema:
    """The JSON schema of an argument, without None: a null argument counts as absent."""
    schemas, _ = msgspec.json.schema_components(_kinds(hint))
    if len(schemas) == 1:
        return schemas[0]
    # One list of types instead of anyOf: it is shorter, and every client reads it.
    merged = {key: value for schema in schemas for key, value in schema.items()}
    return {**merged, "type": [schema["type"] for schema in schemas]}


def input_schema(name: str) -> Schema:
    """The arguments of an operation as one JSON schema."""
    own = parameters(name)
    return {
        "type": "object",
        "properties": {
            parameter.name: {**parameter.schema, "description": parameter.description} for parameter in own
        },
        "required": [parameter.name for parameter in own if parameter.required],
        "additionalProperties": False,
    }


def output_schema(name: str) -> Schema:
    """The result of an operation as a JSON schema, with the types it refers to in `$defs`."""
    from inspect import cleandoc  # slow to load, and a call does not need it

    hint = get_type_hints(OPERATIONS[name].method)["return"]
    (schema,), structs = msgspec.json.schema_components([hint], ref_template="#/$defs/{name}")
    # A result has all of its fields, even those with a default.
    for struct in structs.values():
        struct["required"] = list(struct["properties"])
        struct["description"] = cleandoc(struct["description"])
        for field in struct["properties"].values():
            field.pop("default", None)
    return {**schema, "$defs": structs} if structs else schema


def scope_of(name: str, arguments: Mapping[str, Any]) -> Access:
    """The access that a call needs; `arguments` come from `read_arguments`."""
    operation = OPERATIONS[name]
    writes = any(arguments.get(argument) for argument in operation.writes_with)
    return "write" if writes else operation.scope


# --- calling ----------------------------------------------------------------------------------------


def call(memory: Base, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call an operation with arguments from a model or a program; returns plain JSON data."""
    prepared = prepare(memory.grant, name, arguments)
    return as_json(bound(memory, name)(**prepared))


def prepare(
    grant: Grant, name: str, raw: Mapping[str, Any], only: Collection[str] | None = None
) -> dict[str, Any]:
    """The arguments of a call from outside, converted and checked; raises if the caller may not make it.

    `only` lists the arguments that the caller has seen, if not all of them.
    """
    if name not in OPERATIONS:
        raise InvalidInput(
            "invalid_argument",
            f"There is no operation {shown(name)}.",
            _nearest(name, OPERATIONS) or "See the list of operations.",
        )
    arguments = read_arguments(name, raw, only)
    authorize(grant, name, arguments)
    return arguments


def bound(memory: Base, name: str) -> Callable[..., Any]:
    """An operation as a method of a memory, which may have been opened without its room."""
    if not hasattr(memory, name):
        memory = with_operations(memory, room(name))
    return getattr(memory, name)


def authorize(grant: Grant, name: str, arguments: Mapping[str, Any]) -> None:
    """Raise NotAllowed unless a caller may make this call; `arguments` come from `read_arguments`.

    The tasks that it names are checked where they are found (`Base._find`), and what it looks at by the gate.
    """
    needed = scope_of(name, arguments)
    if not grant.includes(needed):
        raise access_refused(grant, name, needed)
    if grant.workspaces is None:
        return
    named = _arguments(name).get("workspace")
    workspace = arguments.get("workspace", named.default if named else "")
    if OPERATIONS[name].whole_store or (workspace != "" and not grant.sees(workspace)):
        raise workspace_refused()


def read_arguments(name: str, raw: Mapping[str, Any], only: Collection[str] | None = None) -> dict[str, Any]:
    """Convert the arguments of a call, leniently where models make mistakes and strictly where it matters.

    A number or boolean may be a string, a list or object may be a string of JSON, and a list may be a single
    text. A null argument counts as absent; the workspace `*` means all workspaces. Every value has the type
    that its parameter declares, or the call is refused. The error for an unknown name suggests the right one.
    """
    known = {key: each for key, each in _arguments(name).items() if only is None or key in only}
    arguments: dict[str, Any] = {}
    for word, value in raw.items():
        synonym = SYNONYMS.get(word, word)
        argument = synonym if word not in known and synonym in known else word
        if argument not in known:
            raise InvalidInput(
                "invalid_argument",
                f"{name} has no argument {shown(argument)}.",
                _instead(name, argument, known),
            )
        if argument == "workspace" and value == EVERYWHERE:
            arguments[argument] = None
        elif value is not None:
            arguments[argument] = _typed(name, argument, _read(argument, value, known[argument].schema))
    missing = [
        parameter.name
        for parameter in known.values()
        if parameter.required and parameter.name not in arguments
    ]
    if missing:
        example = json.dumps(OPERATIONS[name].example) if OPERATIONS[name].example else ""
        raise InvalidInput(
            "invalid_argument",
            f"{name} needs {', '.join(missing)}.",
            f"For example: {example}" if example else "Pass it.",
        )
    return arguments


def _instead(name: str, argument: str, known: Mapping[str, Any]) -> str:
    """What the caller probably meant by an argument that it has not seen."""
    hidden = argument in _arguments(name)
    more = " Others are in the full set of tools (`--tools full`)." if hidden else ""
    meant = _nearest(argument, known) or f"Its arguments are: {', '.join(known) or 'none'}."
    return f"{meant}{more}"


def _nearest(word: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches  # only mistakes need it

    close = get_close_matches(word, known, 1)
    return f"Did you mean {close[0]}?" if close else ""


def _typed(name: str, argument: str, value: Any) -> Any:
    """The value, if it has the type that the parameter declares."""
    hint = _accepted_types(name)[argument]
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        raise InvalidInput(
            "invalid_argument",
            f"{argument} must be {_in_words(hint)}, not {shown(value)}.",
            f"Correct {argument} and repeat the call.",
        ) from None
    except RecursionError:
        raise InvalidInput("invalid_json", f"{argument} is nested too deeply.", "Flatten it.") from None
    return value


@cache
def _accepted_types(name: str) -> dict[str, Any]:
    """The types of an operation's parameters, as far as JSON has them."""
    return {
        parameter: Union[tuple(_kinds(hint))]  # noqa: UP007 - built from a list
        for parameter, hint in _hints(name).items()
        if parameter != "return"
    }


_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_LISTS = {str: "a list of texts", int: "a list of whole numbers"}


def _in_words(hint: Any) -> str:
    """A type as the error message names it."""
    return " or ".join(map(_kind_in_words, _kinds(hint)))


def _kind_in_words(kind: Any) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    if get_origin(kind) is not Sequence:
        return "an object"
    return next((words for of, words in _LISTS.items() if get_args(kind) == (of,)), "a list")


def _kinds(hint: Any) -> list[Any]:
    """The types that a parameter accepts from outside: null counts as absent, and a path is a text."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return [kind for kind in kinds if kind is not NoneType and get_origin(kind) is not os.PathLike]


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
                "invalid_argument", f"{name} is not valid JSON: {error}.", "Pass a list or an object."
            ) from None
    return [text] if "array" in kinds else text


# --- errors -----------------------------------------------------------------------------------------

_HTTP: dict[type[RingboltError], int] = {InvalidInput: 400, NotAllowed: 403, NotFound: 404, Conflict: 409}
_HTTP_CODES = {
    "too_many_looks": 429,
    "too_many_waits": 429,
    "too_large": 413,
    "store_busy": 503,
    "store_full": 507,
    "store_unavailable": 503,
    "embedder_unavailable": 424,
}


def http_status(error: RingboltError) -> int:
    """The HTTP status for an error."""
    by_kind = (status for kind, status in _HTTP.items() if isinstance(error, kind))
    return _HTTP_CODES.get(error.code) or next(by_kind, 500)
