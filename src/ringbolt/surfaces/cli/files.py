"""The commands that read and write files: handoff, receive, export, import, backup, restore."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ...core.handoff import Handoff
from ...core.transfer import Transfer
from ...files.folder_operations import Folders
from ...model.errors import InvalidInput
from .command import Command, operation_command
from .console import answer, as_json, call, given, is_terminal, line, open_memory, text_of, warn, written
from .parameters import KEY, argument
from .progress_bar import progress
from .render import plain


@click.command(
    "handoff",
    cls=Command,
    task=True,
    examples=("ringbolt handoff deploy.md", "ringbolt handoff | ssh other ringbolt receive -"),
)
@click.argument("path", required=False)
@click.option("--budget", metavar="TOKENS", type=int, help="Maximum tokens of the part for reading.")
@click.option("--max-bytes", metavar="NUMBER", type=int, help="Maximum size of the whole file.")
def handoff_command(path: str | None, budget: int | None, max_bytes: int | None) -> None:
    """Write a task as one bounded file, to PATH or to standard output.

    Any agent can read it, and `ringbolt receive` turns it back into a task.
    """
    to_file = path not in (None, "-")

    def show(data: Any) -> None:
        if to_file:
            click.echo(f"{line(path)}: {len(data.encode()):,} bytes")
        else:
            plain(data)

    arguments = {
        "task_id": given().get("task"), "path": path if to_file else None, "budget": budget,
        "max_bytes": max_bytes,
    }  # fmt: skip
    answer(call(Handoff, "task_handoff", arguments), show)


def _capsule(arguments: dict[str, Any]) -> None:
    if arguments["path"] == "-":
        arguments["capsule"] = text_of(arguments.pop("path"))


receive_command = operation_command(
    "receive",
    Handoff,
    "task_receive",
    argument("path"),
    KEY,
    prepare=_capsule,
    show=written,
    task=False,
    create=True,
    help="Import a task that was handed over, from PATH or standard input (-), as a new task.",
    examples=("ringbolt receive deploy.md", "ringbolt receive - < deploy.md"),
)

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
    examples=(
        "ringbolt export events.jsonl",
        "ringbolt export events.jsonl --task 7k3m",
        "ringbolt export memory --format bank",
    ),
)
@click.argument("path")
@FORMAT
def export_command(path: str, kind: str | None) -> None:
    """Write the complete ledger, or one task, to a file or folder at PATH."""
    task = given().get("task")
    if kind in (None, "events"):
        count = call(Transfer, "export_events", {"path": path, "task_id": task})
        answer(count, lambda count: click.echo(f"{line(path)}: {count:,} events"))
    else:
        answer(call(Folders, f"export_{kind}", {"folder": path, "task_id": task}), _show_folder)


def _show_folder(data: Any) -> None:
    click.echo(f"{line(data['path'])}: {data['written']} files written, {data['removed']} removed")
    for warning in data["warnings"]:
        warn(warning)


@click.command(
    "import",
    cls=Command,
    examples=("ringbolt import events.jsonl", "ringbolt import memory --format bank"),
)
@click.argument("path")
@FORMAT
def import_command(path: str, kind: str | None) -> None:
    """Import what `ringbolt export` wrote to PATH; nothing is added twice, nothing is overwritten.

    For a folder, --format says which kind it is.
    """
    if kind is None and os.path.isdir(path):
        raise click.UsageError(f"{path} is a folder: add --format bank or --format states.")
    with open_memory(Folders, create=True) as memory, progress(memory, "Importing"):
        do = {"bank": memory.import_bank, "states": memory.import_states}.get(
            kind or "", memory.import_events
        )
        answer(as_json(do(path)), _show_import)


def _show_import(data: Any) -> None:
    tasks = len(data["tasks"])
    click.echo(f"{data['added']:,} events added to {tasks:,} tasks; {data['known']:,} were known.")
    for conflict in data["conflicts"]:
        warn(
            f"the two stores continued {conflict['task_id']} differently from #{conflict['seq']} on;"
            f" the other history is kept as {conflict['kept_as']}"
        )
    for warning in data.get("warnings", ()):
        warn(warning)


backup_command = operation_command(
    "backup",
    Transfer,
    "backup",
    argument("path"),
    show=lambda _: click.echo("Backup written."),
    task=False,
    help="Copy the store to a file at PATH while others keep writing.",
    examples=("ringbolt backup /backups/ringbolt.backup",),
)


@click.command("restore", cls=Command, examples=("ringbolt restore /backups/ringbolt.backup --yes",))
@click.argument("path")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def restore_command(path: str, yes: bool) -> None:
    """Replace the store with the backup at PATH. The previous store is kept; its path is printed.

    On a terminal you are asked first; elsewhere --yes is required.
    """
    if not yes and not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise click.UsageError("This replaces the whole store: add --yes to confirm.")
    if not yes and not click.confirm("Replace the whole store?", err=True):
        raise click.Abort
    if not os.path.exists(path):
        raise InvalidInput("invalid_argument", f"There is no file {line(path)}.", "Name a backup.")
    answer(
        call(Transfer, "restore", {"path": path}, create=True),
        lambda kept: click.echo(f"Restored. The previous store is kept in {line(kept)}."),
    )
