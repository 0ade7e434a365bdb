"""What a host needs that has no hooks: the lines of the MCP server, and a few habits for its AGENTS.md."""

from __future__ import annotations

import json

_AGENTS = """\
<!-- For AGENTS.md -->
## Task memory

The MCP server `ringbolt` keeps the state of tasks; it outlives this context.

- At the start, and whenever earlier parts of the conversation are missing: call `task_resume`.
- When a task with several steps begins: `task_register` with its steps and the request word for word.
- When a step is done, or something changed: `task_update`.
- Decisions with their reason, attempts that failed and why, values that must survive: `task_note`.
- A question about earlier work: `task_recall` with a few words, before reading files again.
- When the task is over: `task_update` with status `completed`, or `failed`.
"""


def server_lines(program: str) -> str:
    """The MCP server as most hosts want it written."""
    server = {"mcpServers": {"ringbolt": {"command": program, "args": ["mcp"]}}}
    return json.dumps(server, indent=2, ensure_ascii=False) + "\n"


def agents_snippet() -> str:
    """Habits for a model whose host tells us nothing."""
    return _AGENTS
