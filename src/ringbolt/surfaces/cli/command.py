"""Commands made from operations: options, their types and their help come from the method's declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import click

from ...ledger.base import Base
from ...model.errors import shown
from ...model.operation import split_docstring
from .console import answer, call, given, json_of, leave, open_memory, text_of

# --- options that every command has -----------------------------------------------------------------


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value:  # the rightmost one on the line wins
        context.meta.setdefault("ringbolt.common", {})[option.name] = value


def _common(*names: str, **more: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_keep, **more)


def _complete_task(context: click.Context, option: click.Parameter, incomplete: str) -> list[Any]:
    """The open tasks, for shell completion."""
    from click.shell_completion import CompletionItem

    from ...core.tasks import Tasks
    from ...model.errors import RingboltError
    from ...packet.encode import one_line

    try:
        with context, open_memory(Tasks) as memory:
            cards = memory.task_list(limit=100).tasks
    except RingboltError:  # nothing to offer; the command itself will say why
        return []
    return [
        CompletionItem(card.id, help=one_line(card.name)) for card in cards if card.id.startswith(incomplete)
    ]


TASK = _common(
    "--task",
    metavar="ID",
    shell_complete=_complete_task,
    help="Task id or a unique prefix.",
)
COMMON = [
    _common("--store", metavar="STORE", help="Path or URL of the store, instead of the configured one."),
    _common("--workspace", metavar="FOLDER", help="The workspace, instead of that of the current folder."),
    _common("--session", metavar="NAME", help="The session, instead of RINGBOLT_SESSION."),
    _common("--agent", metavar="NAME", help="The agent's name, instead of RINGBOLT_AGENT."),
    _common("--as-user", is_flag=True, help="Record this as the user's words, even without a terminal."),
    _common("--json", is_flag=True, help="Print JSON."),
]
EVERYWHERE = _common("--everywhere", is_flag=True, help="In every workspace.")
_COMMON_NAMES = {option.name for option in COMMON}


# --- commands and groups ----------------------------------------------------------------------------


class Command(click.Command):
    """A command with the common options, and examples in its help."""

    def __init__(
        self,
        *words: Any,
        examples: Sequence[str] = (),
        task: bool = False,
        everywhere: bool = False,
        **more: Any,
    ) -> None:
        self.examples = tuple(examples)
        super().__init__(*words, **more)
        self.params += [*([EVERYWHERE] if everywhere else ()), *([TASK] if task else ()), *COMMON]

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


class Group(Command, click.Group):
    """Subcommands of one command; without a subcommand most of them show something."""

    command_class = Command
    # Words that people try, and the command that they mean.
    synonyms: Mapping[str, str] = {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0] if args else ""
        if self.get_command(ctx, word) is None and not word.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(self._unknown(word, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def _unknown(self, word: str, names: Sequence[str]) -> str:
        from difflib import get_close_matches

        near = [word] if word in self.synonyms else get_close_matches(word, [*names, *self.synonyms], 1)
        suggestion = f" Did you mean {self.synonyms.get(near[0], near[0])!r}?" if near else ""
        return f"No such command {shown(word)}.{suggestion}"


# --- parameters of operations -----------------------------------------------------------------------


class Parameter:
    """An option or positional argument that passes its value to a parameter of an operation.

    `of` names the parameter, or `parameter.field` of an object; by default it is the option's name. `stdin`:
    a value of `-` is read from standard input. `json`: the value is JSON. `sets`: a flag that passes this
    value. `convert` is applied to what click reads. Anything else is for click.
    """

    def __init__(
        self,
        *flags: str,
        of: str = "",
        stdin: bool = False,
        json: bool = False,
        sets: object = None,
        convert: Callable[[Any], Any] | None = None,
        **more: Any,
    ) -> None:
        own = flags[-1].split("/")[0].lstrip("-").replace("-", "_")
        self.name = of or own
        self.key = f"p_{own}"  # unlike `next` or `type`, it cannot be a name of Python or click
        self.flags = flags
        self._stdin, self._json, self._sets = stdin, json, sets
        self._convert, self._more = convert, more

    def click_parameter(self, hint: Any, meaning: str) -> click.Parameter:
        """The same for click, with the type and the meaning that the operation declares."""
        more: dict[str, Any]
        if not self.flags[0].startswith("-"):
            more = {"metavar": self._metavar(), **_kind(hint, "nargs"), **self._more}
            return click.Argument([self.key], **more)
        if self._sets is not None:
            more = {"is_flag": True}
        elif "/" in self.flags[0]:
            more = {"default": None}
        elif self._json:
            more = {"metavar": "JSON"}
        else:
            more = _kind(hint, "multiple")
            if not more.get("is_flag"):
                more["metavar"] = "NUMBER" if "type" in more else "TEXT"
        more["help"] = meaning + (" - reads standard input." if self._stdin else "")
        return click.Option([*self.flags, self.key], **{**more, **self._more})

    def _metavar(self) -> str:
        word = self.flags[0].upper()
        return word if self._more.get("required", True) else f"[{word}]"

    def value(self, read: Any) -> Any:
        """The value for the operation; None if it was not given."""
        if self._sets is not None:
            return self._sets if read else None
        if self._json:
            return json_of(self.flags[0], read)
        if self._stdin:
            return text_of(read)
        if read is None or read == () or (read is False and "/" not in self.flags[0]):
            return None
        return self._convert(read) if self._convert else read


def _kind(hint: Any, several: str) -> dict[str, Any]:
    """What click must know about a type: a flag, several values, or a number."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if bool in kinds:
        return {"is_flag": True}
    if any(issubclass(get_origin(kind) or object, Sequence) for kind in kinds):
        return {several: -1 if several == "nargs" else True}
    if str in kinds or Any in kinds:
        return {}
    return {"type": int} if int in kinds else {"type": float} if float in kinds else {}


