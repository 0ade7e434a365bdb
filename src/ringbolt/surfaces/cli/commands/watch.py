"""`ringbolt watch`: tasks as they change, drawn on a terminal, otherwise one line per event."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import click

from ....memory import TaskMemory
from ....model.types import Event
from ..command import Command
from ..console import common_values, emit, is_terminal, named_task, open_memory, wants_json
from ..render import event


@click.command(
    "watch",
    cls=Command,
    task=True,
    everywhere=True,
    examples=("ringbolt watch", "ringbolt watch --task 7k3m", "ringbolt watch | grep decision"),
)
@click.option(
    "--every",
    metavar="SECONDS",
    type=click.FloatRange(0.05, 3600),
    default=1.0,
    show_default=True,
    help="How often to check.",
)
@click.option("--events", "most", metavar="NUMBER", type=click.IntRange(1), help="End after this many.")
def watch_command(every: float, most: int | None) -> None:
    """Watch the open tasks, or one, until you quit.

    On a terminal all of them are on one screen, with keys to open, pause and instruct one. Otherwise each new
    event is printed as one line.
    """
    try:
        with open_memory(TaskMemory) as memory:
            if is_terminal(sys.stdout) and is_terminal(sys.stdin) and not wants_json():
                from .live_view import LiveView  # rich is slow to load

                LiveView(memory, every, _only(memory)).run()
            else:
                _print_events(memory, every, most)
    except KeyboardInterrupt:
        return


def _only(memory: TaskMemory) -> str | None:
    """The one task that is watched, if --task names one."""
    named = common_values().get("task")
    return None if named is None else named_task(memory, named)


def _tasks(memory: TaskMemory) -> dict[str, int]:
    """The watched tasks, with the number of their last event."""
    if (only := _only(memory)) is not None:
        return {only: memory.task_get(only).seq}
    return {card.id: card.seq for card in memory.task_list(limit=100).tasks}


def _new_events(memory: TaskMemory, seen: dict[str, int]) -> Iterator[Event]:
    """New events; `seen` is updated."""
    now = _tasks(memory)
    for task_id in dict.fromkeys((*seen, *now)):  # including tasks that have ended since
        for new in memory.events(task_id, after=seen.get(task_id, 0)):
            seen[task_id] = new.seq
            yield new


def _print_events(memory: TaskMemory, every: float, most: int | None) -> None:
    seen = _tasks(memory)
    click.echo(f"ringbolt: watching {len(seen)} {'task' if len(seen) == 1 else 'tasks'}", err=True)
    count = 0
    while True:
        for new in _new_events(memory, seen):
            data = new.to_dict()
            if wants_json():
                emit(data)
            else:
                click.echo(f"{new.task_id} {event(data)}")
            sys.stdout.flush()
            count += 1
            if count == most:
                return
        time.sleep(every)
