"""`ringbolt op`: call any operation."""

from __future__ import annotations

from typing import Any

import click

from ....memory import TaskMemory
from ....model.errors import InvalidInput
from ....model.types import is_dict
from ....operations import OPERATIONS, call, parameters
from ....packet.encode import pretty
from ..command import Command
from ..console import answer, common_values, json_of, line, open_memory, table


def _complete_name(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in OPERATIONS if name.startswith(incomplete)]


@click.command(
    "op",
    cls=Command,
    task=True,
    examples=(
        "ringbolt op",
        'ringbolt op task_receipt command="make test" exit_code=0',
        'ringbolt op task_recall --json-args \'{"query": "registry", "limit": 3}\'',
        "ringbolt op task_set name=ports value:='[8080, 8081]'",
    ),
)
@click.argument("name", required=False, shell_complete=_complete_name)
@click.argument("arguments", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--json-args", metavar="JSON", help="All arguments as one JSON object; - reads standard input.")
@click.option("--yes", is_flag=True, help="Confirm an operation that cannot be undone.")
def op_command(name: str | None, arguments: tuple[str, ...], json_args: str | None, yes: bool) -> None:
    """Call the operation NAME with any arguments; the result is JSON. Without a name: list all operations.

    key=value passes a text, converted to the type of the argument; key:=value passes JSON.
    """
    if name is None:
        rows = {
            name: {"scope": operation.scope, "summary": operation.summary}
            for name, operation in OPERATIONS.items()
        }
        cells = [(name, *row.values()) for name, row in rows.items()]
        answer(rows, lambda _: table(("NAME", "", "WHAT IT DOES"), cells))
        return
    operation = OPERATIONS.get(name)
    wanted = _read(arguments, json_args)
    if operation is not None:
        if operation.destructive and not yes:
            raise click.UsageError("This cannot be undone: add --yes to confirm.")
        if (task := common_values().get("task")) and "task_id" in {each.name for each in parameters(name)}:
            wanted.setdefault("task_id", task)
    with open_memory(TaskMemory, create=operation is not None and operation.scope != "read") as memory:
        data = call(memory, name, wanted)
    answer(data, lambda data: click.echo(pretty(data)))


def _read(arguments: tuple[str, ...], json_args: str | None) -> dict[str, Any]:
    wanted: Any = json_of("--json-args", json_args) if json_args is not None else {}
    if not is_dict(wanted):
        raise InvalidInput("invalid_json", "--json-args is not an object.", 'Like {"limit": 3}.')
    read = dict(wanted)
    for argument in arguments:
        key, separator, value = argument.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{line(argument)} is not key=value.")
        if key.endswith(":"):
            read[key[:-1]] = json_of(key[:-1], value)
        else:
            read[key] = value
    return read
