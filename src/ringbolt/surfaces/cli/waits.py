"""`ringbolt wait` and `ringbolt waits`."""

from __future__ import annotations

from typing import Any

import click

from ...waits.operations import Waiting
from .command import Group, operation_command
from .console import answer, call, line, table
from .parameters import argument, option


def _show(data: Any) -> None:
    until = f" {data['until']}" if data["until"] else ""
    result = f": {data['result']}" if data["result"] else ""
    click.echo(f"{data['wait_id']} {data['state']}: {line(data['target'] + until)}{line(result)}")


wait_command = operation_command(
    "wait",
    Waiting,
    "smart_wait",
    argument("target"),
    "--until",
    option("--timeout", default=300.0, show_default=True),
    option("--every", of="poll_interval", default=2.0, show_default=True),
    "--message --callback-url",
    option("--command", json=True),
    option("--block/--no-block", default=True, help="Wait here, or let a worker wait."),
    show=_show,
    end=lambda data: 0 if data["state"] in ("resolved", "watching") else 1,
    help="Wait for TARGET: file:PATH, log:PATH, process:PID, port:HOST:PORT, a URL, time:5m, task:ID,"
    " screen:, window:TITLE, terminal:PANE, manual: (a person), any(A, B), all(A, B), not(A).\n\n"
    "The exit code is 0 when the condition is met, and 1 on a timeout, an error or a cancellation.",
    examples=(
        "ringbolt wait file:dist/app.whl --timeout 600",
        "ringbolt wait log:build.log --until 'contains BUILD OK'",
        "ringbolt wait port:localhost:8080 --until open --no-block",
    ),
)


@click.group(
    "waits",
    cls=Group,
    invoke_without_command=True,
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
    """Show the unresolved waits of this workspace, or manage one."""
    if context.invoked_subcommand is None:
        answer(call(Waiting, "wait_status", {}), _show_all)


def _show_all(data: Any) -> None:
    rows = [
        (
            wait["wait_id"],
            wait["state"],
            f"{wait['target']} {wait['until'] or ''}".strip(),
            wait["result"] or "",
        )
        for wait in data
    ]
    if rows:
        table(("ID", "STATE", "WAITS FOR", "RESULT"), rows)
    else:
        click.echo("No waits.")


WAIT = argument("id", of="wait_id")


@waits_command.command("show", short_help="Show a wait.", examples=("ringbolt waits show 7k3m9xq2wd#4",))
@click.argument("wait", metavar="ID")
def show_wait(wait: str) -> None:
    """Show the wait ID, even after it has ended."""
    (status,) = call(Waiting, "wait_status", {"wait_id": wait})
    answer(status, _show)


for _command in (
    operation_command(
        "change",
        Waiting,
        "wait_update",
        WAIT,
        "--until --timeout",
        show=_show,
        task=False,
        short_help="Change the condition or timeout of a wait.",
        help="Change the condition or timeout of the wait ID.",
        examples=("ringbolt waits change 7k3m9xq2wd#4 --timeout 3600",),
    ),
    operation_command(
        "decide",
        Waiting,
        "wait_update",
        WAIT,
        argument("decision", of="message"),
        show=_show,
        task=False,
        short_help="Decide a manual wait.",
        help="Decide the manual wait ID with a DECISION; the task continues.",
        examples=("ringbolt waits decide 7k3m9xq2wd#4 'go ahead'",),
    ),
    operation_command(
        "cancel",
        Waiting,
        "wait_cancel",
        WAIT,
        option("--because", of="reason", help="Why."),
        show=_show,
        task=False,
        short_help="Cancel a wait.",
        help="Cancel the wait ID. A wait that has already ended is left unchanged.",
        examples=("ringbolt waits cancel 7k3m9xq2wd#4 --because 'not needed'",),
    ),
):
    waits_command.add_command(_command)
