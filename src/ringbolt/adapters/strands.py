# pyright: basic, reportMissingImports=false
"""Strands Agents: a plugin that records invocations and restores trimmed history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeInvocationEvent,
    BeforeToolCallEvent,
)
from strands.middleware import InvokeModelContext, InvokeModelStage
from strands.plugins import Plugin
from strands.types.tools import AgentTool

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .recorder import Recorder, Session, core_tools, message_id, off_loop


class RingboltPlugin(Plugin):
    """Records what an agent does: one task for each session.

    Args:
        memory: The memory to write to.
        session_id: Your id of the conversation; default: the agent's `session_id`, which only a session
            manager keeps across processes.
        budget: Tokens of the packet.
        tools: Whether the agent gets the core tools.
    """

    def __init__(
        self,
        memory: TaskMemory | AsyncTaskMemory,
        session_id: str | None = None,
        *,
        budget: int = 1500,
        tools: bool = True,
    ) -> None:
        super().__init__()
        self._recorder = Recorder(memory, agent="strands", budget=budget)
        self._session_id = session_id
        self._errors: dict[str, str] = {}  # why the model could not be called, by session
        self._own_tools = [_Tool(self, each) for each in core_tools()] if tools else []

    @property
    def name(self) -> str:
        """The name under which an agent knows this plugin."""
        return "ringbolt"

    @property
    def tools(self) -> list[Any]:
        """The core tools."""
        return list(self._own_tools)

    def init_agent(self, agent: Any) -> None:
        """Listen to an agent."""
        agent.add_hook(self._invocation_begins, BeforeInvocationEvent)
        agent.add_hook(self._invocation_ends, AfterInvocationEvent)
        agent.add_hook(self._model_answered, AfterModelCallEvent)
        agent.add_hook(self._tool_begins, BeforeToolCallEvent)
        agent.add_hook(self._tool_ends, AfterToolCallEvent)
        agent.add_middleware(InvokeModelStage.Input, self._with_packet)

    def session(self, agent: Any) -> Session:
        """The recorder of an agent's session."""
        return self._recorder.session(self._session_id or agent.session_id)

    async def _invocation_begins(self, event: BeforeInvocationEvent) -> None:
        for message in event.messages or ():
            if message["role"] == "user" and (text := _text(message["content"])):
                await off_loop(self.session(event.agent).prompt, text, message.get("tracking_id"))

    async def _invocation_ends(self, event: AfterInvocationEvent) -> None:
        session, result = self.session(event.agent), event.result
        error = self._errors.pop(session.name, "")
        if result is not None and result.stop_reason != "interrupt":
            await off_loop(session.ends, _text(result.message["content"]))
        elif error:
            await off_loop(session.broke_off, error)

    async def _model_answered(self, event: AfterModelCallEvent) -> None:
        session, error = self.session(event.agent), event.exception
        if error is None:
            self._errors.pop(session.name, None)
        else:
            self._errors[session.name] = f"{type(error).__name__}: {error}"

    async def _with_packet(self, context: InvokeModelContext) -> InvokeModelContext:
        shown = [message.get("tracking_id") or message_id(message) for message in context.messages]
        text = await off_loop(self.session(context.agent).context, shown)
        if not text:
            return context
        prompt = context.system_prompt
        if isinstance(prompt, list):
            return context.replace(system_prompt=[*prompt, {"text": text}])
        return context.replace(system_prompt="\n\n".join(part for part in (prompt, text) if part))

    async def _tool_begins(self, event: BeforeToolCallEvent) -> None:
        call = event.tool_use
        await off_loop(self.session(event.agent).tool_begins, call["name"], call["input"], call["toolUseId"])

    async def _tool_ends(self, event: AfterToolCallEvent) -> None:
        if event.cancel_message is not None:  # it did not run
            return
        call, failed = event.tool_use, event.exception is not None or event.result["status"] == "error"
        await off_loop(
            self.session(event.agent).tool_ends,
            call["name"], call["input"], _output(event.result), call["toolUseId"], failed=failed,
        )  # fmt: skip


class _Tool(AgentTool):
    """A core tool, called in the session of its agent."""

    def __init__(self, plugin: RingboltPlugin, tool: Mapping[str, Any]) -> None:
        super().__init__()
        self._plugin, self._tool = plugin, tool

    @property
    def tool_name(self) -> str:
        return self._tool["name"]

    @property
    def tool_spec(self) -> Any:
        return {
            "name": self._tool["name"],
            "description": self._tool["description"],
            "inputSchema": {"json": self._tool["parameters"]},
        }

    @property
    def tool_type(self) -> str:
        return "function"

    async def stream(self, tool_use: Any, invocation_state: dict[str, Any], **_: Any) -> Any:
        session = self._plugin.session(invocation_state["agent"])
        text = await session.acall(self.tool_name, tool_use["input"])
        yield {"toolUseId": tool_use["toolUseId"], "status": "success", "content": [{"text": text}]}


def _text(content: Any) -> str:
    """The text of a message's content."""
    return "\n".join(block["text"] for block in content if "text" in block)


def _output(result: Any) -> Any:
    """What a tool returned: its text, or its data if there is nothing else."""
    blocks = [block.get("text", block.get("json")) for block in result["content"]]
    kept = [block for block in blocks if block is not None]
    return "\n".join(kept) if all(isinstance(block, str) for block in kept) else kept
