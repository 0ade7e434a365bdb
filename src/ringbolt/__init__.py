"""Ringbolt: task memory for LLM agents that survives compaction, restarts, crashes and hand-overs.

from ringbolt import TaskMemory

memory = TaskMemory.open("tasks.db")
task = memory.task_register("Deploy", plan=["Build", "Push", "Run"])
memory.task_update(task.task_id, "Image built as v1.2.3", step=1, step_status="completed")
memory.task_get(task.task_id).next_title
"""

from __future__ import annotations

import importlib

from ._version import __version__

TYPE_CHECKING = False  # typing takes longer to load than `ringbolt statusline` to answer
if TYPE_CHECKING:
    from .aio import AsyncTaskMemory
    from .config import load_settings
    from .core.copying import copy_store
    from .memory import TaskMemory
    from .model.errors import Conflict, InvalidInput, NotFound, RingboltError, StoreError
    from .model.results import (
        ActiveBlock,
        ActiveRow,
        ActiveTaskList,
        Distilled,
        DrillResults,
        Extraction,
        FactPage,
        FolderExport,
        FolderImport,
        GoalStatus,
        ImportReport,
        Job,
        JobsStatus,
        MirrorStatus,
        Packet,
        ProgressReport,
        Recall,
        Removal,
        RenderReport,
        UpkeepReport,
        VerifyReport,
        WaitResult,
    )  # fmt: skip
    from .model.settings import Settings
    from .model.types import (
        Answer,
        Drill,
        Entry,
        Event,
        Pattern,
        PlanVersion,
        Step,
        Summary,
        Task,
        TaskCard,
        TaskPage,
        Thread,
        Written,
    )  # fmt: skip
    from .worker.worker import Worker

__all__ = [
    "ActiveBlock",
    "ActiveRow",
    "ActiveTaskList",
    "Answer",
    "AsyncTaskMemory",
    "Conflict",
    "Distilled",
    "Drill",
    "DrillResults",
    "Entry",
    "Event",
    "Extraction",
    "FactPage",
    "FolderExport",
    "FolderImport",
    "GoalStatus",
    "ImportReport",
    "InvalidInput",
    "Job",
    "JobsStatus",
    "MirrorStatus",
    "NotFound",
    "Packet",
    "Pattern",
    "PlanVersion",
    "ProgressReport",
    "Recall",
    "Removal",
    "RenderReport",
    "RingboltError",
    "Settings",
    "Step",
    "StoreError",
    "Summary",
    "Task",
    "TaskCard",
    "TaskMemory",
    "TaskPage",
    "Thread",
    "UpkeepReport",
    "VerifyReport",
    "WaitResult",
    "Worker",
    "Written",
    "__version__",
    "copy_store",
    "load_settings",
]  # fmt: skip
# Where the public names are defined; small modules come first. A name is imported on first use, so that a
# command that needs one room does not load all of them.
_HOMES = (
    "model.errors", "model.types", "model.results", "model.settings", "config", "core.copying", "memory",
    "worker.worker", "aio",
)  # fmt: skip


def __getattr__(name: str) -> object:
    for home in _HOMES if name in __all__ else ():
        module = importlib.import_module(f"{__name__}.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'ringbolt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
