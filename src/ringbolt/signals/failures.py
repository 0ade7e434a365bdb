"""Failures: whether an action failed, which line of its output says why, and when two errors are the same."""

from __future__ import annotations

import re
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import is_dict, is_list
from .commands import only_shows
from .text_layout import bounded, one_line, without_colours

MOST_ERROR = 300
MOST_LINES = 2000
_GAP = " | "

_EXIT = lazy_regex(
    r"(?i)(?:Exit code|exit status|exited with(?: code)?|Process exited with code):? (-?\d{1,5})\b"
)
_EXIT_LINE = lazy_regex(r"(?i)(?:error: )?(?:exit code|exit status)[: ]+-?\d{1,5}\s*$")

_WORDS = (
    r"no such (?:file|table|column|module|option|command)|not found|not exist|denied|cannot|can't|could not"
    r"|couldn't|unable to|failed to|failed with|refused|timed out|timeout|deadline exceeded|invalid|undefined"
    r"|unknown|unexpected|unrecognized|unsupported|missing|conflict|not permitted|not allowed|forbidden"
    r"|unauthorized|rejected|already exists|already in use|mismatch\w*|out of memory|parse error|syntax error"
    r"|is required|must be|too (?:large|long|many)"
)
# Kinds of lines that a person would quote, best first. A line has the first kind that it matches.
_KINDS: tuple[re.Pattern[str], ...] = (
    # the message of an exception or an abort
    lazy_regex(
        r"^(?:(?:\w+\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Failure)\b(?:: |$)|panic: |fatal: "
        r"|Fatal error|error(?:\[\w+\])?: (?!failed to push)|E  {1,8}\S|\w{1,30}: error: "
        r"|thread '[^']{1,80}' panicked)"
    ),
    # a place in a file: line and column, or a line and a word for what is wrong
    lazy_regex(
        r"(?i)^(?:\[[\w:.-]{1,40}\] )?[\w./\\@+-]{1,250}[:(]\d{1,7}(?:[:,]\d{1,5}\)?: ?\S{2}|\)?: .{0,300}?"
        rf"\b(?:{_WORDS}|errors?|fail\w{{0,4}}|expected|want|got|should|assert\w{{0,6}})\b)"
    ),
    lazy_regex(rf"(?i)\b(?:{_WORDS})\b"),  # something could not be done
    lazy_regex(r"^(?:--- FAIL|FAIL(?:ED)?\b.*\S{4}|✗|✘|×|●|not ok\b|❌)"),  # a failed check
    lazy_regex(r"(?i)\b(?:errors?|fail(?:ed|s|ure|ures)?|abort(?:ed)?|panic)\b"),
)
_GENERAL = _KINDS[-1]
_FAILS = lazy_regex(rf"(?i)\b(?:{_WORDS})\b|error|fail|fatal|exception|panic")
_ASIDE = lazy_regex(
    r"(?i)(?:hint|help|note|warning|warn|info|debug|=== RUN|--- PASS|ok\b|at |File \"|\^|[~^ ]{4,}$|\$ |\+ "
    r"|Error Trace:|[=_]{3}|-{4}|\d+ passed)|.{0,200}\b0 (?:errors|failed|failures)\b"
)
_OF_A_TOOL = "<tool_use_error>"
_TRACEBACK = "Traceback (most recent call last)"

# What a failed command prints even if a pipe or `|| true` hides its exit code.
_HIDDEN = lazy_regex(
    r"^(?:Traceback \(most recent call last\)|panic: |fatal: |--- FAIL|FAIL\t|FAILED |npm ERR!"
    r"|error(?:\[E\d{1,5}\])?: "
    r"|[\w./-]{1,80}: command not found|make: \*\*\* |=+ (?:.{0,40} )?\d{1,6} failed|BUILD FAILED)",
    re.M,
)

# What tests, builds and linters sum up with.
_COUNTED = lazy_regex(r"\bFAIL(?:ED|URE)?\b|\b[1-9]\d* (?:failed|failures?|errors?|issues?)\b|\berror:", re.M)

_NOISE = lazy_regex(r"(?i)sibling tool call|^\s*(?:cancelled|canceled|aborted)\s*$")
_OF_THE_HOST = lazy_regex(
    r"(?i)string to replace not found|has not been read yet|matches of the string to replace"
    r"|modified since read|exceeds maximum allowed|no changes to make|inputvalidationerror"
    r"|file does not exist"
)


