"""The MCP server over standard input and output: for one client, in the folder where it was started.

It does without the SDK, which takes thirty times as long to load as this server takes to answer. The main
thread reads lines; calls run on threads of their own, so that one that waits holds up no other.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from ...model.types import is_dict, is_list
from .protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Connection,
    Json,
    Notification,
    ProtocolError,
    Request,
    Response,
    progress,
    refusal,
    reply,
)

if TYPE_CHECKING:
    from ...ledger.base import Base
    from .handlers import Caller, Handlers

ROOTS_SECONDS = 3  # how long to wait for a client that offers roots
PROGRESS_SECONDS = 5  # how often a client that asked for it hears that a call still runs
LAST_SECONDS = 5  # how long calls in hand, and closing, may take after the client has closed its end
MOST_THREADS = 64  # calls at once; further ones wait for a thread
ASKING_SECONDS = 0.5  # how often to look whether the answer to a question is still wanted
_ROOTS = "ringbolt-roots"  # the id of our request for roots; those of questions are numbered


class Client:
    """The only client. Its memory is opened when it is first needed, and kept."""

    def __init__(self, location: str, workspace: str, session: str, agent: str) -> None:
        self._location = location or None
        self._workspace = workspace
        self._session = session
        self._agent = agent
        self._opening = threading.Lock()
        self._gone = threading.Event()
        self._opened: Base | None = None
        self._acting: dict[tuple[str, str, str], Base] = {}
        self._waits: Any = None

    def keep(self, memory: Any, wait: tuple[str, int]) -> None:
        """Watch a wait that the client will ask about later."""
        with self._opening:
            if self._waits is None:
                self._waits = _late("waits.blocking").BlockingWaits(memory)
        self._waits.keep(wait)

    @property
    def workspace(self) -> str:
        """The workspace that was given explicitly; it takes precedence over roots."""
        return self._workspace

    def memory(self, agent: str, root: str) -> Base:
        """The memory of an agent in a root: one object for all calls, because it remembers its claims."""
        with self._opening:
            opened = self._opened = self._opened or self._open()
            # The host may continue under another session, after /clear for example.
            session = opened.origin.session or _late("ledger.host_session").host_session(opened.store)
            known = self._acting.get((agent, root, session))
            if known is None:
                agent_now = opened.origin.agent or agent
                known = opened.acting_as(
                    agent=agent_now,
                    workspace=root,
                    session=session,
                    grant=_late("model.capabilities").AGENT,
                )
                self._acting[agent, root, session] = known
            return known

    def _open(self) -> Base:
        return _late("opening").Opening.open(
            self._location, workspace=self._workspace, session=self._session, agent=self._agent
        )

    def watch_journal(self) -> None:
        """Apply the events that hooks write to the journal until the client is gone.

        The first event opens the store, if no call has opened it before.
        """
        config = _late("config")
        settings = config.load_settings(store=self._location)
        journal = _late("journal.event_files").Journal.of(config.store_location(settings), settings.tenant)
        _late("journal.catch_up").CatchUp(journal, self._apply_journal).watch(self._gone)

    def _apply_journal(self) -> bool:
        try:
            catch_up = self.memory("", "").store.catch_up
        except _late("model.errors").RingboltError:  # the next call reports it to the model
            return False
        if catch_up is not None:
            catch_up()
        return True

    def close(self) -> None:
        """Close the store, if it was opened."""
        self._gone.set()
        if self._waits is not None:
            self._waits.end()
        with self._opening:
            if self._opened is not None:
                self._opened.close()


def _late(module: str) -> Any:
    """Import a module of ours on the thread that needs it, so that the client has its first answer before."""
    return import_module(f"ringbolt.{module}")


class Threads:
    """Threads that run calls: as many as run at once, and kept for the next ones."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._count = 0

    def run(self, job: Callable[[], None]) -> None:
        """Run a job on an idle thread, or on a new one."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            elif self._count < MOST_THREADS:
                self._count += 1
                threading.Thread(target=self._work, name="ringbolt-call", daemon=True).start()
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                self._idle += 1


class Server:
    """Reads requests from a stream and writes the answers to another."""

    def __init__(self, client: Client, tools: str, reading: BinaryIO, writing: BinaryIO) -> None:
        self._client = client
        self._tools = tools
        self._reading, self._writing = reading, writing
        self._write_lock = threading.Lock()
        self._connection = Connection()
        self._threads = Threads()
        self._handlers: Handlers | None = None
        self._loading = threading.Lock()
        # Requests in hand, by id; a cancelled one is taken out and gets no answer.
        self._running: dict[str | int, Request] = {}
        self._sending = 0  # answers on their way; their ids are free again
        self._changed = threading.Condition()
        self._reporting = False
        self._asked: dict[
            str | int, SimpleQueue[Json | None]
        ] = {}  # our questions, by the ids of the requests
        self._numbers = count(1)
        self._root = ""
        self._root_known = threading.Event()  # cleared while the client is asked
        self._root_known.set()

    def run(self) -> None:
        """Serve until the client closes its end; calls in hand are still answered."""
        threading.Thread(target=self._load, name="ringbolt-load", daemon=True).start()
        for line in self._reading:
            if line.strip():
                self._receive(line)
        if self._running:
            self._loaded()  # a client that sends everything at once must not lose its answers to a slow start
        with self._changed:
            self._changed.wait_for(lambda: not self._running and not self._sending, LAST_SECONDS)

    def _load(self) -> None:
        """Load what the first call will need, and watch the journal from then on."""
        self._loaded()
        self._client.watch_journal()

    def _loaded(self) -> Handlers:
        with self._loading:
            handlers = self._handlers or _late("surfaces.mcp.handlers").Handlers(self._tools)
            self._handlers = handlers
            return handlers

    def _receive(self, line: bytes) -> None:
        received = self._connection.receive(line)
        if isinstance(received, Request):
            self._start(received)
        elif isinstance(received, Notification):
            self._notice(received)
        elif isinstance(received, Response):
            if received.id == _ROOTS:
                self._root = first_root(received.result)
                self._root_known.set()
            elif (answers := self._asked.pop(received.id, None)) is not None:
                answers.put(received.result)
        elif received is not None:
            self._send(received)

    def _start(self, request: Request) -> None:
        with self._changed:
            in_use = self._running.setdefault(request.id, request) is not request
        if in_use:
            error = ProtocolError(INVALID_REQUEST, "A request with this id is still running. Use another id.")
            self._send(refusal(request, error))
            return
        self._threads.run(lambda: self._answer(request))
        if request.progress is not None:
            self._report_progress()

    def _notice(self, received: Notification) -> None:
        if received.method == "notifications/cancelled":
            with self._changed:
                self._running.pop(received.params.get("requestId", ""), None)
        elif (
            received.method in ("notifications/initialized", "notifications/roots/list_changed")
            and self._connection.offers_roots
            and not self._client.workspace
        ):
            self._root_known.clear()
            self._send({"jsonrpc": "2.0", "id": _ROOTS, "method": "roots/list"})

    # --- on the threads of calls ------------------------------------------------------------------

    def _answer(self, request: Request) -> None:
        try:
            result = self._loaded().answer(request.method, request.params, self._caller(request))
            response = reply(request, result)
        except ProtocolError as error:
            response = refusal(request, error)
        except Exception:
            from logging import getLogger  # slow to load, and seldom needed

            getLogger("ringbolt.mcp").exception("%s failed", request.method)
            response = refusal(request, ProtocolError(INTERNAL_ERROR, "Internal error; see the log."))
        with self._changed:
            if self._running.get(request.id) is not request:  # cancelled
                return
            # Before the answer is sent: a client that has it may use the id again at once.
            del self._running[request.id]
            self._sending += 1
        self._send(response)
        with self._changed:
            self._sending -= 1
            self._changed.notify_all()

    def _caller(self, request: Request) -> Caller:
        handlers = _late("surfaces.mcp.handlers")
        agent = handlers.plain_name(request.client)
        # Since 2026-07-28 a server cannot ask for roots. A client that does not answer is asked only once.
        if not request.modern and not self._root_known.wait(ROOTS_SECONDS):
            self._root_known.set()
        root = "" if request.modern else self._root
        return handlers.Caller(
            memory=lambda: self._client.memory(agent, root),
            gone=lambda: self._running.get(request.id) is not request,
            can=request.can,
            ask=None if request.modern else self._ask,
            keep=self._client.keep,
        )

    def _ask(self, form: Json, unwanted: Callable[[], bool]) -> Json | None:
        """Let the client show its user a form; None if it cannot, or the answer is not wanted any more."""
        id, answers = f"ringbolt-{next(self._numbers)}", SimpleQueue[Json | None]()
        self._asked[id] = answers
        self._send({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form})
        while not unwanted():
            with suppress(Empty):
                return answers.get(timeout=ASKING_SECONDS)
        self._asked.pop(id, None)
        self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        return None

    def _send(self, message: Json) -> None:
        line = msgspec.json.encode(message) + b"\n"
        with self._write_lock, suppress(OSError):  # a client that is gone needs no answer
            self._writing.write(line)
            self._writing.flush()

    # --- progress ---------------------------------------------------------------------------------

    def _report_progress(self) -> None:
        """Tell clients that asked for it that their calls still run, so that they keep waiting."""
        with self._changed:
            if self._reporting:
                return
            self._reporting = True
        threading.Thread(target=self._reports, name="ringbolt-progress", daemon=True).start()

    def _reports(self) -> None:
        round = 0
        while True:
            round += 1
            with self._changed:
                waiting = [each for each in self._running.values() if each.progress is not None]
                if not waiting:
                    self._reporting = False
                    return
                if round > 1:
                    for each in waiting:
                        self._send(progress(each, round - 1))
                self._changed.wait(PROGRESS_SECONDS)


def first_root(answer: Json | None) -> str:
    """The first folder of this machine among a client's roots; empty if there is none."""
    from urllib.parse import unquote, urlsplit  # slow to load, and many clients have no roots

    roots: Any = (answer or {}).get("roots")
    for root in roots if is_list(roots) else ():
        parts = urlsplit(str(root.get("uri", "")) if is_dict(root) else "")
        folder = unquote(parts.path)
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and os.path.isdir(folder):
            return folder
    return ""


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of standard input and output.

    Whatever else reads or prints in this process, or in a command it starts, must not disturb the client.
    """
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


def serve(
    location: str = "", *, tools: str = "core", workspace: str = "", session: str = "", agent: str = ""
) -> None:
    """Serve one client over standard input and output until it disconnects.

    The first call opens the store, so that the model learns why a store cannot be opened, and what to do. The
    workspace defaults to the client's first root, otherwise the current folder; the agent to the client's
    name.
    """
    # Die of an interrupt without a traceback: whatever was answered is written.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    client = Client(location, workspace, session, agent)
    try:
        Server(client, tools, *_own_streams()).run()
    finally:
        # A call that still waits for a lock or a person does not keep the process alive; nothing is lost.
        closing = threading.Thread(target=client.close, daemon=True)
        closing.start()
        closing.join(LAST_SECONDS)
