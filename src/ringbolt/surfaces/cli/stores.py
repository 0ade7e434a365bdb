"""`ringbolt store`: what a store is, and moving one to another place or engine."""

from __future__ import annotations

from typing import Any

import click

from ...core.copying import copy_store
from ...memory import TaskMemory
from ...model.results import CopyReport
from .console import Group, given, leave, line, open_memory, show
from .progress import bar


@click.group(
    "store",
    cls=Group,
    short_help="Look after stores: SQLite files, PostgreSQL databases.",
    examples=("ringbolt store info", "ringbolt store copy tasks.db postgresql://localhost/tasks"),
)
def store_command() -> None:
    """Look after stores: a path of a SQLite file, or a postgresql:// URL."""


@store_command.command(
    short_help="Show what a store is.",
    examples=("ringbolt store info", "ringbolt store info tasks.db --json"),
)
@click.argument("location", metavar="[STORE]", required=False)
def info(location: str | None) -> None:
    """Show what a store is: engine, schema, sizes, how many tasks and events.

    Without STORE: the one that RINGBOLT_STORE or the settings name, or the user's own.
    """
    if location:
        given()["store"] = location
    given()["everywhere"] = True
    with open_memory() as memory:
        ends = memory.store.read(lambda tx: tx.chain_ends())
        facts = memory.store.info()
    facts |= {"tasks": len(ends), "events": sum(end[1] for end in ends.values())}
    show(facts, _tell_facts)


def _tell_facts(facts: dict[str, Any]) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:{width}}  {f'{value:,}' if isinstance(value, int) else line(value)}")


@store_command.command(
    short_help="Copy a store, and verify the copy.",
    examples=("ringbolt store copy tasks.db postgresql://localhost/tasks",),
)
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
def copy(source: str, target: str) -> None:
    """Copy the store SRC into DST, which is made if it is not there; either may be SQLite or PostgreSQL.

    Nothing in DST is overwritten. A copy that was cut short is continued by the same command. In the end
    both stores are verified and compared hash by hash; the exit code is 0 only if all is there.
    """

    with (
        TaskMemory.open(source, workspace=None, create=False) as first,
        TaskMemory.open(target, workspace=None) as second,
        bar("Copying") as tell,
    ):
        report = copy_store(first, second, tell)
    show(report.to_dict(), lambda _: _tell_copy(report))
    leave(0 if report.ok else 1)


def _tell_copy(report: CopyReport) -> None:
    click.echo(f"{report.tasks:,} tasks with {report.events:,} events; {report.copied:,} copied now.")
    for text in _differences(report):
        click.echo(line(text))
    if report.ok:
        click.echo("Both stores verify, and every task ends with the same hash.")


def _differences(report: CopyReport) -> list[str]:
    lines: list[str] = []
    if report.behind:
        lines.append(f"Went on in the source meanwhile: {_some(report.behind)}. Run the same command again.")
    if report.diverged:
        lines.append(
            f"Not copied, because the target continued them on its own: {_some(report.diverged)}."
            " Bring them in with an export and import, which keeps both sides."
        )
    for name, verified in (("source", report.source), ("target", report.target)):
        problems = verified.problems[:10] if verified else ()
        lines += [f"The {name}: {problem.kind}: {problem.detail}" for problem in problems]
    if report.others:
        lines.append(f"The target also has {report.others:,} tasks of its own.")
    return lines


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
