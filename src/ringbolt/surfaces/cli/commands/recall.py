"""`ringbolt recall`, `thread` and `event`: search and show events."""

from __future__ import annotations

import click

from ....core.actions import Actions
from ....recall.operations import Recalling
from ..command import Command, operation_command
from ..console import answer, call, moment, task_option, text_of
from ..parameters import argument, option
from ..render import event_in_full, hits, thread

recall_command = operation_command(
    "recall",
    Recalling,
    "task_recall",
    argument(
        "words",
        of="query",
        metavar="[WORDS]...",
        nargs=-1,
        required=False,
        convert=lambda words: text_of(" ".join(words)),
    ),
    option("--type", of="types"),
    option("--tag", of="tags"),
    option("--until", metavar="TIME"),
    option("--at", metavar="SEQ|TIME", convert=moment),
    "*",
    show=hits,
    everywhere=True,
    help="Search everything recorded: messages, actions and their output, decisions and their reasons.\n\n"
    'Any WORDS will do. "Quoted phrases" must match, and conf* matches a prefix. The search covers the tasks'
    " of this workspace, or one task with --task.",
    examples=(
        "ringbolt recall registry key",
        "ringbolt recall '\"access denied\"' --type error --everywhere",
        "ringbolt recall --type decision --since 2026-03-01",
    ),
)


@click.command(
    "thread", cls=Command, task=True, examples=("ringbolt thread --limit 10", "ringbolt thread --around 42")
)
@click.argument("named", metavar="[TASK]", required=False)
@click.option("--limit", metavar="NUMBER", type=int, help="Maximum number of events.")
@click.option("--before", metavar="SEQ", type=int, help="Only events before this one.")
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only events of this type.")
@click.option("--around", metavar="SEQ", type=int, help="The events around this one.")
def thread_command(
    named: str | None, limit: int | None, before: int | None, types: tuple[str, ...], around: int | None
) -> None:
    """Show the latest events of a TASK, in order."""
    task = task_option(named)
    if around is not None:
        arguments = {**task, "seq": around, "before": limit, "after": limit}
        data = call(Recalling, "task_around", arguments)
    else:
        arguments = {**task, "limit": limit, "before": before, "types": types or None}
        data = call(Actions, "task_thread", arguments)
    answer(data, thread)


event_command = operation_command(
    "event",
    Recalling,
    "task_event",
    argument("seq", type=int),
    show=event_in_full,
    help="Show event SEQ in full, such as #42 cited in a packet, an answer or a search result.",
    examples=("ringbolt event 42",),
)
