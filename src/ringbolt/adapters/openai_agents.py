# pyright: basic, reportMissingImports=false, reportOptionalMemberAccess=false, reportArgumentType=false
"""OpenAI Agents SDK: hooks and an input filter that record runs, and a session that keeps their items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents import FunctionTool, RunConfig, RunHooks
from agents.memory import SessionABC
from agents.run import CallModelData, ModelInputData

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .documents import Documents
from .recorder import Recorder, Session, core_tools, message_id, off_loop


class RingboltRuns:
    """Records the runs of one conversation, whichever agents take part in it.

    Pass `hooks` and `run_config()` to `Runner.run`, and `tools` to the agents; `session` keeps the items.

    Args:
        memory: The memory to write to.
        session_id: Your id of the conversation; it continues the task that it had before.
        budget: Tokens of the packet.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, session_id: str, *, budget: int = 1500) -> None:
        recorder = Recorder(memory, agent="openai-agents", budget=budget)
        self._session = recorder.session(session_id)
        self._errors: dict[str, str] = {}
        self.hooks = _Hooks(self._session, self._errors)
        self.session = RingboltSession(memory, session_id)
        self.tools = [_tool(self._session, each) for each in core_tools()]

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """A run configuration with our input filter and error formatter around those of `config`."""
        config = RunConfig() if config is None else config
        inner, format_error = config.call_model_input_filter, config.tool_error_formatter

        async def with_packet(data: CallModelData[Any]) -> ModelInputData:
            model_input = data.model_data
            await off_loop(self._record_prompts, model_input.input)
            if inner is not None:
                model_input = await _awaited(inner(data))
            text = await off_loop(self._session.context, [_id(item) for item in model_input.input])
            if not text:
                return model_input
            instructions = "\n\n".join(part for part in (model_input.instructions, text) if part)
            return ModelInputData(input=model_input.input, instructions=instructions)

        async def keep_error(arguments: Any) -> str | None:
            error = arguments.error
            kept = arguments.default_message if error is None else f"{type(error).__name__}: {error}"
            self._errors[arguments.call_id] = kept
            return await _awaited(format_error(arguments)) if format_error is not None else None

        return replace(config, call_model_input_filter=with_packet, tool_error_formatter=keep_error)

    def _record_prompts(self, items: Sequence[Any]) -> None:
        """Record the user's words at the end of a request: those that no agent has answered yet."""
        new: list[Any] = []
        for item in reversed(items):
            if item.get("role") != "user":
                break
            new.insert(0, item)
        for item in new:
            self._session.prompt(_text(item.get("content")))


class _Hooks(RunHooks[Any]):
    def __init__(self, session: Session, errors: dict[str, str]) -> None:
        self._session, self._errors = session, errors

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        name, arguments, id = _call(context, tool)
        if id:
            await off_loop(self._session.tool_begins, name, arguments, id)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        name, arguments, id = _call(context, tool)
        error = self._errors.pop(id, None)
        output, failed = (result, False) if error is None else (error, True)
        await off_loop(self._session.tool_ends, name, arguments, output, id or None, failed=failed)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        text = output if isinstance(output, str) else json.dumps(output, default=str)
        await off_loop(self._session.ends, text)


class RingboltSession(SessionABC):
    """Keeps the items of a conversation in the memory, for `Runner.run(session=…)`."""

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, session_id: str) -> None:
        self.session_id = session_id
        self._items = Documents(memory, f"openai-agents/{session_id}", searchable=False)

    async def get_items(self, limit: int | None = None, **_: Any) -> list[Any]:
        """The newest items, the oldest first."""
        settings = getattr(self, "session_settings", None)
        most = limit if limit is not None else getattr(settings, "limit", None)
        if most is not None and most <= 0:
            return []
        found = await off_loop(self._items.read, lambda own: own.all(*([most] if most else [])))
        return [one.value for one in found]

    async def add_items(self, items: list[Any], **_: Any) -> None:
        """Append items."""

        def work(own: Any) -> None:
            for item in items:
                own.put(own.next_key(), item)

        if items:
            await off_loop(self._items.write, work)

    async def pop_item(self, **_: Any) -> Any:
        """Remove the newest item; returns it, or None."""

        def work(own: Any) -> Any:
            newest = own.all(1)
            own.delete([one.key for one in newest])
            return newest[0].value if newest else None

        return await off_loop(self._items.write, work)

    async def clear_session(self, **_: Any) -> None:
        """Remove all items."""
        await off_loop(self._items.write, lambda own: own.delete([one.key for one in own.all()]))


def _tool(session: Session, tool: dict[str, Any]) -> FunctionTool:
    async def call(context: Any, arguments: str) -> str:
        return await session.acall(tool["name"], json.loads(arguments or "{}"))

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["parameters"],
        on_invoke_tool=call,
        strict_json_schema=False,
    )


def _call(context: Any, tool: Any) -> tuple[str, Any, str]:
    """The name, arguments and id of the call that a hook is about."""
    raw = getattr(context, "tool_arguments", "")
    try:
        arguments = json.loads(raw) if raw else {}
    except ValueError:
        arguments = {"arguments": raw}
    return str(tool.name), arguments, str(getattr(context, "tool_call_id", "") or "")


async def _awaited(result: Any) -> Any:
    return await result if hasattr(result, "__await__") else result


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content or () if part.get("text"))


def _id(item: Any) -> str:
    """An id of an item: its own or that of its call, else its content."""
    own = item.get("id") or item.get("call_id")
    return f"{item.get('type')}/{own}" if own else message_id(item)
