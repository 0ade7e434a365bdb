"""Texts that an agent writes in a command or a file: messages of commits, pull requests, plans and design
notes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ..signals.calls.commands import shares_work

MOST_TEXT = 20_000
_FLAGS = ("-m", "-am", "--message", "--body", "-b", "--description", "-d")
# Words in the name of a Markdown file that plans or explains the work.
_NOTES = "plan design decision adr notes spec proposal rfc handover summary architecture".split()
_CONTENTS = ("content", "new_string", "text", "file_text")


def message_of(command: str) -> str:
    """The text of the commit or pull request that a command makes; "" for any other command."""
    if not shares_work(command) or len(command) > MOST_TEXT:
        return ""
    if "<<" in command:
        return _heredoc(command)
    try:
        words = shlex.split(command.replace("\\\n", " "))
    except ValueError:  # an open quote: not understood
        return ""
    found = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _FLAGS]
    found += [
        word.partition("=")[2]
        for word in words
        if word.startswith(("--message=", "--body=", "--description="))
    ]
    return "\n\n".join(text for text in found if text and not text.startswith("$"))


def _heredoc(command: str) -> str:
    """The first here-document of a command."""
    head, _, rest = command.partition("<<")[2].partition("\n")
    mark = head.lstrip("-").split()[0].strip("'\"") if head.strip(" -") else ""
    lines: list[str] = []
    for line in rest.split("\n"):
        if mark and line.strip() == mark:
            return "\n".join(lines)
        lines.append(line)
    return ""


def note_of(arguments: Mapping[str, Any]) -> str:
    """The text that a call writes into a Markdown file of plans or notes; "" for any other file."""
    path = str(arguments.get("file_path") or arguments.get("path") or "").lower()
    name = path.rpartition("/")[2]
    if not name.endswith((".md", ".mdx", ".txt")) or not any(word in path for word in _NOTES):
        return ""
    return next((text[:MOST_TEXT] for key in _CONTENTS if isinstance(text := arguments.get(key), str)), "")
