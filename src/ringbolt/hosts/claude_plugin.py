"""Ringbolt as a plugin of Claude Code: hooks, the MCP server, a skill, and a marketplace file."""

from __future__ import annotations

import json
import os
from typing import Any

from .._version import __version__
from ..model.errors import Conflict, InvalidInput, shown
from ..system.files import FileErrors, write_atomic
from .hook_build import HookProgram
from .host_table import HOSTS
from .install_targets import hook_entries, server_value
from .templates import template

_ABOUT = "Task memory for LLM agents that survives context compaction, restarts, crashes and hand-overs."


def plugin_files(hook: str = "ringbolt-hook") -> dict[str, str]:
    """The files of the plugin by their paths in it.

    By default they name our programs without a folder, so that the plugin works on any machine that has them.
    """
    hooks: dict[str, list[Any]] = {
        entry.event: [entry.value] for entry in hook_entries("claude-code", HookProgram(path=hook))
    }
    ringbolt = os.path.join(os.path.dirname(hook), "ringbolt")
    servers = HOSTS["claude-code"].files[1]
    common = {"name": "ringbolt", "description": _ABOUT, "version": __version__}
    plugin = {
        **common,
        "author": {"name": "Ringbolt"},
        "license": "Apache-2.0",
        "keywords": ["memory", "tasks", "compaction", "context"],
    }
    marketplace = {
        "name": "ringbolt",
        "description": _ABOUT,
        "owner": {"name": "Ringbolt"},
        "plugins": [{**common, "source": "./"}],
    }
    about_hooks = "Record what happens in a session, and restore the state of its task."
    documents: dict[str, Any] = {
        ".claude-plugin/plugin.json": plugin,
        ".claude-plugin/marketplace.json": marketplace,
        "hooks/hooks.json": {"description": about_hooks, "hooks": hooks},
        ".mcp.json": {servers.servers: {"ringbolt": server_value(servers, ringbolt)}},
    }
    return {
        **{name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()},
        "skills/ringbolt/SKILL.md": template("skill.md"),
        "README.md": template("plugin_readme.md", about=_ABOUT),
    }


def write_plugin(folder: str, hook: str) -> list[str]:
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
        written: list[str] = []
        for name, text in plugin_files(hook).items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomic(path, text.encode(), mode=0o644)
            written.append(path)
    return written


def _is_plugin(folder: str) -> bool:
    try:
        with open(os.path.join(folder, ".claude-plugin/plugin.json"), "rb") as file:
            return json.load(file).get("name") == "ringbolt"
    except (FileNotFoundError, ValueError, AttributeError):
        return False
