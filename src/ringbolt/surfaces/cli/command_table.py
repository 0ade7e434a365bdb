"""The commands: their modules, and the sections in which `ringbolt help --all` lists them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Sections of the help: modules, their commands, and the short help of each command.
SECTIONS: dict[str, dict[str, dict[str, str]]] = {
    "Record": {
        "update": {"update": "Report what happened, and what changed."},
        "writing": {
            "register": "Start a task, with its plan and the request.",
            "note": "Record something that must survive.",
            "decide": "Record a decision and its reason.",
            "exclude": "Record an approach that did not work, and why.",
            "set": "Set a variable: a version, a URL, an id.",
            "log": "Log an action.",
            "finish": "End a task with its answer or its error.",
            "approve": "Approve a step or side effect that waits for you.",
            "reject": "Reject a step or side effect that waits for you.",
            "pause": "Pause a task.",
            "reopen": "Continue a task that was paused or has ended.",
            "undo": "Undo the changes of an event.",
            "focus": "Make a task the current one of this session or folder.",
            "claim": "Claim a task or a step for this agent.",
            "release": "Release a claim.",
        },
        "plan": {"plan": "Show the plan, or change it."},
        "proposals": {
            "proposals": "Show what agents propose.",
            "accept": "Accept a proposal.",
            "decline": "Decline a proposal.",
        },
        "split_merge": {"task": "Show the requests of a task, split it, or merge two."},
        "waits": {
            "wait": "Wait for a file, port, process, URL, time or person.",
            "waits": "Show waits, or manage one.",
        },
        "goals": {"goal": "Set goals, and check their criteria."},
    },
    "Ask": {
        "ask": {
            "ask": "Ask a question about a task.",
            "summary": "Show a task in a few sentences, for a report.",
        },
        "resume": {
            "resume": "Show what an agent needs to continue a task.",
            "state": "Show a task as YAML or in one line, for programs and prompts.",
        },
        "recall": {
            "recall": "Search everything recorded.",
            "thread": "Show the latest events of a task.",
            "event": "Show one event in full.",
        },
        "tasks": {
            "list": "List tasks.",
            "show": "Show a task in full, now or at an earlier time.",
        },
        "watch": {"watch": "Watch tasks as they change."},
        "active_tasks": {"active-tasks": "List the active tasks, and keep ACTIVE-TASKS.md."},
    },
    "Import and export": {
        "files": {
            "handoff": "Write a task as one file for another agent.",
            "receive": "Import a task that was handed over.",
            "export": "Write the ledger, or a task, to files.",
            "import": "Import an export or a folder.",
            "backup": "Copy the store while it is in use.",
            "restore": "Replace the store with a backup.",
            "store": "Describe or copy stores: SQLite files, PostgreSQL databases.",
        },
        "sync": {"sync": "Exchange events with other machines."},
        "hosts": {"capture": "Import sessions recorded by Claude Code or Codex."},
    },
    "Maintain": {
        "maintenance": {
            "doctor": "Diagnose problems and say how to fix them.",
            "verify": "Check that nothing is lost or changed.",
            "repair": "Save what a damaged store still has.",
            "reindex": "Rebuild the search index.",
            "distill": "Bring the derived parts of a task up to date.",
            "jobs": "Show queued and failed jobs, or retry one.",
            "worker": "Run queued jobs.",
            "purge": "Permanently remove old tasks that have ended.",
            "forget": "Permanently remove everything from one source.",
        },
        "config": {"config": "Show the settings, or change one."},
        "hosts": {"drill": "Simulate a compaction and score what is recovered."},
    },
    "Connect": {
        "serve": {
            "serve": "Serve HTTP and MCP on this machine.",
            "mcp": "Serve MCP on standard input and output.",
            "demo": "Watch a task survive a killed process.",
        },
        "token": {"token": "Manage the tokens of the server."},
        "hook": {
            "hook": "Record an event of a host from standard input.",
            "statusline": "Print a task in one line, for the status line of Claude Code.",
        },
        "continuing": {"continue": "Continue a task in another program."},
        "hosts": {"install": "Add Ringbolt to a host's settings, or remove it."},
        "op": {"op": "Call any operation by its name."},
        "help": {"help": "List the commands, or show the help of one."},
        "config": {"completion": "Print a completion script for your shell."},
    },
}
# The commands that `ringbolt --help` lists: what a person needs on the first day.
FIRST = ("install", "list", "show", "ask", "recall", "resume", "update", "watch", "serve", "doctor", "help")
# By name: the module, and the short help.
COMMANDS = {
    name: (module, short_help)
    for section in SECTIONS.values()
    for module, commands in section.items()
    for name, short_help in commands.items()
}


def load_command(name: str) -> Any:
    """Import the module of a command, and return what it declares: a click command or an OperationCommand."""
    module, _ = COMMANDS[name]
    return getattr(import_module(f"{__package__}.commands.{module}"), f"{name.replace('-', '_')}_command")


def show_standing() -> int:
    """Run `ringbolt` without a command."""
    return import_module(f"{__package__}.commands.standing").show_standing()
