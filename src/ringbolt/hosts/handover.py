"""Continuing a task in another host: the first prompt there, and the session that then has the task.

The prompt names the task and a code, and holds the resume packet, so that it works without hooks too. Where
our hooks run, the packet is not stored as words of the user: the session only turns to the task. The code is
the idempotency key of that, so that the task goes over once, even if the command is run twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from ..ledger.base import Base
from ..model import rules
from ..model.errors import InvalidInput
from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from .answers.packet_text import packet_text
from .host_table import ARGUMENTS, HOSTS, PROMPT

_BEGIN = "Continue the task below. (Ringbolt hand-over"
_MARK = lazy_regex(rf"{re.escape(_BEGIN)} ([{rules.CROCKFORD}]+)/([0-9a-f]{{16}})\)")
# What would tie the new program to the session that this command was run in.
_OF_A_SESSION = (
    "RINGBOLT_SESSION RINGBOLT_HOST_SESSION CLAUDE_CODE_SESSION_ID CODEX_SESSION_ID CLAUDECODE CLAUDE_PID"
    " CLAUDE_PROJECT_DIR CLAUDE_ENV_FILE"
).split()


class Handover(Value, frozen=True, kw_only=True):
    """The task that a prompt hands over, and the code of this hand-over."""

    task: str
    code: str


def read_handover(prompt: str) -> Handover | None:
    """The hand-over that a prompt begins with; None for any other prompt."""
    found = _MARK.match(prompt.lstrip().lstrip('"'))
    return Handover(task=found[1], code=found[2]) if found else None


def handover_prompt(memory: Base, task: str, host: str) -> str:
    """The first prompt for a host that is to continue a task."""
    return f"{_BEGIN} {task}/{os.urandom(8).hex()})\n\n{packet_text(memory, task, HOSTS[host])}"


def start_command(host: str, prompt: str, arguments: Sequence[str] = (), *, once: bool = False) -> list[str]:
    """The command line that starts a host with a prompt; `once` for one turn without a terminal."""
    row = HOSTS[host]
    words = row.runs_once if once else row.starts
    if not words:
        known = ", ".join(name for name, one in HOSTS.items() if one.starts)
        hint = "Use --once." if row.runs_once else f"These can: {known}."
        raise InvalidInput("invalid_argument", f"{host} cannot be started with a prompt.", hint)
    command: list[str] = []
    for word in words:
        command += arguments if word == ARGUMENTS else [prompt if word == PROMPT else word]
    return command


def fresh_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that begins a session of its own."""
    return {name: value for name, value in environ.items() if name not in _OF_A_SESSION}
