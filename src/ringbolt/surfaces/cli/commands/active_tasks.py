"""`ringbolt active-tasks`: the list of active tasks, and the file that shows or holds it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from ....config import load_settings
from ....files.active_block import age
from ....files.active_operations import ActiveTasks
from ....files.active_tasks import HEADINGS, real_next
from ....files.active_tasks import answer as public_form
from ....memory import TaskMemory
from ....model.errors import RingboltError
from ....model.results import ActiveRow, RenderReport
from ....upkeep.operations import Upkeep
from ..command import Command, Group, operation_command
from ..console import answer, common_values, emit, every_workspace, leave, line, open_memory, wants_json, warn
from ..parameters import option


def _opened(create: bool = False) -> ActiveTasks:
    settings = load_settings(store=common_values().get("store"))
    # With the markdown ledger the file is enough, and the first write creates the store.
    create = create or settings.active_tasks_ledger == "markdown"
    return open_memory(ActiveTasks, create=create, settings=settings)


@click.command("list", cls=Command, examples=("ringbolt active-tasks list --completed",))
@click.option("--completed", is_flag=True, help="Include completed tasks.")
def list_command(completed: bool) -> None:
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


@click.command("render", cls=Command, examples=("ringbolt active-tasks render",))
def render_command() -> None:
    """Write ACTIVE-TASKS.md from the store; with the markdown ledger there is nothing to do."""
    with _opened() as memory:
        report = memory.active_tasks_render()
    answer(report.to_dict(), _show_rendered)


def _show_rendered(report: Any) -> None:
    if report["applied"]:
        click.echo(f"{line(report['path'])}: {report['diagnostics']['rendered']} tasks")
    else:
        click.echo(f"Nothing was written: {line(report['reason'])}.")


@click.command(
    "add", cls=Command, examples=('ringbolt active-tasks add shop "Deploy the shop" --branch main',)
)
@click.argument("label")
@click.argument("description")
@click.option("--branch", metavar="NAME", help="The branch that the work is on.")
@click.option("--status", metavar="STATUS", help="For example “In progress”, waiting, blocked, failed, done.")
@click.option("--subagent", metavar="SESSION", help="The session that works on it.")
@click.option("--next", metavar="TEXT", help="What to do next.")
def add_command(label: str, description: str, **more: str | None) -> None:
    """Add a task with a LABEL, or change the open task that has it."""
    with _opened(create=True) as memory:
        _written(memory.active_tasks_add(label, description, **more))


@click.command("complete", cls=Command, examples=("ringbolt active-tasks complete shop",))
@click.argument("label")
def complete_command(label: str) -> None:
    """Mark the task with a LABEL (or id) as done."""
    with _opened() as memory:
        _written(memory.active_tasks_complete(label))


@click.command("stale", cls=Command, examples=("ringbolt active-tasks stale",))
def stale_command() -> None:
    """List the tasks without an update for as long as `stale_threshold` says."""
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


@click.command(
    "maintain",
    cls=Command,
    examples=("ringbolt active-tasks maintain --dry-run", "ringbolt active-tasks maintain --json --render"),
)
@click.option("--apply/--dry-run", "apply", default=True, help="Make the changes, or only report them.")
@click.option("--older-than", metavar="DURATION", help="How long a task must have been idle, such as 7d.")
@click.option("--trust-clock", is_flag=True, help="Trust the clock at once, even if it was just set.")
@click.option("--render", is_flag=True, help="Write ACTIVE-TASKS.md afterwards.")
@click.option("--here", is_flag=True, help="Only in this workspace, not in the whole store.")
def maintain_command(
    apply: bool, older_than: str | None, trust_clock: bool, render: bool, here: bool
) -> None:
    """Run all upkeep rules once: release claims, reconcile, tidy up, pause, report stuck tasks, archive.

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


active_tasks_command = Group(
    "active-tasks",
    callback=lambda: click.get_current_context().invoke(list_command),
    help="The active tasks of a workspace, and ACTIVE-TASKS.md, which shows them or is their ledger.\n\n"
    "Without a command: list.",
    examples=("ringbolt active-tasks", 'ringbolt active-tasks add shop "Deploy the shop" --next "Build it"'),
    commands=[
        list_command,
        render_command,
        add_command,
        complete_command,
        stale_command,
        operation_command(
            "reconcile",
            Upkeep,
            "tasks_reconcile",
            "--dry-run",
            "*",
            defaults={"dry_run": False},
            prepare=every_workspace,
            show=_show_upkeep,
            task=False,
            everywhere=True,
            help="Mark open tasks whose session is gone: for review if work was done, otherwise as abandoned."
            "\n\nNo task becomes completed. Each change is an event that `ringbolt undo` can undo.",
            examples=(
                "ringbolt active-tasks reconcile --dry-run",
                "ringbolt active-tasks reconcile --grace 2h",
            ),
        ),
        operation_command(
            "hygiene",
            Upkeep,
            "tasks_hygiene",
            option("--apply", of="dry_run", sets=False, help="Make the changes, not only report them."),
            option("--dry-run", of="dry_run", sets=True),
            "*",
            prepare=every_workspace,
            show=_show_upkeep,
            task=False,
            everywhere=True,
            help="Supersede duplicates by the task that is kept, and abandon old failures.\n\n"
            "Without --apply nothing is changed. Each change is an event that `ringbolt undo` can undo.",
            examples=(
                "ringbolt active-tasks hygiene",
                "ringbolt active-tasks hygiene --apply --older-than 7d",
            ),
        ),
        maintain_command,
    ],
)
