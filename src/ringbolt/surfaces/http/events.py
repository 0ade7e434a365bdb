"""Events over HTTP: pages of JSON, and server-sent event streams that resume where a client left off.

A stream sends each event once, in order, with its number as `id`. A client that reconnects with
`Last-Event-ID` gets the later events, from any server on the same store; the server keeps no state for it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ...ledger.access import find_task
from ...ledger.values import read_event
from ...memory import TaskMemory
from ...model import validate
from ...model.errors import Conflict, RingboltError
from ...model.types import Value
from ...store import Store
from ...store.queries import feed
from ...store.tx import Row
from ..web.queries import LINE
from .guard import Refusal, log
from .metrics import Figures

Run = Callable[[Callable[[], Any]], Awaitable[Any]]


PAGE, MOST = 100, 1000
HEARTBEAT = 15.0
# Seconds between two polls of the store while there are streams: right after a change, and when idle.
SHORTEST, LONGEST = 0.02, 0.25
_MOST_NUMBER = 1 << 62


class News:
    """Polls the store for new events once on behalf of all streams of a server, and wakes them."""

    def __init__(self, store: Store, run: Run, figures: Figures, most_of_token: int) -> None:
        self._most_of_token = most_of_token
        self._streams: Counter[str] = Counter()
        self._store = store
        self._run = run
        self._figures = figures
        self.horizon = feed.Horizon()
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()
        self._soon = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self.ended = False

    async def poll(self) -> int:
        """The position up to which no earlier event can still appear; everything before it is final."""
        async with self._lock:
            before = self.horizon.position
            position: int = await self._run(lambda: self._store.read(self.horizon.advance))
            if position != before:
                self._wake_streams()
        return position

    def changed(self) -> asyncio.Event:
        """An asyncio event that is set at the next change. Get it before reading, so as not to miss one."""
        return self._changed

    def poke(self) -> None:
        """Poll at once, because this server has just written something."""
        self._soon.set()

    def end(self) -> None:
        """End all streams, because the server is shutting down."""
        self.ended = True
        self._wake_streams()

    def check_quota(self, token: str) -> None:
        """Raise Refusal if a token has too many streams."""
        if self._streams[token] >= self._most_of_token:
            raise Refusal(
                "quota",
                f"This token has {self._most_of_token} event streams already.",
                "Close some of them, or raise http_token_streams.",
            )

    @asynccontextmanager
    async def reading(self, token: str) -> AsyncGenerator[None]:
        """Poll the store for as long as at least one stream is open."""
        self._streams[token] += 1
        self._figures.streams += 1
        self._watching = self._watching or asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self._streams[token] -= 1
            self._figures.streams -= 1
            if not self._figures.streams:
                self._watching.cancel()
                self._watching = None

    async def _watch(self) -> None:
        wait = SHORTEST
        while True:
            before = self._changed
            try:
                await self.poll()
            except RingboltError as error:  # the store may be back in a moment
                log.warning("cannot poll the store for events: %s", error.code)
            wait = SHORTEST if self._changed is not before else min(2 * wait, LONGEST)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), wait)
            self._soon.clear()

    def _wake_streams(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class Page(Value, frozen=True, kw_only=True):
    """Some events in order. `next` is the number to continue after."""

    events: tuple[Mapping[str, Any], ...]
    next: int
    more: bool


class Feed:
    """The events of one task, numbered by seq, or of the whole store, numbered by position."""

    def __init__(
        self, memory: TaskMemory, news: News, run: Run, task_id: str | None, *, brief: bool = False
    ) -> None:
        self._memory = memory
        self._news = news
        self._run = run
        self._task_id = task_id
        self._brief = brief

    async def page(self, after: int, limit: int) -> Page:
        """Up to `limit` events after a number."""
        if self._task_id is None:
            until = await self._news.poll()
            return await self._run(lambda: self._of_store(after, until, limit))
        return await self._run(lambda: self._of_task(after, limit))

    def _of_task(self, after: int, limit: int) -> Page:
        memory = self._memory

        def work(tx: Any) -> tuple[list[Row], int]:
            head = find_task(memory, tx, self._task_id)
            self._task_id = head["task_id"]  # a prefix may become ambiguous during a stream
            return tx.events(head["task_id"], after, limit + 1), head["last_seq"]

        rows, last = memory.store.read(work)
        _check_after(after, last)
        return _page(rows, "seq", after, limit, self._brief)

    def _of_store(self, after: int, until: int, limit: int) -> Page:
        _check_after(after, self._news.horizon.newest)
        rows = self._memory.store.read(lambda tx: feed.after(tx, after, until, limit + 1))
        return _page(rows, "position", after, limit, self._brief)


def _check_after(after: int, last: int) -> None:
    if after > last:
        raise Conflict(
            "stale_version",
            f"There is no event {after}; the last one is {last}.",
            "The store may have been restored from a backup. Start again with after=0.",
            current=last,
        )


def _page(rows: list[Row], number: str, after: int, limit: int, brief: bool) -> Page:
    shown = rows[:limit]
    return Page(
        events=tuple(
            {
                **({"position": row["position"]} if number == "position" else {}),
                **(_line(row) if brief else read_event(row).to_dict()),
            }
            for row in shown
        ),
        next=shown[-1][number] if shown else after,
        more=len(rows) > limit,
    )


def _line(row: Row) -> dict[str, Any]:
    """An event as one line, without its data and its changes."""
    return {
        "task_id": row["task_id"],
        "seq": row["seq"],
        "type": row["event_type"],
        "at": row["timestamp"],
        "text": (row["text"] or "")[:LINE],
        "letters": len(row["text"] or ""),
        "step": row["item_id"],
        "ref": row["ref_seq"],
        "agent": row["agent"],
        "channel": row["channel"],
    }


async def answer(request: Request, source: Feed, news: News, heartbeat: float, token: str) -> Response:
    """A page of events, or a stream if the client accepts text/event-stream."""
    query = request.query_params
    start = request.headers.get("last-event-id") or query.get("after") or "0"
    after = whole_number("after", start, 0, _MOST_NUMBER)
    limit = whole_number("limit", query.get("limit") or str(PAGE), 1, MOST)
    first = await source.page(after, limit)
    if request.method == "HEAD" or "text/event-stream" not in request.headers.get("accept", ""):
        data = {"schema_version": 1, "data": first.to_dict()}
        return Response(json.dumps(data), media_type="application/json")
    news.check_quota(token)
    return _StreamOfEvents(_stream(source, news, first, heartbeat), news, token)


class _StreamOfEvents(StreamingResponse):
    """A stream that counts for its token for as long as the request runs, however it ends."""

    def __init__(self, content: AsyncIterator[bytes], news: News, token: str) -> None:
        super().__init__(content, media_type="text/event-stream", headers={"Connection": "close"})
        self._news = news
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._news.reading(self._token):
            await super().__call__(scope, receive, send)


def whole_number(name: str, text: str, least: int, most: int) -> int:
    """A number from a query string. Raises InvalidInput unless it is within the bounds."""
    value = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else text
    return validate.whole(name, value, least, most)


async def _stream(source: Feed, news: News, page: Page, heartbeat: float) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    while not news.ended:
        for event in page.events:
            number = event["position"] if "position" in event else event["seq"]
            yield f"id: {number}\ndata: {json.dumps(event)}\n\n".encode()
        changed = news.changed()
        try:
            page = await source.page(page.next, PAGE)
        except RingboltError as error:  # the client reconnects and gets the error then
            log.warning("ended an event stream: %s", error.code)
            return
        if not page.events:
            try:
                await asyncio.wait_for(changed.wait(), heartbeat)
            except TimeoutError:
                yield b": still here\n\n"
