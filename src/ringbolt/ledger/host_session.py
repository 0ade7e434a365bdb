"""The session of the agent's host that started this process, an MCP server or a command."""

from __future__ import annotations

import os
from functools import cache

from ..store import Store, sessions
from ..system import processes

# Our own hook and Codex set these for the host's commands, Claude Code for all of its child processes.
_VARIABLES = ("RINGBOLT_HOST_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID")

_ancestors = cache(processes.ancestors)


def host_session(store: Store) -> str:
    """The session that this process belongs to; empty if that is unknown.

    The process tree comes first: a host may continue under another session id (/clear, /resume) while its
    child processes keep their old environment.
    """
    session = store.read(lambda tx: sessions.of_host(tx, _ancestors()), once=True)
    return session or next((value for name in _VARIABLES if (value := os.environ.get(name))), "")[:150]
