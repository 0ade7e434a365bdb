"""`ringbolt hook`: what hosts call, for whoever has only the one program."""

from __future__ import annotations

import click

from ...hosts.capture_hook import main
from .console import Command


@click.command(
    "hook",
    cls=Command,
    short_help="Write an event that a host tells on standard input.",
    examples=(
        "ringbolt hook claude-code PostToolUse < event.json",
        "ringbolt hook codex SessionStart < event.json",
    ),
)
@click.argument("host")
@click.argument("event")
def hook_command(host: str, event: str) -> None:
    """Write the EVENT of a HOST, and print its answer.

    Hosts are claude-code, codex, cursor, gemini-cli, vscode, opencode and openclaw. The event is JSON on
    standard input. The exit code is always 0: a host must never be held up. Hosts call ringbolt-hook, which
    does the same and starts faster.
    """

    main([host, event])
