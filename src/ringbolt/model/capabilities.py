"""What a caller may do: its access to the store, the workspaces it may see, and its powers outside the store.

A `Grant` travels with the memory of a caller. The doors (HTTP, MCP) make one from a token or a connection; a
program that opens the store itself has `LOCAL`. `operations.authorize` compares it with what an operation
declares, `Base._find` with the workspace of a task, and `system/gate.py` with what a caller wants to look at.
"""

from __future__ import annotations

from typing import Literal

from .errors import NotAllowed
from .types import Value

Access = Literal["read", "write", "admin"]
Power = Literal["files", "displays", "commands", "egress"]

# Each kind of access includes the ones before it.
ACCESS: dict[Access, str] = {
    "read": "read tasks",
    "write": "read and write tasks",
    "admin": "read and write tasks, and remove or replace what is recorded",
}
POWERS: dict[Power, str] = {
    "files": "look at files and logs below the workspace, and in the folders of `wait_folders`",
    "displays": "look at terminals, screens, windows and processes",
    "commands": "run commands, where `wait_commands` is on",
    "egress": "connect to ports and URLs, and have URLs called",
}
_LEVELS = tuple(ACCESS)


class Grant(Value, frozen=True, kw_only=True):
    """What a caller may do.

    `workspaces` lists the only workspaces it may see; None: all. `anywhere`: it may also see whether files
    outside the workspace exist or change, as a program that runs here can anyway. `name` identifies the
    caller in quotas and in the audit of refused looks.
    """

    access: Access = "admin"
    workspaces: tuple[str, ...] | None = None
    powers: tuple[Power, ...] = tuple(POWERS)
    anywhere: bool = False
    name: str = "local"

    def includes(self, access: Access) -> bool:
        """Whether it has at least this access."""
        return _LEVELS.index(access) <= _LEVELS.index(self.access)

    def sees(self, workspace: str | None) -> bool:
        """Whether it may see the tasks of a workspace."""
        return self.workspaces is None or workspace in self.workspaces

    def limited_to(self, access: Access) -> Grant:
        """The same grant with at most this access."""
        return self.replace(access=access) if self.includes(access) else self

    def without(self, *powers: Power) -> Grant:
        """The same grant without some powers."""
        return self.replace(powers=tuple(power for power in self.powers if power not in powers))


# The program that opened the store, on behalf of the user who runs it.
LOCAL = Grant(anywhere=True)
# An agent that reaches the store through a server that its user started for it alone.
AGENT = Grant(access="write", name="agent")


def access_refused(grant: Grant, operation: str, needed: Access) -> NotAllowed:
    """The error for a call that needs more access."""
    hint = {
        "read": "Use a token that may read.",
        "write": "Use the write token from the server's token file, or ask the user for one.",
        "admin": "Only the user can do this: at a terminal, with --as-user, or with the user token.",
    }[needed]
    message = f"{operation} needs {needed} access; this caller ({grant.name}) has {grant.access} access."
    return NotAllowed("wrong_scope", message, hint)


def workspace_refused() -> NotAllowed:
    """The error for a call beyond the caller's workspaces: the same whether or not they exist."""
    return NotAllowed(
        "wrong_workspace",
        "The token does not allow this outside its workspaces.",
        "Leave the workspace out, or ask the user for a token for other workspaces.",
    )
