"""The recorder that every adapter shares: a framework's sessions become tasks, by the same code as for hosts.

No method here raises into the host's run: a failure is logged, and the first one of a recorder with its
traceback. All methods block for a write to the store; async callbacks call them with `off_loop`.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from logging import getLogger
from threading import Event, Lock, RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..aio import AsyncTaskMemory, sync_memory
from ..hosts.capture.events import apply, cleaned, name_of, naming
from ..hosts.capture.session_capture import Capture
from ..hosts.host_schemas import read_event
from ..hosts.sessions import own_task, session_of
from ..ledger.access import seconds_now
from ..memory import TaskMemory
from ..model.redaction import Redactor
from ..model.types import is_dict
from ..operations import CORE_ROOMS
from ..surfaces.mcp.handlers import Caller, Handlers

P = ParamSpec("P")
R = TypeVar("R")

_LOG = getLogger("ringbolt.adapters")
# Sessions of a long-running program that are kept in memory. One that was dropped counts as resumed.
_MOST_SESSIONS = 1000
_HANDLERS = Handlers("core")


def off_loop(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Any:
    """Await a blocking call on a thread, so that the event loop goes on."""
    return asyncio.to_thread(call, *args, **kwargs)


def _guarded(default: R) -> Callable[
    [Callable[Concatenate[Session, P], R]], Callable[Concatenate[Session, P], R]
]:  # fmt: skip
    """Log what goes wrong instead of raising it, and return `default`."""

    def decorate(method: Callable[Concatenate[Session, P], R]) -> Callable[Concatenate[Session, P], R]:
        @wraps(method)
        def call(self: Session, /, *args: P.args, **kwargs: P.kwargs) -> R:
            try:
                with self.lock:
                    return method(self, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - nothing of ours may end the host's run
                self.recorder.failed(method.__name__, error)
                return default

        return call

    return decorate


class Recorder:
    """Records the sessions of one framework in a memory.

    Args:
        memory: The memory; it stays open, and is the caller's to close.
        agent: The name under which events are recorded.
        budget: Tokens of the packet.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, *, agent: str, budget: int = 1500) -> None:
        self.memory = sync_memory(memory)
        self.agent, self.budget = agent, budget
        self.redactor = Redactor(keep=self.memory.settings.keep_secrets == "on")
        self.failures = 0
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = Lock()

    def session(self, session_id: str) -> Session:
        """The recorder of one session, by the framework's own id of a thread, session or conversation."""
        name = session_of({"session": session_id})
        with self._lock:
            found = self._sessions.get(name) or Session(self, name)
            self._sessions[name] = found
            self._sessions.move_to_end(name)
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return found

    def failed(self, what: str, error: Exception) -> None:
        """Log a failure; only the first with its traceback."""
        self.failures += 1
        if self.failures == 1:
            _LOG.error("%s was not recorded; the agent continues without it", what, exc_info=error)
        else:
            _LOG.debug("%s was not recorded: %s", what, error)


