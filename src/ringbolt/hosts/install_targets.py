"""The files that an installation changes, worked out from a host's row in the table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..model.errors import InvalidInput, shown
from ..model.types import Value
from .hook_build import HookProgram
from .host_table import HOSTS, RINGBOLT, USER, HostFile
from .json_settings import HookEntry, JsonFile, ServerEntry
from .plugin_files import OwnFile, plugin_file
from .toml_settings import TomlTable

Target = JsonFile | TomlTable | OwnFile


class Targets(Value, frozen=True, kw_only=True):
    """The files of a host in a scope."""

    scope: str
    files: tuple[Target, ...]


def install_targets(
    host: str, scope: str | None, project: str, hook: HookProgram, environ: Mapping[str, str]
) -> Targets:
    """The files of a host, for this user or for one project."""
    row = HOSTS.get(host)
    if row is None:
        raise InvalidInput(
            "unknown_word", f"There is no host named {shown(host)}.", f"Known hosts: {', '.join(HOSTS)}."
        )
    if scope is not None and scope not in row.scopes:
        raise InvalidInput(
            "invalid_argument", f"{host} has no {scope} settings that we know of.", f"Use --{row.scopes[0]}."
        )
    scope = scope or row.scopes[0]
    ringbolt = os.path.join(os.path.dirname(hook.path), "ringbolt")
    files: list[Target] = []
    for file in row.files:
        path, private = _path(file, scope, project, environ), scope == USER
        if file.template:
            content = plugin_file(file.template, host, hook)
            files.append(OwnFile(path=path, content=content, label=os.path.basename(path), private=private))
        elif path.endswith(".toml"):
            table = (file.servers, "ringbolt")
            files.append(TomlTable(path=path, table=table, command=ringbolt, private=private))
        else:
            entries: list[HookEntry | ServerEntry] = [*hook_entries(host, hook)] if file.hooks else []
            if file.servers:
                value = server_value(file, ringbolt)
                entries.append(ServerEntry(value=value, command=ringbolt, under=(file.servers,)))
            required = dict(file.required)
            files.append(JsonFile(path=path, entries=tuple(entries), required=required, private=private))
    return Targets(scope=scope, files=tuple(files))


def _path(file: HostFile, scope: str, project: str, environ: Mapping[str, str]) -> str:
    if scope == USER:
        variable, folder, name = file.user
        home = environ.get("HOME") or os.path.expanduser("~")
        path = os.path.join(environ.get(variable) or os.path.join(home, folder), name)
    else:
        path = os.path.join(project, file.project)
    if file.jsonc and not os.path.lexists(path) and os.path.lexists(f"{path}c"):
        return f"{path}c"
    return path


def hook_entries(host: str, hook: HookProgram) -> tuple[HookEntry, ...]:
    """Our hooks for all events of a host, in the layout of its settings."""
    row = HOSTS[host]
    entries: list[HookEntry] = []
    for event in row.events:
        command = hook.command(host, event)
        value: dict[str, Any] = {**row.hook_fields, "command": command, "timeout": row.timeout(event)}
        if not row.flat_hooks:
            matcher = {"matcher": row.matchers[event]} if event in row.matchers else {}
            value = {**matcher, "hooks": [{"type": "command", **value}]}
        entries.append(HookEntry(host=host, event=event, value=value, command=command))
    return tuple(entries)


def server_value(file: HostFile, ringbolt: str) -> dict[str, Any]:
    """Our entry in a table of MCP servers."""

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
        return ringbolt if value == RINGBOLT else value

    return {name: filled(value) for name, value in file.server.items()}
