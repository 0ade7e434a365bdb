"""`ringbolt active-tasks`: the list of active tasks, and the file that shows or holds it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from ...config import load_settings
from ...files.active_block import age
from ...files.active_tasks import HEADINGS, answer, real_next
from ...memory import TaskMemory
from ...model.errors import RingboltError
from ...model.results import ActiveRow, RenderReport
from .console import EVERYWHERE, Group, called, emit, given, leave, line, open_memory, show, wants_json, warn


@click.group(
    "active-tasks",
    cls=Group,
    invoke_without_command=True,
    short_help="Active tasks and their file.",
    examples=("ringbolt active-tasks", 'ringbolt active-tasks add shop "Deploy the shop" --next "Build it"'),
)
@click.pass_context
def active_tasks_command(context: click.Context) -> None:
    """The active tasks of a workspace, and ACTIVE-TASKS.md, which shows them or is their ledger.

    Without a command: list.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_rows)


def _opened(create: bool = False) -> TaskMemory:

    settings = load_settings(store=given().get("store"))
    # The file needs no store; one is made by what writes to it.
    return open_memory(create=create or settings.active_tasks_ledger == "markdown", settings=settings)


@active_tasks_command.command(
    "list", short_help="List the open tasks.", examples=("ringbolt active-tasks list --completed",)
)
@click.option("--completed", is_flag=True, help="List the completed tasks, too.")
def list_rows(completed: bool = False) -> None:
    """List the open tasks: the live ones, then those that have had no update for too long."""

    with _opened() as memory:
        found = memory.active_tasks(completed=completed)
        if wants_json():
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
            warn(warning)
        if found.projection.stale and found.projection.stale_reasons != ("missing",):
            warn(f"the file does not show this: {', '.join(found.projection.stale_reasons)}")


@active_tasks_command.command(
    short_help="Write ACTIVE-TASKS.md anew.", examples=("ringbolt active-tasks render",)
)
def render() -> None:
    """Write ACTIVE-TASKS.md anew from the store; with the markdown ledger there is nothing to do."""
    with _opened() as memory:
        report = memory.active_tasks_render()
    show(report.to_dict(), _tell_rendered)


def _tell_rendered(report: Any) -> None:
    if report["applied"]:
        click.echo(f"{line(report['path'])}: {report['diagnostics']['rendered']} tasks")
    else:
        click.echo(f"Nothing was written: {line(report['reason'])}.")


@active_tasks_command.command(
    short_help="Add a task, or change it.",
    examples=('ringbolt active-tasks add shop "Deploy the shop" --branch main',),
)
@click.argument("label")
@click.argument("description")
@click.option("--branch", help="The branch that the work is on.")
@click.option("--status", help="For example “In progress”, waiting, blocked, failed, done.")
@click.option("--subagent", metavar="SESSION", help="The session that works on it.")
@click.option("--next", "following", metavar="TEXT", help="What is to be done next.")
def add(
    label: str,
    description: str,
    branch: str | None,
    status: str | None,
    subagent: str | None,
    following: str | None,
) -> None:
    """Add a task with a LABEL, or change the open one that has it."""
    with _opened(create=True) as memory:
        row = memory.active_tasks_add(
            label, description, branch=branch, status=status, subagent=subagent, next=following
        )
        _written(row)


@active_tasks_command.command(
    short_help="Mark a task as done.", examples=("ringbolt active-tasks complete shop",)
)
@click.argument("label")
def complete(label: str) -> None:
    """Mark the task with a LABEL (or id) as done."""
    with _opened() as memory:
        _written(memory.active_tasks_complete(label))


@active_tasks_command.command(
    short_help="List the tasks without an update.", examples=("ringbolt active-tasks stale",)
)
def stale() -> None:
    """List the tasks that have had no update for longer than the setting stale_threshold."""
    with _opened() as memory:
        rows = memory.active_tasks_stale()
        if wants_json():
            emit([row.to_dict() for row in rows])
        elif rows:
            _show(rows)
        else:
            click.echo(f"No task is stale (threshold {memory.settings.stale_threshold}).")


