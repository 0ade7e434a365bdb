"""`ringbolt plan`: show the plan and change it."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ....core.actions import Actions
from ....core.notes import Notes
from ....core.plans import Plans
from ....progress.progress_updates import Progressing
from ..command import Group, operation_command
from ..console import answer, call, line, task_option, written
from ..parameters import BECAUSE, argument, option
from ..render import minute, steps

write_command = partial(operation_command, show=written)
NOTE = option("--note", stdin=True)
# The step is the first positional argument of these commands.
THE_STEP = argument("step")
TITLES = argument("steps", metavar="STEP...", required=True)
MARKS = {
    "done": ("completed", "Mark a step as done."),
    "start": ("active", "Mark a step as started."),
    "fail": ("failed", "Mark a step as failed."),
    "skip": ("skipped", "Mark a step as skipped."),
    "reopen": ("pending", "Mark a step as not started."),
}


def _show_plan(data: Any) -> None:
    for text in steps(data["steps"]):
        click.echo(text)
    if not data["steps"]:
        click.echo("The task has no plan.")
    if data["left_out"]:
        click.echo(f"  … and {data['left_out']} more")


def _show_plans(data: Any) -> None:
    for plan in data:
        why = f", because {line(plan['reason'])}" if plan["reason"] else ""
        click.echo(f"Plan v{plan['version']} #{plan['seq']} {minute(plan['at'])}{why}")
        for text in steps(plan["steps"]):
            click.echo(text)
    if not data:
        click.echo("The task has no plan.")


def _show_progress(data: Any) -> None:
    for item in data["steps"]:
        likely = f"  likely {item['suggestion']} (#{item['cause']})" if item["suggestion"] else ""
        click.echo(f"  {item['status']:9}  {line(item['id'])}  {line(item['title'])}{likely}")
    if not data["steps"]:
        click.echo("The task has no plan.")


plan_command = Group(
    "plan",
    callback=lambda: answer(call(Actions, "task_drill_down", {**task_option(), "limit": 1000}), _show_plan),
    task=True,
    help="Show the plan of a task, or change it.",
    examples=(
        "ringbolt plan",
        "ringbolt plan set Build Push Run",
        "ringbolt plan add Check --after Run",
        "ringbolt plan done 1",
    ),
    commands=[
        write_command(
            "set",
            Notes,
            "task_plan",
            TITLES,
            BECAUSE,
            help="Make these STEPs the plan, in order. Steps that stay keep their status; nothing is erased.",
            examples=(
                "ringbolt plan set Build Push Run",
                'ringbolt plan set Build Run --because "no registry"',
            ),
        ),
        write_command(
            "add",
            Notes,
            "task_plan",
            TITLES,
            "--after",
            defaults={"append": True},
            help="Add STEPs to the plan.",
            examples=("ringbolt plan add Check --after Run",),
        ),
        *(
            write_command(
                word,
                Plans,
                "task_step_update",
                THE_STEP,
                NOTE,
                defaults={"status": status},
                help=f"{text} STEP is its id, its number from 1, or its title.",
                examples=(f"ringbolt plan {word} 1",),
            )
            for word, (status, text) in MARKS.items()
        ),
        write_command(
            "change",
            Plans,
            "task_step_update",
            THE_STEP,
            "--status --title",
            NOTE,
            option("--issue", of="active_issue"),
            option("--after", of="depends_on"),
            "--expect",
            help="Change a STEP: its status, title, note, issue or dependencies.",
            examples=('ringbolt plan change 2 --title "Push to ghcr.io" --after build',),
        ),
        operation_command(
            "history",
            Plans,
            "task_plans",
            show=_show_plans,
            examples=("ringbolt plan history",),
        ),
        operation_command(
            "progress",
            Progressing,
            "task_progress",
            show=_show_progress,
            help="Show each step, and the status that the agent's words and actions suggest.\n\n"
            "A suggestion is reported, never written; #SEQ is the event behind it.",
            examples=("ringbolt plan progress",),
        ),
    ],
)
