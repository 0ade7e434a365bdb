"""What to paste into the settings of a host without hooks: the MCP server, and habits for its AGENTS.md."""

from __future__ import annotations

import json

from .templates import template


def mcp_settings(program: str) -> str:
    """The MCP server as most hosts want it in their settings."""
    server = {"mcpServers": {"ringbolt": {"command": program, "args": ["mcp"]}}}
    return json.dumps(server, indent=2, ensure_ascii=False) + "\n"


def agents_snippet() -> str:
    """When to call which tool, for a model whose host reports nothing to us."""
    return template("agents.md")
