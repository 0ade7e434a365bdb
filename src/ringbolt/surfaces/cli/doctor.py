"""`ringbolt doctor`: diagnose problems and say how to fix them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ...config import load_settings, store_location
from ...memory import TaskMemory
from ...model.errors import RingboltError, StoreError
from ..doctor import Finding, checks, hosts, journal, missing_store, of_error, version
from .command import Command
from .config import without_password
from .console import answer, given, leave, line, open_memory


@click.command(
    "doctor",
    cls=Command,
    examples=("ringbolt doctor", "ringbolt doctor --json"),
)
def doctor_command() -> None:
    """Check settings, hosts, store, locks, mirrors, queue and models, and say how to fix what is wrong.

    Nothing is changed. The exit code is 1 if there is a problem; warnings do not count.
    """
    findings = [finding.to_dict() for finding in _findings()]
    ok = all(finding["state"] != "problem" for finding in findings)
    answer({"ok": ok, "findings": findings}, _show)
    leave(0 if ok else 1)


def _findings() -> Iterator[Finding]:
    yield version()
    try:
        settings = load_settings(store=given().get("store"))
    except RingboltError as error:
        yield of_error("settings", error)
        return
    changed = len(settings.sources)
    said = f"{changed} differ from their default" if changed else "all settings at their defaults"
    yield Finding(what="settings", state="ok", told=said)
    yield journal(store_location(settings), settings.tenant)
    yield hosts(given().get("workspace"))
    try:
        memory = open_memory(TaskMemory, settings=settings)
    except StoreError as error:
        if error.code == "store_not_found":
            yield missing_store(without_password(store_location(settings)))
        else:
            yield of_error("store", error)
        return
    except RingboltError as error:
        yield of_error("store", error)
        return
    with memory:
        yield from checks(memory)


def _show(data: Any) -> None:
    width = max(len(finding["what"]) for finding in data["findings"])
    for finding in data["findings"]:
        click.echo(f"{finding['state']:8} {finding['what']:{width}}  {line(finding['told'])}")
        if finding["mend"]:
            click.echo(f"{'':8} {'':{width}}  → {line(finding['mend'])}")
    problems = sum(finding["state"] == "problem" for finding in data["findings"])
    warnings = sum(finding["state"] == "warning" for finding in data["findings"])
    click.echo(f"{problems} problems, {warnings} warnings.")
