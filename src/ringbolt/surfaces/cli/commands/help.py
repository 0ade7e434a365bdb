"""`ringbolt help`: the commands, or the help of one."""

from __future__ import annotations

import click

from ..command import Command
from ..command_table import SECTIONS


@click.command("help", cls=Command, examples=("ringbolt help --all", "ringbolt help plan add"))
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="List all commands, by purpose.")
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...], everything: bool) -> None:
    """List the commands that people need most, or show the help of a COMMAND."""
    root = context.find_root()
    if everything and not words:
        click.echo(_all_commands(root))
        return
    command, at = root.command, root
    for word in words:
        if not isinstance(command, click.Group):
            raise click.UsageError(f"{at.command_path} has no commands of its own.", at)
        _, found, _ = command.resolve_command(at, [word])
        if found is None:  # `resolve_command` raises for a word that is not a command
            break
        command, at = found, click.Context(found, at, word)
    click.echo(command.get_help(at))


def _all_commands(root: click.Context) -> str:
    formatter = root.make_formatter()
    for title, modules in SECTIONS.items():
        with formatter.section(title):
            formatter.write_dl([row for commands in modules.values() for row in commands.items()])
    formatter.write_text("ringbolt COMMAND --help explains a command.")
    return formatter.getvalue().strip()
