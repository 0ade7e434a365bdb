"""TaskMemory: every operation of Ringbolt, one method and one transaction each."""

from __future__ import annotations

from .ask.operations import Asking
from .core.approvals import Approvals
from .core.claims import Claims
from .core.drill_results import Drilling
from .core.notes import Notes
from .core.plans import Plans
from .core.proposing import Proposing
from .core.queue import Queue
from .core.split_merge import SplitMerge
from .core.undo import Undo
from .core.verify import Verify
from .extract.extraction import Extracting
from .extract.patterns import Patterns
from .extract.running_summary import Summarizing
from .files.active_operations import ActiveTasks
from .files.folder_operations import Folders
from .files.mirror_operations import Mirrors
from .goals.operations import Goals
from .hook_memory import HookMemory
from .progress.progress_updates import Progressing
from .progress.report_model import ReportJudging
from .recall.operations import Recalling
from .requests.request_model import RequestJudging
from .retention.operations import Retention
from .sync.operations import MachineSync
from .upkeep.operations import Upkeep
from .waits.operations import Waiting


class TaskMemory(
    HookMemory, ActiveTasks, Folders, Notes, Plans, SplitMerge, Claims, Approvals, Recalling, Asking,
    Summarizing, Extracting, Patterns, Progressing, RequestJudging, ReportJudging, Queue, Proposing,
    Mirrors, Undo, Verify, MachineSync, Waiting, Drilling, Upkeep, Goals, Retention,
):  # fmt: skip
    """Task memory: every operation is a method, safe to call from many threads and processes at once."""


__all__ = ["TaskMemory"]
