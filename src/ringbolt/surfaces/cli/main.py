"""`ringbolt`: the command line. The module of a command is imported when the command is run."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..._version import __version__
from .command import Group, click_command
from .command_table import COMMANDS, FIRST, load_command, show_standing
from .console import FAILED, INTERRUPTED, USAGE, leave, report_error, run_to_end
from .parameters import OperationCommand

_SYNONYMS = {
    **dict.fromkeys(("new", "create", "begin", "start", "init", "add"), "register"),
    **dict.fromkeys(("done", "complete", "end", "close", "fail"), "finish"),
    **dict.fromkeys(("search", "find", "grep", "query"), "recall"),
    **dict.fromkeys(("status", "get", "info", "describe", "cat"), "show"),
    **dict.fromkeys(("ls", "tasks"), "list"),
    **dict.fromkeys(("history", "events"), "thread"),
    **dict.fromkeys(("remember", "write", "discover"), "note"),
    **dict.fromkeys(("settings", "configure"), "config"),
    **dict.fromkeys(("check", "fsck"), "verify"),
    **dict.fromkeys(("progress", "steps", "step"), "plan"),
    **dict.fromkeys(("continue", "resume-task", "unpause"), "reopen"),
    "take": "claim", "revert": "undo", "say": "update", "fail-task": "finish",
    "load": "import", "dump": "export", "call": "op", "server": "serve", "tail": "watch",
    "split": "task split", "merge": "task merge", "requests": "task",
}  # fmt: skip


class _Root(Group):
    """All commands. Listing them imports none of their modules."""

    synonyms = _SYNONYMS

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = load_command(cmd_name)
        if isinstance(command, OperationCommand):
            command = click_command(command)
        command.short_help = COMMANDS[cmd_name][1]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in FIRST])
            formatter.write_text(f"ringbolt help --all lists all {len(COMMANDS)} commands.")

    def main(self, *args: Any, **more: Any) -> Any:
        """Run a command and end the process with its exit code; errors are printed, not raised."""
        words = args[0] if args else more.pop("args", None)
        words = sys.argv[1:] if words is None else list(words)
        plain = "--json" in words
        run_to_end(lambda: self._run(words, plain, more), plain=plain)

    def _run(self, words: list[str], plain: bool, more: dict[str, Any]) -> int:
        options: dict[str, Any] = {**more, "prog_name": "ringbolt", "standalone_mode": False}
        try:
            code = super().main(words, **options)
        except click.Abort:
            return INTERRUPTED
        except click.UsageError as error:
            hint = f"See {error.ctx.command_path} --help." if error.ctx else ""
            report_error("usage", error.format_message(), hint, {}, plain=plain)
            return USAGE
        except click.ClickException as error:
            report_error("failed", error.format_message(), "", {}, plain=plain)
            return FAILED
        return code if isinstance(code, int) else 0


@click.group(
    cls=_Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        "ringbolt install claude-code",
        'ringbolt ask "What is next?"',
        "ringbolt recall registry key",
        'ringbolt update "The image is built" --task deploy',
    ),
)
@click.version_option(__version__, message="ringbolt %(version)s")
def main() -> None:
    """Task memory for LLM agents that survives compaction, restarts, crashes and hand-overs.

    Without a command: where the work in this folder stands. A task is named by its id, the beginning of its
    id, or words of its name; without that, a command applies to the current task: the one that this session
    used last, otherwise an open task of this folder.
    """
    leave(show_standing())
