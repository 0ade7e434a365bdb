"""Files that are entirely ours: plugins, and snippets for the settings of hosts without hooks.

Where a host does not run commands as hooks, a plugin translates the host's events to those of Claude Code,
reports them to `ringbolt-hook`, and passes the context in the hook's response to the host.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ..._version import __version__
from ...model.errors import Conflict, InvalidInput, shown
from ...model.types import Value
from ...system.files import FileErrors, write_atomic
from ..hook_build import HookProgram
from ..host_table import HOSTS
from .json_settings import INSTALLED, MISSING, OUTDATED, Before, Created, hook_entries, server_value
from .templates import template

# Every file of ours contains this, and no other file does.
MARK = "Written by ringbolt install"
_ABOUT = "Task memory for LLM agents that survives context compaction, restarts, crashes and hand-overs."
_ABOUT_HOOKS = "Record what happens in a session, and restore the state of its task."


def plugin_file(name: str, host: str, hook: HookProgram) -> str:
    """A file of a host's plugin, made from the template of that name."""
    command = json.dumps(hook.shell_line(host, '"$1"'))
    report = template("report_event.js").replace('"{{command}}"', command)
    return template(name, host=host, version=__version__).replace("{{report_event.js}}", report)


class OwnFile(Value, frozen=True, kw_only=True):
    """A file that is entirely ours."""

    path: str
    content: str
    private: bool = False

    def states(self, text: str | None) -> dict[str, str]:
        """Whether the file is installed."""
        state = MISSING if text is None else INSTALLED if text == self.content else OUTDATED
        self._check(text)
        return {os.path.basename(self.path): state}

    def _check(self, text: str | None) -> None:
        if text is not None and MARK not in text:
            raise Conflict(
                "not_ours",
                f"{shown(self.path, 400)} exists, and Ringbolt did not write it.",
                "Rename it, then install again.",
            )

    def installed(self, text: str | None) -> tuple[str, Created]:
        """Our text."""
        self._check(text)
        return self.content, []

    def removed(self, text: str, before: Before | None) -> None:
        """Check that the file is ours. None: it is deleted."""
        self._check(text)


# --- the plugin for Claude Code ---------------------------------------------------------------------


def claude_plugin(hook: str = "ringbolt-hook") -> dict[str, str]:
    """The files of a plugin for Claude Code (hooks, MCP server, skill, marketplace), by their paths in it.

    By default they name our programs without a folder, so that the plugin works on any machine that has them.
    """
    hooks = {entry.event: [entry.value] for entry in hook_entries("claude-code", HookProgram(path=hook))}
    ringbolt = os.path.join(os.path.dirname(hook), "ringbolt")
    servers = HOSTS["claude-code"].files[1]
    common = {"name": "ringbolt", "description": _ABOUT, "version": __version__}
    documents: dict[str, Any] = {
        ".claude-plugin/plugin.json": {
            **common,
            "author": {"name": "Ringbolt"},
            "license": "Apache-2.0",
            "keywords": ["memory", "tasks", "compaction", "context"],
        },
        ".claude-plugin/marketplace.json": {
            "name": "ringbolt",
            "description": _ABOUT,
            "owner": {"name": "Ringbolt"},
            "plugins": [{**common, "source": "./"}],
        },
        "hooks/hooks.json": {"description": _ABOUT_HOOKS, "hooks": hooks},
        ".mcp.json": {servers.servers: {"ringbolt": server_value(servers, ringbolt)}},
    }
    return {
        **{name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()},
        "skills/ringbolt/SKILL.md": template("skill.md"),
        "README.md": template("plugin_readme.md", about=_ABOUT),
    }


def write_claude_plugin(folder: str, hook: str) -> list[str]:
    """Write the plugin to a folder that is missing, empty or has an earlier version; returns the paths."""
    folder = os.path.abspath(folder)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InvalidInput(
            "invalid_argument", f"{shown(folder, 400)} is not a folder.", "Name another folder."
        )
    with FileErrors(folder):
        if os.path.isdir(folder) and os.listdir(folder) and not _is_plugin(folder):
            raise Conflict(
                "not_ours",
                f"{shown(folder, 400)} has files in it and is not our plugin.",
                "Name another folder.",
            )
        files = {os.path.join(folder, name): text for name, text in claude_plugin(hook).items()}
        for path, text in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomic(path, text.encode(), mode=0o644)
    return list(files)


def _is_plugin(folder: str) -> bool:
    try:
        with open(os.path.join(folder, ".claude-plugin/plugin.json"), "rb") as file:
            return json.load(file).get("name") == "ringbolt"
    except (FileNotFoundError, ValueError, AttributeError):
        return False


# --- hosts without hooks ----------------------------------------------------------------------------


def mcp_settings(program: str) -> str:
    """The MCP server in the format of most hosts' settings."""
    server = {"mcpServers": {"ringbolt": {"command": program, "args": ["mcp"]}}}
    return json.dumps(server, indent=2, ensure_ascii=False) + "\n"


def agents_snippet() -> str:
    """A snippet for AGENTS.md: when to call each tool, because the host reports no events."""
    return template("agents.md")
