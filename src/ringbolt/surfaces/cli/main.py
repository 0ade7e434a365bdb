"""`ringbolt`: the command line. The module of a command is imported when the command is run."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from ..._version import __version__
from .command import Group, click_command
from .console import FAILED, INTERRUPTED, USAGE, report_error, run_to_end
from .parameters import OperationCommand

# Sections of the help: modules, their commands, and the short help of each command.
SECTIONS: dict[str, dict[str, dict[str, str]]] = {
    "Record": {
        "update": {"update": "Report what happened, and what changed."},
        "writing": {
            "register": "Start a task, with its plan and the request.",
            "note": "Record something that must survive.",
            "decide": "Record a decision and its reason.",
            "exclude": "Record what did not work, and why.",
            "set": "Set a variable: a version, a URL, an id.",
            "log": "Log an action.",
            "finish": "End a task with its answer or its error.",
            "pause": "Pause a task.",
            "resume-task": "Continue a task that was paused or has ended.",
            "undo": "Undo the changes of an event.",
            "focus": "Make a task the current one of this session.",
            "claim": "Claim a task or a step for this agent.",
            "release": "Release a claim.",
        },
        "plan": {"plan": "Show the plan, or change it."},
        "waits": {
            "wait": "Wait for a file, port, process, URL, time or person.",
            "waits": "Show waits, or manage one.",
        },
        "goals": {"goal": "Goals and their criteria."},
    },
    "Ask": {
        "ask": {"ask": "Ask a question about a task."},
        "resume": {
            "resume": "Show everything needed to continue a task.",
            "state": "Show the state of a task as YAML.",
        },
        "summary": {"summary": "Show a task in a few sentences."},
        "recall": {
            "recall": "Search everything recorded.",
            "thread": "Show the latest events of a task.",
            "event": "Show one event in full.",
        },
        "tasks": {
            "list": "List tasks.",
            "show": "Show a task, now or at an earlier time.",
        },
        "watch": {"watch": "Watch tasks as they change."},
        "active_tasks": {"active-tasks": "Active tasks and their file."},
    },
    "Import and export": {
        "files": {
            "handoff": "Write a task as one file for another agent.",
            "receive": "Import a task that was handed over.",
            "export": "Write the ledger, or a task, to files.",
            "import": "Import an export or a folder.",
            "backup": "Copy the store while it is in use.",
            "restore": "Replace the store with a backup.",
        },
        "capture": {"capture": "Import sessions recorded by Claude Code or Codex."},
        "store": {"store": "Describe or copy stores: SQLite files, PostgreSQL databases."},
    },
    "Maintain": {
        "doctor": {"doctor": "Diagnose problems and say how to fix them."},
        "config": {"config": "Show every setting and where it comes from."},
        "maintenance": {
            "verify": "Check that nothing is lost or changed.",
            "reindex": "Rebuild the search index.",
            "distill": "Bring the derived parts of a task up to date.",
            "jobs": "Show queued and failed jobs, or retry one.",
            "worker": "Run queued jobs.",
        },
        "retention": {
            "purge": "Permanently remove old tasks that have ended.",
            "forget": "Permanently remove what came from one source.",
        },
        "drill": {"drill": "Simulate a compaction and score what is recovered."},
    },
    "Connect": {
        "serve": {
            "serve": "Serve HTTP and MCP on this machine.",
            "mcp": "Serve MCP on standard input and output.",
            "demo": "Show a task that survives a killed process.",
        },
        "hook": {"hook": "Record an event of a host from standard input."},
        "install": {"install": "Add Ringbolt to a host's settings, or remove it."},
        "op": {"op": "Call any operation by its name."},
        "completion": {"completion": "Print a completion script for your shell."},
    },
}
_COMMANDS = {
    name: (module, short_help)
    for section in SECTIONS.values()
    for module, commands in section.items()
    for name, short_help in commands.items()
}
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
    "continue": "resume-task", "take": "claim", "revert": "undo", "say": "update", "fail-task": "finish",
    "load": "import", "dump": "export", "call": "op", "server": "serve", "tail": "watch",
}  # fmt: skip


class _Root(Group):
    """All commands. Listing them imports none of their modules."""

    synonyms = _SYNONYMS

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, short_help = _COMMANDS[cmd_name]
        found = getattr(import_module(f"{__package__}.{module}"), f"{cmd_name.replace('-', '_')}_command")
        if isinstance(found, OperationCommand):
            found = click_command(found)
        found.short_help = short_help
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, modules in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([row for commands in modules.values() for row in commands.items()])

    def main(self, *given: Any, **more: Any) -> Any:
        """Run a command and end the process with its exit code; errors are printed, not raised."""
        words = given[0] if given else more.pop("args", None)
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
        'ringbolt register "Deploy the shop" --step Build --step Push --step Run',
        'ringbolt update "The image is built" --step Build --step-status done',
        'ringbolt decide "Push to ghcr.io" --because "the key works there"',
        'ringbolt ask "What is next?"',
        "ringbolt resume",
    ),
)
@click.version_option(__version__, message="ringbolt %(version)s")
def main() -> None:
    """Task memory for LLM agents that survives compaction, restarts, crashes and hand-overs.

    Without --task, a command applies to the current task: the one that this session used last, or else the
    only open one of this workspace.
    """
