"""`ringbolt capture`: import the sessions that hosts have recorded."""

from __future__ import annotations

import time
from typing import Any

import click

from ...hosts.transcripts.importing import TranscriptClock, capture_transcripts
from ...memory import TaskMemory
from ...model.errors import InvalidInput, StoreError
from ...model.rules import parse_duration
from ...model.validate import moment, seconds_of
from .command import Command
from .console import answer, leave, line, open_memory
from .progress_bar import bar


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
    clock, begin = TranscriptClock(), None if since is None else _moment(since)
    try:
        memory = open_memory(TaskMemory, create=not dry_run, clock=clock)
    except StoreError as error:
        if error.code != "store_not_found":
            raise
        memory = None  # a dry run needs none
    try:
        with bar("Reading") as tell:
            report = capture_transcripts(memory, clock, paths, since=begin, dry_run=dry_run, progress=tell)
    finally:
        if memory is not None:
            memory.close()
    answer(report.to_dict(), _show_report)
    leave(1 if report.no_transcripts else 0)


def _moment(since: str) -> float:
    """A time, or a duration before now, as seconds since 1970."""
    try:
        return time.time() - 60 * parse_duration("--since", since)
    except InvalidInput:
        return seconds_of(moment("--since", since))


def _show_report(data: Any) -> None:
    for path, why in data["no_transcripts"].items():
        click.echo(f"{line(path)}: {line(why)}.", err=True)
    if data["left"]:
        click.echo(f"{data['left']:,} sessions skipped: hooks recorded them, or their task ended or moved.")
    notes = [f"{data[name]:,} {words}" for name, words in _NOTES.items() if data[name]]
    verb = "would be new" if data["dry_run"] else "new"
    click.echo(
        f"{data['files']:,} files, {data['sessions']:,} sessions, {len(data['tasks']):,} tasks:"
        f" {data['new']:,} events {verb}, {data['known']:,} known{''.join(f', {note}' for note in notes)}."
    )


_NOTES = {"skipped": "lines skipped", "refused": "events refused"}
