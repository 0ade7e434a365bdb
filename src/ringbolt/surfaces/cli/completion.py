"""`ringbolt completion`: completion scripts for shells."""

from __future__ import annotations

import click

from .command import Command
from .console import answer


@click.command(
    "completion",
    cls=Command,
    examples=(
        'eval "$(ringbolt completion bash)"',
        "ringbolt completion fish > ~/.config/fish/completions/ringbolt.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print a script for a SHELL that completes commands, options and task ids."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"No script for {shell}.")
    # Only the text: click would run the shell first to ask for its version.
    made = kind(context.find_root().command, {}, "ringbolt", "_RINGBOLT_COMPLETE")
    answer(made.source_template % made.source_vars(), click.echo)
