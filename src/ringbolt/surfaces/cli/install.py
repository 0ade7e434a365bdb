"""`ringbolt install`: add Ringbolt to a host's settings, or remove it."""

from __future__ import annotations

import os
from typing import Any

import click

from ...hosts.host_table import HOSTS
from ...hosts.install.installer import Installer, hook_program
from ...hosts.install.plugins import agents_snippet, mcp_settings, write_claude_plugin
from .command import Command
from .console import answer, given, leave, line, say, warn

# Exit codes of --check; 4 is anything else: installed partly, or outdated.
_EXIT = {"installed": 0, "not installed": 3}


@click.command(
    "install",
    cls=Command,
    examples=(
        "ringbolt install claude-code",
        "ringbolt install codex --dry-run",
        "ringbolt install cursor --project --check",
        "ringbolt install claude-code --remove",
        "ringbolt install claude-code --plugin ./ringbolt-plugin",
        "ringbolt install generic",
    ),
)
@click.argument("host", type=click.Choice((*HOSTS, "generic")))
@click.option("--user", "scope", flag_value="user", default=None, help="For everything you do with the host.")
@click.option("--project", "scope", flag_value="project", help="For this project only.")
@click.option("--dry-run", is_flag=True, help="Print a diff of what would change, and change nothing.")
@click.option("--remove", is_flag=True, help="Remove everything again.")
@click.option(
    "--check",
    is_flag=True,
    help="Check the installation: exit code 0 installed, 3 not, 4 partly/outdated.",
)
@click.option("--plugin", metavar="FOLDER", help="Write a plugin for Claude Code to this folder instead.")
@click.option(
    "--program", metavar="PATH", help="The ringbolt-hook to call, instead of the one next to this program."
)
def install_command(
    host: str,
    scope: str | None,
    dry_run: bool,
    remove: bool,
    check: bool,
    plugin: str | None,
    program: str | None,
) -> None:
    """Add Ringbolt's hooks and MCP server to the settings of HOST, without losing anything in them.

    Comments, order and layout are preserved, and a copy is kept beside each changed file. A second run
    changes nothing, and --remove leaves each file as it was. `generic` prints what other hosts need.
    """
    if remove and check:
        raise click.UsageError("--remove and --check cannot be combined.")
    if plugin is not None and (host != "claude-code" or remove or check or dry_run or scope):
        raise click.UsageError("--plugin is only for claude-code, and can only be combined with --program.")
    if host == "generic":
        _show_generic(program)
    elif plugin is not None:
        written = write_claude_plugin(plugin, hook_program(program))
        answer({"files": written}, lambda data: say("\n".join(data["files"])))
    else:
        _run(host, scope, program, "remove" if remove else "check" if check else "install", dry_run)


def _run(host: str, scope: str | None, program: str | None, action: str, dry_run: bool) -> None:
    installer = Installer(host, scope=scope, project=given().get("workspace"), program=program)
    if action == "check":
        report = installer.check()
        answer(report.to_dict(), _show)
        leave(_EXIT.get(report.state, 4))
    do = installer.remove if action == "remove" else installer.install
    report = do(dry_run=dry_run)
    answer(report.to_dict(), _show_diff if dry_run else _show)


def _show_diff(report: Any) -> None:
    say(report["diff"].rstrip("\n") or "Nothing would change.")


def _show(report: Any) -> None:
    click.echo(f"{report['host']} ({report['scope']}): {report['state']}")
    for path, entries in report["files"].items():
        mark = "changed" if path in report["changed"] else ", ".join(sorted(set(entries.values())))
        click.echo(f"  {line(path)}: {mark}")
        if len(set(entries.values())) > 1:
            for name, state in entries.items():
                click.echo(f"    {line(name)}: {state}")
    for path in report["backups"]:
        click.echo(f"  copy: {line(path)}")
    for note in report["notes"]:
        warn(note)


def _show_generic(program: str | None) -> None:
    ringbolt = os.path.join(os.path.dirname(hook_program(program)), "ringbolt")
    data = {"mcp": mcp_settings(ringbolt), "agents": agents_snippet()}
    answer(data, lambda data: say(f"{data['mcp']}\n{data['agents']}".rstrip("\n")))
