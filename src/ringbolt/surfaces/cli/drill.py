"""`ringbolt drill`: what would come back of a task after a compaction, measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from ...hosts.drill import run, total
from .console import Command, given, leave, line, open_memory, show, table
from .progress import bar


@click.command(
    "drill",
    cls=Command,
    task=True,
    short_help="Try what would come back of a task after a compaction.",
    examples=("ringbolt drill", "ringbolt drill 7k3m --at 120", "ringbolt drill --all --json"),
)
@click.argument("which", metavar="[TASK]", required=False)
@click.option("--at", type=int, metavar="SEQ", help="Lose the context after this event.")
@click.option("--all", "every", is_flag=True, help="Every task of the store, and all of them together.")
@click.option("--no-keep", is_flag=True, help="Do not keep the scores in the ledger.")
def drill_command(which: str | None, at: int | None, every: bool, no_keep: bool) -> None:
    """Simulate a compaction of a task, and tell how much of its record comes back: in a resume packet of
    500 and of 1,500 tokens, by asking, and in the host's own summary where one was stored.

    The context is lost at each of the task's last compactions, else after 60 % of its events. The scores are
    kept as an event of the task that is no work on it; `ringbolt op drill_results` shows them.

    The exit code is 1 if the packet of 1,500 tokens lacks something of which all must come back.
    """

    task = which or given().get("task")
    if every and (task is not None or at is not None):
        raise click.UsageError("--all goes without a task and --at.")
    with open_memory() as memory, bar("Drilling") as tell:
        ids = [task] if not every else sorted(memory.store.read(lambda tx: tx.chain_ends()))
        drills = [one for name in _told(ids, tell) for one in run(memory, name, at=at, keep=not no_keep)]
    report = drills[0] if len(drills) == 1 else total(drills)
    show({**report.to_dict(), "drills": [one.to_dict() for one in drills]}, _tell_drill)
    leave(0 if report.ok else 1)


def _told(ids: Sequence[str | None], tell: Any) -> Iterator[str | None]:
    for number, one in enumerate(ids):
        if tell is not None:
            tell(number, len(ids))
        yield one


def _tell_drill(data: Any) -> None:
    if data["task_id"]:
        why = {"asked": "as asked", "compaction": "its last compaction", "60 %": "60 % of its events"}
        click.echo(f"{data['task_id']} {line(data['name'])}")
        click.echo(f"Context lost after #{data['cut']} of {data['last']}: {why[data['because']]}.")
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
        click.echo("Not all came back of what must come back whole in 1,500 tokens.")


def _share(found: int | None, count: int | None) -> str:
    return "-" if found is None or not count else f"{100 * found / count:.0f} %"
