"""`ringbolt store`: describe a store, or copy it to another place or engine."""

from __future__ import annotations

from typing import Any

import click

from ...core.copying import copy_store
from ...core.tasks import Tasks
from ...memory import TaskMemory
from ...model.results import CopyReport
from .command import Group
from .console import answer, given, leave, line, open_memory
from .progress_bar import bar


@click.group(
    "store",
    cls=Group,
    examples=("ringbolt store info", "ringbolt store copy tasks.db postgresql://localhost/tasks"),
)
def store_command() -> None:
    """Describe or copy stores: SQLite files or postgresql:// URLs."""


@store_command.command(
    short_help="Describe a store.",
    examples=("ringbolt store info", "ringbolt store info tasks.db --json"),
)
@click.argument("location", metavar="[STORE]", required=False)
def info(location: str | None) -> None:
    """Describe a store: engine, schema, size, number of tasks and events.

    Without STORE: the configured one, or the one in the user's data folder.
    """
    if location:
        given()["store"] = location
    given()["everywhere"] = True
    with open_memory(Tasks) as memory:
        ends = memory.store.read(lambda tx: tx.chain_ends())
        facts = memory.store.info()
    facts |= {"tasks": len(ends), "events": sum(end[1] for end in ends.values())}
    answer(facts, _show_facts)


def _show_facts(facts: dict[str, Any]) -> None:
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
    """Copy the store SRC into DST, which is created if needed; either may be SQLite or PostgreSQL.

    Nothing in DST is overwritten. The same command continues an interrupted copy. At the end both stores are
    verified and compared hash by hash; the exit code is 0 only if the copy is complete.
    """
    with (
        TaskMemory.open(source, workspace=None, create=False) as first,
        TaskMemory.open(target, workspace=None) as second,
        bar("Copying") as report_progress,
    ):
        report = copy_store(first, second, report_progress)
    answer(report.to_dict(), lambda _: _show_copy(report))
    leave(0 if report.ok else 1)


def _show_copy(report: CopyReport) -> None:
    click.echo(f"{report.tasks:,} tasks with {report.events:,} events; {report.copied:,} copied now.")
    for text in _differences(report):
        click.echo(line(text))
    if report.ok:
        click.echo("Both stores verify, and every task ends with the same hash.")


def _differences(report: CopyReport) -> list[str]:
    lines: list[str] = []
    if report.behind:
        lines.append(f"Changed in the source meanwhile: {_some(report.behind)}. Run the same command again.")
    if report.diverged:
        lines.append(
            f"Not copied, because the target continued them on its own: {_some(report.diverged)}."
            " Export and import them instead, which keeps both histories."
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
