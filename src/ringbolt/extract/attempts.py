"""Attempts that failed and what worked instead: a window over the actions of a task.

A failure is settled when the same call works, when a check of the same kind passes, when a merge that stopped
goes on, or when another way worked. One that nobody comes back to is given up after a while.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_dict, is_list
from ..signals.calls.commands import first_program, only_shows
from ..signals.calls.failures import is_of_the_host
from ..signals.calls.run_kinds import PROVES, is_narrow, runs
from ..signals.calls.tools import COMMAND_FIELDS, PATH_FIELDS, first_text, is_read_only
from ..signals.text_layout import one_line

MOST_OPEN = 8  # failures that are remembered until something works
PATIENCE = 10  # successes of the same tool after which a failure is given up
MOST_WHAT = 200
MOST_EDITS = 5
SOON = 3  # calls of the same program after a failure that are taken to be further attempts

_WORD = lazy_regex(r"[\w./-]{2,80}")
_OUTPUT = lazy_regex(r"\s*(?:\d?>&?\s*\S+|\|.*)")
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
    check: str = ""  # the kind of check that it is: test, build, lint …
    narrow: bool = False  # a check of some tests only


class Failure(Value, frozen=True, kw_only=True):
    """A failed attempt: its symptom, its first and last event, and the files edited since."""

    attempt: Attempt
    symptom: str
    key: str
    seqs: tuple[int, ...]
    age: int = 0
    edited: tuple[str, ...] = ()

    @property
    def is_given_up(self) -> bool:
        """Whether nobody came back to it."""
        return self.age > PATIENCE


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
    checks = [run.kind for run in runs(command) if run.kind in PROVES] if command else []
    return Attempt(
        seq=seq,
        tool=tool,
        what=one_line(what, MOST_WHAT),
        input=one_line(whole or what, 600),
        words=tuple(telling)[:40],
        file=file[:400],
        head=" ".join(program),
        check=checks[-1] if checks else "",
        narrow=bool(checks) and is_narrow(command),
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


# A check that passes also settles failures of the kinds that it includes.
_INCLUDES: Mapping[str, tuple[str, ...]] = {
    "test": ("test", "build", "typecheck"),
    "check": PROVES,
    "build": ("build", "typecheck"),
}
_STOPPED = ("git rebase", "git merge", "git cherry-pick", "git pull", "git revert", "git stash", "git am")
_GOES_ON = lazy_regex(
    r"\bgit (?:-\S+ )*(?:commit|push|(?:rebase|merge|cherry-pick|revert|am)"
    r" (?:--continue|--abort|--skip|--quit))\b"
)
_NOT_THERE = lazy_regex(
    r"(?i)no such file|does not exist|not found|cannot access|can't read|can't open|is a directory|no matches"
    r"|unrecognized (?:flag|option)|not a directory"
)


def settles(done: Attempt, failed: Attempt) -> bool:
    """Whether a success shows that the reason of a failure is gone, though it was another call."""
    if failed.check and done.check:
        kinds = _INCLUDES.get(done.check, (done.check,))
        if failed.check in kinds and (not done.narrow or (failed.narrow and is_like(failed, done))):
            return True
    stopped = failed.head in _STOPPED or any(f"{verb} " in failed.what for verb in _STOPPED)
    return stopped and bool(_GOES_ON.search(done.what))


def _has_again(done: Attempt, failed: Attempt) -> bool:
    """Whether a command line that worked has the one that failed: `git fetch && make` after `make`."""
    if failed.tool != done.tool or failed.file or "&&" not in done.what:
        return False
    return _commands(failed.what)[-1] in _commands(done.what)


def _commands(line: str) -> list[str]:
    """The commands that `&&` joins, without what filters or redirects their output."""
    return [_OUTPUT.sub("", part).strip() for part in line.split("&&")]


def is_of_interest(tried: Attempt, symptom: str) -> bool:
    """Whether a failure is one of the work, not of how a tool was called, nor a look at what is not there."""
    if is_of_the_host(symptom):
        return False
    command = tried.what.rpartition("&& ")[2] if tried.what.startswith("cd ") else tried.what
    looks = is_read_only(tried.tool) or only_shows(command)
    return not (looks and _NOT_THERE.search(symptom))


def _is_next_try(one: Failure, done: Attempt) -> bool:
    """Whether the same program worked soon after; of checks, another one says nothing."""
    failed = one.attempt
    return _is_same_program(failed.head, done.head) and one.age < SOON and not failed.check


def _is_same_program(one: str, other: str) -> bool:
    """Whether two heads of commands name the same program; a head lacks a subcommand that is quoted."""
    ours, theirs = one.split(), other.split()
    return bool(ours) and (ours == theirs or (ours[:1] == theirs[:1] and 1 in (len(ours), len(theirs))))


class Attempts:
    """The open failures of a task, and what closes them."""

    def __init__(self, state: Any = None) -> None:
        self.open = msgspec.convert(state or [], list[Failure])

    def state(self) -> list[dict[str, Any]]:
        """The open failures, ready for JSON; the constructor reads them again."""
        return [one.to_dict() for one in self.open]

    def failed(self, tried: Attempt, symptom: str, key: str) -> list[Failure]:
        """Note a failure; returns the older ones that are dropped to make room."""
        if not is_of_interest(tried, symptom):
            return []
        for place, one in enumerate(self.open):
            if one.key == key:
                self.open[place] = one.replace(seqs=(one.seqs[0], tried.seq), age=0)
                return []
        self.open.append(Failure(attempt=tried, symptom=symptom, key=key, seqs=(tried.seq,)))
        dropped, self.open = self.open[:-MOST_OPEN], self.open[-MOST_OPEN:]
        return [one.replace(age=PATIENCE + 1) for one in dropped]

    def succeeded(self, done: Attempt, edits: bool) -> list[tuple[Failure, bool]]:
        """The failures that a success closes, each with whether the same call, or the same check, worked.

        Also returns failures that are given up (`is_given_up`).
        """
        closed: list[tuple[Failure, bool]] = []
        still: list[Failure] = []
        for one in self.open:
            if (one.attempt.tool, one.attempt.input) == (done.tool, done.input) or _has_again(
                done, one.attempt
            ):
                closed.append((one, True))
            elif settles(done, one.attempt):
                closed.append((one, bool(one.edited) or not done.check))
            elif is_like(one.attempt, done) or _is_next_try(one, done):
                closed.append((one, False))
            else:
                if edits and done.file and done.file not in one.edited:
                    one = one.replace(edited=(*one.edited, done.file)[-MOST_EDITS:])
                if one.attempt.tool == done.tool:
                    one = one.replace(age=one.age + 1)
                if one.is_given_up:
                    closed.append((one, False))
                else:
                    still.append(one)
        self.open = still
        return closed
