"""`ringbolt ask` and `ringbolt summary`: questions about a task, and the task in a few sentences."""

from __future__ import annotations

from typing import Any

from ....ask.operations import Asking
from ....extract.running_summary import Summarizing
from ..console import echo, say, text_of
from ..parameters import NAMED_TASK, OperationCommand, argument, option
from ..render import text

ask_command = OperationCommand(
    "ask",
    Asking,
    "task_ask",
    argument("question", nargs=-1, required=False, convert=lambda words: text_of(" ".join(words))),
    show=text,
    help="Ask a QUESTION in any words; without one: the state of the task. Each answer cites its events.",
    examples=("ringbolt ask", 'ringbolt ask "Why ghcr.io?"', 'ringbolt ask "What failed since yesterday?"'),
)


def _show(data: Any) -> None:
    text(data)
    if data["left_out"]:
        echo(f"… {data['left_out']} more events, and since:")
    for later in data["since"]:
        say(later)


summary_command = OperationCommand(
    "summary",
    Summarizing,
    "task_summary",
    NAMED_TASK,
    "*",
    option("--kept", of="refresh", sets=False, help="Show the stored summary, however old."),
    show=_show,
    help="Show a TASK in three to five sentences, and later events line by line.",
    examples=("ringbolt summary", "ringbolt summary --detail items"),
)
