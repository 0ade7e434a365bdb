"""`ringbolt statusline`: a session's task in one line, from its card, without opening the store.

Claude Code runs it whenever its screen changes, so it imports only the parts of the hook that start fast.
"""

from __future__ import annotations

from .hook_parts.hook_settings import HookSettings, journal_folders
from .hook_parts.journal_files import session_digest
from .hook_parts.plain_json import parse
from .hook_parts.system_calls import Late, read_input, read_small, set_alarm, write_all

_PATIENCE = 2.0  # seconds that the host may take to send its JSON
_MOST = 200  # characters


def main() -> None:
    """Print the line for the session that standard input names; nothing if there is none. Never fails."""
    try:
        set_alarm(_PATIENCE)
        line = status_line(read_input())
        set_alarm(None)
        if line:
            write_all(1, f"{line}\n".encode("utf-8", "replace"))
    except (Late, OSError, ValueError):
        set_alarm(None)  # an error would stand in the host's status line for good


def status_line(data: bytes) -> str:
    """The line for Claude Code's JSON; empty if it names no session, or the session has no task."""
    session = (parse(data) or {}).get("session_id")
    if not isinstance(session, str) or not session:
        return ""
    settings = HookSettings()
    for folder in journal_folders(settings.location(), settings.tenant()):
        card = parse(read_small(f"{folder}/cards/{session_digest(session)}"))
        status = (card or {}).get("status")
        if isinstance(status, str) and status:
            # The drainer wrote one clean line; what anybody else wrote must not control the terminal either.
            return "".join(letter for letter in status if letter.isprintable())[:_MOST]
    return ""
