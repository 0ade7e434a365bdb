"""`ringbolt task`: show the requests of a task, split it at one, or merge it with another task."""

from __future__ import annotations

from typing import Any

import click

from ...core.split_merge import SplitMerge
from ...core.tasks import Tasks
from .command import Group, operation_command
from .console import answer, call, line, task_option, written
from .parameters import KEY, TOKEN, argument
from .render import minute


@click.group(
    "task",
    cls=Group,
    task=True,
    invoke_without_command=True,
    examples=(
        "ringbolt task",
        'ringbolt task split 9 --name "Translate the manual"',
        "ringbolt task merge 7k3m",
        "ringbolt undo",
    ),
)
@click.pass_context
def task_command(context: click.Context) -> None:
    """Show the requests of a task, split it at one of them, or merge it with another task."""
    if context.invoked_subcommand is None:
        answer(call(Tasks, "task_get", task_option()), _show_requests)


def _show_requests(data: Any) -> None:
    for request in data["requests"]:
        click.echo(
            f"#{request['seq']} {minute(request['at'])} {request['status']:8}  {line(request['text'])}"
        )
    if not data["requests"]:
        click.echo("The task has no request.")


for _command in (
    operation_command(
        "split",
        SplitMerge,
        "task_split",
        argument("seq", of="at"),
        "--name",
        TOKEN,
        KEY,
        show=written,
        short_help="Split off an instruction and later events as a new task.",
        help="Split off the user's instruction SEQ, and everything recorded since, as a new task."
        " `ringbolt undo` reverts it.",
        examples=("ringbolt task split 9", 'ringbolt task split 9 --name "Translate the manual"'),
    ),
    operation_command(
        "merge",
        SplitMerge,
        "task_merge",
        argument("other"),
        TOKEN,
        KEY,
        show=written,
        short_help="Merge another task into this one.",
        help="Merge the task OTHER into this one. `ringbolt undo` reverts it.",
        examples=("ringbolt task merge 7k3m", "ringbolt task merge 7k3m --task 2p4q"),
    ),
):
    task_command.add_command(_command)