def error_line(output: str) -> str:
    """The line of an output that says best what went wrong, with the summary line where that adds something.

    The first line of the best kind wins, except in a traceback, which has its message at the end. Empty for
    an empty output.
    """
    best: dict[int, str] = {}
    first = ""
    general: list[str] = []
    traced = False
    for line in _lines(output):
        first = first or line
        if line.startswith(_TRACEBACK):
            traced = True
        elif (kind := _kind(line)) is not None:
            if kind not in best or (kind == 0 and traced):
                best[kind] = line
            if len(general) < 2 and _GENERAL.search(line):
                general.append(line)
    if not best:
        return one_line(first, MOST_ERROR)
    main = best[min(best)]
    other = next((line for line in general if line != main), "")
    # A second general line adds nothing, unless it names the check that failed.
    if not other or (_GENERAL.search(main) and not _KINDS[3].match(other)):
        return one_line(main, MOST_ERROR)
    room = MOST_ERROR - len(_GAP)
    summary = one_line(other, room // 3)
    return f"{one_line(main, room - len(summary))}{_GAP}{summary}"


def _kind(line: str) -> int | None:
    if _ASIDE.match(line):
        return None
    return next((number for number, kind in enumerate(_KINDS) if kind.search(line)), None)


def _lines(output: str) -> list[str]:
    """The lines of an output that may say why; of an error from the host's own tools only the first."""
    text = without_colours(bounded(output, 40_000, 20_000))
    found = [line.strip()[:600] for line in text.splitlines()[:MOST_LINES]]
    found = [line for line in found if line and not _EXIT_LINE.match(line)]
    return found[:1] if found and found[0].startswith(_OF_A_TOOL) else found


def from_first_error(output: str) -> str:
    """An output from the first line on that says what went wrong, on one line; all of it if none does."""
    lines = [line.strip() for line in output[:8000].splitlines() if line.strip()]
    if len(lines) < 2:
        return output
    first = next((place for place, line in enumerate(lines) if _FAILS.search(line[:500])), 0)
    return " ".join(lines[first:])


# --- whether it failed ------------------------------------------------------------------------------


def output_text(data: Any) -> str:
    """The output of an action as text, from any of the forms in which hosts report it."""
    if isinstance(data, str):
        return data
    if is_dict(data):
        named = (
            data.get(name) for name in ("stderr", "error", "output", "stdout", "text", "content", "result")
        )
        return "\n".join(text for value in named if value and (text := output_text(value)))
    if is_list(data):
        return "\n".join(output_text(part) for part in data[:50])
    return ""


def exit_code(data: Any) -> int | None:
    """The exit code that an output states, if any."""
    if is_dict(data):
        for name in ("exit_code", "exitCode", "returncode", "code"):
            value = data.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    found = _EXIT.match(output_text(data)[:200].lstrip())
    return int(found[1]) if found else None


def is_noise(text: str) -> bool:
    """Whether an error says nothing about the attempt, which was cancelled because of another one."""
    return bool(_NOISE.search(text[:300]))


def is_of_the_host(text: str) -> bool:
    """Whether an error is about how a tool was called, not about the work."""
    return bool(_OF_THE_HOST.search(text[:300]))


def hides_failure(command: str, output: str) -> bool:
    """Whether a command that ended well printed that something failed."""
    return not only_shows(command) and bool(_HIDDEN.search(bounded(output, 40_000, 20_000)))


def counts_failures(output: str) -> bool:
    """Whether the output of tests, a build or a linter says that something failed."""
    return _COUNTED.search(output) is not None


# --- rejections -------------------------------------------------------------------------------------

_REJECTED = lazy_regex(
    r"(?i)\s*(?:The user doesn't want to (?:proceed|take this action)|The tool use was rejected|"
    r"(?:The )?user (?:has )?(?:rejected|declined|denied|cancelled) (?:this|the) )"
)
_REASON = lazy_regex(r"(?i)(?:the user said|user feedback|feedback|reason given|reason)[^:\n]{0,40}:\s*")


def rejection(output: str) -> str | None:
    """Why the user rejected an action: empty without a reason, None if it was not rejected."""
    if not _REJECTED.match(output[:400]):
        return None
    found = _REASON.search(output[:4000])
    return output[found.end() : found.end() + 2000].strip() if found else ""


# --- when two errors are the same ------------------------------------------------------------------------

_VARYING = (
    (lazy_regex(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "<id>"),
    (
        lazy_regex(r"\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:z|[+-]\d\d:?\d\d)?)?\b"),
        "<time>",
    ),
    (lazy_regex(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b"), "<time>"),
    (lazy_regex(r"\b0x[0-9a-f]{1,32}\b"), "<address>"),
    (lazy_regex(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"), "<address>"),
    (lazy_regex(r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"), "<hash>"),
)
_PATHS = lazy_regex(r"(?:[a-z]:)?(?:[\w.@~+-]{0,100}[/\\]){1,40}[\w.@+-]{0,100}")
_NUMBERS = lazy_regex(r"\b\d[\d.,]{0,30}")


def fingerprint(text: str, paths: bool = True) -> str:
    """An error without the parts that differ each time: numbers, times, addresses, hashes and paths."""
    found = one_line(without_colours(text[:1200]), 400).lower()
    for pattern, name in _VARYING:
        found = pattern.sub(name, found)
    if paths:
        found = _PATHS.sub("<path>", found)
    return _NUMBERS.sub("<n>", found)[:200]
