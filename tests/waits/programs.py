"""The programs that tests of waits start, and kill."""

from __future__ import annotations

import sys
import time

from ringbolt import TaskMemory
from ringbolt.waits.loop import Watcher
from ringbolt.worker.worker import Worker
from tests.worker.programs import die_at, each_in_a_child

OPTIONS = {
    "workspace": "/w", "principal": "owner", "reserve_bytes": 0, "synchronous": "off", "extraction": "off",
    "wait_commands": "on",
}  # fmt: skip


def block(url: str, task: str, target: str) -> None:
    """Wait for something, and say so."""
    with TaskMemory.open(url, workspace="/w", reserve_bytes=0, synchronous="off") as memory:
        print("ready", flush=True)
        memory.smart_wait(target, task_id=task, poll_interval=0.05)
        print("resolved", flush=True)


def decide(memory: TaskMemory, waits: list[str]) -> None:
    """What a person does: decides the first of two waits, and has enough of the second."""
    for wait, call in zip(
        waits,
        (lambda w: memory.acting_as(channel="user").wait_update(w, message="go"), memory.wait_cancel),
        strict=True,
    ):
        if memory.wait_status(wait)[0].state == "watching":
            call(wait)


def work(url: str, how: str, decided: str, at: str) -> int:
    """Decide, and look after waits until one is left, or it dies; how much was asked of the store."""
    asked = die_at(int(at))
    memory = TaskMemory.open(url, **OPTIONS)
    if how == "watcher":
        watcher = Watcher(memory, "victim:0:1")
        until = time.monotonic() + 20
        while memory.jobs_status().kinds.get("wait") != {"leased": 3} and time.monotonic() < until:
            watcher.tick()
        decide(memory, decided.split(","))
        while len(watcher) > 1 and time.monotonic() < until:
            watcher.tick()
        watcher.close()
    else:
        decide(memory, decided.split(","))
    Worker(memory).run_once()
    return asked[0]


if __name__ == "__main__":
    if sys.argv[1] == "victims":
        each_in_a_child(work)
    else:
        block(*sys.argv[2:])
