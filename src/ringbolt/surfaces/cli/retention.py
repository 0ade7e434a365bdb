"""`ringbolt purge` and `ringbolt forget`: permanent removal. Both first report what would be removed."""

from __future__ import annotations

from typing import Any

import click

from ...retention.operations import Retention
from .command import operation_command
from .console import given, line
from .parameters import option

CONFIRM = option("--confirm", metavar="TOKEN", help="The token from the same call without it.")
HOW = (
    "Without --confirm nothing changes: it reports what would be removed, and prints a token that is valid"
    " for ten minutes and for exactly that. This cannot be undone."
)


def _show(data: Any) -> None:
    what = f"{data['events']:,} events of {data['tasks']:,} tasks"
    if data["carried"]:
        what += f", and {data['carried']:,} of others that repeat them"
    if data["waiting"]:
        what += f", and {data['waiting']:,} that are not written yet"
    if data["done"]:
        click.echo(f"Removed: {what}.")
    else:
        click.echo(f"Would be removed: {what}.")
        for task_id in data["task_ids"]:
            click.echo(f"  {task_id}")
        click.echo(f"To remove them, until {data['expires_at'][11:16]} UTC: --confirm {data['token']}")
    for path in data["elsewhere"]:
        click.echo(f"Copies may remain in {line(path)}; remove them yourself.")
    for warning in data["warnings"]:
        click.echo(f"Note: {line(warning)}")


def _everywhere(arguments: dict[str, Any]) -> None:
    if given().get("everywhere"):
        arguments["workspace"] = None


purge_command = operation_command(
    "purge",
    Retention,
    "purge",
    option("--older-than", metavar="DURATION"),
    option("--status", metavar="STATUS", convert=list, help="Only tasks with this status; repeat it."),
    option("--not-archived", of="archived", sets=False, help="Also tasks that are not archived."),
    option("--kind", type=click.Choice(["task", "goal"]), metavar=None, help="Only tasks, or only goals."),
    option("--limit"),
    CONFIRM,
    prepare=_everywhere,
    show=_show,
    everywhere=True,
    help="Permanently remove tasks that ended and have not changed for some time, or one with --task.\n\n"
    + HOW,
    examples=("ringbolt purge --older-than 90d", "ringbolt purge --older-than 90d --confirm 6a0f-12ab"),
)

forget_command = operation_command(
    "forget",
    Retention,
    "forget",
    option("--source", metavar="KIND:NAME", required=True),
    CONFIRM,
    show=_show,
    task=False,
    help="Permanently remove what came from one source, everywhere, leaving tombstones without content.\n\n"
    + HOW,
    examples=(
        "ringbolt forget --source session:S1",
        'ringbolt forget --source "text:hunter2" --confirm 6a0f-12ab',
    ),
)
