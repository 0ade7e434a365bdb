"""Commands for operations: the types and help of their options come from the method's declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

import click

from ...model.errors import shown
from ...model.operation import first_sentence, split_docstring
from .console import apply_common_options, leave, open_memory
from .parameters import COMMON, EVERYWHERE, TASK, CommonOption, OperationCommand, Parameter

Arguments = ParamSpec("Arguments")

# --- options that every command has -----------------------------------------------------------------


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


def _click_option(common: CommonOption) -> click.Option:
    def keep(context: click.Context, option: click.Parameter, value: Any) -> None:
        common.keep(value)

    more: dict[str, Any] = {"metavar": common.metavar} if common.metavar else {"is_flag": True}
    if common is TASK:
        more["shell_complete"] = _complete_task
    return click.Option([common.flag], expose_value=False, callback=keep, help=common.help, **more)


_COMMON = [_click_option(common) for common in COMMON]
_COMMON_NAMES = {common.name for common in COMMON}


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
        own = [common for common, has in ((EVERYWHERE, everywhere), (TASK, task)) if has]
        self.params += [*map(_click_option, own), *_COMMON]

    def invoke(self, ctx: click.Context) -> Any:
        apply_common_options()
        return super().invoke(ctx)

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first statement of the help, whole; click would cut it."""
        if self.short_help:
            return self.short_help
        sentence = first_sentence(" ".join((self.help or "").split("\n\n")[0].split()))
        return f"{re.split('[:;] ', sentence)[0].rstrip('.')}."

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if row is not None:
                (shared if option.name in _COMMON_NAMES else own).append(row)
        with formatter.section("Options"):
            formatter.write_dl(own)
        if ctx.parent is None:
            with formatter.section("Options of every command"):
                formatter.write_dl(shared)
        else:
            names = ", ".join(sorted(row[0].split()[0] for row in shared))
            formatter.write_paragraph()
            formatter.write_text(f"Also {names}: see ringbolt --help.")
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Group(Command, click.Group):
    """Subcommands of one command. `callback` runs only without a subcommand; without it, one is needed."""

    command_class = Command
    # Words that people try, with the right command.
    synonyms: Mapping[str, str] = {}

    def __init__(self, *words: Any, callback: Callable[..., None] | None = None, **more: Any) -> None:
        def run(**values: Any) -> None:
            if callback is not None and click.get_current_context().invoked_subcommand is None:
                callback(**values)

        super().__init__(*words, callback=run, invoke_without_command=callback is not None, **more)

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


# --- commands that call an operation ----------------------------------------------------------------


def click_command(declared: OperationCommand) -> Command:
    """Make a click command from a declared one, with help from the operation's docstring."""
    description, meanings = split_docstring(declared.method)

    def click_parameter(parameter: Parameter, attributes: dict[str, Any]) -> click.Parameter:
        if parameter.positional:
            return click.Argument([parameter.key], **attributes)
        attributes["help"] = parameter.help(
            meanings.get(parameter.name, ""), attributes.get("multiple", False)
        )
        return click.Option([*parameter.flags, parameter.key], **attributes)

    def run(**values: Any) -> None:
        leave(declared.run(values))

    return Command(
        declared.name,
        callback=run,
        params=[click_parameter(*pair) for pair in declared.attributes()],
        help=declared.help or description,
        examples=declared.examples,
        task=declared.task,
        everywhere=declared.everywhere,
    )


def _of_click(declare: Callable[Arguments, OperationCommand]) -> Callable[Arguments, Command]:
    def make(*words: Arguments.args, **more: Arguments.kwargs) -> Command:
        return click_command(declare(*words, **more))

    return make


operation_command = _of_click(OperationCommand)
