"""Which files of which host get what: events, time limits, MCP servers. Facts only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..model.errors import InvalidInput, shown
from ..model.types import Value
from .hook_build import HookProgram
from .other_files import OwnFile, TomlTable
from .plugin_files import MARK, openclaw, opencode
from .settings_files import Hook, JsonFile, Server

Target = JsonFile | TomlTable | OwnFile


USER, PROJECT = "user", "project"
# Seconds. The work itself ends after 0.3 s; the rest is for a machine that is busy. A packet takes longer.
QUICK, PACKET = 5, 10
# Event: seconds, and what it is for (tools, or the reasons of a session's start), where the host asks for it.
Events = dict[str, tuple[int, "str | None"]]

CLAUDE_CODE: Events = {
    "SessionStart": (PACKET, "startup|resume|clear|compact|fork"),
    "UserPromptSubmit": (PACKET, None),
    "PreToolUse": (QUICK, "*"),
    "PostToolUse": (QUICK, "*"),
    "PostToolUseFailure": (QUICK, "*"),
    "PreCompact": (PACKET, "manual|auto"),
    "PostCompact": (QUICK, "manual|auto"),
    "SubagentStart": (PACKET, "*"),
    "SubagentStop": (QUICK, "*"),
    "Stop": (QUICK, None),
    "SessionEnd": (QUICK, None),
}
CODEX: Events = {
    "SessionStart": (PACKET, "startup|resume|clear|compact"),
    "UserPromptSubmit": (PACKET, None),
    "PreToolUse": (QUICK, None),
    "PostToolUse": (QUICK, None),
    "PreCompact": (PACKET, None),
    "PostCompact": (QUICK, None),
    "SubagentStart": (PACKET, None),
    "SubagentStop": (QUICK, None),
    "Stop": (QUICK, None),
    "SessionEnd": (QUICK, None),
}
CURSOR: Events = {
    "sessionStart": (PACKET, None),
    "beforeSubmitPrompt": (PACKET, None),
    "preToolUse": (QUICK, None),
    "postToolUse": (QUICK, None),
    "postToolUseFailure": (QUICK, None),
    "preCompact": (PACKET, None),
    "subagentStart": (PACKET, None),
    "subagentStop": (QUICK, None),
    "stop": (QUICK, None),
    "sessionEnd": (QUICK, None),
}
GEMINI_CLI: Events = {
    "SessionStart": (PACKET, None),
    "BeforeAgent": (PACKET, None),
    "BeforeTool": (QUICK, "*"),
    "AfterTool": (QUICK, "*"),
    "PreCompress": (PACKET, None),
    "AfterAgent": (QUICK, None),
    "SessionEnd": (QUICK, None),
}
VSCODE: Events = {
    "SessionStart": (PACKET, None),
    "UserPromptSubmit": (PACKET, None),
    "PreToolUse": (QUICK, None),
    "PostToolUse": (QUICK, None),
    "PreCompact": (PACKET, None),
    "SubagentStart": (PACKET, None),
    "SubagentStop": (QUICK, None),
    "Stop": (QUICK, None),
}


class Found(Value, frozen=True, kw_only=True):
    """The files of a host in a scope."""

    scope: str
    files: tuple[Target, ...]
    notes: tuple[str, ...] = ()


class _Place(Value, frozen=True, kw_only=True):
    """Where an installation goes, and the programs that it names."""

    scope: str
    project: str
    hook: HookProgram
    environ: Mapping[str, str]

    def path(self, user: str, project: str) -> str:
        """A file of the host: below the user's folder or below the project."""
        if self.scope == PROJECT:
            return os.path.join(self.project, project)
        return os.path.join(self.home, user)

    @property
    def home(self) -> str:
        return self.environ.get("HOME") or os.path.expanduser("~")

    @property
    def ringbolt(self) -> str:
        return os.path.join(os.path.dirname(self.hook.path), "ringbolt")

    @property
    def private(self) -> bool:
        return self.scope == USER


def grouped(
    host: str, events: Events, hook: HookProgram, *, per_second: int = 1, **more: str
) -> tuple[Hook, ...]:
    """Hooks in groups with a matcher: the layout of Claude Code, which others took over."""
    hooks: list[Hook] = []
    for event, (seconds, matcher) in events.items():
        command = hook.command(host, event)
        inner = {**more, "type": "command", "command": command, "timeout": seconds * per_second}
        group: dict[str, Any] = {"matcher": matcher} if matcher is not None else {}
        hooks.append(Hook(host=host, event=event, value={**group, "hooks": [inner]}, command=command))
    return tuple(hooks)


def _flat(host: str, events: Events, hook: HookProgram, **more: str) -> tuple[Hook, ...]:
    """Hooks without groups."""
    return tuple(
        Hook(host=host, event=event, value={**more, "command": command, "timeout": seconds}, command=command)
        for event, (seconds, _) in events.items()
        for command in [hook.command(host, event)]
    )


def stdio_server(program: str, under: str, **more: str) -> Server:
    """The MCP server as most hosts name one."""
    return Server(value={**more, "command": program, "args": ["mcp"]}, command=program, under=(under,))


# --- hosts ------------------------------------------------------------------------------------------


def _claude_code(at: _Place) -> tuple[Target, ...]:
    folder = at.environ.get("CLAUDE_CONFIG_DIR") if at.scope == USER else None
    usual = at.path(".claude/settings.json", ".claude/settings.json")
    settings = os.path.join(folder, "settings.json") if folder else usual
    servers = os.path.join(folder, ".claude.json") if folder else at.path(".claude.json", ".mcp.json")
    return (
        JsonFile(path=settings, entries=grouped("claude-code", CLAUDE_CODE, at.hook), private=at.private),
        JsonFile(
            path=servers, entries=(stdio_server(at.ringbolt, "mcpServers", type="stdio"),), private=at.private
        ),
    )


