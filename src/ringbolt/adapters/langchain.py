# pyright: basic, reportMissingImports=false
"""LangChain: a middleware for `create_agent` that records the run and restores trimmed history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain.tools import BaseTool
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .recorder import Recorder, Session, core_tools, message_id, off_loop


class RingboltMiddleware(AgentMiddleware):
    """Records what an agent does, one task for each thread. Put it last in the list of middleware.

    Args:
        memory: The memory to write to.
        session: The session of runs without a thread id. Default: each such run is a session of its own.
        budget: Tokens of the packet.
        tools: Whether the agent gets the core tools.
    """

    def __init__(
        self,
        memory: TaskMemory | AsyncTaskMemory,
        *,
        session: str | None = None,
        budget: int = 1500,
        tools: bool = True,
    ) -> None:
        super().__init__()
        self._recorder = Recorder(memory, agent="langchain", budget=budget)
        self._session_id = session
        self.tools: Sequence[BaseTool] = [self._tool(each) for each in core_tools()] if tools else []

    # --- one run ----------------------------------------------------------------------------------

    def before_agent(self, state: Any, runtime: Any) -> None:
        """Record what the user wrote since the agent's last words."""
        session = self._session()
        for message in _since_agent(state["messages"]):
            if isinstance(message, HumanMessage) and not _is_summary(message):
                session.prompt(_text(message), _id(message))

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        """The same for event loops."""
        await off_loop(self.before_agent, state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Record the agent's last words."""
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, AIMessage):
            self._session().ends(_text(last), _id(last))

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """The same for event loops."""
        await off_loop(self.after_agent, state, runtime)

    # --- model ------------------------------------------------------------------------------------

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Add the packet to the request if history is missing from it."""
        return handler(self._with_context(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]
    ) -> Any:
        """The same for event loops."""
        return await handler(await off_loop(self._with_context, request))

    def _with_context(self, request: ModelRequest) -> ModelRequest:
        session = self._session()
        for message in request.messages:
            if _is_summary(message):
                session.summarized(_text(message), _id(message))
        text = session.context(map(_id, request.messages))
        if not text:
            return request
        before = request.system_message.content_blocks if request.system_message else []
        blocks: list[Any] = [*before, {"type": "text", "text": text}]
        return request.override(system_message=SystemMessage(content=blocks))

    # --- tools ------------------------------------------------------------------------------------

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Record a tool call and how it ended."""
        session, call = self._session(), request.tool_call
        session.tool_begins(call["name"], call["args"], call["id"])
        try:
            result = handler(request)
        except GraphBubbleUp:  # an interrupt: the tool goes on later
            raise
        except Exception as error:
            _record_error(session, call, error)
            raise
        _record_result(session, call, result)
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for event loops."""
        session, call = self._session(), request.tool_call
        await off_loop(session.tool_begins, call["name"], call["args"], call["id"])
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            await off_loop(_record_error, session, call, error)
            raise
        await off_loop(_record_result, session, call, result)
        return result

    def _tool(self, tool: dict[str, Any]) -> BaseTool:
        name = tool["name"]

        def call(**arguments: Any) -> str:
            return self._session().call(name, arguments)

        async def acall(**arguments: Any) -> str:
            return await self._session().acall(name, arguments)

        return StructuredTool(
            name=name,
            description=tool["description"],
            args_schema=tool["parameters"],
            func=call,
            coroutine=acall,
        )

    def _session(self) -> Session:
        """The session of the run that calls this, by its thread."""
        run = get_runtime().execution_info
        return self._recorder.session(run.thread_id or self._session_id or run.run_id or run.task_id)


def _record_error(session: Session, call: Any, error: Exception) -> None:
    session.tool_ends(call["name"], call["args"], f"{type(error).__name__}: {error}", call["id"], failed=True)


def _record_result(session: Session, call: Any, result: Any) -> None:
    update = getattr(result, "update", None)
    inner = update.get("messages", []) if isinstance(update, dict) else [result]
    message = next((one for one in inner if isinstance(one, ToolMessage)), None)
    failed = message is not None and message.status == "error"
    output = _text(message) if message is not None else ""
    session.tool_ends(call["name"], call["args"], output, call["id"], failed=failed)


def _since_agent(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages after the agent's last."""
    places = [number for number, message in enumerate(messages) if isinstance(message, AIMessage)]
    return list(messages[places[-1] + 1 if places else 0 :])


def _is_summary(message: BaseMessage) -> bool:
    """Whether a message is LangChain's own summary of removed history, in the guise of the user."""
    return "lc_source" in message.additional_kwargs


def _text(message: BaseMessage) -> str:
    return str(message.text)


def _id(message: BaseMessage) -> str:
    return message.id or message_id(message.type, message.content)
