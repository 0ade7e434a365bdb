"""Parse targets and conditions: `file:x` until `contains done`, `any(port:localhost:80, time:5m)`.

A condition that no rule understands goes to a model, if one is configured: `judged: ` and the words.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from ..model import rules, validate
from ..model.errors import InvalidInput, shown
from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_list
from ..system import http_client
from . import json_conditions

MOST_PARTS, MOST_DEPTH = 20, 4
GROUPS = ("any", "all", "not")
JUDGED = "judged: "
# The conditions of each kind of target, the default first. A condition with an argument ends with a space.
WORDS: dict[str, tuple[str, ...]] = {
    "file": ("exists", "gone", "changed", "stable", "stable for ", "contains ", "matches "),
    "log": ("grows", "contains ", "matches "),
    "process": ("exits",),
    "port": ("open", "closed"),
    "http": ("ok", "answers", "status ", "json ", "contains ", "matches "),
    "time": ("passes",),
    "task": ("ended", *rules.TASK_STATUSES),
    "step": ("completed", *(word for word in rules.ITEM_STATUSES if word != "completed")),
    "manual": ("decided",),
    "command": ("succeeds", "exit ", "contains ", "matches "),
    "terminal": ("grows", "stable", "stable for ", "contains ", "matches "),
    "screen": ("changed", "stable", "stable for "),
    "window": ("exists", "gone", "changed", "stable", "stable for "),
}
# The kinds that a model can judge, because they have content to show it.
JUDGEABLE = ("file", "log", "http", "command", "terminal", "screen", "window")
_SYNONYMS = {
    "exist": "exists", "there": "exists", "appears": "exists", "disappears": "gone", "deleted": "gone",
    "removed": "gone", "changes": "changed", "modified": "changed", "exit": "exits", "exited": "exits",
    "ends": "ended", "finished": "ended", "finishes": "ended", "opens": "open", "listening": "open",
    "closes": "closed", "done": "completed", "completes": "completed", "passed": "passes", "up": "ok",
    "canceled": "cancelled", "fails": "failed", "resolved": "decided", "grown": "grows",
    "still": "stable", "quiet": "stable",
}  # fmt: skip
_FILLERS = "until it is are be becomes has the file process port task step".split()
_SPECIAL = frozenset("\\^$.|?*+()[]{}")  # a pattern without any of these is a plain text
_DURATION = lazy_regex(r"(?:(\d{1,9}(?:\.\d{1,3})?)d)?(?:(\d{1,9}(?:\.\d{1,3})?)h)?"
                       r"(?:(\d{1,9}(?:\.\d{1,3})?)m)?(?:(\d{1,9}(?:\.\d{1,3})?)s)?")  # fmt: skip


class Watch(Value, frozen=True, kw_only=True):
    """A target and the condition it must meet; `any`, `all` and `not` have parts instead."""

    kind: str
    value: str = ""
    word: str = ""
    argument: str = ""
    parts: tuple[Watch, ...] = ()

    @property
    def target(self) -> str:
        """The target as text."""
        if self.parts:
            whole = (
                part.target if part.parts else f"{part.target} until {part.until}" for part in self.parts
            )
            return f"{self.kind}({', '.join(whole)})"
        if self.kind == "http":
            return self.value
        return f"{'task' if self.kind == 'step' else self.kind}:{self.value}"

    @property
    def until(self) -> str | None:
        """The condition as text; None for a group, whose target includes the conditions of its parts."""
        return None if self.parts else f"{self.word}{self.argument}"

    @property
    def criteria(self) -> str:
        """Target and condition, for display."""
        return self.target if self.parts else f"{self.target} {self.until}"

    @property
    def leaves(self) -> list[Watch]:
        """The single targets, without the groups around them."""
        return [leaf for part in self.parts for leaf in part.leaves] if self.parts else [self]

    def has(self, *kinds: str) -> bool:
        """Whether any single target is of one of these kinds."""
        return any(leaf.kind in kinds for leaf in self.leaves)


class Place(Value, frozen=True, kw_only=True):
    """The caller's environment: relative paths start at `folder`, and `screen:` alone means `display`. With
    `judge`, a model judges conditions that no rule understands."""

    folder: str | None = None
    display: str | None = None
    judge: bool = False


def read_watch(target: Any, until: Any = None, place: Place | None = None) -> Watch:
    """Parse a target and its condition; InvalidInput if they are not valid."""
    text = validate.line("target", target, 4000).strip()
    condition = None if until is None else validate.line("until", until, 2000).strip()
    return _parse(text, condition, place or Place(), MOST_DEPTH)


def _parse(text: str, until: str | None, place: Place, depth: int) -> Watch:
    for group in GROUPS:
        if text.startswith(f"{group}(") and text.endswith(")"):
            inner = _split_group(text[len(group) + 1 : -1])
            if not depth or not 1 <= len(inner) <= (1 if group == "not" else MOST_PARTS):
                raise _refused(
                    text,
                    f"A group has 1 to {MOST_PARTS} parts (`not` has one) and at most {MOST_DEPTH} levels.",
                )
            parts = tuple(_parse_part(part, until, place, depth - 1) for part in inner)
            return Watch(kind=group, parts=parts)
    kind, colon, value = text.partition(":")
    if kind in ("http", "https"):
        kind, value = "http", text
    if not colon or kind not in WORDS or (kind == "step" and "/" not in value):
        raise _refused(
            text,
            "Targets are file:PATH, log:PATH, process:PID, port:HOST:PORT, http://…, https://…, time:5m,"
            ' task:ID, task:ID/STEP, manual:, command:["…"], terminal:PANE, screen:, window:TITLE, any(…, …),'
            " all(…, …), not(…).",
        )
    if kind == "task" and "/" in value:
        kind = "step"
    value = _VALUES[kind](value.strip(), place) if kind in _VALUES else value.strip()
    word, argument = _parse_condition(kind, until, place.judge)
    return Watch(kind=kind, value=value, word=word, argument=argument)


def _parse_part(text: str, until: str | None, place: Place, depth: int) -> Watch:
    target, own, condition = text.partition(" until ")
    if text.startswith(tuple(f"{group}(" for group in GROUPS)):
        target, own = text, ""
    part = _parse(target.strip(), condition.strip() if own else until, place, depth)
    # A part is stored as text and parsed again whenever the wait is read, so it must survive that.
    if not part.parts and (", " in part.criteria or _open_brackets(part.criteria)):
        raise _refused(text, "A part of a group must not contain `, ` or an unmatched bracket.")
    return part


def _split_group(text: str) -> list[str]:
    """The parts of a group: separated by a comma and a space outside inner brackets."""
    parts: list[list[str]] = []
    open_brackets = 0
    for piece in text.split(","):
        if parts and (open_brackets or not piece.startswith(" ")):
            parts[-1].append(piece)
        else:
            parts.append([piece])
            open_brackets = 0
        open_brackets += _open_brackets(piece)
    return [",".join(part).strip() for part in parts]


def _open_brackets(text: str) -> int:
    return text.count("(") - text.count(")")


def _refused(what: str, hint: str) -> InvalidInput:
    return InvalidInput("invalid_argument", f"Cannot wait for {shown(what)}.", hint)


# --- conditions -------------------------------------------------------------------------------------


def _parse_condition(kind: str, until: str | None, judge: bool) -> tuple[str, str]:
    """The keyword of a condition and its argument."""
    known = WORDS[kind]
    if not until:
        return known[0], ""
    if kind in JUDGEABLE and until.lower().startswith(JUDGED) and until[len(JUDGED) :].strip():
        return JUDGED, until[len(JUDGED) :].strip()
    plain = until
    while (first := plain.split(" ", 1))[0].lower() in _FILLERS and len(first) == 2:
        plain = first[1].lstrip()
    plain = re.sub(r"^(?:still|quiet) for ", "stable for ", plain, flags=re.IGNORECASE)
    for word in sorted((word for word in known if word.endswith(" ")), key=len, reverse=True):
        if plain.lower().startswith(word) and (argument := plain[len(word) :].strip()):
            return word, _checked_argument(word, argument if word == "json " else _unquoted(argument))
    word = _SYNONYMS.get(plain.lower(), plain.lower())
    if word in known and not word.endswith(" "):
        return word, ""
    if judge and kind in JUDGEABLE:
        return JUDGED, until
    raise not_understood(kind, until)


def not_understood(kind: str, until: str) -> InvalidInput:
    """The error for a condition that no rule understands, with the conditions that are allowed."""
    words = ", ".join(word + "…" if word.endswith(" ") else word for word in WORDS[kind])
    hint = f"Conditions for {kind}: {words}."
    if kind in JUDGEABLE:
        hint += " Any other condition needs a model that judges it (model_local_url)."
    return InvalidInput("unknown_word", f"The condition {shown(until)} is not understood.", hint)


def _checked_argument(word: str, argument: str) -> str:
    if word == "status " and not (len(argument) == 3 and argument.isascii() and argument.isdecimal()):
        raise _refused(f"status {argument}", "A status has three digits, like 200.")
    if word == "exit " and not (len(argument) <= 3 and argument.isascii() and argument.isdecimal()):
        raise _refused(f"exit {argument}", "An exit code is a number from 0 to 255.")
    if word == "stable for ":
        seconds(argument)
    if word == "matches ":
        pattern(argument)
    if word == "json ":
        return str(json_conditions.parse(argument))
    return argument


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else text


def pattern(text: str) -> Any:
    """Compile a pattern; the result has a method `search` for bytes.

    Only RE2 runs patterns, because its time is linear in the text. A plain text needs no RE2.
    """
    if not _SPECIAL & set(text):
        return _Plain(text.encode())
    try:
        re2 = __import__("re2")  # optional: the extra `waits`
    except ImportError:
        raise InvalidInput(
            "invalid_argument",
            f"The pattern {shown(text)} needs google-re2, which is not installed.",
            "Install ringbolt[waits], or use “contains” with a plain text.",
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text.encode(), options)
    except re2.error as error:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(text)} is not a valid pattern: {shown(str(error), 100)}.",
            "Use the syntax of RE2.",
        ) from None


class _Plain:
    def __init__(self, text: bytes) -> None:
        self._text = text

    def search(self, content: bytes) -> bool:
        return self._text in content


# --- values -----------------------------------------------------------------------------------------


def seconds(text: str) -> float:
    """The seconds of a duration like 90s, 5m or 1h30m; InvalidInput if it is not one."""
    match = _DURATION.fullmatch(text.replace(" ", ""))
    if not text or not match or not any(match.groups()):
        raise InvalidInput("invalid_time", f"{shown(text)} is not a duration.", "Use 90s, 5m or 1h30m.")
    parts = (float(part or 0) for part in match.groups())
    return sum(part * length for part, length in zip(parts, (86_400, 3600, 60, 1), strict=True))


def _path(value: str, place: Place) -> str:
    if not value:
        raise _refused("file:", "Add a path: file:dist/app.whl.")
    folder = place.folder
    base = folder if folder and os.path.isabs(folder) else os.path.abspath(os.curdir)
    path = os.path.normpath(os.path.join(base, os.path.expanduser(value)))
    if path != path.strip():  # parsing the stored text of the wait again would lose the space
        raise _refused(f"file:{value}", "A path must not end with a space.")
    return path


def _pid(value: str, place: Place) -> str:
    if not (value.isascii() and value.isdecimal() and len(value) < 11 and 0 < int(value) < 1 << 31):
        raise _refused(f"process:{value}", "Use a process id: process:4711.")
    return str(int(value))


def _port(value: str, place: Place) -> str:
    host, _, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    plain = host.isascii() and host.isprintable() and " " not in host and "/" not in host
    if not host or not plain or not (port.isdecimal() and port.isascii() and 0 < int(port[:6]) < 1 << 16):
        raise _refused(f"port:{value}", "Use a host and a port: port:localhost:8080.")
    return f"[{host}]:{int(port)}" if ":" in host else f"{host}:{int(port)}"


def _url(value: str, place: Place) -> str:
    try:
        http_client.read_url(value, "the URL")
    except ValueError as error:
        raise _refused(value, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    return value


def _time(value: str, place: Place) -> str:
    try:
        seconds(value)
    except InvalidInput:
        return validate.moment("the time", value)
    return value.replace(" ", "")


def _argv(value: str, place: Place) -> str:
    try:
        argv: Any = json.loads(value)
    except (ValueError, RecursionError):
        argv = None
    return json.dumps(checked_argv(argv, value), ensure_ascii=False, separators=(",", ":"))


def checked_argv(argv: Any, text: str = "") -> list[str]:
    """Validate a command, a list of arguments; `text` is the form the caller wrote."""
    if not is_list(argv) or not argv or not all(isinstance(part, str) and part for part in argv):
        raise _refused(
            f"command:{text or argv}", 'Write the arguments as a JSON list: command:["make", "test"].'
        )
    return [str(part) for part in argv]


def _pane(value: str, place: Place) -> str:
    if not re.fullmatch(r"[\w%$@:.=-]{1,100}", value, re.ASCII) or value[0] == "-":
        raise _refused(f"terminal:{value}", "Name a tmux pane: terminal:build, terminal:%3.")
    return value


def _display(value: str, place: Place) -> str:
    display = value or place.display or ""
    if not re.fullmatch(r":\d{1,5}(\.\d{1,2})?", display, re.ASCII):
        raise _refused(
            f"screen:{value}", "Name the display: screen::0, or set `display` in the task's metadata."
        )
    return display


def _window(value: str, place: Place) -> str:
    display, slash, title = value.partition("/")
    if not (slash and re.fullmatch(r":\d{1,5}(\.\d{1,2})?", display, re.ASCII)):
        display, title = "", value
    if not title.strip():
        raise _refused(f"window:{value}", "Add part of the title: window:Build log.")
    if not (display or place.display):
        raise _refused(
            f"window:{value}", "Name the display: window::0/TITLE, or set `display` in the task's metadata."
        )
    return f"{_display(display, place)}/{title.strip()}"


_VALUES = {
    "file": _path,
    "log": _path,
    "process": _pid,
    "port": _port,
    "http": _url,
    "time": _time,
    "command": _argv,
    "terminal": _pane,
    "screen": _display,
    "window": _window,
}
