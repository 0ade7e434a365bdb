"""`ringbolt resume` and `ringbolt state`: what a fresh context needs to continue a task."""

from __future__ import annotations

import click

from ...packet.operations import Views
from .command import Command, operation_command
from .console import answer, call, task_option
from .parameters import option
from .render import plain, text

resume_command = operation_command(
    "resume",
    Views,
    "task_resume",
    option("--budget", metavar="TOKENS"),
    show=text,
    help="Show everything needed to continue a task: the text to inject after a compaction.",
    examples=("ringbolt resume", "ringbolt resume --budget 600"),
)


@click.command(
    "state", cls=Command, task=True, examples=("ringbolt state > state.yaml", "ringbolt state --line")
)
@click.option("--budget", metavar="TOKENS", type=int, help="Maximum number of tokens, from 300 to 1,500.")
@click.option("--line", "one_line", is_flag=True, help="In one line instead.")
def state_command(budget: int | None, one_line: bool) -> None:
    """Show the state of a task as YAML, in a shape that other agents know."""
    if one_line:
        answer(call(Views, "task_line", task_option()), plain)
    else:
        answer(call(Views, "task_state", {**task_option(), "budget": budget}), plain)
