"""The command line of `ringbolt mcp`, parsed without click: every session of a host waits for it."""

from __future__ import annotations

from collections.abc import Sequence

_NAMES = {
    "--tools": "tools",
    "--store": "location",
    "--workspace": "workspace",
    "--session": "session",
    "--agent": "agent",
}


def read_line(words: Sequence[str]) -> dict[str, str] | None:
    """The arguments of `stdio.serve`; None if only click can read the line."""
    options: dict[str, str] = {"location": ""}
    rest = list(words)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if flag not in _NAMES or not (equals or rest):
            return None
        options[_NAMES[flag]] = value if equals else rest.pop(0)
    return options if options.get("tools", "core") in ("core", "full") else None
