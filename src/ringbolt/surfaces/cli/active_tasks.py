"""`ringbolt active-tasks`: the list of active tasks, and the file that shows or holds it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from ...config import load_settings
from ...files.active_block import age
from ...files.active_operations import ActiveTasks
from ...files.active_tasks import HEADINGS, real_next
from ...files.active_tasks import answer as public_form
from ...memory import TaskMemory
from ...model.errors import RingboltError
from ...model.results import ActiveRow, RenderReport
from ...upkeep.operations import Upkeep
from .command import Group, operation_command
from .console import answer, emit, every_workspace, given, leave, line, open_memory, wants_json, warn
from .parameters import option


@click.group(
    "active-tasks",
    cls=Group,
    invoke_without_command=True,
    examples=("ringbolt active-tasks", 'ringbolt active-tasks add shop "Deploy the shop" --next "Build it"'),
)
@click.pass_context
def active_tasks_command(context: click.Context) -> None:
    """The active tasks of a workspace, and ACTIVE-TASKS.md, which shows them or is their ledger.

    Without a command: list.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_rows)


def _opened(create: bool = False) -> ActiveTasks:
    settings = load_settings(store=given().get("store"))
    # With the markdown ledger the file is enough, and the first write creates the store.
    create = create or settings.active_tasks_ledger == "markdown"
    return open_memory(ActiveTasks, create=create, settings=settings)


@active_tasks_command.command(
    "list", short_help="List the open tasks.", examples=("ringbolt active-tasks list --completed",)
)
@click.option("--completed", is_flag=True, help="Include completed tasks.")
def list_rows(completed: bool = False) -> None:
    """List the open tasks: live ones first, then stale ones."""
    with _opened() as memory:
        listed = memory.active_tasks(completed=completed)
    if wants_json():
        emit(public_form(listed))
        return
    sections = {
        "active": [row for row in listed.active if not (row.stale or row.completed)],
        "stale": [row for row in listed.active if row.stale],
        "completed": [row for row in listed.active if row.completed],
    }
    for name, rows in sections.items():
        if rows:
            click.echo(f"{HEADINGS[name]} ({len(rows)})")
            _show(rows)
    if not listed.active:
        click.echo("No active tasks.")
    for warning in listed.warnings:
        warn(warning)
    if listed.projection.stale and listed.projection.stale_reasons != ("missing",):
        warn(f"the file is out of date: {', '.join(listed.projection.stale_reasons)}")


@active_tasks_command.command(short_help="Write ACTIVE-TASKS.md.", examples=("ringbolt active-tasks render",))
def render() -> None:
    """Write ACTIVE-TASKS.md from the store; with the markdown ledger there is nothing to do."""
    with _opened() as memory:
        report = memory.active_tasks_render()
    answer(report.to_dict(), _show_rendered)


def _show_rendered(report: Any) -> None:
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
@click.option("--branch", metavar="NAME", help="The branch that the work is on.")
@click.option("--status", metavar="STATUS", help="For example “In progress”, waiting, blocked, failed, done.")
@click.option("--subagent", metavar="SESSION", help="The session that works on it.")
@click.option("--next", metavar="TEXT", help="What to do next.")
def add(label: str, description: str, **more: str | None) -> None:
    """Add a task with a LABEL, or change the open task that has it."""
    with _opened(create=True) as memory:
        _written(memory.active_tasks_add(label, description, **more))


@active_tasks_command.command(
    short_help="Mark a task as done.", examples=("ringbolt active-tasks complete shop",)
)
@click.argument("label")
def complete(label: str) -> None:
    """Mark the task with a LABEL (or id) as done."""
    with _opened() as memory:
        _written(memory.active_tasks_complete(label))


@active_tasks_command.command(short_help="List stale tasks.", examples=("ringbolt active-tasks stale",))
def stale() -> None:
    """List the tasks without an update for longer than the setting stale_threshold."""
    with _opened() as memory:
        rows = memory.active_tasks_stale()
        if wants_json():
            emit([row.to_dict() for row in rows])
        elif rows:
            _show(rows)
        else:
            click.echo(f"No stale tasks (threshold {memory.settings.stale_threshold}).")


# --- upkeep -----------------------------------------------------------------------------------------


