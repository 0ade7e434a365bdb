"""The commands about hosts: install, capture, drill."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import click

from ....hosts import drill
from ....hosts.host_table import HOSTS
from ....hosts.install.installer import Installer, hook_program
from ....hosts.install.permanent import permanent_ringbolt
from ....hosts.install.plugins import PLUGIN_HOSTS, agents_snippet, mcp_settings, write_plugin
from ....hosts.install.trial import Trial, try_installed
from ....hosts.transcripts.importing import TranscriptClock, capture_transcripts
from ....memory import TaskMemory
from ....model.errors import InvalidInput, StoreError
from ....model.results import DrillResult
from ....model.rules import parse_duration
from ....model.validate import moment, seconds_of
from ..command import Command
from ..console import (
    answer,
    common_values,
    leave,
    line,
    named_task,
    open_memory,
    progress_bar,
    say,
    table,
    warn,
)

# Exit codes of --check; 4 is anything else: installed partly, or outdated.
_EXIT = {"installed": 0, "not installed": 3}


@click.command(
    "install",
    cls=Command,
    examples=(
        "ringbolt install claude-code",
        "ringbolt install codex --dry-run",
        "ringbolt install cursor --project --check",
        "ringbolt install claude-code --statusline",
        "ringbolt install claude-code --remove",
        "ringbolt install claude-code --plugin ./ringbolt-plugin",
        "ringbolt install generic",
    ),
)
@click.argument("host", type=click.Choice((*HOSTS, "generic")))
@click.option("--user", "scope", flag_value="user", default=None, help="For all your projects.")
@click.option("--project", "scope", flag_value="project", help="For this project only.")
@click.option("--dry-run", is_flag=True, help="Print a diff of what would change, and change nothing.")
@click.option("--remove", is_flag=True, help="Remove what was installed.")
@click.option(
    "--check", is_flag=True, help="Check only: exit code 0 if installed, 3 if not, 4 if partly or outdated."
)
@click.option("--statusline", is_flag=True, help="Also show the task in the status line of Claude Code.")
@click.option("--plugin", metavar="FOLDER", help="Write a plugin to this folder instead: claude-code, codex.")
@click.option(
    "--program", metavar="PATH", help="The ringbolt-hook to call, instead of the one next to this program."
)
def install_command(
    host: str,
    scope: str | None,
    dry_run: bool,
    remove: bool,
    check: bool,
    statusline: bool,
    plugin: str | None,
    program: str | None,
) -> None:
    """Add Ringbolt's hooks and MCP server to the settings of HOST, without losing anything in them.

    Comments, order and layout are preserved, and a copy is kept beside each changed file. A second run
    changes nothing, and --remove restores each file. `generic` prints the settings for other hosts.
    """
    if remove and check:
        raise click.UsageError("--remove and --check cannot be combined.")
    if plugin is not None and (host not in PLUGIN_HOSTS or remove or check or dry_run or scope or program):
        raise click.UsageError(f"--plugin is for {' and '.join(PLUGIN_HOSTS)}, without other options.")
    keep = not (remove or check or dry_run)
    if program is None and plugin is None and (permanent := permanent_ringbolt(install=keep)):
        leave(subprocess.call([permanent, *sys.argv[1:]]))
    if statusline and (remove or plugin is not None):
        raise click.UsageError("--statusline goes with installing; --remove removes it too.")
    if host == "generic":
        _show_generic(program)
    elif plugin is not None:
        written = write_plugin(host, plugin)
        answer({"files": written}, lambda data: say("\n".join(data["files"])))
    else:
        installer = Installer(
            host,
            scope=scope,
            project=common_values().get("workspace"),
            program=program,
            status_line=statusline,
        )
        _install(installer, "remove" if remove else "check" if check else "install", dry_run)


def _install(installer: Installer, action: str, dry_run: bool) -> None:
    if action == "check":
        report = installer.check()
        answer(report.to_dict(), _show_installed)
        leave(_EXIT.get(report.state, 4))
    do = installer.remove if action == "remove" else installer.install
    report = do(dry_run=dry_run)
    trial = Trial() if dry_run or action == "remove" else try_installed(installer.hook)
    answer({**report.to_dict(), **trial.to_dict()}, _show_diff if dry_run else _show_installed)
    leave(1 if trial.problems else 0)


def _show_diff(report: Any) -> None:
    say(report["diff"].rstrip("\n") or "Nothing would change.")


def _show_installed(report: Any) -> None:
    click.echo(f"{report['host']} ({report['scope']}): {report['state']}")
    for path, entries in report["files"].items():
        mark = "changed" if path in report["changed"] else ", ".join(sorted(set(entries.values())))
        click.echo(f"  {line(path)}: {mark}")
        if len(set(entries.values())) > 1:
            for name, state in entries.items():
                click.echo(f"    {line(name)}: {state}")
    for path in report["backups"]:
        click.echo(f"  copy: {line(path)}")
    for text in report.get("works", ()):
        click.echo(f"  works: {line(text[:1].lower() + text[1:])}")
    for text in (*report["notes"], *report.get("problems", ())):
        warn(text)


def _show_generic(program: str | None) -> None:
    ringbolt = os.path.join(os.path.dirname(hook_program(program)), "ringbolt")
    data = {"mcp": mcp_settings(ringbolt), "agents": agents_snippet()}
    answer(data, lambda data: say(f"{data['mcp']}\n{data['agents']}".rstrip("\n")))


@click.command(
    "capture",
    cls=Command,
    examples=(
        "ringbolt capture ~/.claude/projects",
        "ringbolt capture ~/.codex/sessions --since 30d --dry-run",
        "ringbolt capture session.jsonl",
    ),
)
@click.argument("paths", metavar="FILE|FOLDER...", nargs=-1, required=True)
@click.option("--since", metavar="TIME", help="Only files changed since then: 2026-11-01, or 30d.")
@click.option("--dry-run", is_flag=True, help="Only report what would be imported.")
def capture_command(paths: tuple[str, ...], since: str | None, dry_run: bool) -> None:
    """Import sessions that Claude Code (.jsonl) or Codex (rollout-*.jsonl) have recorded, as tasks.

    Running it again imports only what is new. The exit code is 1 if a file is not a transcript.
    """
    clock, begin = TranscriptClock(), None if since is None else _seconds(since)
    try:
        memory = open_memory(TaskMemory, create=not dry_run, clock=clock)
    except StoreError as error:
        if error.code != "store_not_found":
            raise
        memory = None  # a dry run needs none
    try:
        with progress_bar("Reading") as progress:
            report = capture_transcripts(
                memory, clock, paths, since=begin, dry_run=dry_run, progress=progress
            )
    finally:
        if memory is not None:
            memory.close()
    answer(report.to_dict(), _show_captured)
    leave(1 if report.no_transcripts else 0)


def _seconds(since: str) -> float:
    """A time, or a duration before now, as seconds since 1970."""
    try:
        return time.time() - 60 * parse_duration("--since", since)
    except InvalidInput:
        return seconds_of(moment("--since", since))


def _show_captured(data: Any) -> None:
    for path, why in data["no_transcripts"].items():
        click.echo(f"{line(path)}: {line(why)}.", err=True)
    if data["left"]:
        click.echo(f"{data['left']:,} sessions skipped: hooks recorded them, or their task ended or moved.")
    counts = ("lines skipped", data["skipped"]), ("events refused", data["refused"])
    notes = "".join(f", {count:,} {what}" for what, count in counts if count)
    verb = "would be new" if data["dry_run"] else "new"
    click.echo(
        f"{data['files']:,} files, {data['sessions']:,} sessions, {len(data['tasks']):,} tasks:"
        f" {data['new']:,} events {verb}, {data['known']:,} known{notes}."
    )


@click.command(
    "drill",
    cls=Command,
    task=True,
    examples=(
        "ringbolt drill",
        "ringbolt drill 7k3m --at 120",
        "ringbolt drill --truth said.txt",
        "ringbolt drill --all --json",
    ),
)
@click.argument("which", metavar="[TASK]", required=False)
@click.option("--at", type=int, metavar="SEQ", help="Compact after this event.")
@click.option("--all", "every", is_flag=True, help="Every task of the store, and the total.")
@click.option("--no-keep", is_flag=True, help="Do not store the scores.")
@click.option(
    "--truth",
    metavar="FILE",
    help="What was said before the cut: lines of the form `KIND: TEXT`, such as `decision: …`.",
)
@click.option("--model", is_flag=True, help="Ask the configured model what was said before the cut.")
def drill_command(
    which: str | None, at: int | None, every: bool, no_keep: bool, truth: str | None, model: bool
) -> None:
    """Simulate a compaction of a task and score what is recovered: from a resume packet of 500 and of 1,500
    tokens, by asking, and from the host's own summary if one is stored. Lists what was lost, and by whom.

    The context is cut at each of the task's last compactions, otherwise after 60 % of its events. The scores
    are stored as an event of the task that does not count as work; `ringbolt op drill_results` shows them.

    What is inferred from the narration is scored only against --truth or --model.

    The exit code is 1 if the packet of 1,500 tokens recovers less of anything than is required.
    """
    task = which or common_values().get("task")
    if every and (task is not None or at is not None or truth is not None):
        raise click.UsageError("--all cannot be combined with a task, --at or --truth.")
    drills: list[DrillResult] = []
    with open_memory(TaskMemory) as memory, progress_bar("Drilling") as progress:
        named = named_task(memory, task) if task else None
        ids = [named] if not every else sorted(memory.store.read(lambda tx: tx.chain_ends()))
        for number, name in enumerate(ids):
            if progress is not None:
                progress(number, len(ids))
            drills += drill.run(memory, name, at=at, keep=not no_keep, truth=truth, model=model)
    report = drills[0] if len(drills) == 1 else drill.total(drills)
    answer({**report.to_dict(), "drills": [result.to_dict() for result in drills]}, _show_drill)
    leave(0 if report.ok else 1)


def _show_drill(data: Any) -> None:
    if data["task_id"]:
        why = {"asked": "as requested", "compaction": "its last compaction", "60 %": "60 % of its events"}
        click.echo(f"{data['task_id']} {line(data['name'])}")
        click.echo(f"Context cut after #{data['cut']} of {data['last']}: {why[data['because']]}.")
    else:
        for result in data["drills"]:
            if result["missed"]:
                lacks = ", ".join(result["missed"])
                click.echo(f"{result['task_id']} {line(result['name'])}, #{result['cut']}: lacks {lacks}")
        click.echo(f"{data['name']}, cut after {data['cut']:,} of {data['last']:,} events.")
    table(
        ("WHAT", "WANTED", "N", "PACKET@500", "PACKET@1500", "ASKING", "HOST", ""),
        [_drill_row(row, data["missed"]) for row in data["rows"]],
    )
    if not any(row["host_count"] for row in data["rows"]):
        click.echo("The host's own summary is not known, so there is nothing to compare with.")
    if len(data["drills"]) == 1:
        _show_losses(data["drills"][0]["rows"])
    if not data["ok"]:
        click.echo(f"Failed: the packet of 1,500 tokens lacks {', '.join(data['missed'])}.")


def _drill_row(row: Any, missed: Any) -> tuple[Any, ...]:
    wanted = "" if row["wanted"] is None else f"{row['wanted']} %"
    if not row["count"]:
        return (row["name"], wanted, 0, "", "", "", "", "nothing to measure")
    shares = (_share(row[column], row["count"]) for column in ("small", "usual", "asked"))
    host = _share(row["host"], row["host_count"])
    return (row["name"], wanted, row["count"], *shares, host, "MISSED" if row["name"] in missed else "")


def _show_losses(rows: Any) -> None:
    """What was lost, and by whom."""
    losses = [(row["name"], loss) for row in rows for loss in row["lost"] if not loss["usual"]]
    if losses:
        click.echo("Lost from the packet of 1,500 tokens:")
    for name, loss in losses:
        where = "" if loss["seq"] is None else f" #{loss['seq']}"
        has = [way for way, there in (("asking", loss["asked"]), ("the host", loss["host"])) if there]
        lost = "; the host's summary lost it too" if loss["host"] is False else ""
        found = f" ({' and '.join(has)} found it{lost})" if has else f" (nothing found it{lost})"
        click.echo(f"  {name}{where}: {line(loss['text'] or '')}{found}")
    ours = [(row["name"], loss) for row in rows for loss in row["lost"] if loss["usual"]]
    if ours:
        click.echo("Lost from the host's summary, but not from the packet:")
    for name, loss in ours:
        where = "" if loss["seq"] is None else f" #{loss['seq']}"
        click.echo(f"  {name}{where}: {line(loss['text'] or '')}")


def _share(recovered: int | None, count: int | None) -> str:
    return "-" if recovered is None or not count else f"{100 * recovered / count:.0f} %"
