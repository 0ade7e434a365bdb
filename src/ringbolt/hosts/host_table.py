"""The supported hosts: one row for each, with everything that differs between them.

A row describes how a host reports events to our hook and takes context from it, and the files that `ringbolt
install` writes to. Our own names of events and fields are those of Claude Code, which most hosts copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..model.types import Value

USER, PROJECT = "user", "project"
EVENTS = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact PostCompact"
    " SubagentStart SubagentStop Stop SessionEnd"
).split()
# Events that only Claude Code has. Some of its others must not have a hook: see docs/reference/hosts.md.
_CLAUDE_ONLY = (
    "StopFailure Notification PermissionDenied Elicitation ElicitationResult"
    " TaskCreated TaskCompleted CwdChanged"
).split()
# Notifications that the host waits for its user.
WAITS_FOR_USER = (
    "permission_prompt idle_prompt elicitation_dialog elicitation_url_dialog agent_needs_input"
    " worker_permission_prompt"
).split()
# Our fields, with the names that hosts use for each; the first that is present counts.
FIELDS: dict[str, tuple[str, ...]] = {
    "session": ("session_id",),
    "cwd": ("cwd",),
    "transcript": ("transcript_path",),
    "source": ("source",),
    "prompt": ("prompt",),
    "prompt_id": ("prompt_id",),
    "tool": ("tool_name",),
    "input": ("tool_input",),
    "output": ("tool_response",),
    "error": ("error",),
    "duration_ms": ("duration_ms",),
    "tool_use_id": ("tool_use_id",),
    "summary": ("compact_summary",),
    "message": ("last_assistant_message",),
    "agent_id": ("agent_id",),
    "agent_type": ("agent_type",),
    "reason": ("reason",),
    "trigger": ("trigger",),
    "mode": ("permission_mode",),
    "background": ("background_tasks",),
}
# Fields that only some of our events have.
EVENT_FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "PostToolUseFailure": {"interrupted": ("is_interrupt",)},
    "StopFailure": {"details": ("error_details",)},
    "Notification": {"notification": ("notification_type",)},
    "Elicitation": {"server": ("mcp_server_name",), "question": ("message",)},
    "ElicitationResult": {"server": ("mcp_server_name",), "answer": ("action",), "content": ("content",)},
    "Stop": {"again": ("stop_hook_active",)},
    "TaskCreated": {"list_id": ("task_id",), "title": ("task_subject",)},
    "TaskCompleted": {"list_id": ("task_id",), "title": ("task_subject",)},
    "CwdChanged": {"folder": ("new_cwd",)},
    "SubagentStart": {"agent_task": ("agent_prompt", "prompt", "description")},
}
# Our fields with the texts of people and agents, which are never shortened.
WHOLE = ("prompt", "summary", "message", "agent_task")
# The timeout of our hook at the host, in seconds. The work itself ends after 0.3 s; the rest is for a busy
# machine. Events that may be answered with a packet get more.
QUICK_SECONDS, PACKET_SECONDS = 5, 10
_WITH_PACKET = ("SessionStart", "UserPromptSubmit", "PreCompact", "SubagentStart")
# Stands for the path of the `ringbolt` program in the rows.
RINGBOLT = "{ringbolt}"
# Stand for the first prompt, and for further arguments, in the command lines of the rows.
PROMPT, ARGUMENTS = "{prompt}", "{arguments}"


class HostFile(Value, frozen=True, kw_only=True):
    """A file of a host that `install` writes to.

    `user` is its place for one user: a variable that may name the folder, otherwise the folder below the home
    directory, and the file's name. `project` is its path within a project.
    """

    user: tuple[str, str, str] = ("", "", "")
    project: str = ""
    hooks: bool = False  # whether it lists hooks
    servers: str = ""  # the table of MCP servers in it
    server: Mapping[str, Any] = {}  # our entry in that table
    required: Mapping[str, Any] = {}  # members that every such file must have
    jsonc: bool = False  # whether the host also reads it with the name NAME.jsonc
    status_line: bool = False  # whether it has the command of the host's status line
    template: str = ""  # for a file that is entirely ours


class Host(Value, frozen=True, kw_only=True):
    """One host. `events` maps its events to ours."""

    events: Mapping[str, str]
    fields: Mapping[str, tuple[str, ...]] = {}  # differences to FIELDS
    inputs: Mapping[str, str] = {}  # its names of fields of a tool's input, and ours
    tools: Mapping[str, str] = {}  # its names of tools, and ours
    project: str = ""  # the variable with the project's folder; the agent's shell may be elsewhere
    sources: Mapping[str, str] = {}  # its words for how a session starts, and ours
    # Our events whose answer may carry context, and the only field of that answer. Without one the answer has
    # the form of Claude Code: {"hookSpecificOutput": {"hookEventName", "additionalContext"}}.
    injects: tuple[str, ...] = ()
    answer: str = ""
    asks: bool = False  # whether an answer to PreToolUse can let the user decide
    holds: bool = False  # whether {"decision": "block", "reason"} as an answer to Stop lets the agent go on
    # Limits of what we inject, below those of the host, so that it cuts nothing off.
    characters: int = 8000
    tokens: int = 2000
    # The host sends PreCompact before every request, when it only checks whether to compact.
    only_looks: bool = False
    # The host adds plain text that answers PreCompact to its instructions for the summary.
    notes: bool = False
    # Its own tools whose results are the answer of a person: what they return was said by the user.
    person_answers: frozenset[str] = frozenset()
    # The format of its transcript, which has events that hooks do not report, for transcripts.tail to read.
    transcript: Literal["", "claude", "codex"] = ""

    # The command line that starts it with a first prompt, in a terminal or for one turn.
    starts: tuple[str, ...] = ()
    runs_once: tuple[str, ...] = ()

    # --- installation
    scopes: tuple[str, ...] = (USER, PROJECT)  # the first is the default
    files: tuple[HostFile, ...] = ()
    flat_hooks: bool = False  # whether hooks are listed without the groups that Claude Code has
    hook_fields: Mapping[str, Any] = {}  # what a hook has besides its command and timeout
    matchers: Mapping[str, str] = {}  # by the host's event
    timeout_unit: int = 1  # units of a timeout in a second
    advice: tuple[str, ...] = ()  # for the user, after an installation

    def timeout(self, event: str) -> int:
        """The timeout of a host's event, in the host's unit."""
        seconds = PACKET_SECONDS if self.events[event] in _WITH_PACKET else QUICK_SECONDS
        return seconds * self.timeout_unit


def _same(*without: str) -> dict[str, str]:
    return {name: name for name in EVENTS if name not in without}


_STDIO = {"command": RINGBOLT, "args": ["mcp"]}
_HABITS = "Add the lines of `ringbolt install generic` to your AGENTS.md: this host reports no events to us."

HOSTS: dict[str, Host] = {
    # Takes 10,000 characters; of more the model sees 2 KB.
    "claude-code": Host(
        events={**_same(), **{name: name for name in _CLAUDE_ONLY}},
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"),
        asks=True,
        holds=True,
        notes=True,
        person_answers=frozenset(("AskUserQuestion", "ExitPlanMode")),
        project="CLAUDE_PROJECT_DIR",
        transcript="claude",
        starts=("claude", ARGUMENTS, PROMPT),
        runs_once=("claude", "-p", ARGUMENTS, PROMPT),
        files=(
            HostFile(
                user=("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
                project=".claude/settings.json",
                hooks=True,
                status_line=True,
            ),
            HostFile(
                user=("CLAUDE_CONFIG_DIR", "", ".claude.json"),
                project=".mcp.json",
                servers="mcpServers",
                server={"type": "stdio", **_STDIO},
            ),
        ),
        matchers={
            "SessionStart": "startup|resume|clear|compact|fork",
            "PreCompact": "manual|auto",
            "PostCompact": "manual|auto",
            "Notification": "|".join(WAITS_FOR_USER),
            **dict.fromkeys(
                ("PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"), "*"
            ),
        },
        advice=("Sessions that are open now do not use it until they are restarted.",),
    ),
    # Takes 2,500 tokens.
    "codex": Host(
        events={**_same("PostToolUseFailure"), "Interrupt": "Interrupt"},
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
        transcript="codex",
        starts=("codex", ARGUMENTS, PROMPT),
        runs_once=("codex", "exec", ARGUMENTS, PROMPT),
        files=(
            HostFile(user=("CODEX_HOME", ".codex", "hooks.json"), project=".codex/hooks.json", hooks=True),
            HostFile(
                user=("CODEX_HOME", ".codex", "config.toml"),
                project=".codex/config.toml",
                servers="mcp_servers",
                server=_STDIO,
            ),
        ),
        matchers={"SessionStart": "startup|resume|clear|compact"},
        advice=("Codex runs a hook only after you approve it: enter /hooks there.",),
    ),
    "cursor": Host(
        events={
            "sessionStart": "SessionStart",
            "beforeSubmitPrompt": "UserPromptSubmit",
            "preToolUse": "PreToolUse",
            "postToolUse": "PostToolUse",
            "postToolUseFailure": "PostToolUseFailure",
            "preCompact": "PreCompact",
            "subagentStart": "SubagentStart",
            "subagentStop": "SubagentStop",
            "stop": "Stop",
            "sessionEnd": "SessionEnd",
        },
        fields={
            "session": ("conversation_id", "session_id"),
            "cwd": ("cwd", "workspace_roots"),
            "output": ("tool_output", "tool_response"),
            "error": ("error_message", "error"),
            "duration_ms": ("duration", "duration_ms"),
            "message": ("last_assistant_message", "text"),
        },
        injects=("SessionStart", "UserPromptSubmit"),
        answer="additional_context",
        files=(
            HostFile(
                user=("", ".cursor", "hooks.json"),
                project=".cursor/hooks.json",
                hooks=True,
                required={"version": 1},
            ),
            HostFile(
                user=("", ".cursor", "mcp.json"),
                project=".cursor/mcp.json",
                servers="mcpServers",
                server=_STDIO,
            ),
        ),
        flat_hooks=True,
    ),
    "gemini-cli": Host(
        events={
            "SessionStart": "SessionStart",
            "BeforeAgent": "UserPromptSubmit",
            "BeforeTool": "PreToolUse",
            "AfterTool": "PostToolUse",
            "PreCompress": "PreCompact",
            "AfterAgent": "Stop",
            "SessionEnd": "SessionEnd",
        },
        fields={"message": ("prompt_response", "last_assistant_message")},
        injects=("SessionStart", "UserPromptSubmit", "PostToolUse"),
        project="GEMINI_PROJECT_DIR",
        only_looks=True,
        starts=("gemini", ARGUMENTS, "-i", PROMPT),
        runs_once=("gemini", ARGUMENTS, "-p", PROMPT),
        files=(
            HostFile(
                user=("", ".gemini", "settings.json"),
                project=".gemini/settings.json",
                hooks=True,
                servers="mcpServers",
                server=_STDIO,
            ),
        ),
        hook_fields={"name": "ringbolt"},
        matchers={"BeforeTool": "*", "AfterTool": "*"},
        timeout_unit=1000,
    ),
    # Took the layout of its files from Gemini CLI, and the names of its events from Claude Code.
    "qwen-code": Host(
        events=_same(),
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"),
        project="QWEN_PROJECT_DIR",
        starts=("qwen", ARGUMENTS, "-i", PROMPT),
        runs_once=("qwen", ARGUMENTS, "-p", PROMPT),
        files=(
            HostFile(
                user=("", ".qwen", "settings.json"),
                project=".qwen/settings.json",
                hooks=True,
                servers="mcpServers",
                server=_STDIO,
            ),
        ),
        hook_fields={"name": "ringbolt"},
        timeout_unit=1000,
    ),
    "droid": Host(
        events=_same("PostToolUseFailure", "PostCompact", "SubagentStart"),
        injects=("SessionStart", "UserPromptSubmit", "PostToolUse"),
        project="FACTORY_PROJECT_DIR",
        starts=("droid", ARGUMENTS, PROMPT),
        runs_once=("droid", "exec", ARGUMENTS, PROMPT),
        files=(
            HostFile(user=("", ".factory", "settings.json"), project=".factory/settings.json", hooks=True),
            HostFile(
                user=("", ".factory", "mcp.json"),
                project=".factory/mcp.json",
                servers="mcpServers",
                server={"type": "stdio", **_STDIO},
            ),
        ),
    ),
    # With the names of events that Claude Code has, it also reports their fields as Claude Code does.
    "copilot-cli": Host(
        events=_same("PostCompact"),
        fields={"output": ("tool_result", "tool_response")},
        sources={"new": "startup"},
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
        answer="additionalContext",
        scopes=(USER,),
        starts=("copilot", ARGUMENTS, "-i", PROMPT),
        runs_once=("copilot", ARGUMENTS, "-p", PROMPT),
        files=(
            HostFile(
                user=("COPILOT_HOME", ".copilot", "hooks/ringbolt.json"), hooks=True, required={"version": 1}
            ),
            HostFile(
                user=("COPILOT_HOME", ".copilot", "mcp-config.json"),
                servers="mcpServers",
                server={"type": "local", **_STDIO, "tools": ["*"]},
            ),
        ),
        flat_hooks=True,
        hook_fields={"type": "command"},
    ),
    "kimi-code": Host(
        events=_same(),
        fields={"output": ("tool_output",), "tool_use_id": ("tool_call_id",)},
        injects=("UserPromptSubmit",),
        answer="message",
        scopes=(USER,),
        runs_once=("kimi", ARGUMENTS, "-p", PROMPT),
        files=(
            HostFile(user=("KIMI_CODE_HOME", ".kimi-code", "config.toml"), hooks=True),
            HostFile(user=("KIMI_CODE_HOME", ".kimi-code", "mcp.json"), servers="mcpServers", server=_STDIO),
        ),
    ),
    # Takes no context from hooks, only what they decide.
    "goose": Host(
        events=_same("PreCompact", "PostCompact", "SubagentStart", "SubagentStop"),
        fields={
            "cwd": ("working_dir", "cwd"),
            "prompt": ("message", "prompt"),
            "tool_use_id": ("tool_call_id",),
        },
        holds=True,
        starts=("goose", "run", "--interactive", ARGUMENTS, "-t", PROMPT),
        runs_once=("goose", "run", ARGUMENTS, "-t", PROMPT),
        files=(
            HostFile(
                user=("", ".agents", "plugins/ringbolt/plugin.json"),
                project=".agents/plugins/ringbolt/plugin.json",
                template="goose.plugin.json",
            ),
            HostFile(
                user=("", ".agents", "plugins/ringbolt/hooks/hooks.json"),
                project=".agents/plugins/ringbolt/hooks/hooks.json",
                hooks=True,
            ),
        ),
        advice=("Add the MCP server with `goose configure`: a command-line extension with `ringbolt mcp`.",),
    ),
    # Hosts that get only the MCP server: Kiro's hooks name no session, Cline's nest their fields, and Amp has
    # plugins instead of hooks.
    "kiro": Host(
        events={},
        files=(
            HostFile(
                user=("", ".kiro", "settings/mcp.json"),
                project=".kiro/settings/mcp.json",
                servers="mcpServers",
                server=_STDIO,
            ),
        ),
        advice=(_HABITS,),
    ),
    "amp": Host(
        events={},
        runs_once=("amp", ARGUMENTS, "-x", PROMPT),
        files=(
            HostFile(
                user=("XDG_CONFIG_HOME", ".config", "amp/settings.json"),
                project=".amp/settings.json",
                servers="amp.mcpServers",
                server=_STDIO,
            ),
        ),
        advice=(_HABITS,),
    ),
    "cline": Host(
        events={},
        scopes=(USER,),
        starts=("cline", ARGUMENTS, "-i", PROMPT),
        runs_once=("cline", ARGUMENTS, PROMPT),
        files=(
            HostFile(
                user=("CLINE_DIR", ".cline", "data/settings/cline_mcp_settings.json"),
                servers="mcpServers",
                server={"type": "stdio", **_STDIO},
            ),
        ),
        advice=(_HABITS,),
    ),
    "vscode": Host(
        events=_same("PostToolUseFailure", "PostCompact", "SessionEnd"),
        fields={"session": ("session_id", "sessionId")},
        injects=("SessionStart", "PostToolUse"),
        scopes=(PROJECT,),
        files=(
            HostFile(project=".github/hooks/ringbolt.json", hooks=True),
            HostFile(project=".vscode/mcp.json", servers="servers", server={"type": "stdio", **_STDIO}),
        ),
        flat_hooks=True,
        hook_fields={"type": "command"},
        advice=("VS Code asks once whether it may start the MCP server.",),
    ),
    # Their plugins report as Claude Code does.
    "opencode": Host(
        events=_same(),
        inputs={"filePath": "file_path"},
        tools={"todowrite": "TodoWrite"},
        starts=("opencode", ARGUMENTS, "--prompt", PROMPT),
        runs_once=("opencode", "run", ARGUMENTS, PROMPT),
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse"),
        notes=True,
        files=(
            HostFile(
                user=("XDG_CONFIG_HOME", ".config", "opencode/plugins/ringbolt.js"),
                project=".opencode/plugins/ringbolt.js",
                template="opencode.js",
            ),
            HostFile(
                user=("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
                project="opencode.json",
                jsonc=True,
                servers="mcp",
                server={"type": "local", "command": [RINGBOLT, "mcp"], "enabled": True},
            ),
        ),
        advice=("Restart OpenCode.",),
    ),
    "openclaw": Host(
        events={**_same(), "Heartbeat": "Heartbeat"},
        injects=("SessionStart", "UserPromptSubmit", "PreToolUse", "Heartbeat"),
        scopes=(USER,),
        files=tuple(
            HostFile(
                user=("OPENCLAW_STATE_DIR", ".openclaw", f"extensions/ringbolt/{name}"), template=template
            )
            for name, template in (
                ("index.js", "openclaw.js"),
                ("openclaw.plugin.json", "openclaw.plugin.json"),
                ("package.json", "openclaw.package.json"),
            )
        ),
        advice=(
            "Enable it with `openclaw plugins enable ringbolt`, and restart the gateway.",
            "Turns that end are seen only with plugins.entries.ringbolt.hooks.allowConversationAccess.",
        ),
    ),
}
