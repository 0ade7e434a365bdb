"""The commands that wait, and that look after waits."""

from __future__ import annotations

import json
from typing import Any

import click

from .console import Command, Group, called, given, leave, line, show, table


@click.command(
    "wait",
    cls=Command,
    task=True,
    short_help="Wait until something is so.",
    examples=(
        "ringbolt wait file:dist/app.whl --timeout 600",
        "ringbolt wait log:build.log --until 'contains BUILD OK'",
        "ringbolt wait port:localhost:8080 --until open --no-block",
    ),
)
@click.argument("target")
@click.option("--until", metavar="WORDS", help="What must become true; each kind of target has a usual one.")
@click.option(
    "--timeout", metavar="SECONDS", type=float, default=300, show_default=True, help="The longest to wait."
)
@click.option(
    "--every", metavar="SECONDS", type=float, default=2.0, show_default=True, help="How often to look."
)
@click.option("--message", metavar="TEXT", help="What it is good for.")
@click.option("--callback-url", metavar="URL", help="Who is told by a POST when it is over.")
@click.option(
    "--command",
    metavar="JSON",
    help="Words of a command that a worker runs when it is over, as a JSON list; only if that is allowed.",
)
@click.option("--block/--no-block", default=True, help="Wait here, or leave it to a worker.")
def wait_command(
    target: str,
    until: str | None,
    timeout: float,
    every: float,
    message: str | None,
    callback_url: str | None,
    command: str | None,
    block: bool,
) -> None:
    """Wait for TARGET: file:PATH, log:PATH, process:PID, port:HOST:PORT, a URL, time:5m, task:ID, screen:,
    window:TITLE, terminal:PANE, manual:, any(A, B), all(A, B), not(A).

    The exit code is 0 when it has become so, 1 when it has not: a timeout, an error, or it was cancelled.
    """
    data = called(
        "smart_wait",
        {
            "target": target,
            "until": until,
            "timeout": timeout,
            "poll_interval": every,
            "task_id": given().get("task"),
            "message": message,
            "callback_url": callback_url,
            "command": _words(command),
            "block": block,
        },
    )
    show(data, _tell)
    leave(0 if data["state"] in ("resolved", "watching") else 1)


def _words(command: str | None) -> Any:
    try:
        return None if command is None else json.loads(command)
    except ValueError:
        raise click.BadParameter(
            'it is no JSON list, like ["make", "publish"]', param_hint="--command"
        ) from None


def _tell(data: Any) -> None:
    until = f" {data['until']}" if data["until"] else ""
    result = f": {data['result']}" if data["result"] else ""
    click.echo(f"{data['wait_id']} {data['state']}: {line(data['target'] + until)}{line(result)}")


@click.group(
    "waits",
    cls=Group,
    invoke_without_command=True,
    short_help="What is waited for, and how it stands.",
    examples=(
        "ringbolt waits",
        "ringbolt waits show 7k3m9xq2wd#4",
        "ringbolt waits change 7k3m9xq2wd#4 --timeout 3600",
        "ringbolt waits decide 7k3m9xq2wd#4 'go ahead'",
        "ringbolt waits cancel 7k3m9xq2wd#4",
    ),
)
@click.pass_context
def waits_command(context: click.Context) -> None:
    """What is still waited for in this workspace."""
    if context.invoked_subcommand is None:
        show(called("wait_status", {}), _tell_all)


def _tell_all(data: Any) -> None:
    rows = [
        (
            one["wait_id"],
            one["state"],
            " ".join(filter(None, (one["target"], one["until"]))),
            one["result"] or "",
        )
        for one in data
    ]
    if not rows:
        click.echo("Nothing is waited for.")
        return
    table(("ID", "STATE", "WAITS FOR", "SEEN"), rows)


@waits_command.command(
    "show", short_help="How a wait stands.", examples=("ringbolt waits show 7k3m9xq2wd#4",)
)
@click.argument("wait", metavar="ID")
def show_wait(wait: str) -> None:
    """How the wait ID stands, also after it is over."""
    (found,) = called("wait_status", {"wait_id": wait})
    show(found, _tell)


@waits_command.command(
    "change",
    short_help="Change what a wait waits for, or how long.",
    examples=("ringbolt waits change 7k3m9xq2wd#4 --timeout 3600",),
)
@click.argument("wait", metavar="ID")
@click.option("--until", metavar="WORDS", help="What must become true.")
@click.option("--timeout", metavar="SECONDS", type=float, help="The longest to wait, from its beginning.")
def change_wait(wait: str, until: str | None, timeout: float | None) -> None:
    """Change what the wait ID waits for, or how long."""
    show(called("wait_update", {"wait_id": wait, "until": until, "timeout": timeout}), _tell)


@waits_command.command(
    "decide",
    short_help="Decide a wait that is for a person.",
    examples=("ringbolt waits decide 7k3m9xq2wd#4 'go ahead'",),
)
@click.argument("wait", metavar="ID")
@click.argument("decision")
def decide_wait(wait: str, decision: str) -> None:
    """Give the wait ID, which is for a person (`manual:`), its DECISION: the task goes on with it."""
    show(called("wait_update", {"wait_id": wait, "message": decision}), _tell)


@waits_command.command(
    "cancel",
    short_help="Stop waiting.",
    examples=("ringbolt waits cancel 7k3m9xq2wd#4 --because 'not needed'",),
)
@click.argument("wait", metavar="ID")
@click.option("--because", metavar="TEXT", help="Why.")
def cancel_wait(wait: str, because: str | None) -> None:
    """Stop waiting for what the wait ID is about; one that is over stays as it is."""
    show(called("wait_cancel", {"wait_id": wait, "reason": because}), _tell)
