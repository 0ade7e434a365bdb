"""`ringbolt drill`: simulate a compaction and score what is recovered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from ...hosts.drill import run, total
from ...memory import TaskMemory
from .command import Command
from .console import answer, given, leave, line, open_memory, table
from .progress_bar import bar


@click.command(
    "drill",
    cls=Command,
    task=True,
    examples=("ringbolt drill", "ringbolt drill 7k3m --at 120", "ringbolt drill --all --json"),
)
@click.argument("which", metavar="[TASK]", required=False)
@click.option("--at", type=int, metavar="SEQ", help="Compact after this event.")
@click.option("--all", "every", is_flag=True, help="Every task of the store, and the total.")
@click.option("--no-keep", is_flag=True, help="Do not store the scores.")
def drill_command(which: str | None, at: int | None, every: bool, no_keep: bool) -> None:
    """Simulate a compaction of a task and score what is recovered: from a resume packet of 500 and of 1,500
    tokens, by asking, and from the host's own summary if one is stored.

    The context is cut at each of the task's last compactions, or else after 60 % of its events. The scores
    are stored as an event of the task that does not count as work; `ringbolt op drill_results` shows them.

    The exit code is 1 if the packet of 1,500 tokens lacks something that must be recovered completely.
    """
    task = which or given().get("task")
    if every and (task is not None or at is not None):
        raise click.UsageError("--all cannot be combined with a task or --at.")
    with open_memory(TaskMemory) as memory, bar("Drilling") as update_bar:
        ids = [task] if not every else sorted(memory.store.read(lambda tx: tx.chain_ends()))
        drills = [
            one for name in _counted(ids, update_bar) for one in run(memory, name, at=at, keep=not no_keep)
        ]
    report = drills[0] if len(drills) == 1 else total(drills)
    answer({**report.to_dict(), "drills": [one.to_dict() for one in drills]}, _show_drill)
    leave(0 if report.ok else 1)


def _counted(ids: Sequence[str | None], update_bar: Any) -> Iterator[str | None]:
    for number, one in enumerate(ids):
        if update_bar is not None:
            update_bar(number, len(ids))
        yield one


def _show_drill(data: Any) -> None:
    if data["task_id"]:
        why = {"asked": "as requested", "compaction": "its last compaction", "60 %": "60 % of its events"}
        click.echo(f"{data['task_id']} {line(data['name'])}")
        click.echo(f"Context cut after #{data['cut']} of {data['last']}: {why[data['because']]}.")
    else:
        for one in data["drills"]:
            lacks = [
                row["name"] for row in one["rows"] if row["wanted"] == 100 and row["usual"] < row["count"]
            ]
            if lacks:
                click.echo(f"{one['task_id']} {line(one['name'])}, #{one['cut']}: lacks {', '.join(lacks)}")
        click.echo(f"{data['name']}, cut after {data['cut']:,} of {data['last']:,} events.")
    rows = [
        (
            row["name"],
            "" if row["wanted"] is None else f"{row['wanted']} %",
            row["count"],
            *(_share(row[column], row["count"]) for column in ("small", "usual", "asked")),
            _share(row["host"], row["host_count"]),
        )
        for row in data["rows"]
    ]
    table(("WHAT", "WANTED", "N", "PACKET@500", "PACKET@1500", "ASKING", "HOST"), rows)
    if not data["ok"]:
        click.echo("The packet of 1,500 tokens lacks something that must be recovered completely.")


def _share(found: int | None, count: int | None) -> str:
    return "-" if found is None or not count else f"{100 * found / count:.0f} %"
