"""`ringbolt update`: what an agent calls most, in a module of its own so that it loads nothing else."""

from __future__ import annotations

import click

from .console import Command, of_task, text_of
from .render import written


@click.command(
    "update",
    cls=Command,
    task=True,
    short_help="Say what happened, and what changed with it.",
    examples=(
        'ringbolt update "The image is built" --step 1 --step-status done',
        'ringbolt update --status waiting --blocker "no access to the server"',
        'make 2>&1 | tail -1 | ringbolt update - --query "What is next?"',
    ),
)
@click.argument("message", required=False)
@click.option("--step", metavar="STEP", help="The step that it is about: id, number from 1, or title.")
@click.option("--step-status", metavar="STATUS", help="The step's status: active, done, failed, skipped, …")
@click.option("--status", metavar="STATUS", help="The task's status: active, waiting, paused, …")
@click.option("--phase", metavar="PHASE", help="The task's phase: planning, executing, …")
@click.option("--reason", metavar="TEXT", help="Why the task has its status.")
@click.option("--next", "following", metavar="TEXT", help="What is to be done next; an empty text clears it.")
@click.option("--blocker", "blockers", metavar="TEXT", multiple=True, help="What stands in the way.")
@click.option("--no-blockers", is_flag=True, help="Nothing stands in the way any more.")
@click.option("--name", metavar="TEXT", help="Another name for the task.")
@click.option("--attention", metavar="TEXT", help="Something that a person should look at.")
@click.option("--archive/--unarchive", "archived", default=None, help="Put the task away, or take it out.")
@click.option("--query", metavar="QUESTION", help="A question to answer when that is written.")
@click.option("--expect", metavar="VERSION", type=int, help="Refuse if the task has another version.")
@click.option("--token", type=int, help="The token of a claim.")
@click.option("--key", help="The same call with the same key is written once.")
def update_command(
    message: str | None,
    step: str | None,
    step_status: str | None,
    status: str | None,
    phase: str | None,
    reason: str | None,
    following: str | None,
    blockers: tuple[str, ...],
    no_blockers: bool,
    name: str | None,
    attention: str | None,
    archived: bool | None,
    query: str | None,
    expect: int | None,
    token: int | None,
    key: str | None,
) -> None:
    """Say what happened: a MESSAGE, and with it any change of status, step, next or blockers.

    A message of - is read from standard input. Statuses of other projects are understood.
    """
    arguments = {
        "message": text_of(message), "step": step, "step_status": step_status, "status": status,
        "phase": phase, "reason": reason, "next": following, "blockers": "[]" if no_blockers else blockers,
        "name": name, "attention": attention, "archived": archived, "query": query, "expect": expect,
        "token": token, "key": key,
    }  # fmt: skip
    of_task("task_update", arguments, written)
