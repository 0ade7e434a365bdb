"""`ringbolt task`: show the requests of a task, split it at one, or merge it with another task."""

from __future__ import annotations

from typing import Any

import click

from ....core.split_merge import SplitMerge
from ....core.tasks import Tasks
from ..command import Group, operation_command
from ..console import answer, call, line, task_option, written
from ..parameters import argument
from ..render import minute


def _show_requests(data: Any) -> None:
    for request in data["requests"]:
        click.echo(
            f"#{request['seq']} {minute(request['at'])} {request['status']:8}  {line(request['text'])}"
        )
    if not data["requests"]:
        click.echo("The task has no request.")


task_command = Group(
    "task",
    callback=lambda: answer(call(Tasks, "task_get", task_option()), _show_requests),
    task=True,
    help="Show the requests of a task, split it at one of them, or merge it with another task.",
    examples=(
        "ringbolt task",
        'ringbolt task split 9 --name "Translate the manual"',
        "ringbolt task merge 7k3m",
        "ringbolt undo",
    ),
    commands=[
        operation_command(
            "split",
            SplitMerge,
            "task_split",
            argument("seq", of="at"),
            "*",
            show=written,
            help="Split off the user's instruction SEQ, and what followed, as a new task.\n\n"
            "`ringbolt undo` reverts it.",
            examples=("ringbolt task split 9", 'ringbolt task split 9 --name "Translate the manual"'),
        ),
        operation_command(
            "merge",
            SplitMerge,
            "task_merge",
            argument("other"),
            "*",
            show=written,
            help="Merge the task OTHER into this one.\n\n`ringbolt undo` reverts it.",
            examples=("ringbolt task merge 7k3m", "ringbolt task merge 7k3m --task 2p4q"),
        ),
    ],
)
