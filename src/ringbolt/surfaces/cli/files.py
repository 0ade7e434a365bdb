"""The commands that read and write files: hand over, export, import, backup, restore."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ...model.errors import InvalidInput
from ...operations import call
from .console import Command, called, given, is_terminal, line, of_task, open_memory, show, text_of, warn
from .progress import progress
from .render import plain, written


@click.command(
    "handoff",
    cls=Command,
    task=True,
    short_help="Write a task as one file for another agent.",
    examples=("ringbolt handoff deploy.md", "ringbolt handoff | ssh other ringbolt receive -"),
)
@click.argument("path", required=False)
@click.option("--budget", metavar="TOKENS", type=int, help="The most tokens of the part for reading.")
@click.option("--max-bytes", metavar="NUMBER", type=int, help="The most bytes of the whole file.")
def handoff_command(path: str | None, budget: int | None, max_bytes: int | None) -> None:
    """Write a task as one bounded file: to PATH, or without one to standard output.

    Any agent can read it, and `ringbolt receive` turns it back into a task.
    """
    to_file = path not in (None, "-")

    def tell(data: Any) -> None:
        if to_file:
            click.echo(f"{line(path)}: {len(data.encode()):,} bytes")
        else:
            plain(data)

    arguments = {"path": path if to_file else None, "budget": budget, "max_bytes": max_bytes}
    of_task("task_handoff", arguments, tell)


@click.command(
    "receive",
    cls=Command,
    short_help="Take in a task that was handed over.",
    examples=("ringbolt receive deploy.md", "ringbolt receive - < deploy.md"),
)
@click.argument("path")
@click.option("--key", help="The same call with the same key is written once.")
def receive_command(path: str, key: str | None) -> None:
    """Take in a task that was handed over, from a PATH or standard input (-), as a new task."""
    source = {"capsule": text_of(path)} if path == "-" else {"path": path}
    show(called("task_receive", {**source, "key": key}, create=True), written)


FORMAT = click.option(
    "--format",
    "kind",
    type=click.Choice(["events", "bank", "states"]),
    help="events: the ledger in one file. bank, states: folders that other tools read.",
)


@click.command(
    "export",
    cls=Command,
    task=True,
    short_help="Write the ledger, or a task, to files.",
    examples=(
        "ringbolt export events.jsonl",
        "ringbolt export events.jsonl --task 7k3m",
        "ringbolt export memory --format bank",
    ),
)
@click.argument("path")
@FORMAT
def export_command(path: str, kind: str | None) -> None:
    """Write the whole ledger, or one task, to a file or folder at PATH, with nothing left out."""
    if kind in (None, "events"):
        arguments = {"path": path, "task_id": given().get("task")}
        show(called("export_events", arguments), lambda count: click.echo(f"{line(path)}: {count:,} events"))
    else:
        of_task(f"export_{kind}", {"folder": path}, _tell_folder)


def _tell_folder(data: Any) -> None:
    click.echo(f"{line(data['path'])}: {data['written']} files written, {data['removed']} removed")
    for text in data["warnings"]:
        warn(text)


@click.command(
    "import",
    cls=Command,
    short_help="Bring in an export or a folder.",
    examples=("ringbolt import events.jsonl", "ringbolt import memory --format bank"),
)
@click.argument("path")
@FORMAT
def import_command(path: str, kind: str | None) -> None:
    """Bring in what `ringbolt export` wrote to PATH; nothing is added twice, nothing is overwritten.

    For a folder, --format says of which kind it is.
    """
    if kind is None and os.path.isdir(path):
        raise click.UsageError(f"{path} is a folder: add --format bank or --format states.")
    with open_memory(create=True) as memory, progress(memory, "Importing"):
        name = f"import_{kind or 'events'}"
        place = "path" if name == "import_events" else "folder"
        show(call(memory, name, {place: path}), _tell_import)


def _tell_import(data: Any) -> None:
    tasks = len(data["tasks"])
    click.echo(f"{data['added']:,} events added to {tasks:,} tasks; {data['known']:,} were known.")
    for conflict in data["conflicts"]:
        warn(
            f"the two stores continued {conflict['task_id']} differently from #{conflict['seq']} on;"
            f" the other side is kept as {conflict['kept_as']}"
        )
    for text in data.get("warnings", ()):
        warn(text)


@click.command(
    "backup",
    cls=Command,
    short_help="Copy the store while it is in use.",
    examples=("ringbolt backup /backups/ringbolt.backup",),
)
@click.argument("path")
def backup_command(path: str) -> None:
    """Copy the store into a file at PATH while everyone goes on writing."""
    show(called("backup", {"path": path}), lambda _: click.echo(f"{line(path)}: written"))


@click.command(
    "restore",
    cls=Command,
    short_help="Put a backup in the place of the store.",
    examples=("ringbolt restore /backups/ringbolt.backup --yes",),
)
@click.argument("path")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def restore_command(path: str, yes: bool) -> None:
    """Put the backup at PATH in the place of the store. What was there is kept in a file that is named.

    On a terminal you are asked first; elsewhere --yes is needed.
    """
    if not yes and not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise click.UsageError("This replaces the whole store: add --yes if that is wanted.")
    if not yes and not click.confirm("Replace the whole store?", err=True):
        raise click.Abort
    if not os.path.exists(path):
        raise InvalidInput("invalid_argument", f"There is no file {line(path)}.", "Name a backup.")
    show(
        called("restore", {"path": path}, create=True),
        lambda kept: click.echo(f"Restored. What was there before is kept in {line(kept)}."),
    )
