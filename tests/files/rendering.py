"""ACTIVE-TASKS.md from rows, as the operations render it."""

from __future__ import annotations

from ringbolt.files.active_tasks import rendered, select
from ringbolt.model.results import Projection


def render(rows, projection=None, position=None) -> str:
    """The file for rows that are not selected yet."""
    projection = projection or Projection()
    return rendered(select(rows, projection), projection, position)
