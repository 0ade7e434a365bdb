"""The program that a test of waits starts, and kills."""

from __future__ import annotations

import sys

from holdfast import TaskMemory

if __name__ == "__main__":
    url, task, target = sys.argv[1:]
    with TaskMemory.open(url, workspace="/w", reserve_bytes=0, synchronous="off") as memory:
        print("ready", flush=True)
        memory.smart_wait(target, task_id=task, poll_interval=0.05)
        print("resolved", flush=True)
