"""`ringbolt proposals`, `accept` and `reject`: what agents proposed and only the user can decide."""

from __future__ import annotations

from typing import Any

import click

from ...memory import TaskMemory
from .command import operation_command
from .console import line, written
from .parameters import argument
from .render import minute


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
    short_help="Show what agents proposed to you.",
    help="Show what agents wanted to change and only you can: your own words, decisions and limits.",
    examples=("ringbolt proposals",),
)
accept_command = operation_command(
    "accept",
    TaskMemory,
    "task_accept",
    argument("proposal"),
    "--reason",
    show=written,
    short_help="Accept a proposal.",
    help="Accept PROPOSAL, which is done now. What an agent wrote stays marked as the agent's.",
    examples=("ringbolt accept 12",),
)
reject_command = operation_command(
    "reject",
    TaskMemory,
    "task_reject",
    argument("proposal"),
    "--reason",
    show=written,
    short_help="Reject a proposal.",
    help="Reject PROPOSAL; nothing else changes.",
    examples=('ringbolt reject 12 --reason "not before the release"',),
)