def _codex(at: _Place) -> tuple[Target, ...]:
    folder = at.path(".codex", ".codex")
    if at.scope == USER:
        folder = at.environ.get("CODEX_HOME") or folder
    table = ("mcp_servers", "ringbolt")
    return (
        JsonFile(
            path=os.path.join(folder, "hooks.json"),
            entries=grouped("codex", CODEX, at.hook),
            private=at.private,
        ),
        TomlTable(
            path=os.path.join(folder, "config.toml"), table=table, command=at.ringbolt, private=at.private
        ),
    )


def _cursor(at: _Place) -> tuple[Target, ...]:
    hooks, servers = (at.path(f".cursor/{name}", f".cursor/{name}") for name in ("hooks.json", "mcp.json"))
    return (
        JsonFile(
            path=hooks,
            entries=_flat("cursor", CURSOR, at.hook),
            skeleton={"version": 1},
            private=at.private,
        ),
        JsonFile(path=servers, entries=(stdio_server(at.ringbolt, "mcpServers"),), private=at.private),
    )


def _gemini_cli(at: _Place) -> tuple[Target, ...]:
    hooks = grouped("gemini-cli", GEMINI_CLI, at.hook, per_second=1000, name="ringbolt")  # milliseconds
    entries = (*hooks, stdio_server(at.ringbolt, "mcpServers"))
    path = at.path(".gemini/settings.json", ".gemini/settings.json")
    return (JsonFile(path=path, entries=entries, private=at.private),)


def _vscode(at: _Place) -> tuple[Target, ...]:
    return (
        JsonFile(
            path=os.path.join(at.project, ".github/hooks/ringbolt.json"),
            entries=_flat("vscode", VSCODE, at.hook, type="command"),
        ),
        JsonFile(
            path=os.path.join(at.project, ".vscode/mcp.json"),
            entries=(stdio_server(at.ringbolt, "servers", type="stdio"),),
        ),
    )


def _opencode(at: _Place) -> tuple[Target, ...]:

    folder = at.environ.get("XDG_CONFIG_HOME") or os.path.join(at.home, ".config")
    user = os.path.join(folder, "opencode")
    plugin = (
        os.path.join(user, "plugins") if at.scope == USER else os.path.join(at.project, ".opencode/plugins")
    )
    settings = os.path.join(user if at.scope == USER else at.project, "opencode.json")
    if not os.path.lexists(settings) and os.path.lexists(settings + "c"):
        settings += "c"
    value = {"type": "local", "command": [at.ringbolt, "mcp"], "enabled": True}
    return (
        OwnFile(
            path=os.path.join(plugin, "ringbolt.js"),
            content=opencode(at.hook),
            mark=MARK,
            label="plugin",
            private=at.private,
        ),
        JsonFile(
            path=settings,
            entries=(Server(value=value, command=at.ringbolt, under=("mcp",)),),
            private=at.private,
        ),
    )


def _openclaw(at: _Place) -> tuple[Target, ...]:

    folder = at.environ.get("OPENCLAW_STATE_DIR") or os.path.join(at.home, ".openclaw")
    return tuple(
        OwnFile(
            path=os.path.join(folder, "extensions/ringbolt", name),
            content=content,
            mark=mark,
            label=name,
            private=True,
        )
        for name, (content, mark) in openclaw(at.hook).items()
    )


# Host: its scopes (the first is meant if none is named), its files, and what its user should know.
_HOSTS: dict[str, tuple[tuple[str, ...], Any, tuple[str, ...]]] = {
    "claude-code": ((USER, PROJECT), _claude_code, ("Sessions that are open now go on without it.",)),
    "codex": ((USER, PROJECT), _codex, ("Codex runs no hook before you approve it: see /hooks there.",)),
    "cursor": ((USER, PROJECT), _cursor, ()),
    "gemini-cli": ((USER, PROJECT), _gemini_cli, ()),
    "vscode": ((PROJECT,), _vscode, ("VS Code asks once whether it may start the MCP server.",)),
    "opencode": ((USER, PROJECT), _opencode, ("Start OpenCode anew.",)),
    "openclaw": (
        (USER,),
        _openclaw,
        (
            "Switch it on with `openclaw plugins enable ringbolt`, and start the gateway anew.",
            "The end of a turn is seen only with plugins.entries.ringbolt.hooks.allowConversationAccess.",
        ),
    ),
}
HOSTS = tuple(_HOSTS)


def scopes(host: str) -> tuple[str, ...]:
    """The scopes of a host that we know."""
    return _HOSTS[host][0]


def targets(
    host: str, scope: str | None, project: str, hook: HookProgram, environ: Mapping[str, str]
) -> Found:
    """The files of a host, for this user or for one project."""
    if host not in _HOSTS:
        raise InvalidInput(
            "unknown_word", f"{shown(host)} is no host that we know.", f"Known are {', '.join(HOSTS)}."
        )
    scopes, files, notes = _HOSTS[host]
    if scope is not None and scope not in scopes:
        raise InvalidInput(
            "invalid_argument",
            f"{host} has no settings for the scope {shown(scope)} that we know.",
            f"Use --{scopes[0]}.",
        )
    at = _Place(scope=scope or scopes[0], project=project, hook=hook, environ=environ)
    return Found(scope=at.scope, files=files(at), notes=notes)
