"""Ringbolt: task memory for LLM agents that survives compaction, restarts, crashes and hand-overs.

from ringbolt import TaskMemory

memory = TaskMemory.open("tasks.db")
task = memory.task_register("Deploy", plan=["Build", "Push", "Run"])
memory.task_update(task.task_id, "Image built as v1.2.3", step=1, step_status="completed")
memory.task_get(task.task_id).next_title
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._version import __version__
    from .aio import AsyncTaskMemory
    from .model.errors import Conflict, RingboltError, InvalidInput, NotFound, StoreError
    from .memory import TaskMemory
    from .core.copying import copy_store

_HOMES = {
    "AsyncTaskMemory": "aio",
    "TaskMemory": "memory",
    "Conflict": "errors",
    "RingboltError": "errors",
    "InvalidInput": "errors",
    "NotFound": "errors",
    "StoreError": "errors",
    "__version__": "_version",
    "copy_store": "memory.copying",
}


def __getattr__(name: str) -> object:
    if (home := _HOMES.get(name)) is None:
        raise AttributeError(f"module 'ringbolt' has no attribute {name!r}")
    # Not importlib: loading that costs more than finding what is asked for.
    return getattr(__import__(f"{__name__}.{home}", fromlist=[name]), name)


__all__ = [
    "AsyncTaskMemory",
    "Conflict",
    "RingboltError",
    "InvalidInput",
    "NotFound",
    "StoreError",
    "TaskMemory",
    "__version__",
    "copy_store",
]
