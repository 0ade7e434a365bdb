# pyright: basic, reportMissingImports=false
"""Microsoft Agent Framework: a context provider that records runs and restores trimmed history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import ChatMiddleware, ContextProvider, FunctionMiddleware, FunctionTool
from agent_framework.exceptions import UserInputRequiredException

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .recorder import Recorder, Session, core_tools, message_id, off_loop


class RingboltProvider(ContextProvider):
    """Records what an agent does, one task for each session.

    Args:
        memory: The memory to write to.
        budget: Tokens of the packet.
        tools: Whether the agent gets the core tools.
    """

    # In a loop that runs the agent again and again, its last words are those of the last run.
    after_run_once_per_turn = True

    def __init__(
        self, memory: TaskMemory | AsyncTaskMemory, *, budget: int = 1500, tools: bool = True
    ) -> None:
        super().__init__("ringbolt")
        self._recorder = Recorder(memory, agent="agent-framework", budget=budget)
        self._offers_tools = tools

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Record what the user wrote, and listen to the run's tools and model requests."""
        own = self._session(session)
        for message in context.input_messages:
            if message.role == "user" and message.text:
                await off_loop(own.prompt, message.text, message.message_id)
        context.extend_middleware(self.source_id, [_Tools(own), _Requests(own)])
        if self._offers_tools:
            context.extend_tools(self.source_id, [_tool(own, each) for each in core_tools()])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Record the agent's last words; a run that waits for an approval has not ended."""
        response = context.response
        if response is not None and not response.user_input_requests:
            await off_loop(self._session(session).ends, response.text, response.response_id)

    def _session(self, session: Any) -> Session:
        return self._recorder.session(session.session_id)


class _Requests(ChatMiddleware):
    """Adds the packet to the instructions of a request if history is missing; records failed requests."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        shown = [_id(message) for message in context.messages]
        if text := await off_loop(self._session.context, shown):
            options = dict(context.options or {})
            options["instructions"] = _with_text(options.get("instructions"), text)
            context.options = options
        try:
            await call_next()
        except Exception as error:
            await off_loop(self._session.broke_off, f"{type(error).__name__}: {error}")
            raise


class _Tools(FunctionMiddleware):
    """Records tool calls and how they ended."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        name, id = context.function.name, context.metadata.get("call_id")
        arguments = context.arguments
        arguments = arguments.model_dump() if hasattr(arguments, "model_dump") else dict(arguments)
        await off_loop(self._session.tool_begins, name, arguments, id)
        try:
            await call_next()
        except UserInputRequiredException:  # it did not run yet
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            await off_loop(self._session.tool_ends, name, arguments, reason, id, failed=True)
            raise
        await off_loop(self._session.tool_ends, name, arguments, _output(context.result), id)


def _tool(session: Session, tool: dict[str, Any]) -> FunctionTool:
    async def call(**arguments: Any) -> str:
        return await session.acall(tool["name"], arguments)

    return FunctionTool(
        name=tool["name"], description=tool["description"], func=call, input_model=tool["parameters"]
    )


def _with_text(instructions: Any, text: str) -> Any:
    """Instructions with a text after them; some chat clients have blocks where others have text."""
    if not instructions or isinstance(instructions, str):
        return "\n\n".join(part for part in (instructions, text) if part)
    return [*(instructions if isinstance(instructions, list) else [instructions]), text]


def _output(result: Any) -> Any:
    """What a tool returned, as text."""
    if isinstance(result, list):
        return "\n".join(text for item in result if (text := getattr(item, "text", None)))
    return result


def _id(message: Any) -> str:
    """An id of a message: its own, or its content."""
    contents = [content.to_dict() for content in message.contents]
    return message.message_id or message_id(str(message.role), contents)
