"""`ringbolt summary`: a task in a few sentences."""

from __future__ import annotations

from typing import Any

from ...extract.running_summary import Summarizing
from .console import echo, say
from .parameters import OperationCommand, option
from .render import text


def _show(data: Any) -> None:
    text(data)
    if data["left_out"]:
        echo(f"… {data['left_out']} more events, and since:")
    for one in data["since"]:
        say(one)


summary_command = OperationCommand(
    "summary",
    Summarizing,
    "task_summary",
    option("--detail", metavar="DETAIL"),
    option("--kept", of="refresh", sets=False, help="Show the stored summary as it is, however old."),
    show=_show,
    help="Show a task in three to five sentences, and what happened since, line by line.",
    examples=("ringbolt summary", "ringbolt summary --detail items"),
)
