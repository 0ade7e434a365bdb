"""What all commands share: options, opening the memory, answers, errors, exit codes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import click

from ...memory import TaskMemory
from ...model.errors import Conflict, InvalidInput, NotFound, RingboltError, shown
from ...model.settings import Settings
from ...operations import call
from ...packet.encode import one_line, read_json, terminal
from .rich_console import draw_table

EXIT_CODES: dict[type[RingboltError], int] = {NotFound: 3, Conflict: 4, InvalidInput: 5}
OTHERWISE, USAGE, INTERRUPTED = 1, 2, 130
# The most that is read from standard input for one text; the memory has stricter limits of its own.
MOST_INPUT = 64 << 20


# --- options that every command has -----------------------------------------------------------------


def given() -> dict[str, Any]:
    """The common options of this call, wherever on the line they stood."""
    return click.get_current_context().meta.setdefault("ringbolt.common", {})


def _kept(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value:  # what stands further right wins
        context.meta.setdefault("ringbolt.common", {})[option.name] = value


def _common(*names: str, **more: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_kept, **more)


def _some_tasks(context: click.Context, option: click.Parameter, incomplete: str) -> list[Any]:
    """The open tasks, for the shell to complete an id."""
    from click.shell_completion import CompletionItem

    try:
        with context, open_memory() as memory:
            cards = memory.task_list(limit=100).tasks
    except RingboltError:  # there is nothing to offer; the command itself will say why
        return []
    return [
        CompletionItem(card.id, help=one_line(card.name)) for card in cards if card.id.startswith(incomplete)
    ]


TASK = _common(
    "--task", metavar="ID", shell_complete=_some_tasks, help="The task, by the beginning of its id."
)
COMMON = [
    _common("--store", metavar="STORE", help="Path or URL of the store, instead of that of the settings."),
    _common("--workspace", metavar="FOLDER", help="The workspace, instead of that of the current folder."),
    _common("--session", metavar="NAME", help="The session, instead of RINGBOLT_SESSION."),
    _common("--agent", metavar="NAME", help="Who is acting, instead of RINGBOLT_AGENT."),
    _common("--as-user", is_flag=True, help="A person says this, also where no terminal shows it."),
    _common("--json", is_flag=True, help="Print JSON for programs."),
]
EVERYWHERE = click.option(
    "--everywhere", is_flag=True, expose_value=False, callback=_kept, help="In every workspace."
)
_COMMON_NAMES = {option.name for option in COMMON}


class _Helped(click.Command):
    """A command with the common options, and examples in its help."""

    def __init__(self, *words: Any, examples: Sequence[str] = (), task: bool = False, **more: Any) -> None:
        self.examples = tuple(examples)
        super().__init__(*words, **more)
        self.params += [TASK, *COMMON] if task else COMMON

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if row is not None:
                (shared if option.name in _COMMON_NAMES else own).append(row)
        for title, rows in (("Options", own), ("Options of every command", shared)):
            with formatter.section(title):
                formatter.write_dl(rows)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Command(_Helped):
    """A command."""


class Group(_Helped, click.Group):
    """Commands under one word; without a second word most of them show something."""

    command_class = Command
    # What people try, and the command that does it.
    synonyms: Mapping[str, str] = {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0] if args else ""
        if self.get_command(ctx, word) is None and not word.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(self._unknown(word, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def _unknown(self, word: str, names: Sequence[str]) -> str:

        near = [word] if word in self.synonyms else get_close_matches(word, [*names, *self.synonyms], 1)
        told = f" Did you mean {self.synonyms.get(near[0], near[0])!r}?" if near else ""
        return f"No such command {shown(word)}.{told}"


# --- reaching the memory ----------------------------------------------------------------------------


def open_memory(
    *, create: bool = False, settings: Settings | None = None, clock: Callable[[], float] = time.time
) -> TaskMemory:
    """The memory that this call means; a store that is not there is made only by what begins something."""

    common = given()
    return TaskMemory.open(
        common.get("store"),
        workspace=None if common.get("everywhere") else common.get("workspace", ""),
        session=common.get("session"),
        agent=common.get("agent"),
        channel="user" if common.get("as_user") or is_terminal(sys.stdin) else "agent",
        settings=settings,
        create=create,
        clock=clock,
    )


def called(name: str, arguments: Mapping[str, Any], *, create: bool = False) -> Any:
    """What an operation answers; an argument that is None, or an empty tuple, was not given."""

    wanted = {key: value for key, value in arguments.items() if value is not None and value != ()}
    with open_memory(create=create) as memory:
        return call(memory, name, wanted)


def of_task(name: str, arguments: Mapping[str, Any], tell: Callable[[Any], None]) -> None:
    """Call an operation on the task of this call, and show what it answers."""
    show(called(name, {"task_id": given().get("task"), **arguments}), tell)


def text_of(value: str | None) -> str | None:
    """A text of the command line; `-` is what comes through standard input, without its last line end."""
    if value != "-":
        return value
    content = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(content) > MOST_INPUT:
        raise InvalidInput("too_large", "Standard input has more than 64 MB.", "Give less of it.")
    try:
        return content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "invalid_text",
            f"Standard input is not UTF-8: {error.reason} at byte {error.start}.",
            "Convert it.",
        ) from None


def json_of(name: str, value: str | None) -> Any:
    """A JSON value of the command line; `-` is standard input."""
    if value is None:
        return None

    try:
        return read_json(text_of(value) or "")
    except ValueError as error:
        raise InvalidInput(
            "invalid_json", f"{name} is no JSON: {error}.", "Put texts in quotation marks."
        ) from None


def moment(value: str | None) -> str | int | None:
    """A point in a task's history: the number of an event, or a time."""
    return int(value) if value and value.isascii() and value.isdecimal() else value


