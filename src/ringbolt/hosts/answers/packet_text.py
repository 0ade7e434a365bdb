"""The resume packet as a host takes it."""

from __future__ import annotations

from ...ledger.base import Base
from ...packet.operations import Views
from ..host_table import Host


def packet_text(memory: Base, task: str, shape: Host, events_at_hand: int = 0) -> str:
    """The resume packet of a task, within the characters that a host takes.

    `events_at_hand`: how many waiting events the caller is just handling.
    """
    # Only the views: loading all other operations would take longer than making the packet.
    views = Views(memory.store, memory.settings, origin=memory.origin, workspace=memory.workspace)
    views.events_at_hand = events_at_hand
    budget = shape.tokens
    text = views.task_resume(task, budget=budget).text
    while len(text) > shape.characters:
        budget = budget * shape.characters * 9 // (10 * len(text))
        text = views.task_resume(task, budget=budget).text
    return text
