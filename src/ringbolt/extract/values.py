"""Values that an agent or a tool states by name: phase, status, versions, ports, addresses, branches.

Conservative on purpose: only known names, short values, and forms that are meant as `name: value`. Anything
that looks like a secret is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..model.lazy_regex import lazy_regex
from ..model.redaction import Redactor, is_marked
from ..signals.text_layout import Line, cells, plain, without_colours

Pair = tuple[str, str, str]  # name, value, kind

MOST_PAIRS = 12
MOST_VALUE = 120
MOST_JSON = 600  # characters of an answer; a longer one is a listing

_STATE = (
    "phase|plan|status|stage|milestone|current (?:phase|plan|step|task|focus|state)|focus|progress"
    "|last activity|stopped at"
)
_NAMED = (
    "version|release|tag|image|branch|base branch|target branch|port|url|endpoint|base url|host|hostname"
    "|database"
    "|namespace|cluster|region|environment|env|ticket|issue|pr|pull request|project|project id|session id"
    "|account id"
    "|deployment|bucket|table|queue|topic|model|build|commit|schema version|run id|job id|container"
)
_IS_STATE = lazy_regex(rf"(?:{_STATE})$")
_LABEL = lazy_regex(
    rf"(?i)\W{{0,4}}((?:{_STATE}|{_NAMED}|[a-z][\w.-]{{1,30}} (?:version|port|url|branch|id|tag|image"
    rf"|endpoint)))\W{{0,3}}[:=](?!//)\W{{0,4}}(?=\S)"
)
_CAPITALS = lazy_regex(
    r"\W{0,4}(?:export )?([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6})=([^\s`;,]{1,200})`?[*_]*$"
)
_JSON = lazy_regex(rf'(?i)"({_NAMED.replace(" ", "[ _]")})"[ ]{{0,4}}:[ ]{{0,4}}"?([^",{{}}\[\]\n]{{1,120}})')
_PLACE = lazy_regex(
    r"(?i)\bphase[ :#]{1,2}(\d{1,3}(?:\.\d{1,3})?)\b"
    r"(?:[^\n]{0,60}?\bplan[ :#]{1,2}(\d{1,3}(?:\.\d{1,3})?)\b)?"
)
_PLACE_OF = lazy_regex(r"(?i)\((phase) ([\w.-]{1,120}), (plan) ([\w.-]{1,60})\)")
_PLAN_ONLY = lazy_regex(r"(?i)plan[ :#]{1,2}(\d{1,3}(?:\.\d{1,3})?)\b")
_VERSION = lazy_regex(
    r"(?i)\b(?:upgraded|bumped|updated|pinned|downgraded"
    r"|released)\s+(?:to )?`?([A-Za-z][\w./@-]{1,60})`?\s+(?:version )?"
    r"(?:from `?v?[\d.]{1,30}`? )?to\s+`?v?(\d{1,5}(?:\.\d{1,6}){1,3}[\w.+-]{0,20})"
)
_PORT = lazy_regex(
    r"(?i)\b(?:listening|running|runs|listens|serving|served|started)\b[^.\n]{0,60}?\bport (\d{2,5})\b"
)
_SERVED = lazy_regex(
    r"(?i)\b(?:listening|running|serving|started|available|local|server)\b[^\n]{0,40}?(https?://(?:localhost"
    r"|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}[\w/.-]{0,80})"
)
_BRANCH = lazy_regex(r"^Switched to (?:a new )?branch '([^'\n]{1,150})'|^On branch ([\w./-]{1,150})$", re.M)
_VERSION_VALUE = lazy_regex(r"v?\d{1,5}(?:\.\d{1,6}){1,3}[\w.+-]{0,30}$")

_TICKET = lazy_regex(r"#?\d{1,9}$|[A-Z][A-Z0-9]{1,9}-\d{1,7}$|https?://\S+$")
_LINK = lazy_regex(r"\[([^\]\n]{1,120})\]\([^)\n]{1,300}\)")

_SECRET_NAME = lazy_regex(
    r"(?i)pass(?:word|wd|phrase)?\b|passw|secret|token|api[ _-]?key|private|credential|auth|cookie|bearer"
    r"|signature|_key$|\bkey$|salt|dsn|connection.?string"
)
_REDACTOR = Redactor()
_RANDOM = lazy_regex(
    r"(?=[\w+/=-]{0,400}\d)(?=[\w+/=-]{0,400}[a-z])(?=[\w+/=-]{0,400}[A-Z])[\w+/=-]{24,400}$"
)


def is_secret(name: str, value: str) -> bool:
    """Whether a value must not be kept, judging by its name or its form."""
    if _SECRET_NAME.search(name) or is_marked(value) or _RANDOM.match(value):
        return True
    return without_secrets(value) != value


def without_secrets(text: str) -> str:
    """A text with anything that looks like a password, token or key replaced."""
    return _REDACTOR.text(text)


def stated_values(lines: Iterable[Line]) -> list[Pair]:
    """The values in a message: `name: value` lines, tables, and the phase and plan in headings."""
    found: dict[str, Pair] = {}
    for pair in _stated(lines):
        found[pair[0]] = pair
        if len(found) >= MOST_PAIRS:
            break
    return list(found.values())


def printed_values(output: str) -> list[Pair]:
    """The values in the output of a command: branch, served address, named versions, settings."""
    output = without_colours(output[:20_000])
    found: dict[str, Pair] = {}
    for branch in _BRANCH.finditer(output):
        found["branch"] = ("branch", branch[1] or branch[2], "branch")
    if served := _SERVED.search(output):
        found["url"] = ("url", served[1], "url")
    lines = output.splitlines()
    if len(lines) <= 20:  # a long output is a listing
        for line in lines:
            pair = _capitals(line) or _labelled(line[:300], state=False)
            if pair:
                found.setdefault(pair[0], pair)
    if len(output) <= MOST_JSON:
        for pair in _in_json(output):
            found.setdefault(pair[0], pair)
    return list(found.values())[:MOST_PAIRS]


def _stated(lines: Iterable[Line]) -> Iterator[Pair]:
    header: list[str] | None = None
    for number, line in enumerate(lines):
        if line.kind in ("blank", "code"):
            continue
        if number == 0 or (
            line.kind == "heading" and line.depth == 1
        ):  # it says what the whole text is about
            yield from _place(line)
        if line.kind == "row":
            columns = cells(line.text)
            if header is None:
                header = columns
            elif len(columns) == 2 and (pair := _labelled(f"{columns[0].strip('*` ')}: {columns[1]}")):
                yield pair
            continue
        header = None
        short = line.kind in ("item", "prose", "lead") and len(line.text) <= 400
        if short and (pair := _labelled(line.text) or _capitals(line.text)):
            yield pair
        yield from _in_prose(line.text)


def _place(line: Line) -> Iterator[Pair]:
    if found := _PLACE_OF.search(line.text):
        yield "phase", found[2], "state"
        yield "plan", found[4], "state"
    elif line.kind == "heading" and (found := _PLACE.match(line.text)):
        yield "phase", found[1], "state"
        if found[2]:
            yield "plan", found[2], "state"
    elif line.kind != "heading" and (found := _PLACE.search(line.text[:120])) and found[2]:
        yield "phase", found[1], "state"  # a phase alone is a step that is spoken of
        yield "plan", found[2], "state"
    elif line.kind == "heading" and (found := _PLAN_ONLY.match(line.text)):
        yield "plan", found[1], "state"


def _labelled(text: str, state: bool = True) -> Pair | None:
    """The name and value that a line states; `state` allows phase, status and the like."""
    found = _LABEL.match(text)
    if not found:
        return None
    name = found[1].lower()
    value = text[found.end() :].strip(" *_`|")
    if link := _LINK.match(value):
        value = link[1]
    value = plain(value, MOST_VALUE + 1).strip("\"' ,")
    is_state = _IS_STATE.match(name) is not None
    kind = ("state" if state else None) if is_state else _kind(name, value)
    if not kind or not value or len(value) > MOST_VALUE or value.endswith("?") or is_secret(name, value):
        return None
    return name, value, kind


def _in_json(output: str) -> Iterator[Pair]:
    for one in _JSON.finditer(output):
        if pair := _labelled(f"{one[1].replace('_', ' ')}: {one[2]}", state=False):
            yield pair


def _kind(name: str, value: str) -> str | None:
    """The kind of a named value; None if the value does not look like one."""
    word = name.rsplit(" ", 1)[-1]
    if word in ("url", "endpoint"):
        return "url" if "://" in value or value.startswith("/") else None
    if word == "port":
        return "port" if value.isdecimal() and len(value) <= 5 else None
    if word == "version":
        return "version" if _VERSION_VALUE.match(value) or value.isdecimal() else None
    if word in ("ticket", "issue", "pr", "request"):
        return "id" if _TICKET.match(value) else None
    if " " in value:
        return None
    if word in ("tag", "image", "branch", "release"):
        return word
    return "id" if word in ("id", "commit", "build") else "name"


def _capitals(text: str) -> Pair | None:
    found = _CAPITALS.match(text.strip()[:300])
    if not found or is_secret(found[1], found[2]):
        return None
    value = found[2].strip("\"'")
    return (found[1], value, "setting") if value and "$" not in value and len(value) <= MOST_VALUE else None


def _in_prose(text: str) -> Iterator[Pair]:
    if " to " in text:
        for found in _VERSION.finditer(text):
            yield f"{found[1]} version", found[2].rstrip("."), "version"
    if "port " in text and (port := _PORT.search(text)):
        yield "port", port[1], "port"
    if "://" in text and (served := _SERVED.search(text)):
        yield "url", served[1], "url"
