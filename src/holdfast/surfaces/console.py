"""What all commands share: errors in two lines or as JSON, with an exit code that says of which kind."""

from __future__ import annotations

import json
from typing import Any

import click

from ..errors import Conflict, HoldfastError, InvalidInput, NotFound

EXIT_CODES: dict[type[HoldfastError], int] = {NotFound: 3, Conflict: 4, InvalidInput: 5}
OTHERWISE = 1

as_json = click.option("--json", "plain", is_flag=True, help="Print JSON for programs.")


class Group(click.Group):
    """Commands whose errors are told in one line with what to do next, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except HoldfastError as error:
            click.echo(f"holdfast: {error.message} [{error.code}]", err=True)
            if error.hint:
                click.echo(f"  {error.hint}", err=True)
            ctx.exit(EXIT_CODES.get(type(error), OTHERWISE))


def emit(data: Any) -> None:
    """Print an answer for programs."""
    click.echo(json.dumps({"schema_version": 1, "data": data}))


class JsonErrors:
    """Tells an error as JSON on standard output, where JSON was asked for; the exit code is the same."""

    def __init__(self, plain: bool) -> None:
        self._plain = plain

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._plain and isinstance(error, HoldfastError):
            click.echo(json.dumps({"schema_version": 1, "error": error.to_dict()}))
            raise click.exceptions.Exit(EXIT_CODES.get(type(error), OTHERWISE))
