"""`ringbolt wait` and `ringbolt waits`."""

from __future__ import annotations

import signal
import threading
from functools import wraps
from typing import Any

import click

from ....model.results import WaitResult
from ....waits.blocking import wait_on_this_thread
from ....waits.operations import Waiting
from ..command import Command, Group, operation_command
from ..console import answer, call, line, table, warn
from ..parameters import BECAUSE, Parameter, argument, option


class _Waits(Waiting):
    """Waits that end with the command: an interrupt cancels the wait instead of leaving it to a worker."""

    @wraps(Waiting.smart_wait)  # the options come from its declaration
    def smart_wait(self, target: str, **arguments: Any) -> WaitResult:  # pyright: ignore[reportIncompatibleMethodOverride] - the same arguments
        if not arguments.get("block", True):
            return super().smart_wait(target, **arguments)
        interrupted = threading.Event()

        def interrupt(_number: int, _frame: object) -> None:
            interrupted.set()

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            unblocked: dict[str, Any] = {**arguments, "block": False}
            started = super().smart_wait(target, **unblocked)
            result = wait_on_this_thread(self, started, interrupted.is_set)
        finally:
            signal.signal(signal.SIGINT, before)
        if interrupted.is_set() and result.state == "cancelled":
            warn(f"interrupted: the wait {result.wait_id} is cancelled")
            raise KeyboardInterrupt
        return result


def _show(data: Any) -> None:
    until = f" {data['until']}" if data["until"] else ""
    result = f": {data['result']}" if data["result"] else ""
    click.echo(f"{data['wait_id']} {data['state']}: {line(data['target'] + until)}{line(result)}")


wait_command = operation_command(
    "wait",
    _Waits,
    "smart_wait",
    argument("target"),
    "--until",
    option("--timeout", default=300.0, show_default=True),
    option("--every", of="poll_interval", default=2.0, show_default=True),
    "--message",
    option("--command", json=True),
    option("--block/--no-block", default=True, help="Wait here, or let a worker wait."),
    "*",
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


def manage_command(
    name: str, operation: str, *parameters: Parameter | str, help: str, examples: tuple[str, ...]
) -> Command:
    """A command for the wait that its first argument names."""
    wait = argument("id", of="wait_id")
    return operation_command(
        name, Waiting, operation, wait, *parameters, show=_show, task=False, help=help, examples=examples
    )


@click.command("show", cls=Command, examples=("ringbolt waits show 7k3m9xq2wd#4",))
@click.argument("wait", metavar="ID")
def show_command(wait: str) -> None:
    """Show the wait ID, even after it has ended."""
    (status,) = call(Waiting, "wait_status", {"wait_id": wait})
    answer(status, _show)


waits_command = Group(
    "waits",
    callback=lambda: answer(call(Waiting, "wait_status", {}), _show_all),
    help="Show the unresolved waits of this workspace, or manage one.",
    examples=(
        "ringbolt waits",
        "ringbolt waits show 7k3m9xq2wd#4",
        "ringbolt waits change 7k3m9xq2wd#4 --timeout 3600",
        "ringbolt waits decide 7k3m9xq2wd#4 'go ahead'",
        "ringbolt waits cancel 7k3m9xq2wd#4",
    ),
    commands=[
        show_command,
        manage_command(
            "change",
            "wait_update",
            "--until --timeout",
            help="Change the condition or timeout of the wait ID.",
            examples=("ringbolt waits change 7k3m9xq2wd#4 --timeout 3600",),
        ),
        manage_command(
            "decide",
            "wait_update",
            argument("decision", of="message"),
            help="Decide the manual wait ID with a DECISION; the task continues.",
            examples=("ringbolt waits decide 7k3m9xq2wd#4 'go ahead'",),
        ),
        manage_command(
            "cancel",
            "wait_cancel",
            BECAUSE,
            help="Cancel the wait ID. A wait that has already ended is left unchanged.",
            examples=("ringbolt waits cancel 7k3m9xq2wd#4 --because 'not needed'",),
        ),
    ],
)
