"""The command lines that hosts run."""

from __future__ import annotations

import os
import shlex

from ..model.types import Value

PROGRAM = "ringbolt-hook"


class HookProgram(Value, frozen=True, kw_only=True):
    """What a host runs: the program `ringbolt-hook`."""

    path: str = PROGRAM

    def command(self, host: str, event: str) -> str:
        """The command line of an event, for a POSIX shell."""
        return self.shell_line(host, shlex.quote(event))

    def shell_line(self, host: str, event: str) -> str:
        """The same with an event that the shell is to expand."""
        return f"{shlex.join([self.path, host])} {event}"


def is_hook_command(command: str | None, host: str, event: str) -> bool:
    """Whether a command line is that of our hook, wherever its program is."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        return False
    return len(words) == 3 and os.path.basename(words[0]) == PROGRAM and words[1:] == [host, event]


def with_build(path: str) -> HookProgram:
    """The hook at a path."""
    return HookProgram(path=path)
