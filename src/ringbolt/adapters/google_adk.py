# pyright: basic, reportMissingImports=false
"""Google ADK: a plugin that records invocations and restores trimmed history, and a memory service."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.genai.types import Content, FunctionDeclaration, Part

from ..aio import AsyncTaskMemory, sync_memory
from ..memory import TaskMemory
from .documents import Documents, by_shared_words
from .recorder import Recorder, Session, core_tools, message_id, off_loop

_MOST_FOUND = 20


class RingboltPlugin(BasePlugin):
    """Records what the agents of a runner do, one task for each ADK session.

    Args:
        memory: The memory to write to.
        budget: Tokens of the packet.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, *, budget: int = 1500) -> None:
        super().__init__("ringbolt")
        self._recorder = Recorder(memory, agent="google-adk", budget=budget)
        self._last_words: dict[str, str] = {}  # by invocation
        self._failed: set[str] = set()  # ids of calls whose error is recorded
        # A plugin cannot give tools to an agent: pass these to the agent.
        self.tools: list[BaseTool] = [_Tool(self._recorder, each) for each in core_tools()]

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Content) -> None:
        """Record what the user wrote."""
        if text := _text(user_message):
            await off_loop(self._session(invocation_context).prompt, text, invocation_context.invocation_id)

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Keep the words that may turn out to be the last ones of the invocation."""
        if event.is_final_response() and not event.partial and (text := _text(event.content)):
            self._last_words[invocation_context.invocation_id] = text

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Record the agent's last words."""
        text = self._last_words.pop(invocation_context.invocation_id, "")
        await off_loop(self._session(invocation_context).ends, text, invocation_context.invocation_id)

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        """Record that the invocation broke off."""
        self._last_words.pop(invocation_context.invocation_id, None)
        reason = f"{type(error).__name__}: {error}"
        await off_loop(self._session(invocation_context).broke_off, reason, invocation_context.invocation_id)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Add the packet to the system instruction if history is missing."""
        shown = [message_id(content) for content in llm_request.contents]
        session = self._session(callback_context)
        # ADK shows each agent the session in a form of its own.
        if text := await off_loop(session.context, shown, callback_context.agent_name):
            llm_request.append_instructions([text])

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Any
    ) -> None:
        """Announce a side effect."""
        id = tool_context.function_call_id
        await off_loop(self._session(tool_context).tool_begins, tool.name, tool_args, id)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> None:
        """Record a tool call; ADK also calls this with what an error was replaced by."""
        id = tool_context.function_call_id
        if id in self._failed:
            self._failed.discard(id)
            return
        session, failed = self._session(tool_context), _is_error(result)
        await off_loop(session.tool_ends, tool.name, tool_args, result, id, failed=failed)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Any, error: BaseException
    ) -> None:
        """Record a failed call. A cancelled one stays without a result: nobody knows what it did."""
        if isinstance(error, CancelledError):
            return
        id, reason = tool_context.function_call_id, f"{type(error).__name__}: {error}"
        self._failed.add(id)
        session = self._session(tool_context)
        await off_loop(session.tool_ends, tool.name, tool_args, reason, id, failed=True)

    def _session(self, context: Any) -> Session:
        return self._recorder.session(context.session.id)


class _Tool(BaseTool):
    """A core tool, called in the session of its invocation."""

    def __init__(self, recorder: Recorder, tool: dict[str, Any]) -> None:
        super().__init__(name=tool["name"], description=tool["description"])
        self._recorder, self._parameters = recorder, tool["parameters"]

    def _get_declaration(self) -> FunctionDeclaration:
        return FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
        return {"result": await self._recorder.session(tool_context.session.id).acall(self.name, args)}


class RingboltMemoryService(BaseMemoryService):
    """Keeps what was said in sessions, and finds it by words; one collection for each app and user."""

    def __init__(self, memory: TaskMemory | AsyncTaskMemory) -> None:
        self._memory = sync_memory(memory)

    async def add_session_to_memory(self, session: Any) -> None:
        """Store the texts of a session; what is stored already is not stored again."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store the texts of some events."""
        documents = {
            f"{session_id or ''}/{event.id}": {
                "text": text,
                "author": event.author,
                "time": datetime.fromtimestamp(event.timestamp, UTC).isoformat(),
                "metadata": dict(custom_metadata or {}),
            }
            for event in events
            if (text := _text(event.content))
        }
        await self._put(app_name, user_id, documents)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store entries as they are."""
        documents = {
            f"/{entry.id or message_id(entry.content)}": {
                "text": _text(entry.content),
                "author": entry.author,
                "time": entry.timestamp,
                "metadata": {**(custom_metadata or {}), **entry.custom_metadata},
            }
            for entry in memories
        }
        await self._put(app_name, user_id, documents)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The entries that share most words with the query, the newest first among equals."""
        found = await off_loop(self._documents(app_name, user_id).read, lambda own: own.all())
        ranked = by_shared_words(list(reversed(found)), query, lambda document: document.value["text"])
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=document.key,
                    content=Content(role="user", parts=[Part(text=document.value["text"])]),
                    author=document.value["author"],
                    timestamp=document.value["time"],
                    custom_metadata=document.value["metadata"],
                )
                for document in ranked[:_MOST_FOUND]
            ]
        )

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete one entry."""
        if memory_id is not None:
            documents = self._documents(app_name, user_id)
            await off_loop(documents.write, lambda own: own.delete([memory_id]))

    async def _put(self, app_name: str, user_id: str, documents: Mapping[str, Any]) -> None:
        def work(own: Any) -> None:
            for key, value in documents.items():
                known = own.get(key)
                if known is None or known.value != value:
                    own.put(key, value)

        if documents:
            await off_loop(self._documents(app_name, user_id).write, work)

    def _documents(self, app_name: str, user_id: str) -> Documents:
        return Documents(self._memory, f"google-adk/{app_name}/{user_id}")


def _text(content: Any) -> str:
    """The text of a content, without the model's reasoning."""
    parts = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _is_error(result: Any) -> bool:
    """Whether a tool returned an error in one of the forms that ADK's documentation gives."""
    return isinstance(result, Mapping) and (bool(result.get("error")) or result.get("status") == "error")