def _show_upkeep(report: Any) -> None:
    for change in report["changes"]:
        status = f"{change['task_id']} {line(change['name'])}: {change['before']} → {change['after']}"
        click.echo(f"  {status} ({line(change['reason'])})")
    if report["left_out"]:
        click.echo(f"  and {report['left_out']:,} more")
    counts = [f"{count:,} {rule}" for rule, count in report["counts"].items() if count]
    verb = "Would change" if report["dry_run"] else "Changed"
    click.echo(f"{verb}: {', '.join(counts)}." if counts else "Nothing to do.")
    for warning in report["warnings"]:
        warn(warning)
    for rule, error in report["failures"].items():
        warn(f"{rule} failed: {line(error)}")


for _command in (
    operation_command(
        "reconcile",
        Upkeep,
        "tasks_reconcile",
        "--dry-run --grace",
        defaults={"dry_run": False},
        prepare=every_workspace,
        show=_show_upkeep,
        task=False,
        everywhere=True,
        short_help="Find tasks whose session is gone.",
        help="Mark open tasks whose session is gone: for review if work was done, otherwise as abandoned.\n\n"
        "No task becomes completed. Each change is an event that `ringbolt undo` can undo.",
        examples=("ringbolt active-tasks reconcile --dry-run", "ringbolt active-tasks reconcile --grace 2h"),
    ),
    operation_command(
        "hygiene",
        Upkeep,
        "tasks_hygiene",
        option("--apply", of="dry_run", sets=False, help="Make the changes, not only report them."),
        option("--dry-run", of="dry_run", sets=True),
        "--older-than",
        prepare=every_workspace,
        show=_show_upkeep,
        task=False,
        everywhere=True,
        short_help="Find duplicates and old failures.",
        help="Mark duplicates as superseded by the task that is kept, and old failures as abandoned.\n\n"
        "Without --apply nothing is changed. Each change is an event that `ringbolt undo` can undo.",
        examples=("ringbolt active-tasks hygiene", "ringbolt active-tasks hygiene --apply --older-than 7d"),
    ),
):
    active_tasks_command.add_command(_command)


@active_tasks_command.command(
    short_help="Run all upkeep rules once.",
    examples=("ringbolt active-tasks maintain --dry-run", "ringbolt active-tasks maintain --json --render"),
)
@click.option("--apply/--dry-run", "apply", default=True, help="Make the changes, or only report them.")
@click.option("--older-than", metavar="DURATION", help="How long a task must have been idle, such as 7d.")
@click.option("--trust-clock", is_flag=True, help="Trust the clock at once, even if it was just set.")
@click.option("--render", is_flag=True, help="Write ACTIVE-TASKS.md afterwards.")
@click.option("--here", is_flag=True, help="Only in this workspace, not in the whole store.")
def maintain(apply: bool, older_than: str | None, trust_clock: bool, render: bool, here: bool) -> None:
    """Release claims, reconcile, tidy up, pause, report stuck tasks and archive old ones, in one run.

    For a machine without a worker, from cron. The exit code is 2 if some rules failed, 1 if all did.
    """
    start = time.perf_counter()
    with open_memory(TaskMemory) as memory:
        report = memory.upkeep_run(
            rules="all",
            workspace=memory.workspace if here else None,
            dry_run=not apply,
            older_than=older_than,
            trust_clock=trust_clock,
        ).to_dict()
        report["render"] = _rendered(memory) if render and apply else None
    report["elapsed_ms"] = round((time.perf_counter() - start) * 1000, 3)
    answer(report, _show_upkeep)
    failed = len(report["failures"]) + bool(report["render"] and report["render"]["error"])
    if failed:
        leave(1 if failed >= len(report["counts"]) else 2)


def _rendered(memory: TaskMemory) -> dict[str, Any]:
    try:
        return memory.active_tasks_render().to_dict()
    except RingboltError as error:
        return RenderReport(error=error.to_dict()).to_dict()


# --- output -----------------------------------------------------------------------------------------


def _written(row: ActiveRow) -> None:
    answer(row.to_dict(), lambda _: _show([row]))


def _show(rows: Sequence[ActiveRow]) -> None:
    now = time.time()
    for row in rows:
        click.echo(f"  [{line(row.label)}] {line(row.title)} ({line(row.status)}), {age(row.updated, now)}")
        details = {
            "Next": real_next(row), "Evidence": row.evidence, "Outcome unknown": row.unknown,
            "Branch": row.branch, "Subagent": row.subagent,
        }  # fmt: skip
        for name, value in details.items():
            if value:
                click.echo(f"      {name}: {line(value)}")
