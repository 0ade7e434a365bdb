"""The status line, drawn by the real Claude Code in a terminal; only the model is ours."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pytest

from tests.live.model_servers import says
from tests.live.programs import OURS, SECONDS, ClaudeCode

pytestmark = pytest.mark.hosts

REQUEST = "Round the credit notes too."
NAME = "Round the credit notes too"  # as the status line says it, without the full stop
_CONTROLS = re.compile(rb"\x1b\[[0-9;?<>]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()78].?")


def settled(claude: ClaudeCode) -> None:
    """What a person has answered before: theme, key, trust in the folder. Our status line is configured."""
    settings = claude.home / ".claude/settings.json"
    line = {"type": "command", "command": f"{OURS}/ringbolt statusline"}
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "statusLine": line}))
    state = claude.home / ".claude.json"
    known = json.loads(state.read_text()) if state.exists() else {}
    known |= {"hasCompletedOnboarding": True, "theme": "dark"}
    known["customApiKeyResponses"] = {"approved": ["none"], "rejected": []}
    folder = known.setdefault("projects", {}).setdefault(str(claude.work), {})
    folder |= {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state.write_text(json.dumps(known))


def test_the_status_line_names_the_task_in_the_terminal(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.install("--user")
    settled(claude)
    server.script.turns = [says("They are rounded.")]
    program = claude.command()[0]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(claude.work)
        os.execve(program, [program, REQUEST], {**claude.environment(), "TERM": "xterm-256color"})
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        drawn, end = b"", time.monotonic() + SECONDS
        line = re.compile(rf"{NAME}[^.]")
        while not line.search(_CONTROLS.sub(b" ", drawn).decode("utf-8", "replace")):
            assert time.monotonic() < end, drawn[-2000:]
            if select.select([terminal], [], [], 1)[0]:
                drawn += os.read(terminal, 65_536)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
