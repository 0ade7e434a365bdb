"""`ringbolt`: the command line. A module is loaded when one of its commands is run."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ..._version import __version__
from ...model.errors import RingboltError
from .console import INTERRUPTED, OTHERWISE, USAGE, Group, exit_code, tell_error

# Section: the module of its commands, and each command with what the list of commands says of it. The command
# has the same short help, and its function the same name, with _ for -; a test looks after that.
SECTIONS: dict[str, dict[str, dict[str, str]]] = {
    "Tell it what happens": {
        "update": {"update": "Say what happened, and what changed with it."},
        "writing": {
            "register": "Begin a task, with its plan and the request.",
            "note": "Write down what must survive.",
            "decide": "Record a decision and its reason.",
            "exclude": "Record what did not work, and why.",
            "set": "Set a variable: a version, a URL, an id.",
            "log": "Log something that was done.",
            "finish": "End a task with its answer, or its error.",
            "pause": "Put a task aside for now.",
            "resume-task": "Go on with a task that was put aside, or had ended.",
            "undo": "Take back what an event changed.",
            "focus": "Make a task the current one of this session.",
            "claim": "Claim a task or a step for this agent.",
            "release": "Give a claim back.",
        },
        "plan": {"plan": "Show the plan, or change it."},
        "waits": {
            "wait": "Wait until something is so.",
            "waits": "What is waited for, and how it stands.",
        },
        "goals": {"goal": "Goals: their criteria, and how they stand."},
    },
    "Ask it": {
        "reading": {
            "ask": "Ask a question about a task.",
            "resume": "All that is needed to go on with a task.",
            "state": "The state of a task as YAML.",
            "summary": "A task in a few sentences.",
            "recall": "Find anything that was written down.",
            "list": "List tasks.",
            "show": "Show a task as it stands, or stood.",
            "thread": "The last events of a task.",
            "event": "One event, whole.",
        },
        "watch": {"watch": "Watch tasks as they change."},
        "active_tasks": {"active-tasks": "Active tasks and their file."},
    },
    "Move it": {
        "files": {
            "handoff": "Write a task as one file for another agent.",
            "receive": "Take in a task that was handed over.",
            "export": "Write the ledger, or a task, to files.",
            "import": "Bring in an export or a folder.",
            "backup": "Copy the store while it is in use.",
            "restore": "Put a backup in the place of the store.",
        },
        "transcripts": {"capture": "Bring in sessions that Claude Code or Codex have written down."},
        "stores": {"store": "Look after stores: SQLite files, PostgreSQL databases."},
    },
    "Look after it": {
        "doctor": {"doctor": "Look whether all is well, and how to mend what is not."},
        "settings": {"config": "Show every setting and where it came from."},
        "upkeep": {
            "verify": "Check that nothing was lost or changed.",
            "reindex": "Make anew what recall has derived.",
            "distill": "Bring what follows from a task's events up to date.",
            "jobs": "What waits for a worker, and what was given up.",
            "worker": "Do the jobs that wait.",
        },
        "retention": {
            "purge": "Remove old tasks that have ended, for good.",
            "forget": "Remove what came from one source, for good.",
        },
        "drill": {"drill": "Try what would come back of a task after a compaction."},
    },
    "Connect to it": {
        "serve": {
            "serve": "Serve HTTP and MCP on this machine.",
            "mcp": "Serve MCP on standard input and output.",
            "demo": "The deployment story, with a process that is killed.",
        },
        "hook": {"hook": "Write an event that a host tells on standard input."},
        "install": {"install": "Put Ringbolt into a host's settings, or take it out."},
        "anything": {
            "op": "Call any operation by its name.",
            "completion": "Print a script that completes commands in your shell.",
        },
    },
}
_HOMES = {
    name: module for section in SECTIONS.values() for module, names in section.items() for name in names
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
    """All commands. Their list is known without loading one."""

    synonyms = _SYNONYMS

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (home := _HOMES.get(cmd_name)) is None:
            return None
        # Not importlib: that is what every import here does without.
        module = __import__(f"{__package__}.{home}", fromlist=[home])
        return getattr(module, f"{cmd_name.replace('-', '_')}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, modules in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([row for names in modules.values() for row in names.items()])

    def main(self, *given: Any, **more: Any) -> Any:
        """Run a command and end the process with its exit code; errors are told, not thrown."""
        words = given[0] if given else more.pop("args", None)
        _never_fail_to_print()
        try:
            code = self._run(sys.argv[1:] if words is None else list(words), more)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever reads us has seen enough. Python must not find that out again when it closes the stream.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = OTHERWISE
        sys.exit(code)

    def _run(self, words: list[str], more: dict[str, Any]) -> int:
        plain = "--json" in words
        options: dict[str, Any] = {**more, "prog_name": "ringbolt", "standalone_mode": False}
        code: Any
        try:
            code = super().main(words, **options)
        except RingboltError as error:
            tell_error(error.code, error.message, error.hint, error.details, plain=plain)
            return exit_code(error)
        except click.Abort:
            return INTERRUPTED
        except click.UsageError as error:
            hint = f"See {error.ctx.command_path} --help." if error.ctx else ""
            tell_error("usage", error.format_message(), hint, {}, plain=plain)
            return USAGE
        except click.ClickException as error:
            tell_error("failed", error.format_message(), "", {}, plain=plain)
            return OTHERWISE
        return code if isinstance(code, int) else 0


def _never_fail_to_print() -> None:
    """What the encoding of a stream cannot show is shown by its number."""
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")


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

    Without --task, a command means the current task: the one that this session turned to last, or else the
    only open one of this workspace.
    """
