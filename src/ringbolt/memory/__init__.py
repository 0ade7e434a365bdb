"""TaskMemory: every operation of Ringbolt, one method and one transaction each."""

from __future__ import annotations

from _thread import allocate_lock

from .actions import Actions
from .claims import Claims
from .entries import Entries
from .plans import Plans
from .syncing import Syncing
from .tasks import Tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .active import ActiveTasks
    from .asking import Asking
    from .distilling import Distilling
    from .drilling import Drilling
    from .extracting import Extracting
    from .folders import Folders
    from .goals import Goals
    from .handoff import Handoff
    from .mirrors import Mirrors
    from .notes import Notes
    from .patterns import Patterns
    from .progressing import Progressing
    from .queue import Queue
    from .recalling import Recalling
    from .retention import Retention
    from .summarizing import Summarizing
    from .transfer import Transfer
    from .undo import Undo
    from .upkeep import Upkeep
    from .verify import Verify
    from .waiting import Waiting

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
        from .active import ActiveTasks
        from .asking import Asking
        from .distilling import Distilling
        from .drilling import Drilling
        from .extracting import Extracting
        from .folders import Folders
        from .goals import Goals
        from .handoff import Handoff
        from .mirrors import Mirrors
        from .notes import Notes
        from .patterns import Patterns
        from .progressing import Progressing
        from .queue import Queue
        from .recalling import Recalling
        from .retention import Retention
        from .summarizing import Summarizing
        from .transfer import Transfer
        from .undo import Undo
        from .upkeep import Upkeep
        from .verify import Verify
        from .waiting import Waiting

        with _growing:
            if not issubclass(TaskMemory, Verify):
                TaskMemory.__bases__ = (
                    Folders, Handoff, Notes, *TaskMemory.__bases__,
                    Recalling, ActiveTasks, Asking, Summarizing, Distilling, Extracting, Patterns,
                    Progressing, Queue, Mirrors, Undo, Verify, Transfer, Waiting, Drilling, Upkeep,
        Goals, Retention,
                )  # fmt: skip


__all__ = ["TaskMemory"]
