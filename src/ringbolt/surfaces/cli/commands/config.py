"""`ringbolt config` and `ringbolt completion`: the settings, and completion for shells."""

from __future__ import annotations

import os
from typing import Any

import click

from ....config import allowed, check_name, line_of, load_settings, settings_path, write_setting
from ....model.settings import SETTINGS, Settings
from ....store.locations import without_password
from ..command import Command, Group
from ..console import answer, common_values, line, require_user


def _loaded() -> Settings:
    return load_settings(store=common_values().get("store"))


def _show_all(changed: bool) -> None:
    rows = {
        name: row for name, row in described(_loaded()).items() if not changed or row["source"] != "default"
    }
    answer(rows, _show_settings)


def described(settings: Settings) -> dict[str, dict[str, Any]]:
    """Every setting: its value, source, default, allowed values and meaning."""
    rows: dict[str, dict[str, Any]] = {}
    for name, setting in SETTINGS.items():
        source = settings.sources.get(name, "default")
        if os.path.isabs(source) and (number := line_of(source, name)):
            source = f"{source}, line {number}"
        value = getattr(settings, name)
        rows[name] = {
            "value": without_password(value) if name == "store" else value,
            "source": source,
            "default": setting.default,
            "allowed": allowed(name),
            "meaning": setting.meaning,
        }
    return rows


# Groups of settings, each from one setting on, in the order of their declaration.
_GROUPS = {
    "store": "Where the store is, and its limits",
    "tenant": "PostgreSQL",
    "reserve_bytes": "Disk, signatures, time and tokens",
    "mirrors": "Views that are kept as files",
    "stale_threshold": "Upkeep of idle tasks",
    "injection_budget": "Active tasks in prompts and in their file",
    "embedder": "Search by meaning",
    "model_local_url": "Models, their limits and prices",
    "progress": "What is read from events",
    "http_hosts": "The server",
    "callbacks": "Callbacks",
    "keep_secrets": "Hooks and the guard",
    "wait_private": "What waits may look at",
}


def _show_settings(rows: dict[str, Any]) -> None:
    group = ""
    for name in SETTINGS:
        if name in _GROUPS:
            group = _GROUPS[name]
        if name not in rows:
            continue
        if group:
            click.echo(f"{group}:")
            group = ""
        row = rows[name]
        value = line(row["value"]) if row["value"] != "" else "-"
        source = "" if row["source"] == "default" else f"  (from {line(row['source'])})"
        click.echo(f"  {name} = {value}{source}")
        click.echo(f"      {line(row['meaning'])} Allowed: {line(row['allowed'])}.")
    if not rows:
        click.echo("All settings have their defaults.")


@click.command("get", cls=Command, examples=("ringbolt config get tokens",))
@click.argument("name")
def get_command(name: str) -> None:
    """Show the value of the setting NAME; --json shows everything about it."""
    check_name(name, "argument")
    answer(described(_loaded())[name], lambda row: click.echo(line(row["value"])))


@click.command(
    "set",
    cls=Command,
    examples=("ringbolt config set time_zone Europe/Berlin", "ringbolt config set guard ask"),
)
@click.argument("name")
@click.argument("value")
def set_command(name: str, value: str) -> None:
    """Set NAME to VALUE in the settings file; the rest of the file stays as it is.

    A variable such as RINGBOLT_GUARD still wins over the file.
    """
    require_user("config set")
    path = write_setting(name, value)
    answer(
        {"path": path, "name": name, "value": value},
        lambda _: click.echo(f"{name} is set in {line(path)}."),
    )


@click.command("path", cls=Command, examples=("ringbolt config path",))
def path_command() -> None:
    """Show the path of the settings file: TOML, with lines like `tokens = "estimate"`."""
    place = settings_path()
    answer({"path": place, "exists": os.path.exists(place)}, lambda data: click.echo(line(data["path"])))


config_command = Group(
    "config",
    callback=_show_all,
    help="Show every setting, its value, its source, and the allowed values.\n\n"
    "Settings come from the defaults, the settings file (`ringbolt config path`), environment variables like"
    " RINGBOLT_STORE, and arguments; later ones win.",
    examples=("ringbolt config", "ringbolt config --changed", "ringbolt config get tokens"),
    params=[click.Option(["--changed"], is_flag=True, help="Only settings that differ from their default.")],
    commands=[get_command, set_command, path_command],
)


@click.command(
    "completion",
    cls=Command,
    examples=(
        'eval "$(ringbolt completion bash)"',
        "ringbolt completion fish > ~/.config/fish/completions/ringbolt.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print a script for a SHELL that completes commands, options and task ids."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"No script for {shell}.")
    # Only the text: click would run the shell first to ask for its version.
    made = kind(context.find_root().command, {}, "ringbolt", "_RINGBOLT_COMPLETE")
    answer(made.source_template % made.source_vars(), click.echo)
