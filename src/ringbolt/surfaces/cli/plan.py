"""`ringbolt plan`: the plan, and what changes it."""

from __future__ import annotations

from typing import Any

import click

from .console import Group, line, of_task, text_of
from .render import minute, steps, written

NOTE = click.option("--note", metavar="TEXT", help="A note that stays with the step.")
MARKS = {
    "done": ("completed", "Mark a step as done."),
    "start": ("active", "Mark a step as begun."),
    "fail": ("failed", "Mark a step as failed."),
    "skip": ("skipped", "Mark a step as skipped."),
    "reopen": ("pending", "Mark a step as not begun."),
}


@click.group(
    "plan",
    cls=Group,
    task=True,
    invoke_without_command=True,
    short_help="Show the plan, or change it.",
    examples=(
        "ringbolt plan",
        "ringbolt plan set Build Push Run",
        "ringbolt plan add Check --after Run",
        "ringbolt plan done 1",
    ),
)
@click.pass_context
def plan_command(context: click.Context) -> None:
    """Show the plan of a task. The commands below change it."""
    if context.invoked_subcommand is None:
        of_task("task_drill_down", {"limit": 1000}, _tell_plan)


def _tell_plan(data: Any) -> None:
    for text in steps(data["items"]):
        click.echo(text)
    if not data["items"]:
        click.echo("There is no plan.")
    if data["left_out"]:
        click.echo(f"  … and {data['left_out']} more")


@plan_command.command(
    "set",
    task=True,
    short_help="Make the plan, or put a new one in its place.",
    examples=("ringbolt plan set Build Push Run", 'ringbolt plan set Build Run --because "no registry"'),
)
@click.argument("titles", metavar="STEP...", nargs=-1, required=True)
@click.option("--because", metavar="TEXT", help="Why the plan changes.")
def set_plan(titles: tuple[str, ...], because: str | None) -> None:
    """Make the plan of these STEPs, in order. Steps that stay keep their status; none is erased."""
    of_task("task_plan", {"steps": titles, "reason": because}, written)


@plan_command.command(
    "add", task=True, short_help="Add steps.", examples=("ringbolt plan add Check --after Run",)
)
@click.argument("titles", metavar="STEP...", nargs=-1, required=True)
@click.option("--after", metavar="STEP", help="The step after which they are added; else the last.")
def add_steps(titles: tuple[str, ...], after: str | None) -> None:
    """Add STEPs to the plan."""
    of_task("task_plan", {"steps": titles, "append": True, "after": after}, written)


def _marking(word: str, status: str, short_help: str) -> None:
    @plan_command.command(word, task=True, short_help=short_help, examples=(f"ringbolt plan {word} 1",))
    @click.argument("step")
    @NOTE
    def mark(step: str, note: str | None) -> None:
        of_task("task_item_update", {"item": step, "status": status, "note": text_of(note)}, written)

    mark.help = f"{short_help} STEP is its id, its number from 1, or its title."


for _word, (_status, _help) in MARKS.items():
    _marking(_word, _status, _help)


@plan_command.command(
    "change",
    task=True,
    short_help="Change a step in any way.",
    examples=('ringbolt plan change 2 --title "Push to ghcr.io" --after build',),
)
@click.argument("step")
@click.option("--status", metavar="STATUS", help="pending, active, completed, failed, skipped or cancelled.")
@click.option("--title", metavar="TEXT", help="Another title.")
@NOTE
@click.option("--issue", metavar="TEXT", help="What is in its way now; an empty text clears it.")
@click.option("--after", "depends_on", metavar="STEP", multiple=True, help="A step that must be done before.")
@click.option("--expect", metavar="VERSION", type=int, help="Refuse if the step has another version.")
def change_step(
    step: str,
    status: str | None,
    title: str | None,
    note: str | None,
    issue: str | None,
    depends_on: tuple[str, ...],
    expect: int | None,
) -> None:
    """Change a STEP: its status, title, note, issue or dependencies."""
    arguments = {
        "item": step, "status": status, "title": title, "note": text_of(note), "active_issue": issue,
        "depends_on": depends_on, "expect": expect,
    }  # fmt: skip
    of_task("task_item_update", arguments, written)


@plan_command.command(
    "history", task=True, short_help="Every plan that the task has had.", examples=("ringbolt plan history",)
)
def history() -> None:
    """Every plan that the task has had, each as it was when it was made."""
    of_task("task_plans", {}, _tell_plans)


def _tell_plans(data: Any) -> None:
    for plan in data:
        why = f", because {line(plan['reason'])}" if plan["reason"] else ""
        click.echo(f"Plan v{plan['version']} #{plan['seq']} {minute(plan['at'])}{why}")
        for text in steps(plan["items"]):
            click.echo(text)
    if not data:
        click.echo("There is no plan.")


@plan_command.command(
    "progress", task=True, short_help="How far it likely is.", examples=("ringbolt plan progress",)
)
def progress() -> None:
    """How the plan stands, and what the agent's words and deeds let conclude."""
    of_task("task_progress", {}, _tell_progress)


def _tell_progress(data: Any) -> None:
    for item in data["items"]:
        likely = f"  likely {item['suggestion']} (#{item['cause']})" if item["suggestion"] else ""
        click.echo(f"  {item['status']:9}  {line(item['id'])}  {line(item['title'])}{likely}")
    if not data["items"]:
        click.echo("There is no plan.")
