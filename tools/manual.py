"""The man page of `ringbolt`, from the declarations of its commands. `tools/packages.py` writes it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ringbolt import __version__
from ringbolt.surfaces.cli.command_table import SECTIONS
from ringbolt.surfaces.cli.main import main as cli
from ringbolt.surfaces.cli.parameters import COMMON

DATE = "2026-11-18"
_HEAD = f"""\
.TH RINGBOLT 1 {DATE} "ringbolt {__version__}" "User Commands"
.SH NAME
ringbolt \\- task memory for LLM agents
.SH SYNOPSIS
.B ringbolt
.I COMMAND
.RI [ OPTION ...\\&]
.SH DESCRIPTION
Ringbolt records the tasks of LLM agents outside their context, and puts the state back after a compaction,
a restart, a crash or a hand-over.
"""
_TAIL = """\
.SH ENVIRONMENT
Every setting can be given as a variable: RINGBOLT_ and its name in capitals, for example RINGBOLT_STORE.
.B ringbolt config
lists them.
.SH EXIT STATUS
0: success. 2: wrong usage. 3: not found. 4: conflict. 5: invalid input. 6: not allowed. 130: interrupted.
1: any other failure.
.SH SEE ALSO
.BR ringbolt-hook (1)
"""
HOOK_PAGE = f"""\
.TH RINGBOLT-HOOK 1 {DATE} "ringbolt {__version__}" "User Commands"
.SH NAME
ringbolt-hook \\- record an event of a coding agent
.SH SYNOPSIS
.B ringbolt-hook
.I HOST EVENT
.SH DESCRIPTION
Hosts call this program for their events, with the event as JSON on standard input. It writes the event to
Ringbolt's journal, and prints context for the model where the host takes some. It always exits with 0, so
that it never stops the host.
.B ringbolt install
puts it into the settings of a host.
.SH SEE ALSO
.BR ringbolt (1)
"""


def manual() -> str:
    """The page: every command with its options and examples, in the order of `ringbolt --help`."""
    context = click.Context(cli, info_name="ringbolt", **cli.context_settings)
    parts = [_HEAD]
    shared: dict[str, str] = {}
    for title, modules in SECTIONS.items():
        parts.append(f".SH {_text(title.upper())}\n")
        for name in (name for commands in modules.values() for name in commands):
            command = cli.get_command(context, name)
            if command is None:
                raise LookupError(name)
            parts += _command(command, click.Context(command, info_name=name, parent=context), shared)
    rows = "".join(_option(row) for row in shared.items())
    return "".join([*parts, ".SH OPTIONS OF EVERY COMMAND\n", rows, _TAIL])


def _command(command: click.Command, context: click.Context, shared: dict[str, str]) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    title = _text(f"{context.command_path} {usage}").replace("|", " | ")  # long choices break
    yield f".SS {title}\n{_paragraphs(command.help or '')}"
    for parameter in command.get_params(context):
        row = parameter.get_help_record(context)
        if row is None or not row[1]:
            continue
        if _is_shared(parameter):
            shared[row[0]] = row[1]
        else:
            yield _option(row)
    for example in getattr(command, "examples", ()):
        yield f".PP\n.nf\n    {_text(example)}\n.fi\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _command(below, click.Context(below, info_name=name, parent=context), shared)


def _is_shared(parameter: click.Parameter) -> bool:
    return parameter.name == "help" or parameter.name in {common.name for common in COMMON}


def _option(row: tuple[str, str]) -> str:
    return f".TP\n.B {_text(row[0])}\n{_text(row[1])}\n"


def _paragraphs(text: str) -> str:
    parts = [" ".join(part.split()) for part in text.replace("\b", "").split("\n\n")]
    return "".join(f".PP\n{_text(part)}\n" for part in parts if part)


def _text(text: str) -> str:
    """Text that groff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text)
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines())
