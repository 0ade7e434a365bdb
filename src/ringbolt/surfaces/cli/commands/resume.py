"""`ringbolt resume` and `ringbolt state`: views of a task for a fresh context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ....ledger.base import Base
from ....packet.operations import Views
from ..command import Command, operation_command
from ..console import answer, call, task_option
from ..parameters import NAMED_TASK
from ..render import plain, text


def _turn(memory: Base, arguments: Mapping[str, Any]) -> None:
    """Make the named task the session's current one."""
    if memory.origin.session and arguments.get("task_id"):
        # These load what no other packet needs.
        from ....core.draft_tasks import turn_to
        from ....hosts.answers.taken_tasks import call_hooks

        turn_to(memory, arguments["task_id"])
        call_hooks(memory)


resume_command = operation_command(
    "resume",
    Views,
    "task_resume",
    NAMED_TASK,
    "*",
    show=text,
    before=_turn,
    help="Show what an agent needs to continue a TASK: the text to inject after a compaction.\n\n"
    "If you name a task, it becomes the current one of this session.",
    examples=(
        "ringbolt resume",
        "ringbolt resume 7k3m",
        "ringbolt resume --budget 600",
        "ringbolt resume --repository",
    ),
)


@click.command(
    "state", cls=Command, task=True, examples=("ringbolt state > state.yaml", "ringbolt state --line")
)
@click.argument("named", metavar="[TASK]", required=False)
@click.option("--budget", metavar="TOKENS", type=int, help="Maximum number of tokens, from 300 to 1,500.")
@click.option("--line", "one_line", is_flag=True, help="In one line instead.")
def state_command(named: str | None, budget: int | None, one_line: bool) -> None:
    """Show the state of a TASK for programs and prompts: as YAML, in a shape that other agents know."""
    task = task_option(named)
    if one_line:
        answer(call(Views, "task_line", task), plain)
    else:
        answer(call(Views, "task_state", {**task, "budget": budget}), plain)
