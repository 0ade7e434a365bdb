"""The files that an installation changes, from a host's row in the table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from ...model.errors import InvalidInput, shown
from ..hook_build import HookProgram
from ..host_table import HOSTS, USER, HostFile
from .json_settings import (
    JsonFile,
    ServerEntry,
    StatusLineEntry,
    hook_entries,
    server_value,
    toml_hooks,
)
from .plugins import OwnFile, plugin_file
from .toml_settings import TomlHooks, TomlTable

Target = JsonFile | TomlTable | TomlHooks | OwnFile


def install_targets(
    host: str,
    scope: str | None,
    project: str,
    hook: HookProgram,
    environ: Mapping[str, str],
    *,
    status_line: bool = False,
) -> tuple[str, list[Target]]:
    """The scope, by default the host's first, and the files of the host in it."""
    row = HOSTS.get(host)
    if row is None:
        raise InvalidInput(
            "unknown_word", f"There is no host named {shown(host)}.", f"Known hosts: {', '.join(HOSTS)}."
        )
    if scope is not None and scope not in row.scopes:
        raise InvalidInput(
            "invalid_argument", f"{host} has no {scope} settings that we know of.", f"Use --{row.scopes[0]}."
        )
    if status_line and not any(file.status_line for file in row.files):
        raise InvalidInput(
            "invalid_argument", f"{host} has no status line that we know of.", "Leave out --statusline."
        )
    scope = scope or row.scopes[0]
    ringbolt = os.path.join(os.path.dirname(hook.path), "ringbolt")
    files: list[Target] = []
    for file in row.files:
        path, private = _path(file, scope, project, environ), scope == USER
        if file.template:
            content = plugin_file(file.template, host, hook)
            files.append(OwnFile(path=path, content=content, private=private))
        elif path.endswith(".toml") and file.hooks:
            files.append(TomlHooks(path=path, hooks=tuple(toml_hooks(host, hook)), private=private))
        elif path.endswith(".toml"):
            table = (file.servers, "ringbolt")
            files.append(TomlTable(path=path, table=table, command=ringbolt, private=private))
        else:
            server = ServerEntry(value=server_value(file, ringbolt), command=ringbolt, path=(file.servers,))
            line = StatusLineEntry(command=shlex.join((ringbolt, "statusline")), adds=status_line)
            entries = (
                *(hook_entries(host, hook) if file.hooks else ()),
                *([server] if file.servers else ()),
                *([line] if file.status_line else ()),
            )
            files.append(JsonFile(path=path, entries=entries, required=file.required, private=private))
    return scope, files


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
