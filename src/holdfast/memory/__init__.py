"""TaskMemory: every operation of Holdfast, one method and one transaction each."""

from __future__ import annotations

from .actions import Actions
from .active import ActiveTasks
from .claims import Claims
from .entries import Entries
from .folders import Folders
from .handoff import Handoff
from .mirrors import Mirrors
from .plans import Plans
from .recalling import Recalling
from .tasks import Tasks
from .transfer import Transfer
from .undo import Undo
from .verify import Verify


class TaskMemory(
    Folders, Handoff, Tasks, Plans, Actions, Entries, Claims, Undo, Verify, Transfer, Mirrors, Recalling,
    ActiveTasks,
):  # fmt: skip
    """The memory of tasks. Every method is safe to call from many threads and processes at once."""


__all__ = ["TaskMemory"]
