"""Artifacts: pull requests, tickets, deployed addresses and documents that the work produced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..signals.calls.commands import MOST_COMMAND
from ..signals.calls.tools import PATH_FIELDS, first_text, writes_whole_file
from ..signals.text_layout import one_line

_ADDRESS = r"https?://[^\s<>\"'`)\]]{4,300}"
_URL = lazy_regex(_ADDRESS)
_PULL = lazy_regex(r"https?://[^\s<>\"'`)\]]{4,200}/(?:pull|merge_requests|pull-requests)/\d{1,9}")
_ISSUE = lazy_regex(r"https?://[^\s<>\"'`)\]]{4,200}/(?:issues?|browse)/[\w-]{1,60}")
_LIVE = lazy_regex(
    rf"(?i)\b(?:deployed|published|released|live|available|hosted|accessible|uploaded)(?: \w{{1,12}}){{0,3}}"
    rf"(?: to| at| on| under|:)?[ \t*:`(\[]{{0,6}}({_ADDRESS})"
)
_LOCAL = lazy_regex(r"https?://(?:localhost|127\.|0\.0\.0\.0|\[::1\])")
_CREATES = lazy_regex(r"(?i)create_(?:issue|ticket|task|pull_request|merge_request|document|page|card)$")
_IDENTIFIER = lazy_regex(
    r'"(?:identifier|key|number|id)"\s*:\s*"?([A-Z][A-Z0-9]{1,9}-\d{1,7}|#?\d{1,9})"?[,}\s]'
)
_TITLE = lazy_regex(r'"(?:title|summary|name)"\s*:\s*"([^"\n]{1,300})"')
_PULL_MADE = lazy_regex(r"\b(?:gh[ \t]+pr|glab[ \t]+mr|hub[ \t]+pull-request)[ \t]+create\b")
_ISSUE_MADE = lazy_regex(r"\b(?:gh|glab)[ \t]+issue[ \t]+create\b")
_TITLE_OPTION = lazy_regex(r"(?:--title|-t)[= \t]{1,3}(['\"])([^\n'\"]{1,300})\1")
_TRAILING = ".,;:!?*"
_DOCUMENTS = tuple(".md .rst .adoc .pdf .docx .xlsx .pptx .csv .html .ipynb .svg .png".split())
_NO_DELIVERY = lazy_regex(r"(?:^|/)(?:tmp|temp|node_modules|\.[\w-]+|__pycache__|fixtures?|testdata)/")


def made_by_command(command: str, output: str) -> list[tuple[str, str, str]]:
    """(kind, name, address) of the pull requests and tickets that a command created."""
    found: list[tuple[str, str, str]] = []
    for kind, made, address in (("pull request", _PULL_MADE, _PULL), ("ticket", _ISSUE_MADE, _ISSUE)):
        if (here := made.search(command[:MOST_COMMAND])) and (url := address.search(output[:8000])):
            title = _TITLE_OPTION.search(command, here.end(), here.end() + 2000)
            found.append((kind, one_line(title[2]) if title else "", url[0].rstrip(_TRAILING)))
    return found


def made_by_tool(tool: str, arguments: Mapping[str, Any], output: str) -> list[tuple[str, str, str]]:
    """(kind, name, address) of the ticket or document that a tool created, or of a file to hand over."""
    if _CREATES.search(tool):
        kind = tool.rsplit("create_", 1)[-1].replace("_", " ").replace("issue", "ticket")
        name = _IDENTIFIER.search(output[:4000])
        title = arguments.get("title") or arguments.get("name")
        if not isinstance(title, str):
            found = _TITLE.search(output[:4000])
            title = found[1] if found else ""
        url = _URL.search(output[:4000])
        label = " ".join(part for part in (name[1] if name else "", one_line(title, 200)) if part)
        return [(kind, label, url[0].rstrip(_TRAILING) if url else "")] if label or url else []
    path = first_text(arguments, PATH_FIELDS)
    if not path or not writes_whole_file(tool):
        return []
    name = path[-400:].lower()
    return [("document", path, "")] if name.endswith(_DOCUMENTS) and not _NO_DELIVERY.search(name) else []


def deployed_addresses(text: str) -> list[str]:
    """The addresses at which a text says something is deployed or published; none on this machine."""
    if "://" not in text:
        return []
    found = (one[1].rstrip(_TRAILING) for one in _LIVE.finditer(text))
    return [url for url in found if not _LOCAL.match(url)][:3]
