"""What a new session gets: the tasks that are open where it works, and what is wrong with the memory."""

from __future__ import annotations

from ...files.active_operations import ActiveTasks
from ...journal.event_files import Journal
from ...journal.health import health_lines
from ...ledger.base import Base
from ..host_table import Host

_TOKENS = 500


def open_tasks_text(memory: Base, shape: Host, events_at_hand: int = 0) -> str:
    """The list of open tasks, within the characters that a host takes; empty if there is nothing to say.

    `events_at_hand`: how many waiting events the caller is just handling.
    """
    block = active_tasks(memory).active_tasks_block(budget=_TOKENS).text
    if block:
        block += f"To go on with one of them: {_resume_call(shape)}\n"
    journal = Journal.of(memory.store.url, memory.settings.tenant)
    notes = [f"Task memory: {line}." for line in health_lines(journal, events_at_hand)]
    return "\n".join(part for part in (block, *notes) if part)[: shape.characters]


def active_tasks(memory: Base) -> ActiveTasks:
    """The operations on open tasks alone: loading all others would take longer than making a list."""
    return ActiveTasks(
        memory.store,
        memory.settings,
        origin=memory.origin,
        workspace=memory.workspace,
        repository=memory.repository,
    )


def _resume_call(shape: Host) -> str:
    """What the agent calls to continue a task that is listed."""
    if any(file.servers for file in shape.files):
        return "task_resume with its id, which stands in brackets or in task_list."
    return "the command `ringbolt resume ID`; `ringbolt list` shows the ids."