def is_terminal(stream: Any) -> bool:
    """Whether a person is at the other end."""
    return stream is not None and not stream.closed and stream.isatty()


# --- answers ----------------------------------------------------------------------------------------


def wants_json() -> bool:
    """Whether a program is asking."""
    return bool(given().get("json"))


def emit(data: Any) -> None:
    """Print an answer for programs: one line, in plain ASCII."""
    click.echo(json.dumps({"schema_version": 1, "data": data}))


def show(data: Any, tell: Callable[[Any], None]) -> None:
    """Print an answer: as JSON, or as it is told to people."""
    if wants_json():
        emit(data)
    else:
        tell(data)


def say(text: str, *, err: bool = False) -> None:
    """Print a text of several lines; whatever would steer the terminal is shown by its number."""
    click.echo("\n".join(map(line, text.split("\n"))), err=err)


def line(text: object) -> str:
    """Any text as part of one line of output."""
    text = str(text)
    if text.isascii() and text.isprintable():
        return text

    return terminal(text).replace("\n", "\\n")


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: drawn on a terminal, else in plain columns, so that nothing is cut off."""
    cells = [[line(cell) for cell in row] for row in rows]
    if is_terminal(sys.stdout):
        draw_table(headings, cells)
        return
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    for row in [list(headings), *cells]:
        padded = "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo(padded.rstrip())


def warn(text: str) -> None:
    """Say something on standard error that is no error."""
    say(f"ringbolt: {text}", err=True)


# --- errors -----------------------------------------------------------------------------------------


def exit_code(error: RingboltError) -> int:
    """The exit code that says of which kind an error is."""
    return EXIT_CODES.get(type(error), OTHERWISE)


def tell_error(code: str, message: str, hint: str, details: Mapping[str, object], *, plain: bool) -> None:
    """Tell an error: in two lines on standard error, or as JSON on standard output."""
    if plain:
        error = {"code": code, "message": message, "hint": hint, "details": details}
        click.echo(json.dumps({"schema_version": 1, "error": error}))
        return
    say(f"ringbolt: {message} [{code}]", err=True)
    if hint:
        say(f"  {hint}", err=True)


def leave(code: int) -> NoReturn:
    """End with an exit code."""
    click.get_current_context().exit(code)
