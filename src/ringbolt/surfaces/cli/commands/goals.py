"""`ringbolt goal`: goals and their criteria."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ....core.tasks import Tasks
from ....goals.operations import Goals
from ..command import Group, operation_command
from ..console import answer, call, json_of, line, written
from ..parameters import Parameter, argument, option

BUDGET = (
    option("--attempts", of="budget.attempts", metavar="N", type=int, help="Maximum failed attempts."),
    option("--tokens", of="budget.tokens", metavar="N", type=int, help="Maximum number of tokens."),
    option("--seconds", of="budget.seconds", metavar="N", type=float, help="Maximum time."),
    option("--cost", of="budget.cost", metavar="X", type=float, help="Maximum cost."),
)


def _criterion_option(
    flag: str, metavar: str, help: str, read: Callable[[str], Any] = lambda text: text
) -> Parameter:
    """An option that adds criteria with the check of its name."""

    def criteria(targets: Sequence[str]) -> list[dict[str, Any]]:
        return [{"check": flag.removeprefix("--"), "target": read(target)} for target in targets]

    return option(flag, of="criteria", metavar=metavar, convert=criteria, help=help)


CRITERIA = (
    option("--criterion", of="criteria", convert=list, help="A criterion that a person decides."),
    _criterion_option("--file", "PATH", "A file that must exist."),
    _criterion_option("--http", "URL", "A URL that must respond successfully."),
    _criterion_option(
        "--command",
        "JSON",
        'A command that must succeed, as ["make","test"].',
        lambda text: json_of("--command", text),
    ),
)
GOAL = argument("goal", of="goal_id")


def _show_all(data: Any) -> None:
    for number, goal in enumerate(data):
        if number:
            click.echo()
        _show(goal)
    if not data:
        click.echo("No open goals.")


def _show(data: Any) -> None:
    reason = f" ({line(data['reason'])})" if data["reason"] else ""
    criteria = f"; {data['met']} of {len(data['criteria'])} criteria met" if data["criteria"] else ""
    tasks = f"; {data['tasks_done']} of {data['tasks_total']} tasks completed" if data["tasks_total"] else ""
    click.echo(f"{data['goal_id']}  {line(data['name'])}  {data['status']}{reason}{criteria}{tasks}")
    for row in data["criteria"]:
        evidence = f": {line(row['evidence'])} (#{row['evidence_seq']})" if row["evidence"] else ""
        click.echo(f"  #{row['seq']} {row['status']:<6} {line(row['text'])}{evidence}")
    for task in data["tasks"]:
        steps = f", {task['done']} of {task['total']} steps" if task["total"] else ""
        click.echo(f"  {task['id']}  {line(task['name'])}  {task['status']}{steps}")
    for name, limit in data["budget"]["limits"].items():
        click.echo(f"  {name}: {data['budget']['used'][name]:g} of {limit:g}")
    if data["blocked"]:
        click.echo(f"  {line(data['blocked'])}")


def _show_id(data: Any) -> None:
    click.echo(data["task_id"])


def _show_status(data: Any) -> None:
    click.echo(f"{data['task_id']} is {data['status']}.")


goal_command = Group(
    "goal",
    callback=lambda: answer(call(Goals, "goal_status", {}), _show_all),
    help="Goals with criteria that can be checked, across any number of tasks.\n\n"
    "Without a command: show open goals.",
    examples=(
        "ringbolt goal",
        'ringbolt goal create "The shop is live" --http https://shop.example/ --criterion "all content"',
        "ringbolt goal check 7k3m",
        'ringbolt goal decide 7k3m 2 met --because "I have looked at it"',
    ),
    commands=[
        operation_command(
            "create",
            Goals,
            "goal_create",
            argument("name"),
            "--description",
            option("--blockers", of="blocker_limit", metavar="N"),
            *CRITERIA,
            *BUDGET,
            show=_show_id,
            task=False,
            create=True,
            help="Set the goal NAME, with its criteria and limits.",
            examples=('ringbolt goal create "Live" --file dist/app.whl --attempts 5',),
        ),
        operation_command(
            "promote",
            Goals,
            "goal_promote",
            "--name",
            *CRITERIA,
            *BUDGET,
            show=_show_id,
            examples=("ringbolt goal promote --task 7k3m",),
        ),
        operation_command(
            "status",
            Goals,
            "goal_status",
            GOAL,
            show=_show_all,
            task=False,
            help="Show GOAL: its criteria with their evidence, its tasks and its limits.",
            examples=("ringbolt goal status 7k3m",),
        ),
        operation_command(
            "check",
            Goals,
            "goal_check",
            GOAL,
            "*",
            show=_show,
            end=lambda data: 0 if data["ready"] else 1,
            task=False,
            help="Check every criterion of GOAL that can be checked. The exit code is 1 until all are met.",
            examples=("ringbolt goal check 7k3m --finish",),
        ),
        operation_command(
            "decide",
            Goals,
            "goal_decide",
            GOAL,
            argument("criterion", type=int),
            argument("status", type=click.Choice(["met", "failed", "waived", "open"]), metavar=None),
            option("--because", of="reason"),
            show=written,
            task=False,
            help="Decide a CRITERION of GOAL, by its number: met, failed, waived or open again.",
            examples=("ringbolt goal decide 7k3m 2 met",),
        ),
        operation_command(
            "link",
            Tasks,
            "task_link",
            argument("goal", of="target"),
            "*",
            defaults={"kind": "goal"},
            show=_show_id,
            help="Link a task to GOAL, so that its progress counts there.",
            examples=("ringbolt goal link 7k3m --task 9xq2",),
        ),
        operation_command(
            "reset",
            Goals,
            "goal_update",
            GOAL,
            argument("reason", of="reset"),
            *BUDGET,
            show=_show_status,
            task=False,
            help="Let a stopped GOAL continue, for a REASON. Blockers are counted from zero again; new limits"
            " apply from now on.",
            examples=('ringbolt goal reset 7k3m "key renewed"',),
        ),
        operation_command(
            "finish",
            Goals,
            "goal_finish",
            GOAL,
            "*",
            show=_show_status,
            task=False,
            help="Complete GOAL: all its criteria are met or waived, or --despite says why it counts anyway.",
            examples=("ringbolt goal finish 7k3m",),
        ),
    ],
)
