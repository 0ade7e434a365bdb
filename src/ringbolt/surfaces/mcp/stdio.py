"""The MCP server over standard input and output: for one client, in the folder where it was started."""

from __future__ import annotations

import os
import signal
import threading
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from ...config import load_settings, store_location
from ...journal.catch_up import CatchUp
from ...journal.event_files import Journal
from ...ledger.host_session import host_session
from ...memory import TaskMemory
from ...model.capabilities import AGENT
from ...model.errors import RingboltError
from ..blocking import Waiting
from .server import Caller, Context, agent_name, make_server, run_on_thread

ROOTS_SECONDS = 3  # how long to wait for a client that offers roots


class Client:
    """The only client. Its memory is opened when it is first needed, and kept."""

    def __init__(self, location: str | None, workspace: str, session: str | None, agent: str | None) -> None:
        self._location = location
        self._workspace = workspace
        self._session = session
        self._agent = agent
        self._root: str | None = None
        self._asked = bool(workspace)  # an explicit workspace takes precedence over roots
        self._asking = anyio.Lock()
        self._opening = threading.Lock()
        self._gone = threading.Event()
        self._opened: TaskMemory | None = None
        self._acting: dict[tuple[str, str, str], TaskMemory] = {}
        self._waiting: Waiting | None = None

    async def caller(self, ctx: Context) -> Caller:
        """The client, working in its first root."""
        async with self._asking:
            if not self._asked:
                self._root = await _first_root(ctx)
                self._asked = True
        agent, root = agent_name(ctx), self._root or ""
        return Caller(memory=lambda: self._memory(agent, root), waiting=self._blocking_waits)

    async def roots_changed(self, ctx: Context, params: types.NotificationParams) -> None:
        """Ask for the roots again with the next request."""
        self._asked = bool(self._workspace)

    def _memory(self, agent: str, root: str) -> TaskMemory:
        # One object per name and root, not per call, because it remembers its claims.
        with self._opening:
            if self._opened is None:
                self._opened = TaskMemory.open(
                    self._location, workspace=self._workspace, session=self._session, agent=self._agent
                )
            # The host may continue under another session, after /clear for example.
            session = self._opened.origin.session or host_session(self._opened.store)
            known = self._acting.get((agent, root, session))
            if known is None:
                agent_now = self._opened.origin.agent or agent
                known = self._opened.acting_as(agent=agent_now, workspace=root, session=session, grant=AGENT)
                self._acting[agent, root, session] = known
            return known

    def _blocking_waits(self) -> Waiting:
        memory = self._memory("", "")
        with self._opening:
            if self._waiting is None:
                self._waiting = Waiting(memory, run_on_thread, memory.settings.http_token_waits)
            return self._waiting

    def watch_journal(self) -> None:
        """Apply the events that hooks write to the journal, from now until the client is gone.

        The first event opens the store, if no call has opened it before.
        """
        threading.Thread(target=self._watch, name="ringbolt-journal", daemon=True).start()

    def _watch(self) -> None:
        settings = load_settings(store=self._location)
        waiting = CatchUp(Journal.of(store_location(settings), settings.tenant), self._apply_journal)
        waiting.watch(self._gone)

    def _apply_journal(self) -> bool:
        try:
            catch_up = self._memory("", "").store.catch_up
        except RingboltError:  # the next call reports it to the model
            return False
        if catch_up is not None:
            catch_up()
        return True

    def close(self) -> None:
        """Close the store, if it was opened."""
        self._gone.set()
        if self._waiting is not None:
            self._waiting.end()
        with self._opening:
            if self._opened is not None:
                self._opened.close()


async def _first_root(ctx: Context) -> str | None:
    """The client's first root. Since 2026-07-28 a server cannot ask for it without ending the call."""
    session = ctx.session
    offered = session.client_capabilities
    if offered is None or offered.roots is None or not session.can_send_request:
        return None
    try:
        answer = await session.send_request(
            types.ListRootsRequest(),
            types.ListRootsResult,
            request_read_timeout_seconds=ROOTS_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
        )
    except (MCPError, ValidationError):
        return None
    for root in answer.roots:
        parts = urlsplit(str(root.uri))
        folder = unquote(parts.path)
        if parts.netloc in ("", "localhost") and await anyio.to_thread.run_sync(os.path.isdir, folder):
            return folder
    return None


def serve(
    location: str | None,
    *,
    tools: str = "core",
    workspace: str = "",
    session: str | None = None,
    agent: str | None = None,
) -> None:
    """Serve one client over standard input and output until it disconnects.

    The first call opens the store, so that the model learns why a store cannot be opened, and what to do. The
    workspace defaults to the client's first root, otherwise the current folder; the agent to the client's
    name.
    """

    async def run() -> None:
        client = Client(location, workspace, session, agent)
        client.watch_journal()
        server = make_server(tools, client.caller)
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, client.roots_changed
        )
        try:
            # On an interrupt, do not wait for the reading thread: all responses are already written.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            async with stdio_server() as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
        finally:
            client.close()

    anyio.run(run)
