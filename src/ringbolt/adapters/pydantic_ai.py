# pyright: basic, reportMissingImports=false
"""PydanticAI: a capability that records runs and restores trimmed history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic_ai import FunctionToolset, Tool
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution
from pydantic_ai.messages import InstructionPart, ModelMessage

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .recorder import Recorder, Session, core_tools, message_id, off_loop

# Raised by a tool that did not run (yet).
_NOT_RUN = (ApprovalRequired, CallDeferred, SkipToolExecution)


class RingboltCapability(AbstractCapability[Any]):
    """Records what an agent does, one task for each conversation.

    Args:
        memory: The memory to write to.
        budget: Tokens of the packet.
        tools: Whether the agent gets the core tools.
    """

    def __init__(
        self, memory: TaskMemory | AsyncTaskMemory, *, budget: int = 1500, tools: bool = True
    ) -> None:
        self._recorder = Recorder(memory, agent="pydantic-ai", budget=budget)
        self._tools = [self._tool(each) for each in core_tools()] if tools else []

    def get_ordering(self) -> CapabilityOrdering:
        """Innermost: after every capability that trims the messages of a request."""
        return CapabilityOrdering(position="innermost")

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The core tools."""
        return FunctionToolset(self._tools) if self._tools else None

    async def before_run(self, ctx: Any) -> None:
        """Record what the user wrote."""
        if ctx.prompt is not None:
            parts = [ctx.prompt] if isinstance(ctx.prompt, str) else ctx.prompt
            text = "\n".join(text for part in parts if (text := _text(part)))
            await off_loop(self._session(ctx).prompt, text, ctx.run_id)

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        """Record the agent's output."""
        output = result.output
        text = output if isinstance(output, str) else str(output)
        await off_loop(self._session(ctx).ends, text, ctx.run_id)
        return result

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Add the packet to the instructions if history is missing."""
        shown = [_id(message) for message in request_context.messages]
        text = await off_loop(self._session(ctx).context, shown)
        if not text:
            return request_context
        parameters = request_context.model_request_parameters
        parts = [*(parameters.instruction_parts or ()), InstructionPart(content=text, dynamic=True)]
        return replace(request_context, model_request_parameters=replace(parameters, instruction_parts=parts))

    async def wrap_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Callable[[Any], Any]
    ) -> Any:
        """Record a tool call and how it ended; a ModelRetry is a failure too."""
        session, name, id = self._session(ctx), call.tool_name, call.tool_call_id
        await off_loop(session.tool_begins, name, args, id)
        try:
            result = await handler(args)
        except _NOT_RUN:
            raise
        except Exception as error:
            await off_loop(session.tool_ends, name, args, f"{type(error).__name__}: {error}", id, failed=True)
            raise
        await off_loop(session.tool_ends, name, args, result, id)
        return result

    def _session(self, ctx: Any) -> Session:
        return self._recorder.session(ctx.conversation_id or ctx.run_id)

    def _tool(self, tool: dict[str, Any]) -> Tool[Any]:
        async def call(ctx: Any, **arguments: Any) -> str:
            return await self._session(ctx).acall(tool["name"], arguments)

        return Tool.from_schema(call, tool["name"], tool["description"], tool["parameters"], takes_ctx=True)


def _text(part: Any) -> str:
    """The text of a part of a prompt; empty for a picture or a file."""
    if isinstance(part, str):
        return part
    content = getattr(part, "content", None)
    return content if isinstance(content, str) else ""


def _id(message: ModelMessage) -> str:
    """An id of a message, by its run, kind and parts: PydanticAI has none of its own."""
    parts = [
        (part.part_kind, getattr(part, "tool_call_id", None), getattr(part, "content", None))
        for part in message.parts
    ]
    return message_id(message.run_id, message.kind, parts)
