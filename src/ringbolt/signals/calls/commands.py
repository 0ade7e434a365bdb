"""Command lines: what they are for, and the commits they make. Pure."""

from __future__ import annotations

import re

from ...model.lazy_regex import lazy_regex
from ..text_layout import bounded, one_line, without_colours

# --- what a command is for --------------------------------------------------------------------------

_SHOWS = lazy_regex(
    r"\s*(?:cat|head|tail|less|grep|rg|sed|awk|jq|find|ls|echo|printf|git (?:log|show|diff|blame))\b"
)
_SHARES = lazy_regex(r"\bgit (?:commit|push|merge)\b|\bgh pr\b")
_MENTIONS_CHECK = lazy_regex(
    r"(?i)\b(?:tests?|\w*test|lint|vet|build|check|fmt|format|gofmt|prettier|eslint|tsc|ruff|mypy|pyright"
    r"|compile|make|ci)\b"
)
# Programs whose second word says what they do, and words before a program that say nothing.
_WITH_VERBS = frozenset(
    "git npm pnpm yarn pip uv cargo go docker kubectl helm make gh aws gcloud az terraform systemctl apt"
    " apt-get brew poetry conda rails bundle dotnet mvn gradle".split()
)
_WRAPPERS = frozenset("sudo env time nohup exec command".split())
LONGEST_HEAD = 120
_PREPARES = ("cd", "echo", "true", "set", "export")


def only_shows(command: str) -> bool:
    """Whether a command prints what is there already, so that an error in its output is not its own."""
    return _SHOWS.match(command) is not None


def shares_work(command: str) -> bool:
    """Whether a command commits, pushes or merges."""
    return _SHARES.search(command) is not None


def mentions_check(command: str) -> bool:
    """Whether a command has to do with tests, builds or linters; `run_kinds.is_check` is the strict one."""
    return _MENTIONS_CHECK.search(command) is not None


def command_head(command: str) -> str:
    """What a command runs: its program, with its verb if it has verbs (`git push`, `pytest`)."""
    for part in reversed(command[:2000].replace("||", "&&").replace(";", "&&").split("&&")):
        names = [word for word in part.split() if "=" not in word and word not in _WRAPPERS]
        if names and names[0] not in _PREPARES:
            break
    else:
        return ""
    program = names[0].rpartition("/")[2].lower()
    if program.startswith("python") and names[1:2] == ["-m"] and len(names) > 2:
        return names[2].lower()[:LONGEST_HEAD]
    if program in _WITH_VERBS:
        verb = next((word for word in names[1:] if word.isalpha()), "")
        return f"{program} {verb.lower()}".strip()[:LONGEST_HEAD]
    return program[:LONGEST_HEAD]


_FIRST_PROGRAM = lazy_regex(
    r"(?:^|&&|;|\n)[ \t\r]*(?!cd |export |set |source |sleep )(?:\w+=\S*\s+){0,5}"
    r"([\w./-]+(?:\s+[a-z][\w:-]*(?=\s|$))?)"
)


def first_program(command: str) -> str:
    """The first program of a command that does something, as written, with its first plain word.

    To recognise another attempt at the same thing this is better than `command_head`: with that, more
    failures were shown that were no longer true.
    """
    found = _FIRST_PROGRAM.search(command[:2000])
    return " ".join(found[1].split()) if found else ""


# --- commits ----------------------------------------------------------------------------------------

MOST_COMMITS = 20
MOST_COMMAND = 40_000
_COMMIT = lazy_regex(
    r"\bgit\b(?:[ \t]+-{1,2}[\w.-]{1,40}(?:[= ][^\s&|;-][^\s&|;]{0,200})?){0,4}[ \t]+commit\b"
)
_HEREDOC_LINE = lazy_regex(r"<<-?[ \t]*(['\"]?)(\w{1,40})\1[^\n]{0,200}\n\s*([^\n]{1,500})")
_MESSAGE = lazy_regex(
    r"(?:(?<=\s)-[a-zA-Z]{0,5}m|--message)[= \t]{0,4}(?:\$?(['\"])((?:(?!\1)[^\n\\]|\\.){1,500})"
    r"|([\w.-]{1,100}))"
)
_COMMITTED = lazy_regex(r"^\[([^\]\n]{1,200}?)[ \t]([0-9a-f]{7,40})\][ \t]([^\n]{1,500})$", re.M)
_NOT_COMMITTED = lazy_regex(r"(?i)nothing (?:added )?to commit|no changes added to commit|Aborting commit")
_ENDS_ARGUMENTS = lazy_regex(r"&&|\|\||;|\n(?!\s*-)")


def commits(command: str, output: str) -> list[tuple[str | None, str]]:
    """The commits that a command made: (hash, subject); the hash is None if the output does not have it."""
    if "commit" not in command:
        return []
    command = command[:MOST_COMMAND]
    places = [found.end() for found in _COMMIT.finditer(command)][:MOST_COMMITS]
    if not places:
        return []
    output = without_colours(bounded(output, 40_000, 20_000))
    made = [(found[2], one_line(found[3])) for found in _COMMITTED.finditer(output)][:MOST_COMMITS]
    if made or _NOT_COMMITTED.search(output):
        return [*made]
    ends = [*places[1:], len(command)]
    subjects = (_subject(command[start:end]) for start, end in zip(places, ends, strict=True))
    return [(None, subject) for subject in subjects if subject]


def _subject(arguments: str) -> str | None:
    """The first line of the message in the arguments of a commit."""
    heredoc = _HEREDOC_LINE.search(arguments)
    message = _MESSAGE.search(arguments)
    if heredoc and (message is None or "<<" in (message[2] or "") or message.start() > heredoc.start()):
        return one_line(heredoc[3])
    stop = _ENDS_ARGUMENTS.search(arguments)
    if message is None or (stop and stop.start() < message.start()):
        return None
    subject = (message[2] or message[3] or "").replace("\\n", "\n").split("\n")[0]
    return None if subject.startswith("$") else one_line(subject.replace('\\"', '"')) or None
