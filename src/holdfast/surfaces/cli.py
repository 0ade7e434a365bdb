"""`holdfast`: the command line. Each command loads what it needs when it runs, so that help is quick."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from .._version import __version__
from .active_tasks_cli import active_tasks
from .console import Group, as_json


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="holdfast %(version)s")
def main() -> None:
    """Task memory for LLM agents that survives compaction, restarts, crashes and hand-overs."""


main.add_command(active_tasks)


@main.command()
@click.option("--keep", metavar="FOLDER", help="Keep the store of the story in this folder.")
def demo(keep: str | None) -> None:
    """The deployment story, with a process that is really killed."""
    from ..demo import run

    sys.exit(run(keep))


@main.group()
def store() -> None:
    """Look after stores: a path of a SQLite file, or a postgresql:// URL."""


@store.command(short_help="Show what a store is.")
@click.argument("location", metavar="[STORE]", required=False)
@as_json
def info(location: str | None, plain: bool) -> None:
    """Show what a store is: engine, schema, sizes, how many tasks and events.

    Without STORE: the one that HOLDFAST_STORE or the settings name, or the user's own.
    """
    from ..memory import TaskMemory

    with TaskMemory.open(location, workspace=None, create=False) as memory:
        ends = memory.store.read(lambda tx: tx.ends())
        facts = memory.store.info()
    facts |= {"tasks": len(ends), "events": sum(end[1] for end in ends.values())}
    if plain:
        click.echo(json.dumps(facts))
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            click.echo(f"{name:{width}}  {f'{value:,}' if isinstance(value, int) else value}")


@store.command(short_help="Copy a store, and verify the copy.")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@as_json
def copy(source: str, target: str, plain: bool) -> None:
    """Copy the store SRC into DST, which is made if it is not there; either may be SQLite or PostgreSQL.

    Nothing in DST is overwritten. A copy that was cut short is continued by the same command. In the end
    both stores are verified and compared hash by hash; the exit code is 0 only if all is there.
    """
    from ..memory import TaskMemory
    from ..memory.copying import copy_store

    def tell(done: int, wanted: int) -> None:
        click.echo(f"\r{done:,} of {wanted:,} events", nl=done == wanted, err=True)

    with (
        TaskMemory.open(source, workspace=None, create=False) as first,
        TaskMemory.open(target, workspace=None) as second,
    ):
        report = copy_store(first, second, tell if sys.stderr.isatty() else None)
    if plain:
        click.echo(json.dumps(report.to_dict()))
    else:
        click.echo(f"{report.tasks:,} tasks with {report.events:,} events; {report.copied:,} copied now.")
        for line in _differences(report):
            click.echo(line)
        if report.ok:
            click.echo("Both stores verify, and every task ends with the same hash.")
    sys.exit(0 if report.ok else 1)


def _differences(report: Any) -> list[str]:
    lines: list[str] = []
    if report.behind:
        lines.append(f"Went on in the source meanwhile: {_some(report.behind)}. Run the same command again.")
    if report.diverged:
        lines.append(
            f"Not copied, because the target continued them on its own: {_some(report.diverged)}."
            " Bring them in with an export and import, which keeps both sides."
        )
    for name, verified in (("source", report.source), ("target", report.target)):
        lines += [f"The {name}: {problem.kind}: {problem.detail}" for problem in verified.problems[:10]]
    if report.others:
        lines.append(f"The target also has {report.others:,} tasks of its own.")
    return lines


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
