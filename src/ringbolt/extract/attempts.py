"""Attempts that failed and what worked instead: a window over the actions of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_dict, is_list
from ..signals.commands import first_program
from ..signals.text_layout import one_line
from ..signals.tools import COMMAND_FIELDS, PATH_FIELDS, first_text

MOST_OPEN = 8  # failures that are remembered until something works
PATIENCE = 10  # successes of the same tool after which a failure is given up
MOST_WHAT = 200
MOST_EDITS = 5

_WORD = lazy_regex(r"[\w./-]{2,80}")
_COMMON = frozenset("2>&1 cd echo head tail grep cat true null dev run and the for -n -l".split())


class Attempt(Value, frozen=True, kw_only=True):
    """Something that was tried: the tool, the file, the program, and the other words of its input."""

    seq: int
    tool: str
    what: str
    input: str
    words: tuple[str, ...]
    file: str = ""
    head: str = ""


class Failure(Value, frozen=True, kw_only=True):
    """A failed attempt: its symptom, its first and last event, and the files edited since."""

    attempt: Attempt
    symptom: str
    key: str
    seqs: tuple[int, ...]
    age: int = 0
    edited: tuple[str, ...] = ()


def attempt(seq: int, tool: str, arguments: Any, summary: str | None) -> Attempt:
    """An action as an attempt."""
    fields: Mapping[str, Any] = arguments if is_dict(arguments) else {}
    file = first_text(fields, PATH_FIELDS)[:4000]
    command = first_text(fields, (*COMMAND_FIELDS, "prompt"))[:4000]
    if not command and not is_dict(arguments):
        command = _text(arguments)
    what = command or (f"{tool} {file}".strip() if file else "") or summary or tool or "an action"
    if file and command:
        what = f"{command} {file}"
    program = first_program(command).split()
    words = _WORD.findall(f"{command} {file}"[:2000])
    words = dict.fromkeys(part for word in words for part in (word, word.rpartition("/")[2]) if part)
    telling = [word for word in words if word not in _COMMON and word not in program and word[0] != "-"]
    whole = " ".join(
        f"{name}={_text(value)[:400]}" for name, value in list(fields.items())[:8] if name != "description"
    )
    return Attempt(
        seq=seq,
        tool=tool,
        what=one_line(what, MOST_WHAT),
        input=one_line(whole or what, 600),
        words=tuple(telling)[:40],
        file=file[:400],
        head=" ".join(program),
    )


def _text(value: Any) -> str:
    if is_list(value):
        return " ".join(_text(one) for one in value[:20])
    return str(value)[:2000] if isinstance(value, (str, int, float)) else ""


def is_like(one: Attempt, other: Attempt) -> bool:
    """Whether one attempt is another way to do the same: on the same file, or in much the same words."""
    if one.tool != other.tool:
        return False
    if one.file and other.file and not one.input.startswith("command="):
        ours, theirs = one.file.rpartition("/"), other.file.rpartition("/")
        return ours[2] == theirs[2] or ours[0] == theirs[0]
    if (one.head or other.head) and one.head != other.head:
        return False
    mine, yours = set(one.words), set(other.words)
    shared = mine & yours
    return bool(shared) and len(shared) >= 0.34 * min(len(mine), len(yours))


class Attempts:
    """The open failures of a task, and what closes them."""

    def __init__(self, state: Any = None) -> None:
        self.open = msgspec.convert(state or [], list[Failure])

    def state(self) -> list[dict[str, Any]]:
        """The open failures, ready for JSON; the constructor reads them again."""
        return [one.to_dict() for one in self.open]

    def failed(self, tried: Attempt, symptom: str, key: str) -> list[Failure]:
        """Note a failure; returns the older ones that are dropped to make room."""
        for place, one in enumerate(self.open):
            if one.key == key:
                self.open[place] = one.replace(seqs=(one.seqs[0], tried.seq), age=0)
                return []
        self.open.append(Failure(attempt=tried, symptom=symptom, key=key, seqs=(tried.seq,)))
        dropped, self.open = self.open[:-MOST_OPEN], self.open[-MOST_OPEN:]
        return dropped

    def succeeded(self, done: Attempt, edits: bool) -> list[tuple[Failure, bool]]:
        """The failures that a success closes, each with whether the same call worked.

        Also returns failures that are given up; these have an age above `PATIENCE`.
        """
        closed: list[tuple[Failure, bool]] = []
        still: list[Failure] = []
        for one in self.open:
            if (one.attempt.tool, one.attempt.input) == (done.tool, done.input):  # the same call
                closed.append((one, True))
            elif is_like(one.attempt, done):
                closed.append((one, False))
            else:
                if edits and done.file and done.file not in one.edited:
                    one = one.replace(edited=(*one.edited, done.file)[-MOST_EDITS:])
                if one.attempt.tool == done.tool:
                    one = one.replace(age=one.age + 1)
                if one.age > PATIENCE:
                    closed.append((one, False))
                else:
                    still.append(one)
        self.open = still
        return closed
