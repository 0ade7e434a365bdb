"""`ringbolt config`: every setting, its value, and where it came from."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from ...config import allowed, check_name, line_of, load_settings, settings_path
from ...model.settings import SETTINGS, Settings
from .console import Group, given, line, show, table


def _loaded() -> Settings:

    return load_settings(store=given().get("store"))


@click.group(
    "config",
    cls=Group,
    invoke_without_command=True,
    short_help="Show every setting and where it came from.",
    examples=("ringbolt config", "ringbolt config --changed", "ringbolt config get tokens"),
)
@click.option("--changed", is_flag=True, help="Only what is no default.")
@click.pass_context
def config_command(context: click.Context, changed: bool) -> None:
    """Show every setting, its value, where it came from, and what it may be.

    Settings come from the defaults, the settings file (`ringbolt config path`), variables of the environment
    like RINGBOLT_STORE, and arguments; the later ones win.
    """
    if context.invoked_subcommand is not None:
        return
    rows = {
        name: row for name, row in described(_loaded()).items() if not changed or row["source"] != "default"
    }
    show(rows, _tell_settings)


def described(settings: Settings) -> dict[str, dict[str, Any]]:
    """Every setting: its value, where that came from, what it may be, and what it is for."""

    found: dict[str, dict[str, Any]] = {}
    for name, setting in SETTINGS.items():
        source = settings.sources.get(name, "default")
        if os.path.isabs(source) and (number := line_of(source, name)):
            source = f"{source}, line {number}"
        value = getattr(settings, name)
        found[name] = {
            "value": without_password(value) if name == "store" else value,
            "source": source,
            "default": setting.default,
            "allowed": allowed(name),
            "meaning": setting.meaning,
        }
    return found


def without_password(location: str) -> str:
    """A store's path or URL as it may be shown."""
    if "://" not in location or location.startswith(("sqlite:", "file:")):
        return location

    # To the last @, for a password may have one.
    hidden = re.sub(r"(://[^:/@]*):.*@", r"\1@", location)
    return re.sub(r"(password=)[^&]*", r"\1…", hidden)


def _tell_settings(rows: dict[str, Any]) -> None:
    cells = [
        (name, row["value"] if row["value"] != "" else "-", row["source"], row["allowed"])
        for name, row in rows.items()
    ]
    table(("SETTING", "VALUE", "FROM", "ALLOWED"), cells)


@config_command.command("get", short_help="Show one setting.", examples=("ringbolt config get tokens",))
@click.argument("name")
def get(name: str) -> None:
    """Show the setting NAME: its value alone, or with --json all that is known of it."""

    check_name(name, "argument")
    show(described(_loaded())[name], lambda row: click.echo(line(row["value"])))


@config_command.command("path", short_help="Where the settings file is.", examples=("ringbolt config path",))
def path() -> None:
    """Where the settings file is, or would be: a TOML file with a line like `tokens = "estimate"`."""

    place = settings_path()
    show({"path": place, "exists": os.path.exists(place)}, lambda data: click.echo(line(data["path"])))
