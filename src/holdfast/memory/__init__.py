"""TaskMemory: every operation of Holdfast, one method and one transaction each."""

from __future__ import annotations

from .actions import Actions
from .claims import Claims
from .entries import Entries
from .ledger import Ledger
from .plans import Plans
from .tasks import Tasks


class TaskMemory(Tasks, Plans, Actions, Entries, Claims, Ledger):
    """The memory of tasks. Every method is safe to call from many threads and processes at once."""


__all__ = ["TaskMemory"]
