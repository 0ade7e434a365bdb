"""`ringbolt proposals`, `accept` and `decline`: what agents proposed and only the user can decide."""

from __future__ import annotations

from typing import Any

import click

from ....memory import TaskMemory
from ..command import operation_command
from ..console import line, written
from ..parameters import argument
from ..render import minute


def _show(proposals: Any) -> None:
    for one in proposals:
        click.echo(f"#{one['seq']} {minute(one['at'])} by {one['channel']}  {line(one['text'])}")
    if not proposals:
        click.echo("Nothing is proposed.")


proposals_command = operation_command(
    "proposals",
    TaskMemory,
    "task_proposals",
    show=_show,
    help="Show the changes that agents propose and only you can make: to your words, decisions and limits.",
    examples=("ringbolt proposals",),
)
accept_command = operation_command(
    "accept",
    TaskMemory,
    "task_accept",
    argument("proposal"),
    "*",
    show=written,
    help="Accept PROPOSAL and make the change. What an agent wrote stays marked as the agent's.",
    examples=("ringbolt accept 12",),
)
decline_command = operation_command(
    "decline",
    TaskMemory,
    "task_reject",
    argument("proposal"),
    "*",
    show=written,
    help="Decline PROPOSAL; nothing else changes.",
    examples=('ringbolt decline 12 --reason "not before the release"',),
)
