"""The answers to the requests of an MCP client, as plain JSON, for any transport. Does not import mcp.

No answer depends on an earlier request, so the same handlers serve clients that begin with `initialize` and
those of 2026-07-28, which do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import operations
from ...core.draft_tasks import turn_to
from ...hosts.answers.taken_tasks import call_hooks, taken_task_notice
from ...ledger.base import Base, with_operations
from ...model.errors import RingboltError
from ...model.operation import Operation
from ...model.types import Value, as_json
from ...packet import encode
from . import resources, texts
from . import tools as mcp_tools
from .protocol import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError

if TYPE_CHECKING:
    from ...memory import TaskMemory

Json = dict[str, Any]

# Errors are also in `_meta` under this name, for programs: code, message, hint, details.
ERROR_META = "ringbolt/error"
_INTERNAL: Json = {
    "code": "internal_error",
    "message": "Ringbolt failed unexpectedly.",
    "hint": "Continue your work; the reason is in the log of the server.",
    "details": {},
}


class Caller(Value, frozen=True, kw_only=True):
    """The caller of a request: a function that opens its memory, whose grant says what it may do.

    `gone` says whether it has gone or cancelled the request; then a wait for it ends.
    """

    memory: Callable[[], Base]
    gone: Callable[[], bool] = lambda: False


def plain_name(name: str) -> str:
    """A name from outside as one short line."""
    text = name.encode("utf-8", "replace").decode()
    return encode.clip(encode.one_line(text), 50)


class Handlers:
    """The answers to all requests about tools, resources and prompts."""

    def __init__(self, tools: str) -> None:
        self._set = tools
        self._methods: dict[str, Callable[[Json, Caller], Json]] = {
            "tools/list": lambda params, caller: {"tools": self.tools},
            "tools/call": self._call_tool,
            "resources/list": lambda params, caller: {"resources": _read(caller, resources.resources)},
            "resources/templates/list": lambda params, caller: {"resourceTemplates": resources.TEMPLATES},
            "resources/read": _read_resource,
            "prompts/list": lambda params, caller: {"prompts": resources.PROMPTS},
            "prompts/get": _get_prompt,
            "completion/complete": _complete,
        }

    @cached_property
    def tools(self) -> list[Json]:
        """The tools as `tools/list` shows them."""
        return mcp_tools.core_tools() if self._set == "core" else mcp_tools.described(self._set)

    @cached_property
    def schemas(self) -> dict[str, Json]:
        """The input schema of each tool."""
        return {tool["name"]: tool["inputSchema"] for tool in self.tools}

    def answer(self, method: str, params: Json, caller: Caller) -> Json:
        """The result of a request; raises ProtocolError."""
        return self._methods[method](params, caller)

    def _call_tool(self, params: Json, caller: Caller) -> Json:
        name = params["name"]
        if not mcp_tools.is_in(self._set, name):
            hint = " It is in the full set: start the server with --tools full."
            more = hint if mcp_tools.is_in("full", name) else ""
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:100]!r}.{more}")
        call = ToolCall(caller, operations.OPERATIONS[name], params.get("arguments") or {}, self._set)
        return call.answer()

    def tool_call(self, params: Json, caller: Caller) -> ToolCall | None:
        """A call of a tool of this set; None if there is no such tool."""
        name = params.get("name", "")
        if not mcp_tools.is_in(self._set, name):
            return None
        return ToolCall(caller, operations.OPERATIONS[name], params.get("arguments") or {}, self._set)


# --- tools ------------------------------------------------------------------------------------------

# Operations by which a session takes over a task.
_TURNS = ("task_resume", "task_focus")


class ToolCall:
    """A call of a tool; errors go to the model, and unexpected ones also to the log."""

    def __init__(self, caller: Caller, operation: Operation, raw: Mapping[str, Any], tools: str) -> None:
        self._caller = caller
        self.name = operation.name
        self._raw = raw
        self._is_core = tools == "core"
        # A core tool shows some of the arguments, and takes no others.
        self._only = operation.core if self._is_core else None

    def prepared(self) -> Json:
        """The checked arguments; raises RingboltError."""
        return operations.prepare(self._caller.memory().grant, self.name, self._raw, self._only)

    def answer(self) -> Json:
        """Call the operation."""
        return self.guarded(self._called)

    def guarded(self, work: Callable[[], Json]) -> Json:
        """The result of some work, or the error as the model gets it."""
        try:
            return work()
        except RingboltError as error:
            return _failed(error.to_dict())
        except Exception:
            from logging import getLogger  # slow to load, and seldom needed

            getLogger("ringbolt.mcp").exception("%s failed", self.name)
            return _failed(_INTERNAL)

    def _called(self) -> Json:
        arguments, memory = self.prepared(), self._caller.memory()
        if self.name == "task_resume" and memory.grant.includes("write"):
            turn_to(memory, arguments.get("task_id"))
        if self.name == "smart_wait" and arguments.get("block", True):
            from ...waits.blocking import wait_on_this_thread  # needed by no other operation

            waiting: Any = with_operations(memory, operations.room(self.name))
            return self.response(wait_on_this_thread(waiting, arguments, self._caller.gone), arguments)
        return self.response(operations.bound(memory, self.name)(**arguments), arguments)

    def response(self, result: Any, arguments: Mapping[str, Any]) -> Json:
        """The result of the operation in the form that the model gets."""
        memory = self._caller.memory()
        data = as_json(result)
        text = texts.result_text(self.name, arguments, data)
        if self.name in _TURNS:
            call_hooks(memory)
        if notice := taken_task_notice(memory):
            text = f"{notice}\n\n{text}"
        answer: Json = {"content": [{"type": "text", "text": text}], "isError": False}
        return answer if self._is_core else {**answer, "structuredContent": mcp_tools.structured(data)}


def _failed(error: Json) -> Json:
    return {
        "content": [{"type": "text", "text": texts.error_text(error)}],
        "isError": True,
        "_meta": {ERROR_META: error},
    }


# --- resources and prompts --------------------------------------------------------------------------


def _read_resource(params: Json, caller: Caller) -> Json:
    uri = params["uri"]
    text, kind = _read(caller, lambda memory: resources.resource(memory, uri), uri=uri)
    return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}


def _get_prompt(params: Json, caller: Caller) -> Json:
    given: Json = params.get("arguments") or {}
    name, task_id = params["name"], given.get("task_id")
    text = _read(caller, lambda memory: resources.prompt(memory, name, task_id))
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _complete(params: Json, caller: Caller) -> Json:
    asked = params["argument"]
    ids = _read(caller, lambda memory: resources.completions(memory, asked["name"], asked["value"]))
    return {"completion": {"values": ids, "total": len(ids), "hasMore": False}}


def _read(caller: Caller, read: Callable[[TaskMemory], Any], **about: str) -> Any:
    """Unlike those of tools, these errors are protocol errors."""
    try:
        return read(with_operations(caller.memory(), operations.all_rooms()))
    except RingboltError as error:
        code = INTERNAL_ERROR if error.code.startswith("store_") else INVALID_PARAMS
        details = error.to_dict()
        raise ProtocolError(code, texts.error_text(details), {**details, **about}) from None
