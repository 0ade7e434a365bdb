"""The commands that import and export: handoff, receive, export, import, backup, restore, store."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ....core.copying import copy_store
from ....core.handoff import Handoff
from ....core.tasks import Tasks
from ....core.transfer import Transfer
from ....core.verify import Verify
from ....files.folder_operations import Folders
from ....model.errors import InvalidInput
from ....model.results import CopyReport
from ....opening import Opening
from ..command import Command, Group, operation_command
from ..console import (
    answer,
    call,
    common_values,
    is_terminal,
    leave,
    line,
    open_memory,
    opened_with_progress,
    progress_bar,
    task_option,
    text_of,
    warn,
    written,
)
from ..parameters import KEY, argument
from ..render import conflicts, plain


@click.command(
    "handoff",
    cls=Command,
    task=True,
    examples=("ringbolt handoff deploy.md", "ringbolt handoff | ssh other ringbolt receive -"),
)
@click.argument("path", required=False)
@click.option("--budget", metavar="TOKENS", type=int, help="Maximum tokens of the readable part.")
@click.option("--max-bytes", metavar="NUMBER", type=int, help="Maximum size of the whole file.")
def handoff_command(path: str | None, budget: int | None, max_bytes: int | None) -> None:
    """Write a task as one file of limited size, to PATH or to standard output.

    Any agent can read it, and `ringbolt receive` imports it.
    """
    to_file = path not in (None, "-")

    def show(data: Any) -> None:
        if to_file:
            click.echo(f"{line(path)}: {len(data.encode()):,} bytes")
        else:
            plain(data)

    arguments = {
        **task_option(), "path": path if to_file else None, "budget": budget, "max_bytes": max_bytes
    }  # fmt: skip
    answer(call(Handoff, "task_handoff", arguments), show)


def _read_capsule(arguments: dict[str, Any]) -> None:
    if arguments["path"] == "-":
        arguments["capsule"] = text_of(arguments.pop("path"))


receive_command = operation_command(
    "receive",
    Handoff,
    "task_receive",
    argument("path"),
    KEY,
    prepare=_read_capsule,
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
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def export_command(path: str, kind: str | None, force: bool) -> None:
    """Write the complete ledger, or one task, to a file or folder at PATH."""
    if kind in (None, "events"):
        _check_new(path, force)
        count = call(Transfer, "export_events", {"path": path, **task_option()})
        answer(count, lambda count: click.echo(f"{line(path)}: {count:,} events"))
    else:
        answer(call(Folders, f"export_{kind}", {"folder": path, **task_option()}), _show_folder)


def _show_folder(data: Any) -> None:
    click.echo(f"{line(data['path'])}: {data['written']} files written, {data['removed']} removed")
    for warning in data["warnings"]:
        warn(warning)


@click.command(
    "import", cls=Command, examples=("ringbolt import events.jsonl", "ringbolt import memory --format bank")
)
@click.argument("path")
@FORMAT
def import_command(path: str, kind: str | None) -> None:
    """Import an export from PATH; nothing is added twice, nothing is overwritten.

    A folder needs --format.
    """
    if kind is None and os.path.isdir(path):
        raise click.UsageError(f"{path} is a folder: add --format bank or --format states.")
    with opened_with_progress(Folders, "Importing", create=True) as memory:
        report = getattr(memory, f"import_{kind or 'events'}")(path)
    answer(report.to_dict(), _show_import)


def _show_import(data: Any) -> None:
    tasks = len(data["tasks"])
    click.echo(f"{data['added']:,} events added to {tasks:,} tasks; {data['known']:,} were known.")
    conflicts(data["conflicts"], "stores")
    for warning in data.get("warnings", ()):
        warn(warning)


@click.command("backup", cls=Command, examples=("ringbolt backup /backups/ringbolt.backup",))
@click.argument("path")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def backup_command(path: str, force: bool) -> None:
    """Copy the store to a file at PATH while others keep writing."""
    _check_new(path, force)
    answer(call(Transfer, "backup", {"path": path}), lambda _: click.echo(f"{line(path)}: backup written."))


def _check_new(path: str, force: bool) -> None:
    if os.path.isfile(path) and not force:
        raise InvalidInput(
            "invalid_argument",
            f"The file {line(path)} exists.",
            "Name another file, or replace this one with --force.",
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


# --- stores -----------------------------------------------------------------------------------------


class _VerifiableStore(Opening, Verify):
    """A memory that can only be opened, read and verified."""


@click.command("info", cls=Command, examples=("ringbolt store info", "ringbolt store info tasks.db --json"))
@click.argument("location", metavar="[STORE]", required=False)
def info_command(location: str | None) -> None:
    """Describe a store: engine, schema, size, number of tasks and events.

    Without STORE: the configured one, or the one in the user's data folder.
    """
    if location:
        common_values()["store"] = location
    common_values()["everywhere"] = True
    with open_memory(Tasks) as memory:
        ends = memory.store.read(lambda tx: tx.chain_ends())
        facts = memory.store.info()
    facts |= {"tasks": len(ends), "events": sum(end[1] for end in ends.values())}
    answer(facts, _show_facts)


def _show_facts(facts: dict[str, Any]) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:{width}}  {f'{value:,}' if isinstance(value, int) else line(value)}")


@click.command(
    "grant",
    cls=Command,
    examples=("ringbolt store grant ringbolt --store postgresql://owner@localhost/tasks",),
)
@click.argument("role", metavar="ROLE")
def grant_command(role: str) -> None:
    """Let ROLE use the store: it may read and write rows, but not alter or drop tables.

    Run it as the owner of the database, once and after every upgrade; it also creates or migrates the tables.
    The processes that use the store then connect as ROLE.
    """
    common_values()["everywhere"] = True
    with open_memory(Tasks) as memory:
        memory.store.grant(role)
    answer({"role": role}, lambda _: click.echo(f"{line(role)} may use the store."))


@click.command(
    "copy",
    cls=Command,
    examples=("ringbolt store copy tasks.db postgresql://localhost/tasks",),
)
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
def copy_command(source: str, target: str) -> None:
    """Copy the store SRC into DST, which is created if needed; either may be SQLite or PostgreSQL.

    Nothing in DST is overwritten. The same command continues an interrupted copy. At the end both stores are
    verified and compared hash by hash; the exit code is 0 only if the copy is complete.
    """
    with (
        _VerifiableStore.open(source, workspace=None, create=False) as first,
        _VerifiableStore.open(target, workspace=None) as second,
        progress_bar("Copying") as progress,
    ):
        report = copy_store(first, second, progress)
    answer(report.to_dict(), lambda _: _show_copy(report))
    leave(0 if report.ok else 1)


def _show_copy(report: CopyReport) -> None:
    click.echo(f"{report.tasks:,} tasks with {report.events:,} events; {report.copied:,} copied now.")
    for difference in _differences(report):
        click.echo(line(difference))
    if report.ok:
        click.echo("Both stores verify, and every task ends with the same hash.")


def _differences(report: CopyReport) -> list[str]:
    lines: list[str] = []
    if report.behind:
        lines.append(f"Changed in the source since: {_first(report.behind)}. Run the same command again.")
    if report.diverged:
        lines.append(
            f"Not copied, because the target continued them differently: {_first(report.diverged)}."
            " Export and import them instead, which keeps both histories."
        )
    for name, verified in (("source", report.source), ("target", report.target)):
        problems = verified.problems[:10] if verified else ()
        lines += [f"The {name}: {problem.kind}: {problem.detail}" for problem in problems]
    if report.others:
        lines.append(f"The target also has {report.others:,} tasks of its own.")
    return lines


def _first(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


store_command = Group(
    "store",
    help="Describe or copy stores: SQLite files or postgresql:// URLs.",
    examples=("ringbolt store info", "ringbolt store copy tasks.db postgresql://localhost/tasks"),
    commands=[info_command, grant_command, copy_command],
)
