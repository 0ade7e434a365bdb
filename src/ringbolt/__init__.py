"""Ringbolt: task memory for LLM agents that survives compaction, restarts, crashes and hand-overs.

from ringbolt import TaskMemory

memory = TaskMemory.open("tasks.db")
task = memory.task_register("Deploy", plan=["Build", "Push", "Run"])
memory.task_update(task.task_id, "Image built as v1.2.3", step=1, step_status="completed")
memory.task_get(task.task_id).next_title
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from .aio import AsyncTaskMemory
    from .core.copying import copy_store
    from .memory import TaskMemory
    from .model.errors import Conflict, InvalidInput, NotFound, RingboltError, StoreError
    from .worker.worker import Worker

# Public names and the modules that hold them. They are imported on first use, so that a command that needs
# one room does not pay for all of them.
_HOMES = {
    "AsyncTaskMemory": "aio",
    "Conflict": "model.errors",
    "InvalidInput": "model.errors",
    "NotFound": "model.errors",
    "RingboltError": "model.errors",
    "StoreError": "model.errors",
    "TaskMemory": "memory",
    "Worker": "worker.worker",
    "copy_store": "core.copying",
}


def __getattr__(name: str) -> object:
    if (home := _HOMES.get(name)) is None:
        raise AttributeError(f"module 'ringbolt' has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


__all__ = [
    "AsyncTaskMemory",
    "Conflict",
    "InvalidInput",
    "NotFound",
    "RingboltError",
    "StoreError",
    "TaskMemory",
    "Worker",
    "__version__",
    "copy_store",
]
