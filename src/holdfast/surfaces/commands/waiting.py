"""The command that waits."""

from __future__ import annotations

import json

import click

from ..console import Command, called, given, leave, line, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@click.command(
    "wait",
    cls=Command,
    task=True,
    short_help="Wait until something is so.",
    examples=(
        "holdfast wait file:dist/app.whl --timeout 600",
        "holdfast wait log:build.log --until 'contains BUILD OK'",
        "holdfast wait port:localhost:8080 --until open --no-block",
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
