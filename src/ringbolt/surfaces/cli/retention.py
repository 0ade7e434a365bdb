"""The commands that take away for good: purge and forget. Both say first what would go."""

from __future__ import annotations

from typing import Any

import click

from .console import EVERYWHERE, Command, called, given, line, show

_CONFIRM = click.option(
    "--confirm", metavar="TOKEN", help="The token that the same call has given without it."
)


@click.command(
    "purge",
    cls=Command,
    task=True,
    short_help="Remove old tasks that have ended, for good.",
    examples=("ringbolt purge --older-than 90d", "ringbolt purge --older-than 90d --confirm 6a0f-12ab"),
)
@click.option("--older-than", metavar="DURATION", help="Not changed for so long: 90d, 1d12h.")
@click.option("--status", metavar="WORD", multiple=True, help="Only with this status; repeat it.")
@click.option("--not-archived", is_flag=True, help="Also tasks that are not archived.")
@click.option("--kind", type=click.Choice(["task", "goal"]), help="Only tasks, or only goals.")
@click.option("--limit", metavar="N", type=int, help="The most tasks in one call.")
@EVERYWHERE
@_CONFIRM
def purge_command(
    older_than: str | None, status: tuple[str, ...], not_archived: bool, kind: str | None, limit: int | None,
    confirm: str | None,
) -> None:  # fmt: skip
    """Remove tasks that have ended and were not changed for a time, or one with --task.

    Without --confirm nothing changes: it says what would go, and gives a token that is good for ten minutes
    and for exactly that. It cannot be undone.
    """
    wanted = {
        "older_than": older_than, "status": list(status) or None, "archived": not not_archived, "kind": kind,
        "task_id": given().get("task"), "limit": limit, "confirm": confirm,
    }  # fmt: skip
    if given().get("everywhere"):
        wanted["workspace"] = "*"
    show(called("purge", wanted), _tell)


@click.command(
    "forget",
    cls=Command,
    short_help="Remove what came from one source, for good.",
    examples=(
        "ringbolt forget --source session:S1",
        'ringbolt forget --source "text:hunter2" --confirm 6a0f-12ab',
    ),
)
@click.option(
    "--source", metavar="KIND:NAME", required=True, help="session:S1, agent:A, task:ID, text:WORDS, …"
)
@_CONFIRM
def forget_command(source: str, confirm: str | None) -> None:
    """Remove what came from one source, everywhere, and leave tombstones without content.

    Without --confirm nothing changes: it says what would go, and gives a token that is good for ten minutes
    and for exactly that. It cannot be undone.
    """
    show(called("forget", {"source": source, "confirm": confirm}), _tell)


def _tell(data: Any) -> None:
    what = f"{data['events']:,} events of {data['tasks']:,} tasks"
    if data["carried"]:
        what += f", and {data['carried']:,} of others that repeat them"
    if data["waiting"]:
        what += f", and {data['waiting']:,} that wait to be written"
    if data["done"]:
        click.echo(f"Gone: {what}.")
    else:
        click.echo(f"Would go: {what}.")
        for task_id in data["task_ids"]:
            click.echo(f"  {task_id}")
        click.echo(f"To do it, until {data['expires_at'][11:16]} UTC: --confirm {data['token']}")
    for path in data["elsewhere"]:
        click.echo(f"It may still be in {line(path)}, which is yours to remove.")
    for warning in data["warnings"]:
        click.echo(f"Note: {line(warning)}")
