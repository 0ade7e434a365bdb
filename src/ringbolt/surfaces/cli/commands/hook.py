"""`ringbolt hook`, the same as ringbolt-hook, and `ringbolt statusline`."""

from __future__ import annotations

import click

from ....hosts.capture_hook import main
from ....hosts.status_line import main as print_status_line
from ..command import Command


@click.command(
    "hook",
    cls=Command,
    examples=(
        "ringbolt hook claude-code PostToolUse < event.json",
        "ringbolt hook codex SessionStart < event.json",
    ),
)
@click.argument("host")
@click.argument("event")
def hook_command(host: str, event: str) -> None:
    """Record the EVENT of a HOST, and print the response for the host.

    The hosts are those that `ringbolt install` knows. The event is JSON on standard input. The exit code is
    always 0, so that a host is never blocked. Hosts call ringbolt-hook, which does the same and starts
    faster.
    """
    main([host, event])


@click.command("statusline", cls=Command, examples=("ringbolt statusline < statusline.json",))
def statusline_command() -> None:
    """Print the task of a session in one line: name, done and all steps, current step, waits.

    This is for the status line of Claude Code, which sends JSON with the session on standard input; set it up
    with `ringbolt install claude-code --statusline`. The line shows what is in the store already, and
    is empty if the session has no open task.
    """
    print_status_line()
