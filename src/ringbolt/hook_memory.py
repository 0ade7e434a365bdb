"""HookMemory: the operations that hooks and drains call, which load in about half the time of TaskMemory."""

from __future__ import annotations

from .core.actions import Actions
from .core.entries import Entries
from .core.handoff import Handoff
from .core.tasks import Tasks
from .core.todo_sync import Syncing
from .extract.distillation import Distilling
from .opening import Opening


class HookMemory(Opening, Handoff, Tasks, Syncing, Actions, Entries, Distilling):
    """A memory for the events of a host: it registers, writes, distils and shows tasks."""


__all__ = ["HookMemory"]
