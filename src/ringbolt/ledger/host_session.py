"""The session of the agent's host that started this process: an MCP server's, or a command's that it runs."""

from __future__ import annotations

import os
from functools import cache

from ..store import Store, sessions
from ..system import processes

# Set by our own hook and by Codex for the host's commands, and by Claude Code for everything that it starts.
_VARIABLES = ("RINGBOLT_HOST_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID")

_ancestors = cache(processes.ancestors)


def host_session(store: Store) -> str:
    """The session that this process belongs to; empty if it belongs to none that is known.

    The process tree comes first: a host may go on under another session id (/clear, /resume) while what it
    started keeps its old environment.
    """
    found = store.read(lambda tx: sessions.of_host(tx, _ancestors()), once=True)
    return found or next((value for name in _VARIABLES if (value := os.environ.get(name))), "")[:150]