@active_tasks_command.command(
    short_help="Find tasks whose session is gone.",
    examples=("ringbolt active-tasks reconcile --dry-run", "ringbolt active-tasks reconcile --grace 2h"),
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--grace", metavar="TIME", help="How long after its session a task is left alone.")
@EVERYWHERE
def reconcile(dry_run: bool, grace: str | None) -> None:
    """Mark open tasks whose session is gone: to be reviewed where work was done, else abandoned.

    None becomes completed. Each change is an event that `ringbolt undo` takes back.
    """
    _tell_upkeep(called("tasks_reconcile", {"dry_run": dry_run, "grace": grace, **_reach()}))


@active_tasks_command.command(
    short_help="Find duplicates and old failures.",
    examples=("ringbolt active-tasks hygiene", "ringbolt active-tasks hygiene --apply --older-than 7d"),
)
@click.option("--apply/--dry-run", "apply", default=False, help="Do it; else it is only said.")
@click.option("--older-than", metavar="TIME", help="How long nothing was done on what is tidied, like 7d.")
@EVERYWHERE
def hygiene(apply: bool, older_than: str | None) -> None:
    """Mark duplicates as superseded by the one that is kept, and old failures as abandoned.

    Without --apply nothing is changed. Each change is an event that `ringbolt undo` takes back.
    """
    _tell_upkeep(called("tasks_hygiene", {"dry_run": not apply, "older_than": older_than, **_reach()}))


@active_tasks_command.command(
    short_help="Do all of the upkeep once.",
    examples=("ringbolt active-tasks maintain --dry-run", "ringbolt active-tasks maintain --json --render"),
)
@click.option("--apply/--dry-run", "apply", default=True, help="Do it, or only say what would be done.")
@click.option("--older-than", metavar="TIME", help="How long nothing was done on what is tidied, like 7d.")
@click.option("--trust-clock", is_flag=True, help="The clock is right, though it is new to the upkeep.")
@click.option("--render", is_flag=True, help="Write ACTIVE-TASKS.md anew afterwards.")
@click.option("--here", is_flag=True, help="Only in this workspace, not in the whole store.")
def maintain(apply: bool, older_than: str | None, trust_clock: bool, render: bool, here: bool) -> None:
    """Release claims, reconcile, tidy, pause, tell of stuck tasks and put old ones away, in one go.

    For a machine without a worker, from cron. The exit code is 2 if a part of it failed, 1 if all did.
    """

    begun = time.perf_counter()
    with open_memory() as memory:
        report = memory.upkeep_run(
            rules="all",
            workspace=memory.workspace if here else None,
            dry_run=not apply,
            older_than=older_than,
            trust_clock=trust_clock,
        ).to_dict()
        report["render"] = _rendered(memory) if render and apply else None
    report["elapsed_ms"] = round((time.perf_counter() - begun) * 1000, 3)
    _tell_upkeep(report)
    failed = len(report["failures"]) + bool(report["render"] and report["render"]["error"])
    if failed:
        leave(1 if failed >= len(report["counts"]) else 2)


def _rendered(memory: TaskMemory) -> dict[str, Any]:

    try:
        return memory.active_tasks_render().to_dict()
    except RingboltError as error:
        return RenderReport(error=error.to_dict()).to_dict()


def _reach() -> dict[str, Any]:
    return {"workspace": "*"} if given().get("everywhere") else {}


def _tell_upkeep(report: Any) -> None:
    show(report, _show_upkeep)
    if not wants_json():
        for warning in report["warnings"]:
            warn(warning)
        for rule, error in report["failures"].items():
            warn(f"{rule} failed: {line(error)}")


def _show_upkeep(report: Any) -> None:
    for change in report["changes"]:
        told = f"{change['task_id']} {line(change['name'])}: {change['before']} → {change['after']}"
        click.echo(f"  {told} ({line(change['reason'])})")
    if report["left_out"]:
        click.echo(f"  and {report['left_out']:,} more")
    counts = [f"{count:,} {rule}" for rule, count in report["counts"].items() if count]
    would = "would be changed" if report["dry_run"] else "changed"
    click.echo(f"{would.capitalize()}: {', '.join(counts)}." if counts else "There is nothing to do.")


def _written(row: ActiveRow) -> None:
    show(row.to_dict(), lambda _: _show([row]))


def _show(rows: Sequence[ActiveRow]) -> None:

    now = time.time()
    for row in rows:
        click.echo(f"  [{line(row.label)}] {line(row.title)} ({line(row.status)}), {age(row.updated, now)}")
        for name, value in (
            ("Next", real_next(row)),
            ("Evidence", row.evidence),
            ("Outcome unknown", row.unknown),
            ("Branch", row.branch),
            ("Subagent", row.subagent),
        ):
            if value:
                click.echo(f"      {name}: {line(value)}")
