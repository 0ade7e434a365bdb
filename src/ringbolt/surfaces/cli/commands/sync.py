"""`ringbolt sync`: exchange events with other machines."""

from __future__ import annotations

from typing import Any

import click

from ....sync.operations import MachineSync
from ..command import Command
from ..console import answer, common_values, leave, line, named_task, opened_with_progress, warn
from ..render import conflicts


@click.command(
    "sync",
    cls=Command,
    task=True,
    examples=(
        "ringbolt sync origin",
        "ringbolt sync /mnt/shared/tasks --key ~/.ringbolt-sync-key",
        "ringbolt sync https://tasks.example:8377 --dry-run",
    ),
)
@click.argument("remote", required=False, default="")
@click.option("--key", "key_file", metavar="FILE", default="", help="Encrypt with the key in this file.")
@click.option("--dry-run", is_flag=True, help="Report what would be exchanged, and change nothing.")
def sync_command(remote: str, key_file: str, dry_run: bool) -> None:
    """Send what REMOTE lacks and merge what it has. Default: the remote in the settings.

    REMOTE is a git repository (URL, path or name of a remote), a folder, or the address of a server. Branches
    and files of a repository are never touched. The exit code is 1 if something on the remote cannot be used.
    """
    with opened_with_progress(MachineSync, "Syncing", create=not dry_run) as memory:
        task = named_task(memory, named) if (named := common_values().get("task")) else None
        report = memory.sync(remote, task, key_file=key_file, dry_run=dry_run)
    answer(report.to_dict(), _show)
    leave(1 if report.rejected or report.waiting else 0)


def _show(data: Any) -> None:
    sent, received = ("to send", "to receive") if data["dry_run"] else ("sent", "received")
    tasks = f" of {len(data['tasks']):,} tasks" if data["tasks"] else ""
    click.echo(f"{data['sent']:,} events {sent}, {data['received']:,} {received}{tasks}.")
    if data["purged"]:
        click.echo(f"{data['purged']:,} events belong to tasks that were purged here.")
    conflicts(data["conflicts"], "machines")
    for rejected in data["rejected"]:
        warn(f"cannot be used: {line(rejected)}")
    if data["waiting"]:
        warn(f"{data['waiting']} segments follow events that no machine has sent yet; sync that machine")
