"""The answers to the requests of an MCP client, as plain JSON, for any transport. Does not import mcp.

No answer depends on an earlier request, so the same handlers serve clients that begin with `initialize` and
those of 2026-07-28, which do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from ... import operations
from ...core.draft_tasks import turn_to
from ...hosts.answers.taken_tasks import call_hooks, taken_task_notice
from ...ledger.base import Base, with_operations
from ...model.errors import RingboltError
from ...model.types import Value, as_json
from ...packet import encode
from ...telemetry import called_from
from . import resources, texts
from . import tools as mcp_tools
from .protocol import ELICITATION, ICONS, INTERNAL_ERROR, INVALID_PARAMS, TASKS, Json, ProtocolError

if TYPE_CHECKING:
    from ...memory import TaskMemory
    from ...model.results import WaitResult
    from .asking import Question

# Errors are also in `_meta` under this name, for programs: code, message, hint, details.
ERROR_META = "ringbolt/error"
WAIT = "smart_wait"
_POLL_MS = 1000  # how often a client should ask for a task
_INTERNAL: Json = {
    "code": "internal_error",
    "message": "Ringbolt failed unexpectedly.",
    "hint": "Continue your work; the reason is in the log of the server.",
    "details": {},
}


class Caller(Value, frozen=True, kw_only=True):
    """The caller of a request: a function that opens its memory, whose grant says what it may do.

    `gone` says whether it has gone or cancelled the request; then a wait for it ends. `can` holds what its
    program can do (see `protocol.abilities`). `ask` shows its user a form and returns the answer; None where
    only the result of a call can ask (since 2026-07-28). `keep` watches a wait on which nobody blocks.
    """

    memory: Callable[[], Base]
    gone: Callable[[], bool] = lambda: False
    can: frozenset[str] = frozenset()
    ask: Callable[[Json, Callable[[], bool]], Any] | None = None
    keep: Callable[[Any, tuple[str, int]], None] | None = None


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
            "tasks/get": self._get_task,
            "tasks/update": lambda params, caller: {},  # its questions were asked before there was a task
            "tasks/cancel": _cancel_task,
        }

    @cached_property
    def tools(self) -> list[Json]:
        """The tools as `tools/list` shows them."""
        found = mcp_tools.core_tools() if self._set == "core" else mcp_tools.described(self._set)
        return [{**tool, "icons": ICONS} for tool in found]

    @cached_property
    def schemas(self) -> dict[str, Json]:
        """The input schema of each tool."""
        return {tool["name"]: tool["inputSchema"] for tool in self.tools}

    def answer(self, method: str, params: Json, caller: Caller) -> Json:
        """The result of a request; raises ProtocolError."""
        with called_from(params.get("_meta") or {}):
            return self._methods[method](params, caller)

    def _call_tool(self, params: Json, caller: Caller) -> Json:
        name = params["name"]
        if not mcp_tools.is_in(self._set, name):
            hint = " It is in the full set: start the server with --tools full."
            more = hint if mcp_tools.is_in("full", name) else ""
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:100]!r}.{more}")
        return ToolCall(caller, params, self._set).answer()

    def tool_call(self, params: Json, caller: Caller) -> ToolCall | None:
        """A call of a tool of this set; None if there is no such tool."""
        known = mcp_tools.is_in(self._set, params.get("name", ""))
        return ToolCall(caller, params, self._set) if known else None

    def _get_task(self, params: Json, caller: Caller) -> Json:
        """A wait as a task of the extension; asking for it lets it be watched here."""

        def read(memory: Any) -> Json:
            wait = memory.wait_status(params["taskId"])[0]
            if wait.state == "watching" and caller.keep is not None:
                caller.keep(memory, (wait.task_id, wait.seq))
            answer = task_of(wait)
            if answer["status"] == "completed":
                answer["result"] = ToolCall(caller, {"name": WAIT}, self._set).response(wait, {})
            return answer

        return _read(caller, read)


# --- tools ------------------------------------------------------------------------------------------


class ToolCall:
    """A call of a tool; errors go to the model, and unexpected ones also to the log."""

    def __init__(self, caller: Caller, params: Mapping[str, Any], tools: str) -> None:
        self._caller = caller
        self._params = params
        self.name: str = params["name"]
        self._is_core = tools == "core"
        # A core tool shows some of the arguments, and takes no others.
        self._only = operations.OPERATIONS[self.name].core if self._is_core else None

    def prepared(self) -> Json:
        """The checked arguments; raises RingboltError."""
        raw: Json = self._params.get("arguments") or {}
        return operations.prepare(self._caller.memory().grant, self.name, raw, self._only)

    def answer(self) -> Json:
        """Call the operation."""
        return self.guarded(self._called)

    def guarded(self, work: Callable[[], Json]) -> Json:
        """The result of some work, or the error as the model gets it."""
        try:
            return work()
        except RingboltError as error:
            return _failed(error.to_dict())
        except ProtocolError:
            raise
        except Exception:
            from logging import getLogger  # slow to load, and seldom needed

            getLogger("ringbolt.mcp").exception("%s failed", self.name)
            return _failed(_INTERNAL)

    def _called(self) -> Json:
        arguments, memory = self.prepared(), self._caller.memory()
        if ELICITATION in self._caller.can and (state := self._params.get("requestState")) is not None:
            return self._called_again(state, arguments)
        if self.name == "task_resume" and memory.grant.includes("write"):
            turn_to(memory, arguments.get("task_id"))
        if self.name == WAIT and arguments.get("block", True):
            return self._waits(arguments)
        result = operations.bound(memory, self.name)(**arguments)
        return self._asking(self.response(result, arguments), as_json(result))

    def response(self, result: Any, arguments: Mapping[str, Any]) -> Json:
        """The result of the operation in the form that the model gets."""
        memory = self._caller.memory()
        data = as_json(result)
        text = texts.result_text(self.name, arguments, data)
        if self.name in mcp_tools.TURNS:
            call_hooks(memory)
        if notice := taken_task_notice(memory):
            text = f"{notice}\n\n{text}"
        answer: Json = {"content": [_text(text), *resources.links(data)], "isError": False}
        return answer if self._is_core else {**answer, "structuredContent": mcp_tools.structured(data)}

    # --- what a person decides --------------------------------------------------------------------

    def _asking(self, answer: Json, data: Any) -> Json:
        """The answer after a person was asked what the call left for them to decide, if they can be asked."""
        if ELICITATION not in self._caller.can:
            return answer
        from . import asking  # few calls leave something to decide

        questions = asking.questions_after(self._caller.memory(), data)
        if not questions:
            return answer
        if self._caller.ask is None:
            return asking.asks(questions, answer)
        ask, gone = self._caller.ask, self._caller.gone
        answers = {each.name: ask(each.form(), gone) for each in questions}
        return {**answer, "content": [*answer["content"], *self._decided(questions, answers)]}

    def _decided(self, questions: Sequence[Question], answers: Mapping[str, Any]) -> list[Json]:
        from .asking import decide

        heard = [decide(self._caller.memory(), each, answers.get(each.name)) for each in questions]
        return [_text(text) for text in heard if text]

    def _called_again(self, state: Any, arguments: Json) -> Json:
        """The rest of a call whose result asked a person."""
        from . import asking

        questions, answer = asking.asked(state)
        decided = self._decided(questions, self._params.get("inputResponses") or {})
        if self.name != WAIT:
            return {**answer, "content": [*answer.get("content", ()), *decided]}
        memory: Any = with_operations(self._caller.memory(), operations.room(WAIT))
        (started,) = (memory.wait_status(f"{each.task}#{each.seq}")[0] for each in questions[:1])
        return self._blocks(memory, started, arguments)

    # --- waits ------------------------------------------------------------------------------------

    def _waits(self, arguments: Json) -> Json:
        """Start a wait, ask the person that it is for, and block until it is over."""
        from ...waits.blocking import question_of  # needed by no other operation

        memory: Any = with_operations(self._caller.memory(), operations.room(WAIT))
        started: WaitResult = memory.smart_wait(**{**arguments, "block": False})
        words = question_of(memory, started) if ELICITATION in self._caller.can else None
        if words is None or started.state != "watching":
            return self._blocks(memory, started, arguments)
        from . import asking

        question = asking.Question(about="wait", task=started.task_id, seq=started.seq, text=words)
        if self._caller.ask is None:
            return asking.asks([question], {})
        over = Event()
        args = (self._caller.ask, question, over)
        Thread(target=self._ask_meanwhile, args=args, name="ringbolt-asking", daemon=True).start()
        try:
            return self._blocks(memory, started, arguments)
        finally:
            over.set()

    def _ask_meanwhile(self, ask: Callable[..., Any], question: Question, over: Event) -> None:
        """Ask a person about a wait until it is over; their answer ends it."""
        answer = ask(question.form(), lambda: over.is_set() or self._caller.gone())
        self.guarded(lambda: {"content": self._decided([question], {question.name: answer})})

    def _blocks(self, memory: Any, started: WaitResult, arguments: Json) -> Json:
        """The result of a wait: when it is over, or at once as a task where the client takes one."""
        if started.state == "watching" and TASKS in self._caller.can and self._caller.keep is not None:
            self._caller.keep(memory, (started.task_id, started.seq))
            return {"resultType": "task", **task_of(started)}
        from ...waits.blocking import wait_on_this_thread

        return self.response(wait_on_this_thread(memory, started, self._caller.gone), arguments)


def task_of(wait: WaitResult) -> Json:
    """A wait as a task of the extension. The result of one that has ended is with it: see `_get_task`."""
    state = {"watching": "working", "cancelled": "cancelled"}.get(wait.state, "completed")
    return {
        "taskId": wait.wait_id,
        "status": state,
        "statusMessage": encode.prompt(wait.result or wait.last_check or f"Waiting for {wait.target}"),
        "createdAt": wait.started_at,
        "lastUpdatedAt": wait.ended_at or wait.started_at,
        "ttlMs": None,
        "pollIntervalMs": _POLL_MS,
    }


def _cancel_task(params: Json, caller: Caller) -> Json:
    _read(caller, lambda memory: memory.wait_cancel(params["taskId"], reason="the client cancelled it"))
    return {}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _failed(error: Json) -> Json:
    return {
        "content": [_text(texts.error_text(error))],
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
