"""`ringbolt goal`: goals, their criteria and how they stand."""

from __future__ import annotations

from typing import Any

import click

from .console import Group, called, given, json_of, leave, line, show

_BUDGET = (
    click.option("--attempts", metavar="N", type=int, help="The most attempts in vain."),
    click.option("--tokens", metavar="N", type=int, help="The most tokens."),
    click.option("--seconds", metavar="N", type=float, help="The longest time."),
    click.option("--cost", metavar="X", type=float, help="The most money."),
)
_CRITERIA = (
    click.option("--criterion", metavar="TEXT", multiple=True, help="What a person decides; repeat it."),
    click.option("--file", "files", metavar="PATH", multiple=True, help="A file that must exist."),
    click.option("--http", "urls", metavar="URL", multiple=True, help="A URL that must answer well."),
    click.option(
        "--command",
        "commands",
        metavar="JSON",
        multiple=True,
        help='Words that must succeed: ["make","test"].',
    ),
)


def _with(options: Any) -> Any:
    """Several options at once."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def _criteria(given_criteria: dict[str, Any]) -> list[Any]:
    """The criteria that the options of a call mean."""
    found: list[Any] = list(given_criteria["criterion"])
    found += [{"check": "file", "target": path} for path in given_criteria["files"]]
    found += [{"check": "http", "target": url} for url in given_criteria["urls"]]
    found += [
        {"check": "command", "target": json_of("--command", words)} for words in given_criteria["commands"]
    ]
    return found


def _budget(options: dict[str, Any]) -> dict[str, Any] | None:
    limits = {name: options[name] for name in ("attempts", "tokens", "seconds", "cost")}
    return {name: value for name, value in limits.items() if value is not None} or None


@click.group(
    "goal",
    cls=Group,
    invoke_without_command=True,
    short_help="Goals: their criteria, and how they stand.",
    examples=(
        "ringbolt goal",
        'ringbolt goal create "The shop is live" --http https://shop.example/ --criterion "all content"',
        "ringbolt goal check 7k3m",
        'ringbolt goal decide 7k3m 2 met --because "I have looked at it"',
    ),
)
@click.pass_context
def goal_command(context: click.Context) -> None:
    """Goals with criteria that can be checked, over as many tasks as it takes. Alone: the open ones."""
    if context.invoked_subcommand is None:
        show(called("goal_status", {}), _tell_all)


@goal_command.command(
    "create",
    short_help="Set a goal.",
    examples=('ringbolt goal create "Live" --file dist/app.whl --attempts 5',),
)
@click.argument("name")
@click.option("--description", metavar="TEXT", help="What is to be reached, at length.")
@click.option("--blockers", metavar="N", type=int, help="How often the same blocker may come.")
@_with(_CRITERIA)
@_with(_BUDGET)
def create(name: str, description: str | None, blockers: int | None, **more: Any) -> None:
    """Set the goal NAME, with what it is reached by and what it may use."""
    wanted = {
        "name": name, "criteria": _criteria(more), "description": description, "budget": _budget(more),
        "blocker_limit": blockers,
    }  # fmt: skip
    show(called("goal_create", wanted, create=True), lambda data: click.echo(data["task_id"]))


@goal_command.command(
    "promote",
    task=True,
    short_help="Make a goal of what a task is for.",
    examples=("ringbolt goal promote --task 7k3m",),
)
@click.option("--name", metavar="TEXT", help="The goal in a few words; else the task's name.")
@_with(_CRITERIA)
@_with(_BUDGET)
def promote(name: str | None, **more: Any) -> None:
    """Make a goal of a task: its request, goal and acceptance go along; the task stays, tied to the goal."""
    wanted = {
        "task_id": given().get("task"), "name": name, "criteria": _criteria(more), "budget": _budget(more),
    }  # fmt: skip
    show(called("goal_promote", wanted), lambda data: click.echo(data["task_id"]))


@goal_command.command("status", short_help="How a goal stands.", examples=("ringbolt goal status 7k3m",))
@click.argument("goal")
def status(goal: str) -> None:
    """How GOAL stands: criteria with their evidence, tasks, budget, and what blocks it."""
    show(called("goal_status", {"goal_id": goal}), _tell_all)


@goal_command.command(
    "check", short_help="Look at the criteria.", examples=("ringbolt goal check 7k3m --finish",)
)
@click.argument("goal")
@click.option("--finish", is_flag=True, help="Complete it if all criteria are met or waived.")
def check(goal: str, finish: bool) -> None:
    """Look at every criterion of GOAL that can be checked. The exit code is 1 while it is not reached."""
    data = called("goal_check", {"goal_id": goal, "finish": finish})
    show(data, _tell)
    leave(0 if data["ready"] else 1)


@goal_command.command(
    "decide", short_help="Say how a criterion stands.", examples=("ringbolt goal decide 7k3m 2 met",)
)
@click.argument("goal")
@click.argument("criterion", type=int)
@click.argument("status", type=click.Choice(["met", "failed", "waived", "open"]))
@click.option("--because", metavar="TEXT", help="What says so.")
def decide(goal: str, criterion: int, status: str, because: str | None) -> None:
    """Say that CRITERION of GOAL, by its number, is met, failed, waived or open again."""
    wanted = {"goal_id": goal, "criterion": criterion, "status": status, "reason": because}
    show(called("goal_decide", wanted), lambda _: click.echo(f"#{criterion} is {status}."))


@goal_command.command(
    "link", task=True, short_help="Tie a task to a goal.", examples=("ringbolt goal link 7k3m --task 9xq2",)
)
@click.argument("goal")
@click.option("--remove", is_flag=True, help="Untie it.")
def link(goal: str, remove: bool) -> None:
    """Tie a task to GOAL, so that its progress counts there."""
    wanted = {"task_id": given().get("task"), "target": goal, "kind": "goal", "remove": remove}
    show(called("task_link", wanted), lambda data: click.echo(data["task_id"]))


@goal_command.command(
    "reset",
    short_help="Let a goal that was stopped go on.",
    examples=('ringbolt goal reset 7k3m "key renewed"',),
)
@click.argument("goal")
@click.argument("reason")
@_with(_BUDGET)
def reset(goal: str, reason: str, **more: Any) -> None:
    """Let GOAL go on, and say why; blockers are counted anew. Limits that are given hold from now on."""
    wanted = {"goal_id": goal, "reset": reason, "budget": _budget(more)}
    show(called("goal_update", wanted), lambda data: click.echo(f"{data['task_id']} is {data['status']}."))


@goal_command.command("finish", short_help="Complete a goal.", examples=("ringbolt goal finish 7k3m",))
@click.argument("goal")
@click.option("--answer", metavar="TEXT", help="What has come of it.")
@click.option("--despite", metavar="TEXT", help="Why it counts although criteria are not met.")
def finish(goal: str, answer: str | None, despite: str | None) -> None:
    """Complete GOAL: all its criteria are met or waived, or --despite says why not."""
    wanted = {"goal_id": goal, "answer": answer, "despite": despite}
    show(called("goal_finish", wanted), lambda data: click.echo(f"{data['task_id']} is {data['status']}."))


def _tell_all(data: Any) -> None:
    for number, one in enumerate(data):
        if number:
            click.echo()
        _tell(one)
    if not data:
        click.echo("There is no open goal here.")


def _tell(data: Any) -> None:
    reason = f" ({line(data['reason'])})" if data["reason"] else ""
    criteria = f"; {data['met']} of {len(data['criteria'])} criteria met" if data["criteria"] else ""
    tasks = f"; {data['tasks_done']} of {data['tasks_total']} tasks completed" if data["tasks_total"] else ""
    click.echo(f"{data['goal_id']}  {line(data['name'])}  {data['status']}{reason}{criteria}{tasks}")
    for one in data["criteria"]:
        evidence = f": {line(one['evidence'])} (#{one['evidence_seq']})" if one["evidence"] else ""
        click.echo(f"  #{one['seq']} {one['status']:<6} {line(one['text'])}{evidence}")
    for one in data["tasks"]:
        steps = f", {one['done']} of {one['total']} steps" if one["total"] else ""
        click.echo(f"  {one['id']}  {line(one['name'])}  {one['status']}{steps}")
    for name, limit in data["budget"]["limits"].items():
        click.echo(f"  {name}: {data['budget']['used'][name]:g} of {limit:g}")
    if data["blocked"]:
        click.echo(f"  {line(data['blocked'])}")
