"""`ringbolt op`: any operation of the table; `ringbolt completion`: scripts for shells."""

from __future__ import annotations

from typing import Any

import click

from ...model.errors import InvalidInput
from ...operations import OPERATIONS, parameters
from ...packet.encode import pretty
from .console import Command, called, given, json_of, line, show, table


def _some_operations(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:

    return [name for name in OPERATIONS if name.startswith(incomplete)]


@click.command(
    "op",
    cls=Command,
    task=True,
    short_help="Call any operation by its name.",
    examples=(
        "ringbolt op",
        'ringbolt op task_receipt command="make test" exit_code=0',
        'ringbolt op task_recall --json-args \'{"query": "registry", "limit": 3}\'',
        "ringbolt op task_set name=ports value:='[8080, 8081]'",
    ),
)
@click.argument("name", required=False, shell_complete=_some_operations)
@click.argument("arguments", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--json-args", metavar="JSON", help="All arguments as one JSON object; - reads it.")
@click.option("--yes", is_flag=True, help="Do it even if it cannot be taken back.")
def op_command(name: str | None, arguments: tuple[str, ...], json_args: str | None, yes: bool) -> None:
    """Call the operation NAME with any arguments; its answer is JSON. Without a name: what there is.

    key=value gives a text, or what the operation reads from one; key:=value gives JSON.
    """

    if name is None:
        rows = {one.name: {"scope": one.scope, "summary": one.summary} for one in OPERATIONS.values()}
        show(rows, lambda _: table(("NAME", "", "WHAT"), [(k, *row.values()) for k, row in rows.items()]))
        return
    operation = OPERATIONS.get(name)
    wanted = _read(arguments, json_args)
    if operation is not None:
        if operation.destructive and not yes:
            raise click.UsageError("This cannot be taken back: add --yes if that is wanted.")
        if (task := given().get("task")) and any(one.name == "task_id" for one in parameters(name)):
            wanted.setdefault("task_id", task)
    data = called(name, wanted, create=operation is not None and operation.scope == "write")
    show(data, _tell_json)


def _read(arguments: tuple[str, ...], json_args: str | None) -> dict[str, Any]:
    wanted: Any = json_of("--json-args", json_args) if json_args is not None else {}
    if not isinstance(wanted, dict):
        raise InvalidInput("invalid_json", "--json-args is no object.", 'Give an object, like {"limit": 3}.')
    read: dict[str, Any] = dict(wanted)  # pyright: ignore[reportUnknownArgumentType]
    for argument in arguments:
        key, separator, value = argument.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{line(argument)} is no key=value.")
        if key.endswith(":"):
            read[key[:-1]] = json_of(key[:-1], value)
        else:
            read[key] = value
    return read


def _tell_json(data: Any) -> None:

    click.echo(pretty(data))


@click.command(
    "completion",
    cls=Command,
    short_help="Print a script that completes commands in your shell.",
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
        raise click.ClickException(f"There is no script for {shell}.")
    # The text alone: click would first run the shell to ask for its version.
    made = kind(context.find_root().command, {}, "ringbolt", "_RINGBOLT_COMPLETE")
    show(made.source_template % made.source_vars(), click.echo)