option = Parameter  # such as option("--step")
argument = Parameter  # such as argument("message")

STEP = option("--step", of="item", metavar="STEP")
TOKEN = option("--token", metavar="TOKEN", help="Fencing token of a claim.")
KEY = option("--key", metavar="KEY")
TAGS = option("--tag", of="tags", metavar="TAG", help="A label; repeat it for several.")
BECAUSE = option("--because", of="reason", help="Why.")


def operation_command(
    name: str,
    room: type[Base],
    operation: str,
    *parameters: Parameter,
    show: Callable[[Any], None],
    examples: Sequence[str],
    short_help: str | None = None,
    help: str | None = None,
    task: bool = True,
    everywhere: bool = False,
    create: bool = False,
    defaults: Mapping[str, Any] | None = None,
    prepare: Callable[[dict[str, Any]], None] | None = None,
    end: Callable[[Any], int] = lambda _: 0,
) -> Command:
    """A command that calls an operation of a room of TaskMemory.

    `task` adds --task, for operations that have a `task_id`; `everywhere` adds --everywhere. `create` creates
    the store if needed. `defaults` are arguments that options may override; `prepare` may change all of them.
    `show` prints the answer for people, `end` gives the exit code for it.
    """
    method = getattr(room, operation)
    hints = get_type_hints(method)
    description, meanings = split_docstring(method)

    def run(**read: Any) -> None:
        arguments: dict[str, Any] = {}
        if task:
            arguments["task_id"] = given().get("task")
        for one in parameters:
            if (value := one.value(read[one.key])) is not None:
                _put(arguments, one, value)
        arguments = {**(defaults or {}), **arguments}
        if prepare is not None:
            prepare(arguments)
        data = call(room, operation, arguments, create=create)
        answer(data, show)
        leave(end(data))

    return Command(
        name,
        callback=run,
        params=[
            one.click_parameter(hints.get(one.name, str), meanings.get(one.name, "")) for one in parameters
        ],
        help=help or description,
        short_help=short_help,
        examples=examples,
        task=task,
        everywhere=everywhere,
    )


def _put(arguments: dict[str, Any], parameter: Parameter, value: Any) -> None:
    """Add a value to the arguments of an operation. Lists for the same parameter are joined."""
    name, _, field = parameter.name.partition(".")
    if field:
        arguments.setdefault(name, {})[field] = value
    elif name not in arguments:
        arguments[name] = value
    elif isinstance(arguments[name], list) and isinstance(value, list):
        arguments[name] += value
    else:
        raise click.UsageError(f"{parameter.flags[0]} cannot be combined with another option for {name}.")
