"""`ringbolt watch`: tasks as they change, drawn on a terminal, otherwise one line per event."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import click

from ...memory import TaskMemory
from ...model.types import Event
from .command import Command
from .console import emit, given, is_terminal, open_memory, wants_json
from .render import event, headline, task

SHOWN = 10  # events of the first task


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
    """Watch the open tasks, or one, until you interrupt it.

    On a terminal the task is redrawn when it changes. Otherwise each new event is printed as one line.
    """
    try:
        with open_memory(TaskMemory) as memory:
            if is_terminal(sys.stdout) and not wants_json():
                _draw(memory, every)
            else:
                _print_events(memory, every, most)
    except KeyboardInterrupt:
        return


def _tasks(memory: TaskMemory) -> dict[str, int]:
    """The watched tasks, with the number of their last event."""
    if (named := given().get("task")) is not None:
        card = memory.task_get(named)
        return {card.id: card.seq}
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
    click.echo(f"ringbolt: watching {len(seen)} tasks", err=True)
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


def _draw(memory: TaskMemory, every: float) -> None:
    # rich is slow to load.
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    before: dict[str, int] | None = None
    with Live(console=Console(), screen=True, auto_refresh=False) as live:
        while True:
            now = _tasks(memory)
            if now != before:
                before = now
                live.update(Text("\n".join(_screen(memory, list(now)))), refresh=True)
            time.sleep(every)


def _screen(memory: TaskMemory, ids: list[str]) -> list[str]:
    """The first task in full with its latest events, and a line for each of the others."""
    if not ids:
        return ["No open tasks."]
    lines = task(memory.task_get(ids[0]).to_dict())
    latest = memory.task_thread(ids[0], limit=SHOWN).events
    lines += ["Latest events", *(f"  {event(each.to_dict())}" for each in latest), ""]
    others = [headline(memory.task_get(other).to_dict()) for other in ids[1:]]
    return [*lines, *(["Other tasks", *others] if others else [])]
