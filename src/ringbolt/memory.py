"""TaskMemory: every operation of Ringbolt, one method and one transaction each."""

from __future__ import annotations

from _thread import allocate_lock

from .core.actions import Actions
from .core.claims import Claims
from .core.entries import Entries
from .core.plans import Plans
from .core.todo_sync import Syncing
from .core.tasks import Tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .files.active_operations import ActiveTasks
    from .ask.operations import Asking
    from .extract.distill_operations import Distilling
    from .core.drill_results import Drilling
    from .extract.extract_operations import Extracting
    from .files.folder_operations import Folders
    from .goals.operations import Goals
    from .core.handoff import Handoff
    from .files.mirror_operations import Mirrors
    from .core.notes import Notes
    from .extract.patterns import Patterns
    from .extract.progress_operations import Progressing
    from .core.queue import Queue
    from .recall.operations import Recalling
    from .retention.operations import Retention
    from .extract.summary_operations import Summarizing
    from .core.transfer import Transfer
    from .core.undo import Undo
    from .upkeep.operations import Upkeep
    from .core.verify import Verify
    from .waits.operations import Waiting

    class TaskMemory(
        Folders, Handoff, Notes, Tasks, Plans, Syncing, Actions, Entries, Claims,
        Recalling, ActiveTasks, Asking, Summarizing, Distilling, Extracting, Patterns, Progressing,
        Queue, Mirrors, Undo, Verify, Transfer, Waiting, Drilling, Upkeep,
        Goals, Retention,
    ):  # fmt: skip
        """The memory of tasks. Every method is safe to call from many threads and processes at once."""

else:
    _growing = allocate_lock()

    class _Growing(type):
        """A class that gets the rest of its operations when one of them is first asked for.

        A hook writes one event and ends: what it does not use should cost it no time.
        """

        def __getattr__(cls, name):
            if name.startswith("__"):
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            _grow()
            return type.__getattribute__(cls, name)

        def __dir__(cls):
            _grow()
            return super().__dir__()

    class TaskMemory(Tasks, Plans, Syncing, Actions, Entries, Claims, metaclass=_Growing):
        """The memory of tasks. Every method is safe to call from many threads and processes at once."""

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            _grow()
            return object.__getattribute__(self, name)

    def _grow() -> None:
        """Add the operations that are not there yet; another thread may be about to do the same."""
        from .files.active_operations import ActiveTasks
        from .ask.operations import Asking
        from .extract.distill_operations import Distilling
        from .core.drill_results import Drilling
        from .extract.extract_operations import Extracting
        from .files.folder_operations import Folders
        from .goals.operations import Goals
        from .core.handoff import Handoff
        from .files.mirror_operations import Mirrors
        from .core.notes import Notes
        from .extract.patterns import Patterns
        from .extract.progress_operations import Progressing
        from .core.queue import Queue
        from .recall.operations import Recalling
        from .retention.operations import Retention
        from .extract.summary_operations import Summarizing
        from .core.transfer import Transfer
        from .core.undo import Undo
        from .upkeep.operations import Upkeep
        from .core.verify import Verify
        from .waits.operations import Waiting

        with _growing:
            if not issubclass(TaskMemory, Verify):
                TaskMemory.__bases__ = (
                    Folders, Handoff, Notes, *TaskMemory.__bases__,
                    Recalling, ActiveTasks, Asking, Summarizing, Distilling, Extracting, Patterns,
                    Progressing, Queue, Mirrors, Undo, Verify, Transfer, Waiting, Drilling, Upkeep,
        Goals, Retention,
                )  # fmt: skip


__all__ = ["TaskMemory"]
