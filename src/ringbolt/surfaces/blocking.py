"""`smart_wait` for servers: a client that blocks holds no thread, and its wait ends when it has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from ..memory import TaskMemory
from ..model.errors import NotAllowed, RingboltError
from ..model.results import WaitResult
from ..waits.blocking import GONE, BlockingWaits

Run = Callable[[Callable[[], Any]], Awaitable[Any]]

WAIT = "smart_wait"


def blocks(operation: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call waits for something outside; `arguments` come from `operations.prepare`."""
    return operation == WAIT and arguments.get("block", True)


class Waiting:
    """The blocking waits of a server, counted by caller. `run` runs a function on a thread."""

    def __init__(self, memory: TaskMemory, run: Run, most: int) -> None:
        self._waits = BlockingWaits(memory)
        self._run = run
        self._most = most
        self._count: dict[str, int] = {}

    def end(self) -> None:
        """Release every client; their waits continue elsewhere."""
        self._waits.end()

    def keep(self, wait: tuple[str, int]) -> None:
        """Watch a wait that no client blocks on."""
        self._waits.keep(wait)

    async def wait(
        self, memory: TaskMemory, arguments: Mapping[str, Any], gone: asyncio.Event | None
    ) -> WaitResult:
        """The result of a blocking `smart_wait`. If `gone` is set or the call is cancelled, the wait ends."""
        caller = memory.grant.name
        if self._count.get(caller, 0) >= self._most:
            raise NotAllowed(
                "too_many_waits",
                f"This token already has {self._most} blocking waits.",
                "End some of them, or wait with block=false.",
            )
        self._count[caller] = self._count.get(caller, 0) + 1
        try:
            return await self._until_over(memory, arguments, gone)
        finally:
            self._count[caller] -= 1

    async def _until_over(
        self, memory: TaskMemory, arguments: Mapping[str, Any], gone: asyncio.Event | None
    ) -> WaitResult:
        wanted: dict[str, Any] = {**arguments, "block": False}
        started: WaitResult = await self._run(lambda: memory.smart_wait(**wanted))
        if started.state != "watching":  # the same key was used before
            return started
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(over.set)

        wait = started.task_id, started.seq
        self._waits.add(wait, wake)
        try:
            await _first(over, gone)
        finally:
            if self._waits.remove(wait, wake) and not over.is_set():
                await asyncio.shield(asyncio.ensure_future(self._give_up(memory, started)))
        return (await self._run(lambda: memory.wait_status(started.wait_id)))[0]

    async def _give_up(self, memory: TaskMemory, started: WaitResult) -> None:
        with suppress(RingboltError):  # it has just ended, or the task is gone
            await self._run(lambda: memory.wait_cancel(started.wait_id, reason=GONE))


async def _first(over: asyncio.Event, gone: asyncio.Event | None) -> None:
    """Return when the wait is over or the client has gone."""
    events = [over] if gone is None else [over, gone]
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
