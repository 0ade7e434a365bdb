"""Reading what a caller waits for: `file:x` until `contains done`, `any(port:localhost:80, time:5m)`.

What no rule reads is left to a model, where there is one: the condition is then `judged: ` and the words.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from ..model import rules, validate
from ..model.errors import InvalidInput, shown
from ..model.types import Value, is_list
from ..system import http_client
from . import json_paths

MOST_PARTS, MOST_DEPTH = 20, 4
GROUPS = ("any", "all", "not")
JUDGED = "judged: "
# Of each kind of target: the words that are understood, the first where none is given. One with an argument
# ends with a space.
WORDS: dict[str, tuple[str, ...]] = {
    "file": ("exists", "gone", "changed", "stable", "stable for ", "contains ", "matches "),
    "log": ("grows", "contains ", "matches "),
    "process": ("exits",),
    "port": ("open", "closed"),
    "http": ("ok", "answers", "status ", "json ", "contains ", "matches "),
    "time": ("passes",),
    "task": ("ended", *rules.TASK_STATUSES),
    "item": ("completed", *(word for word in rules.ITEM_STATUSES if word != "completed")),
    "manual": ("decided",),
    "command": ("succeeds", "exit ", "contains ", "matches "),
    "terminal": ("grows", "stable", "stable for ", "contains ", "matches "),
    "screen": ("changed", "stable", "stable for "),
    "window": ("exists", "gone", "changed", "stable", "stable for "),
}
# What a model can be shown of a target, to judge by it.
JUDGEABLE = ("file", "log", "http", "command", "terminal", "screen", "window")
_SAME = {
    "exist": "exists", "there": "exists", "appears": "exists", "disappears": "gone", "deleted": "gone",
    "removed": "gone", "changes": "changed", "modified": "changed", "exit": "exits", "exited": "exits",
    "ends": "ended", "finished": "ended", "finishes": "ended", "opens": "open", "listening": "open",
    "closes": "closed", "done": "completed", "completes": "completed", "passed": "passes", "up": "ok",
    "canceled": "cancelled", "fails": "failed", "resolved": "decided", "grown": "grows",
    "still": "stable", "quiet": "stable",
}  # fmt: skip
_FILLING = "until it is are be becomes has the file process port task step".split()
_MARKS = frozenset("\\^$.|?*+()[]{}")  # with none of these a pattern is a plain text
_DURATION = re.compile(r"(?:(\d{1,9}(?:\.\d{1,3})?)d)?(?:(\d{1,9}(?:\.\d{1,3})?)h)?"
                       r"(?:(\d{1,9}(?:\.\d{1,3})?)m)?(?:(\d{1,9}(?:\.\d{1,3})?)s)?")  # fmt: skip


class Watch(Value, frozen=True, kw_only=True):
    """A target and what must become true of it; `any`, `all` and `not` have parts instead."""

    kind: str
    value: str = ""
    word: str = ""
    argument: str = ""
    parts: tuple[Watch, ...] = ()

    @property
    def target(self) -> str:
        """The target as it is written."""
        if self.parts:
            whole = (
                part.target if part.parts else f"{part.target} until {part.until}" for part in self.parts
            )
            return f"{self.kind}({', '.join(whole)})"
        if self.kind == "http":
            return self.value
        return f"{'task' if self.kind == 'item' else self.kind}:{self.value}"

    @property
    def until(self) -> str | None:
        """The condition as it is written; a group has it in its target."""
        return None if self.parts else f"{self.word}{self.argument}"

    @property
    def criteria(self) -> str:
        """Both, for people."""
        return self.target if self.parts else f"{self.target} {self.until}"


class Place(Value, frozen=True, kw_only=True):
    """Where a caller is: a relative path is one below `folder`, and a screen is that of `display`. With
    `judge`, words that no rule reads are left to a model."""

    folder: str | None = None
    display: str | None = None
    judge: bool = False


def read_watch(target: Any, until: Any = None, place: Place | None = None) -> Watch:
    """What a target and its condition mean to someone at a place."""
    text = validate.line("target", target, 4000).strip()
    condition = None if until is None else validate.line("until", until, 2000).strip()
    return _watch(text, condition, place or Place(), MOST_DEPTH)


def _watch(text: str, until: str | None, place: Place, depth: int) -> Watch:
    for group in GROUPS:
        if text.startswith(f"{group}(") and text.endswith(")"):
            inner = _split(text[len(group) + 1 : -1])
            if not depth or not 1 <= len(inner) <= (1 if group == "not" else MOST_PARTS):
                raise _refused(
                    text,
                    f"A group has 1 to {MOST_PARTS} parts (not: one), and at most {MOST_DEPTH} levels.",
                )
            parts = tuple(_part(part, until, place, depth - 1) for part in inner)
            return Watch(kind=group, parts=parts)
    kind, colon, value = text.partition(":")
    if kind in ("http", "https"):
        kind, value = "http", text
    if not colon or kind not in WORDS or (kind == "item" and "/" not in value):
        raise _refused(
            text,
            "Targets are file:PATH, log:PATH, process:PID, port:HOST:PORT, http://…, https://…, time:5m,"
            ' task:ID, task:ID/STEP, manual:, command:["…"], terminal:PANE, screen:, window:TITLE, any(…, …),'
            " all(…, …), not(…).",
        )
    if kind == "task" and "/" in value:
        kind = "item"
    value = _VALUES.get(kind, _text)(value.strip(), place)
    word, argument = _condition(kind, until, place.judge)
    return Watch(kind=kind, value=value, word=word, argument=argument)


def _part(text: str, until: str | None, place: Place, depth: int) -> Watch:
    target, own, words = text.partition(" until ")
    if text.startswith(tuple(f"{group}(" for group in GROUPS)):
        target, own = text, ""
    found = _watch(target.strip(), words.strip() if own else until, place, depth)
    if not found.parts and (", " in found.criteria or _depth(found.criteria)):
        raise _refused(
            text, "Within a group, no part has a comma with a space or a bracket without its other."
        )
    return found


def _split(text: str) -> list[str]:
    """The parts of a group: separated by commas with a space that stand in no inner brackets."""
    parts: list[str] = []
    for piece in text.split(","):
        if parts and (_depth(parts[-1]) or not piece.startswith(" ")):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    return [part.strip() for part in parts]


def _depth(text: str) -> int:
    return text.count("(") - text.count(")")


def _refused(what: str, hint: str) -> InvalidInput:
    return InvalidInput("invalid_argument", f"Nothing can wait for {shown(what)}.", hint)


# --- conditions -------------------------------------------------------------------------------------


def _condition(kind: str, until: str | None, judge: bool) -> tuple[str, str]:
    """The word of a condition and its argument."""
    known = WORDS[kind]
    if not until:
        return known[0], ""
    if kind in JUDGEABLE and until.lower().startswith(JUDGED) and until[len(JUDGED) :].strip():
        return JUDGED, until[len(JUDGED) :].strip()
    plain = until
    while (first := plain.split(" ", 1))[0].lower() in _FILLING and len(first) == 2:
        plain = first[1].lstrip()
    plain = re.sub(r"^(?:still|quiet) for ", "stable for ", plain, flags=re.IGNORECASE)
    for word in sorted((word for word in known if word.endswith(" ")), key=len, reverse=True):
        if plain.lower().startswith(word) and (argument := plain[len(word) :].strip()):
            return word, _argument(word, argument if word == "json " else _unquoted(argument))
    word = _SAME.get(plain.lower(), plain.lower())
    if word in known and not word.endswith(" "):
        return word, ""
    if judge and kind in JUDGEABLE:
        return JUDGED, until
    raise not_understood(kind, until)


def not_understood(kind: str, until: str) -> InvalidInput:
    """The error for words that no rule reads, with those that can be written instead."""
    hint = f"Understood are: {', '.join(word + '…' if word.endswith(' ') else word for word in WORDS[kind])}."
    if kind in JUDGEABLE:
        hint += " Other words need a model that judges them (model_local_url)."
    return InvalidInput("unknown_word", f"Until {shown(until)} is not understood for {kind}:.", hint)


def _argument(word: str, argument: str) -> str:
    if word == "status " and not (len(argument) == 3 and argument.isascii() and argument.isdecimal()):
        raise _refused(f"status {argument}", "A status has three digits, like 200.")
    if word == "exit " and not (len(argument) <= 3 and argument.isascii() and argument.isdecimal()):
        raise _refused(f"exit {argument}", "An exit code is a number from 0 to 255.")
    if word == "stable for ":
        seconds(argument)
    if word == "matches ":
        pattern(argument)
    if word == "json ":
        return str(json_paths.read(argument))
    return argument


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else text


def pattern(text: str) -> Any:
    """A pattern with a method `search` on bytes; only RE2, whose time grows with the text alone, runs one.

    A pattern without any mark is a plain text, which needs no RE2.
    """
    if not _MARKS & set(text):
        return _Plain(text.encode())
    try:
        re2 = __import__("re2")
    except ImportError:
        raise InvalidInput(
            "invalid_argument",
            f"The pattern {shown(text)} needs google-re2, which is not installed.",
            "Install ringbolt[waits], or say “contains” and a plain text.",
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text.encode(), options)
    except re2.error as error:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(text)} is no pattern: {shown(str(error), 100)}.",
            "Patterns are those of RE2.",
        ) from None


class _Plain:
    def __init__(self, text: bytes) -> None:
        self._text = text

    def search(self, content: bytes) -> bool:
        return self._text in content


# --- values -----------------------------------------------------------------------------------------


def seconds(text: str) -> float | None:
    """The seconds of a duration like 90s, 5m or 1h30m; an error if it is none."""
    found = _DURATION.fullmatch(text.replace(" ", ""))
    if not text or not found or not any(found.groups()):
        raise InvalidInput("invalid_time", f"{shown(text)} is no duration.", "For example 90s, 5m or 1h30m.")
    parts = (float(part or 0) for part in found.groups())
    return sum(part * length for part, length in zip(parts, (86_400, 3600, 60, 1), strict=True))


def _text(value: str, place: Place) -> str:
    return value


def _path(value: str, place: Place) -> str:
    if not value:
        raise _refused("no file", "Give a path: file:dist/app.whl.")
    folder = place.folder
    base = folder if folder and os.path.isabs(folder) else os.path.abspath(os.curdir)
    return os.path.normpath(os.path.join(base, os.path.expanduser(value)))


def _pid(value: str, place: Place) -> str:
    if not (value.isascii() and value.isdecimal() and len(value) < 11 and 0 < int(value) < 1 << 31):
        raise _refused(f"process:{value}", "Give the number of a process: process:4711.")
    return str(int(value))


def _port(value: str, place: Place) -> str:
    host, _, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    plain = host.isascii() and host.isprintable() and " " not in host and "/" not in host
    if not host or not plain or not (port.isdecimal() and port.isascii() and 0 < int(port[:6]) < 1 << 16):
        raise _refused(f"port:{value}", "Give a host and a port: port:localhost:8080.")
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
        words: Any = json.loads(value)
    except (ValueError, RecursionError):
        words = None
    return json.dumps(read_argv(words, value), ensure_ascii=False, separators=(",", ":"))


def read_argv(words: Any, said: str = "") -> list[str]:
    """The words of a command; an error if they are none."""
    if not is_list(words) or not words or not all(isinstance(word, str) and word for word in words):
        raise _refused(f"command:{said or words}", 'Give the words as a JSON list: command:["make", "test"].')
    return [str(word) for word in words]


def _pane(value: str, place: Place) -> str:
    if not re.fullmatch(r"[\w%$@:.=-]{1,100}", value, re.ASCII) or value[0] == "-":
        raise _refused(f"terminal:{value}", "Give a pane as tmux names it: terminal:build, terminal:%3.")
    return value


def _display(value: str, place: Place) -> str:
    display = value or place.display or ""
    if not re.fullmatch(r":\d{1,5}(\.\d{1,2})?", display, re.ASCII):
        raise _refused(
            f"screen:{value}", "Name the display: screen::0. A task may have it in its metadata: display."
        )
    return display


def _window(value: str, place: Place) -> str:
    display, slash, title = value.partition("/")
    if not (slash and re.fullmatch(r":\d{1,5}(\.\d{1,2})?", display, re.ASCII)):
        display, title = "", value
    if not title.strip():
        raise _refused(f"window:{value}", "Give a part of its title: window:Build log.")
    if not (display or place.display):
        raise _refused(
            f"window:{value}",
            "Name the display: window::0/TITLE. A task may have it in its metadata: display.",
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
