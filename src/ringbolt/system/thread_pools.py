"""Threads for callers with an event loop: reads, writes and waits have each their own.

Writes wait for each other and for other processes, and a wait may last for hours. With one pool for all of
them, forty blocked writes would hold up every read.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal, TypeVar

R = TypeVar("R")

Use = Literal["read", "write", "wait"]
# Enough that many writers can share one commit, and that waits hardly ever wait for each other. A thread is
# started when it is first needed.
THREADS: dict[Use, int] = {"read": 16, "write": 32, "wait": 256}
# Operations that last until something else happens.
WAITS = frozenset(("smart_wait", "goal_check"))


def use_of(operation: str, scope: str) -> Use:
    """Which threads a call belongs on."""
    if operation in WAITS:
        return "wait"
    return "write" if scope == "write" else "read"


class ThreadPools:
    """The three pools; threads are started when they are first needed."""

    def __init__(self, name: str, sizes: dict[Use, int] | None = None) -> None:
        self._pools = {
            use: ThreadPoolExecutor(size, thread_name_prefix=f"{name}-{use}")
            for use, size in {**THREADS, **(sizes or {})}.items()
        }

    def submit(self, use: Use, work: Callable[[], R]) -> Future[R]:
        """Run a function on a thread of its use."""
        return self._pools[use].submit(work)

    def shutdown(self, wait: bool) -> None:
        """Take no more work; with `wait`, until all of it is done."""
        for pool in self._pools.values():
            pool.shutdown(wait=wait)
