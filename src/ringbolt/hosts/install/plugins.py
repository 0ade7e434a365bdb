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
from .json_settings import INSTALLED, MISSING, OUTDATED, Before, Created, hook_entries
from .templates import template

# Every file of ours contains this, and no other file does.
MARK = "Written by ringbolt install"
_ABOUT = "Task memory for LLM agents that survives context compaction, restarts, crashes and hand-overs."
_ABOUT_HOOKS = "Record what happens in a session, and restore the state of its task."
_COMMON = {"name": "ringbolt", "description": _ABOUT, "version": __version__}
_TITLES = {"claude-code": "Claude Code", "codex": "Codex"}
_STEPS = {
    "claude-code": "To try it, run `claude --plugin-dir FOLDER`. To keep it:\n"
    "`claude plugin marketplace add MARKETPLACE`, then `claude plugin install ringbolt@ringbolt`.",
    "codex": "Run `codex plugin marketplace add MARKETPLACE`, then\n"
    "`codex plugin add ringbolt@ringbolt`. Codex runs the hooks only after you approve them: start it and\n"
    "enter `/hooks`.",
}


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


# --- plugins for Claude Code and Codex ---------------------------------------------------------------

# Each host: the folder of its manifest, and the path of its marketplace file.
PLUGIN_HOSTS = {
    "claude-code": (".claude-plugin", ".claude-plugin/marketplace.json"),
    "codex": (".codex-plugin", ".agents/plugins/marketplace.json"),
}
# Programs are called by their names, so that a plugin works on every machine and after every upgrade. A host
# with a window may not have the PATH of a shell, so the usual places come after it.
_WITH_PATH = 'PATH="$PATH:$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin"; '
_HOOK_OR_NOTHING = f"{_WITH_PATH}command -v ringbolt-hook >/dev/null 2>&1 || exit 0; exec "
_SERVER_OR_ADVICE = (
    f"{_WITH_PATH}command -v ringbolt >/dev/null 2>&1 && exec ringbolt mcp; "
    "echo 'Ringbolt is not installed. Run: uv tool install ringbolt' >&2; exit 1"
)


def plugin_files(host: str) -> dict[str, str]:
    """The files of a host's plugin (hooks, MCP server, skill), by their paths in it.

    Without our programs, its hooks do nothing, and its server says how to install them.
    """
    hook = HookProgram(before=_HOOK_OR_NOTHING)
    hooks = {entry.event: [entry.value] for entry in hook_entries(host, hook)}
    documents: dict[str, Any] = {
        f"{PLUGIN_HOSTS[host][0]}/plugin.json": {
            **_COMMON,
            "author": {"name": "Ringbolt"},
            "license": "Apache-2.0",
            "keywords": ["memory", "tasks", "compaction", "context"],
        },
        "hooks/hooks.json": {"description": _ABOUT_HOOKS, "hooks": hooks},
        ".mcp.json": {"mcpServers": {"ringbolt": {"command": "sh", "args": ["-c", _SERVER_OR_ADVICE]}}},
    }
    return {
        **{name: _json(document) for name, document in documents.items()},
        "skills/ringbolt/SKILL.md": template("skill.md"),
        "README.md": template("plugin_readme.md", about=_ABOUT, host=_TITLES[host], steps=_STEPS[host]),
    }


def marketplace_file(host: str, folder: str) -> str:
    """The marketplace file that offers the plugin in a folder beside it."""
    if host == "claude-code":
        plugin = {**_COMMON, "source": f"./{folder}"}
        about = {"description": _ABOUT, "owner": {"name": "Ringbolt"}}
    else:
        policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
        source = {"source": "local", "path": f"./{folder}"}
        plugin = {"name": "ringbolt", "source": source, "policy": policy, "category": "Productivity"}
        about = {"interface": {"displayName": "Ringbolt"}}
    return _json({"name": "ringbolt", **about, "plugins": [plugin]})


def plugin_folder(host: str) -> dict[str, str]:
    """A plugin with its marketplace, as `write_plugin` writes them."""
    # Codex does not find a plugin beside its marketplace file; Claude Code takes the folder as a plugin too.
    folder = "" if host == "claude-code" else "plugins/ringbolt"
    files = {os.path.join(folder, name): text for name, text in plugin_files(host).items()}
    return {**files, PLUGIN_HOSTS[host][1]: marketplace_file(host, folder)}


def _json(document: Any) -> str:
    return json.dumps(document, indent=2) + "\n"


def write_plugin(host: str, folder: str) -> list[str]:
    """Write the plugin to a folder that is missing, empty or has an earlier version; returns the paths."""
    folder = os.path.abspath(folder)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InvalidInput(
            "invalid_argument", f"{shown(folder, 400)} is not a folder.", "Name another folder."
        )
    with FileErrors(folder):
        if os.path.isdir(folder) and os.listdir(folder) and not _is_plugin(host, folder):
            raise Conflict(
                "not_ours",
                f"{shown(folder, 400)} has files in it and is not our plugin.",
                "Name another folder.",
            )
        files = {os.path.join(folder, name): text for name, text in plugin_folder(host).items()}
        for path, text in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomic(path, text.encode(), mode=0o644)
    return list(files)


def _is_plugin(host: str, folder: str) -> bool:
    try:
        with open(os.path.join(folder, PLUGIN_HOSTS[host][1]), "rb") as file:
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
