"""`holdfast active-tasks`: the list of active tasks, and the file that shows or holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .console import Group, JsonErrors, as_json, emit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..memory import TaskMemory
    from ..types import ActiveRow


@click.group(
    "active-tasks", cls=Group, invoke_without_command=True, short_help="Active tasks and their file."
)
@click.option(
    "--store", metavar="STORE", help="Path or URL of the store, instead of the one of the settings."
)
@click.option("--workspace", metavar="FOLDER", help="The workspace, instead of that of the current folder.")
@as_json
@click.pass_context
def active_tasks(context: click.Context, store: str | None, workspace: str | None, plain: bool) -> None:
    """The active tasks of a workspace, and ACTIVE-TASKS.md, which shows them or is their ledger.

    Without a command: list.
    """
    context.obj = {"store": store, "workspace": workspace}
    if context.invoked_subcommand is None:
        context.invoke(list_rows, plain=plain)


def _opened(context: click.Context, create: bool = False) -> TaskMemory:
    from ..config import load_settings
    from ..memory import TaskMemory

    store, workspace = context.obj["store"], context.obj["workspace"]
    settings = load_settings(store=store)
    # The file needs no store; one is made by what writes to it.
    create = create or settings.active_tasks_ledger == "markdown"
    return TaskMemory.open(store, workspace=workspace or "", settings=settings, create=create)


@active_tasks.command("list", short_help="List the open tasks.")
@click.option("--completed", is_flag=True, help="List the completed tasks, too.")
@as_json
@click.pass_context
def list_rows(context: click.Context, completed: bool = False, plain: bool = False) -> None:
    """List the open tasks: the live ones, then those that have had no update for too long."""
    from ..views.active_tasks import HEADINGS, answer

    with JsonErrors(plain), _opened(context) as memory:
        found = memory.active_tasks(completed=completed)
        if plain:
            emit(answer(found))
            return
        sections = {
            "active": [row for row in found.active if not (row.stale or row.completed)],
            "stale": [row for row in found.active if row.stale],
            "completed": [row for row in found.active if row.completed],
        }
        for name, rows in sections.items():
            if rows:
                click.echo(f"{HEADINGS[name]} ({len(rows)})")
                _show(rows)
        if not found.active:
            click.echo("No active tasks.")
        for warning in found.warnings:
            click.echo(f"holdfast: {_safe(warning)}", err=True)
        if found.projection.stale and found.projection.stale_reasons != ("missing",):
            click.echo(
                f"holdfast: the file does not show this: {_safe(', '.join(found.projection.stale_reasons))}",
                err=True,
            )


@active_tasks.command(short_help="Write ACTIVE-TASKS.md anew.")
@as_json
@click.pass_context
def render(context: click.Context, plain: bool) -> None:
    """Write ACTIVE-TASKS.md anew from the store; with the markdown ledger there is nothing to do."""
    with JsonErrors(plain), _opened(context) as memory:
        report = memory.active_tasks_render()
    if plain:
        emit(report.to_dict())
    elif report.applied:
        click.echo(f"{report.path}: {report.diagnostics.rendered} tasks")
    else:
        click.echo(f"Nothing was written: {report.reason}.")


@active_tasks.command(short_help="Add a task, or change it.")
@click.argument("label")
@click.argument("description")
@click.option("--branch", help="The branch that the work is on.")
@click.option("--status", help="For example “In progress”, waiting, blocked, failed, done.")
@click.option("--subagent", metavar="SESSION", help="The session that works on it.")
@click.option("--next", "following", metavar="TEXT", help="What is to be done next.")
@as_json
@click.pass_context
def add(
    context: click.Context,
    label: str,
    description: str,
    branch: str | None,
    status: str | None,
    subagent: str | None,
    following: str | None,
    plain: bool,
) -> None:
    """Add a task with a LABEL, or change the open one that has it."""
    with JsonErrors(plain), _opened(context, create=True) as memory:
        row = memory.active_tasks_add(
            label, description, branch=branch, status=status, subagent=subagent, next=following
        )
        _written(row, plain)


@active_tasks.command(short_help="Mark a task as done.")
@click.argument("label")
@as_json
@click.pass_context
def complete(context: click.Context, label: str, plain: bool) -> None:
    """Mark the task with a LABEL (or id) as done."""
    with JsonErrors(plain), _opened(context) as memory:
        _written(memory.active_tasks_complete(label), plain)


@active_tasks.command(short_help="List the tasks without an update.")
@as_json
@click.pass_context
def stale(context: click.Context, plain: bool) -> None:
    """List the tasks that have had no update for longer than the setting stale_threshold."""
    with JsonErrors(plain), _opened(context) as memory:
        rows = memory.active_tasks_stale()
        if plain:
            emit([row.to_dict() for row in rows])
        elif rows:
            _show(rows)
        else:
            click.echo(f"No task is stale (threshold {memory.settings.stale_threshold}).")


def _written(row: ActiveRow, plain: bool) -> None:
    if plain:
        emit(row.to_dict())
    else:
        _show([row])


def _show(rows: Sequence[ActiveRow]) -> None:
    import time

    from ..views.active_block import age
    from ..views.active_tasks import real_next

    now = time.time()
    for row in rows:
        click.echo(
            f"  [{_safe(row.label)}] {_safe(row.title)} ({_safe(row.status)}), {age(row.updated, now)}"
        )
        for name, value in (("Next", real_next(row)), ("Branch", row.branch), ("Subagent", row.subagent)):
            if value:
                click.echo(f"      {name}: {_safe(value)}")


def _safe(text: str) -> str:
    from ..views.encode import terminal

    return terminal(text).replace("\n", "\\n")