class Session:
    """Records what happens in one session. Ids are the framework's own: the same id is written once."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self.recorder, self.name = recorder, name
        self.lock = RLock()  # one event at a time, in the order in which they happened
        self.memory = recorder.memory.acting_as(session=name, agent=recorder.agent)
        self._capture = Capture(self.memory)
        self._begun = False
        self._shown: dict[str, frozenset[str]] = {}  # by reader
        self._packet = ""

    # --- recording --------------------------------------------------------------------------------

    @_guarded(None)
    def prompt(self, text: str, id: str | None = None) -> None:
        """The user wrote something."""
        self._begin()
        self._write({"event": "UserPromptSubmit", "prompt": text, "prompt_id": id}, id)

    @_guarded(None)
    def tool_begins(self, name: str, arguments: Any, id: str) -> None:
        """A tool is about to be called: a side effect is announced, so that a crash leaves it as unknown."""
        if name not in CORE_ROOMS:
            self._write(
                {"event": "PreToolUse", "tool": name, "input": plain(arguments), "tool_use_id": id}, id
            )

    @_guarded(None)
    def tool_ends(
        self, name: str, arguments: Any, output: Any, id: str | None = None, *, failed: bool = False
    ) -> None:
        """A tool was called; a to-do tool changes the plan, and our own tools have written already."""
        if name in CORE_ROOMS:
            return
        event: dict[str, Any] = {"event": "PostToolUse", "tool": name, "input": plain(arguments)}
        if failed:  # a framework may retry under the same id: the success must not count as a repetition
            id = f"{id}/failed" if id else None
            event |= {"event": "PostToolUseFailure", "error": plain(output) or "failed"}
        else:
            event["output"] = plain(output)
        self._write({**event, "tool_use_id": id}, id)

    @_guarded(None)
    def ends(self, text: str, id: str | None = None) -> None:
        """The agent's run ended with these words."""
        self._write({"event": "Stop", "message": text}, id)
        if task := own_task(self.memory):
            self.memory.task_distill(task)

    @_guarded(None)
    def summarized(self, text: str, id: str | None = None) -> None:
        """The framework replaced history by its own summary."""
        self._write({"event": "PostCompact", "summary": text}, id)

    @_guarded(None)
    def reported(self, host: str, name: str, payload: Mapping[str, Any], id: str | None = None) -> None:
        """A host in the table of hosts reported an event in its own form."""
        if event := read_event(host, name, payload):
            self._begin()
            self._write(event, id)

    @_guarded("")
    def resumed(self) -> str:
        """The packet of a session that began in another process, once; else empty."""
        self._begin()
        text, self._packet = self._packet, ""
        return text

    @_guarded(None)
    def broke_off(self, reason: str, id: str | None = None) -> None:
        """The run ended with an error, or was cancelled."""
        self._write({"event": "StopFailure", "error": reason}, id)

    def _write(self, event: dict[str, Any], id: str | None) -> None:
        known = {name: value for name, value in event.items() if value is not None}
        event = cleaned({**known, "session": self.name}, self.recorder.redactor)
        if id:
            key = f"{self.recorder.agent}/{self.name}/{event['event']}/{id}"
        else:
            key = name_of(self.memory, event, f"{naming(event)}/{int(seconds_now(self.memory))}")
        apply(self.memory, event, key[:200], self._capture)

    # --- the packet -------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Before anything is recorded: a session that has a task already is being resumed."""
        if not self._begun:
            if own_task(self.memory):
                self._capture.effects_unknown("the process ended before a result came")
                self._packet = self.packet()
            self._begun = True  # only now: if the store failed, the next event tries again

    @_guarded("")
    def context(self, shown: Iterable[str], reader: str = "") -> str:
        """The packet to put before a model request that shows messages with these ids; often empty.

        It is given when the session began in another process, or once messages that an earlier request of
        the same reader showed are missing. Its text stays the same until more are missing, so that a prompt
        cache holds.
        """
        self._begin()
        now = frozenset(shown)
        if not self._shown.get(reader, now) <= now:
            self._packet = self.packet()
        self._shown[reader] = now
        return self._packet

    @_guarded("")
    def packet(self) -> str:
        """The resume packet of the session's task; empty if it has none."""
        task = own_task(self.memory)
        if task is None:
            return ""
        self.memory.task_distill(task)
        return self.memory.task_resume(task, budget=self.recorder.budget).text

    # --- tools ------------------------------------------------------------------------------------

    def call(self, name: str, arguments: Mapping[str, Any], gone: Callable[[], bool] = lambda: False) -> str:
        """Call a core tool; the text for the model, which says so if it failed."""
        memory = self.recorder.memory.acting_as(session=self.name, agent=self.recorder.agent)
        caller = Caller(memory=lambda: memory, gone=gone)
        answer = _HANDLERS.answer("tools/call", {"name": name, "arguments": dict(arguments)}, caller)
        return answer["content"][0]["text"]

    async def acall(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a core tool from an event loop; a wait ends with its caller."""
        gone = Event()
        try:
            return await off_loop(self.call, name, arguments, gone.is_set)
        finally:
            gone.set()


def core_tools() -> list[dict[str, Any]]:
    """The core tools: `name`, `description` and `parameters`, a JSON schema."""
    return [
        {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
        for tool in _HANDLERS.tools
    ]


def plain(value: Any) -> Any:
    """A value of a framework as plain JSON data; what JSON does not have becomes text."""
    return json.loads(json.dumps(value, default=_as_data, skipkeys=True)) if value is not None else None


def _as_data(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = dump()
        return dumped if is_dict(dumped) else str(value)
    return str(value)


def message_id(*parts: Any) -> str:
    """An id for a message that has none: the same for the same content."""
    return naming({"message": json.dumps(parts, sort_keys=True, default=_as_data)})
