"""`ringbolt hook`: the same as ringbolt-hook."""

from __future__ import annotations

import click

from ...hosts.capture_hook import main
from .command import Command


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

    Hosts are claude-code, codex, cursor, gemini-cli, vscode, opencode and openclaw. The event is JSON on
    standard input. The exit code is always 0, so that a host is never blocked. Hosts call ringbolt-hook,
    which does the same and starts faster.
    """
    main([host, event])
