"""`ringbolt install`: into a host's settings, and out of them again."""

from __future__ import annotations

import os
from typing import Any

import click

from ...hosts.claude_plugin import write_plugin
from ...hosts.host_table import HOSTS
from ...hosts.install import Installer, hook_program
from ...hosts.manual_setup import agents_snippet, mcp_settings
from .console import Command, given, leave, line, say, show, warn

# What a look finds, as an exit code: 3 is what is not there, 4 what is another than it should be.
_EXIT = {"installed": 0, "not installed": 3}


@click.command(
    "install",
    cls=Command,
    short_help="Put Ringbolt into a host's settings, or take it out.",
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
@click.option("--user", "scope", flag_value="user", default=None, help="For all that you do with the host.")
@click.option("--project", "scope", flag_value="project", help="For this project alone.")
@click.option("--dry-run", is_flag=True, help="Print what would change as a diff, and change nothing.")
@click.option("--remove", is_flag=True, help="Take everything out again.")
@click.option(
    "--check", is_flag=True, help="Say how it stands: exit code 0 installed, 3 not, 4 partly or outdated."
)
@click.option("--plugin", metavar="FOLDER", help="Write a plugin for Claude Code to a folder instead.")
@click.option(
    "--program", metavar="PATH", help="The ringbolt-hook to call, instead of the one beside this program."
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
    """Put the hooks and the MCP server of Ringbolt into the settings of HOST; nothing in them is lost.

    Comments, order and layout of the settings stay; a copy is kept beside each file that is changed. A second
    run changes nothing, and --remove leaves each file as it was. `generic` prints what other hosts need.
    """
    if remove and check:
        raise click.UsageError("--remove and --check are two different things.")
    if plugin is not None and (host != "claude-code" or remove or check or dry_run or scope):
        raise click.UsageError(
            "--plugin goes with claude-code alone, and with no other option but --program."
        )
    if host == "generic":
        _tell_generic(program)
    elif plugin is not None:
        written = write_plugin(plugin, hook_program(program))
        show({"files": written}, lambda data: say("\n".join(data["files"])))
    else:
        _run(host, scope, program, "remove" if remove else "check" if check else "install", dry_run)


def _run(host: str, scope: str | None, program: str | None, action: str, dry_run: bool) -> None:

    installer = Installer(host, scope=scope, project=given().get("workspace"), program=program)
    if action == "check":
        report = installer.check()
        show(report.to_dict(), _tell)
        leave(_EXIT.get(report.state, 4))
    do = installer.remove if action == "remove" else installer.install
    report = do(dry_run=dry_run)
    show(report.to_dict(), _tell_diff if dry_run else _tell)


def _tell_diff(report: Any) -> None:
    say(report["diff"].rstrip("\n") or "Nothing would change.")


def _tell(report: Any) -> None:
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


def _tell_generic(program: str | None) -> None:

    ringbolt = os.path.join(os.path.dirname(hook_program(program)), "ringbolt")
    data = {"mcp": mcp_settings(ringbolt), "agents": agents_snippet()}
    show(data, lambda data: say(f"{data['mcp']}\n{data['agents']}".rstrip("\n")))
