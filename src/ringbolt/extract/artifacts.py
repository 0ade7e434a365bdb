"""What was made: commits, pull requests, tickets, deployed addresses, documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..signals.text_layout import bounded, one_line, without_colours

MOST_COMMITS = 20
MOST_COMMAND = 40_000

_COMMIT = lazy_regex(
    r"\bgit\b(?:[ \t]+-{1,2}[\w.-]{1,40}(?:[= ][^\s&|;-][^\s&|;]{0,200})?){0,4}[ \t]+commit\b"
)
_HEREDOC = lazy_regex(r"<<-?[ \t]*(['\"]?)(\w{1,40})\1[^\n]{0,200}\n\s*([^\n]{1,500})")
_MESSAGE = lazy_regex(
    r"(?:(?<=\s)-[a-zA-Z]{0,5}m|--message)[= \t]{0,4}(?:\$?(['\"])((?:(?!\1)[^\n\\]|\\.){1,500})"
    r"|([\w.-]{1,100}))"
)
_DONE = lazy_regex(r"^\[([^\]\n]{1,200}?)[ \t]([0-9a-f]{7,40})\][ \t]([^\n]{1,500})$", re.M)
_NOT_DONE = lazy_regex(r"nothing (?:added )?to commit|no changes added to commit|Aborting commit", re.I)
_ENDS_ARGUMENTS = lazy_regex(r"&&|\|\||;|\n(?!\s*-)")

_ADDRESS = r"https?://[^\s<>\"'`)\]]{4,300}"
_URL = lazy_regex(_ADDRESS)
_PULL = lazy_regex(r"https?://[^\s<>\"'`)\]]{4,200}/(?:pull|merge_requests|pull-requests)/\d{1,9}")
_ISSUE = lazy_regex(r"https?://[^\s<>\"'`)\]]{4,200}/(?:issues?|browse)/[\w-]{1,60}")
_LIVE = lazy_regex(
    rf"\b(?:deployed|published|released|live|available|hosted|accessible|uploaded)(?: \w{{1,12}}){{0,3}}"
    rf"(?: to| at| on| under|:)?[ \t*:`(\[]{{0,6}}({_ADDRESS})",
    re.I,
)
_LOCAL = lazy_regex(r"https?://(?:localhost|127\.|0\.0\.0\.0|\[::1\])")
_CREATES = lazy_regex(r"create_(?:issue|ticket|task|pull_request|merge_request|document|page|card)$", re.I)
_IDENTIFIER = lazy_regex(
    r'"(?:identifier|key|number|id)"\s*:\s*"?([A-Z][A-Z0-9]{1,9}-\d{1,7}|#?\d{1,9})"?[,}\s]'
)
_TITLE = lazy_regex(r'"(?:title|summary|name)"\s*:\s*"([^"\n]{1,300})"')
_PULL_MADE = lazy_regex(r"\b(?:gh[ \t]+pr|glab[ \t]+mr|hub[ \t]+pull-request)[ \t]+create\b")
_ISSUE_MADE = lazy_regex(r"\b(?:gh|glab)[ \t]+issue[ \t]+create\b")
_TITLE_OPTION = lazy_regex(r"(?:--title|-t)[= \t]{1,3}(['\"])([^\n'\"]{1,300})\1")
_TRAILING = ".,;:!?*"
_DOCUMENTS = (
    ".md",
    ".rst",
    ".adoc",
    ".pdf",
    ".docx",
    ".xlsx",
    ".pptx",
    ".csv",
    ".html",
    ".ipynb",
    ".svg",
    ".png",
)
_NO_DELIVERY = lazy_regex(r"(?:^|/)(?:tmp|temp|node_modules|\.[\w-]+|__pycache__|fixtures?|testdata)/")


def commits(command: str, output: str) -> list[tuple[str | None, str]]:
    """The commits that a command made: (hash, subject); the hash is None if the output does not tell it."""
    command = command[:MOST_COMMAND]
    places = [found.end() for found in _COMMIT.finditer(command)][:MOST_COMMITS]
    output = without_colours(bounded(output, 40_000, 20_000))
    made = (
        [(found[2], one_line(found[3])) for found in _DONE.finditer(output)][:MOST_COMMITS] if places else []
    )
    if made or not places or _NOT_DONE.search(output):
        return made
    ends = [*(place for place in places[1:]), len(command)]
    subjects = (_subject(command[start:end]) for start, end in zip(places, ends, strict=True))
    return [(None, subject) for subject in subjects if subject]


def _subject(arguments: str) -> str | None:
    """The first line of the message in the arguments of a commit."""
    heredoc = _HEREDOC.search(arguments)
    message = _MESSAGE.search(arguments)
    if heredoc and (message is None or "<<" in (message[2] or "") or message.start() > heredoc.start()):
        return one_line(heredoc[3])
    stop = _ENDS_ARGUMENTS.search(arguments)
    if message is None or (stop and stop.start() < message.start()):
        return None
    subject = (message[2] or message[3] or "").replace("\\n", "\n").split("\n")[0]
    return None if subject.startswith(("$(", "${", "$")) else one_line(subject.replace('\\"', '"')) or None


def made_by_command(command: str, output: str) -> list[tuple[str, str, str]]:
    """(kind, name, address) of what a command created elsewhere: pull requests, tickets."""
    found: list[tuple[str, str, str]] = []
    for kind, made, address in (("pull request", _PULL_MADE, _PULL), ("ticket", _ISSUE_MADE, _ISSUE)):
        if (here := made.search(command[:MOST_COMMAND])) and (url := address.search(output[:8000])):
            title = _TITLE_OPTION.search(command, here.end(), here.end() + 2000)
            found.append((kind, one_line(title[2]) if title else "", url[0].rstrip(_TRAILING)))
    return found


def made_by_tool(tool: str, given: Mapping[str, Any], output: str) -> list[tuple[str, str, str]]:
    """(kind, name, address) of what a tool created: a ticket, a document; or a file worth handing over."""
    if _CREATES.search(tool):
        kind = tool.rsplit("create_", 1)[-1].replace("_", " ").replace("issue", "ticket")
        name = _IDENTIFIER.search(output[:4000])
        title = given.get("title") or given.get("name")
        if not isinstance(title, str):
            found = _TITLE.search(output[:4000])
            title = found[1] if found else ""
        url = _URL.search(output[:4000])
        label = " ".join(part for part in (name[1] if name else "", one_line(title, 200)) if part)
        return [(kind, label, url[0].rstrip(_TRAILING) if url else "")] if label or url else []
    path = given.get("file_path") or given.get("path")
    if not isinstance(path, str) or tool.lower() not in ("write", "create", "create_file", "write_file"):
        return []
    name = path[-400:].lower()
    return [("document", path, "")] if name.endswith(_DOCUMENTS) and not _NO_DELIVERY.search(name) else []


def live(text: str) -> list[str]:
    """The addresses that a text says something is deployed or published at; none of this machine."""
    if "://" not in text:
        return []
    found = (one[1].rstrip(_TRAILING) for one in _LIVE.finditer(text))
    return [url for url in found if not _LOCAL.match(url)][:3]
