"""`ringbolt ask`: questions about a task."""

from __future__ import annotations

from ...ask.operations import Asking
from .console import text_of
from .parameters import OperationCommand, argument
from .render import text

ask_command = OperationCommand(
    "ask",
    Asking,
    "task_ask",
    argument("question", nargs=-1, required=False, convert=lambda words: text_of(" ".join(words))),
    show=text,
    help="Ask a QUESTION in any words; without one: where the task stands. Each answer cites its events.",
    examples=("ringbolt ask", 'ringbolt ask "Why ghcr.io?"', 'ringbolt ask "What failed since yesterday?"'),
)
