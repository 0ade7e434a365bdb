"""Failures: whether an action failed, which line of its output says why, and when two errors are the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from ...model.lazy_regex import lazy_regex
from ...model.types import is_dict, is_list
from ..text_layout import bounded, one_line, without_colours
from .commands import only_shows
from .launchers import invocations
from .tools import is_foreign, is_web

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
    lazy_regex(r"^(?:--- FAIL|\(fail\)|FAIL(?:ED)?\b.*\S{4}|✗|✘|×|●|not ok\b|❌)"),  # a failed check
    lazy_regex(r"(?i)\b(?:errors?|fail(?:ed|s|ure|ures)?|abort(?:ed)?|panic)\b"),
)
_GENERAL = _KINDS[-1]
_FAILS = lazy_regex(rf"(?i)\b(?:{_WORDS})\b|error|fail|fatal|exception|panic")
_ASIDE = lazy_regex(
    r"(?i)(?:hint|help|note|warning|warn|info|debug|=== RUN|--- PASS|ok\b|at |File \"|\^|[~^ ]{4,}$|\$ |\+ "
    r"|\(pass\)|Error Trace:|[=_]{3}|-{4}|\d+ passed)|.{0,200}\b0 (?:errors|failed|failures)\b"
)
# What a runner says about a program that it ran: the program's own words say more.
_WRAPPER = lazy_regex(
    r"(?i)(?:error: )?(?:script|task|command|recipe|target|process) .{0,80}?(?:exited|failed|returned)\b"
    r".{0,40}$|g?make(?:\[\d+\])?: \*\*\* "
    r"|npm (?:err!|error) (?:code|errno|lifecycle|a complete log|command|path|workspace)"
    r"|.{0,40}ELIFECYCLE|.{0,80}\bexited with (?:code|status)|\[[\w:.-]+\] ERROR task failed|error: recipe"
    r"|.{0,20}process completed with exit code|some errors were emitted"
)
# Lines of source that a linter or compiler shows beside its message.
_EXCERPT = lazy_regex(r"[>\s]*(?:\d+\s+)?(?:\d+\s*)?[│|┃](?:\s|$)|\d+\s+\d*\s*│")
_PROMPT = lazy_regex(
    r"(?:[\w.-]+@[\w.-]+[:~ ][^$#%\n]{0,80}[$#%]|[$%❯➜]) +(?=\S)|PS [A-Z]:\\[^>\n]{0,120}> *"
)
_TAGS = lazy_regex(r"</?(?:tool_use_error|error|system-reminder|stderr|stdout|local-command-\w+)>")
_OF_A_TOOL = ("<tool_use_error>", "tool use error: ")
_TRACEBACK = "Traceback (most recent call last)"

# What a failed command prints even if a pipe or `|| true` hides its exit code.
_HIDDEN = lazy_regex(
    r"^(?:Traceback \(most recent call last\)|panic: |fatal: |--- FAIL|FAIL\t|FAILED |npm ERR!"
    r"|error(?:\[E\d{1,5}\])?: |[\w./-]{1,80}: command not found|make: \*\*\* "
    r"|=+ (?:.{0,40} )?\d{1,6} failed|BUILD FAILED)",
    re.M,
)

# What tests, builds and linters sum up with.
_COUNTED = lazy_regex(r"\bFAIL(?:ED|URE)?\b|\b[1-9]\d* (?:failed|failures?|errors?|issues?)\b|\berror:", re.M)

_NOISE = lazy_regex(
    r"(?i)sibling tool call|^\s*(?:cancelled|canceled|aborted)\s*$|request interrupted"
    r"|interrupted by (?:the )?user|user doesn't want to|tool use was rejected"
)
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
    if _ASIDE.match(line) or _EXCERPT.match(line):
        return None
    if _WRAPPER.match(line):
        return len(_KINDS)
    return next((number for number, kind in enumerate(_KINDS) if kind.search(line)), None)


def _lines(output: str) -> list[str]:
    """The lines of an output that may say why; of an error from the host's own tools only the first."""
    text = without_colours(bounded(output, 40_000, 20_000))
    found = [line.strip()[:600] for line in text.splitlines()[:MOST_LINES]]
    found = [line for line in found if line and not _EXIT_LINE.match(line)]
    if found and found[0].startswith(_OF_A_TOOL):
        found = found[:1]
    return [clean for line in found if (clean := clean_line(line))]


_CONTROL = lazy_regex(r"\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b[()][A-Z0-9]")
_OVERWRITTEN = lazy_regex(r"[^\n\r]*\r(?!\n|$)")
# Codex puts these lines before the output of a command.
_EXEC_HEADER = lazy_regex(
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines)\b[^\n]*\n"
    r"|(?P<exit>Process exited with code -?\d+|Exit code: -?\d+)\n|Process running with session ID \d+\n)+"
    r"(?:Output:\n)?"
)
_TOOL_ERROR = lazy_regex(r"<tool_use_error>(.*?)(?:</tool_use_error>|\Z)", re.S)


def clean_output(text: str, *, failed: bool = False) -> str:
    """The output of a tool as it is worth keeping: no colours, overwritten lines, or frames of the host.

    The texts of errors also lose the HTML entities that hosts put into them.
    """
    if "\x1b" in text:
        text = _CONTROL.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text)
    if text.startswith(("Chunk ID", "Wall time", "Process ", "Exit code: ")) and (
        header := _EXEC_HEADER.match(text)
    ):
        code = header["exit"] or ""
        text = (f"{code}\n" if code and not code.endswith(" 0") else "") + text[header.end() :]
    if failed:
        text = _TOOL_ERROR.sub(r"tool use error: \1", text)
        if "&" in text:
            text = unescape(text)
    return text


def clean_line(line: str) -> str:
    """A line of output without a host's tags and HTML entities; nothing of a line that is a prompt."""
    if "<" in line:
        line = _TAGS.sub("", line)
    if "&" in line:
        line = unescape(line)
    return "" if _PROMPT.match(line) else line.strip()


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
    """Whether an error only says that the call was cancelled or interrupted."""
    return bool(_NOISE.search(text[:300]))


def is_of_the_host(text: str) -> bool:
    """Whether an error is about how a tool was called, not about the work."""
    return bool(_OF_THE_HOST.search(text[:300]))


# Programs behind a pipe whose exit code says nothing about what they read.
_FILTERS = frozenset("tail head grep rg egrep tee cat sort uniq sed awk less cut jq wc tr column".split())
_ALL_PASSED = lazy_regex(
    r"(?im)^\W{0,4}(?:.{0,60}\b)?[1-9]\d* (?:tests? )?pass(?:ed|ing)?\b|^ok\b|^PASS\b"
    r"|\b0 (?:fail|failed|errors)\b"
)

_NONE_FAILED = lazy_regex(r"(?im)^\W{0,4}0 (?:fail|failed|failures)\b")
_SOME_FAILED = lazy_regex(r"(?m)\b[1-9]\d* (?:failed|failures?|fail|errors?)\b|^(?:--- FAIL|FAIL(?:ED)?\b)")


def masks_exit(command: str) -> bool:
    """Whether the exit code of a command line is not that of the program that does the work."""
    calls = invocations(command)
    if not calls:
        return False
    last = calls[-1]
    return (
        (last.after == "|" and last.program in _FILTERS)
        or last.after == "||"
        or (last.after == ";" and last.program in ("echo", "true", "printf", "exit"))
        or last.background
    )


def hides_failure(command: str, output: str) -> bool:
    """Whether a command line that ended well printed that something failed.

    Only where the exit code is not that of the work: a program that ended well may log errors, as tests do.
    """
    if only_shows(command) or not masks_exit(command):
        return False
    text = bounded(output, 40_000, 20_000)
    if not _HIDDEN.search(text) or _NONE_FAILED.search(text):
        return False
    return bool(_SOME_FAILED.search(text) or not _ALL_PASSED.search(text))


def counts_failures(output: str) -> bool:
    """Whether the output of tests, a build or a linter says that something failed."""
    return _COUNTED.search(output) is not None


# --- rejections -------------------------------------------------------------------------------------

_REJECTED = lazy_regex(
    r"(?i)\s*(?:The user doesn't want to (?:proceed|take this action)|The tool use was rejected|"
    r"(?:The )?user (?:has )?(?:rejected|declined|denied|cancelled) (?:this|the) |"
    r"\[Operation Cancelled\]|User (?:did not allow|denied|rejected|declined|chose not to) (?:the )?"
    r"(?:execution|tool|call|run|allow|approve)\b|"
    r"(?:error: )?(?:exec(?:_|[ ])?command|(?:apply_)?patch|shell|command|tool|(?:mcp )?tool call|request)"
    r"(?: (?:was|has been))? (?:rejected|declined|denied) by (?:the )?user\b)"
)
_REASON = lazy_regex(r"(?i)(?:the user said|user feedback|feedback|reason given|reason)[^:\n]{0,40}:\s*")


# What Claude Code says of a call that it did not make, because of its mode or a rule; the reason may follow.
_REFUSED_BY_HOST = lazy_regex(
    r"(?is)\s*(?:.{0,500}denied by the Claude Code auto mode classifier(?:\. Reason:)?\s*"
    r"|Auto mode is unavailable:\s*"
    r"|(?=Permission to use \w.{0,1000}\bhas been denied\b)"
    r"|(?=This command requires approval)|(?=Claude requested permissions? to .{0,500}granted it yet))"
)


def host_refusal(error: str) -> str | None:
    """Why the host did not make a call; None if it did."""
    found = _REFUSED_BY_HOST.match(error[:2000])
    return error[found.end() : found.end() + 2000].strip() if found else None


def is_refusal(error: str) -> bool:
    """Whether a call was not made because the user or the host did not allow it."""
    return rejection(error) is not None or host_refusal(error) is not None


def reported_rejection(tool: str, status: str | None, data: Mapping[str, Any]) -> str | None:
    """Why the user rejected a call, as the host itself reports it: empty without a reason, None if it was not
    rejected.

    A host reports that as the error of a call which it did not make. What a page, a server or a program
    prints is not such a report, even if it begins with the host's words.
    """
    if status != "failed" or is_foreign(tool) or is_web(tool):
        return None
    return rejection(output_text(data.get("error") or data.get("output")))


def rejection(output: str) -> str | None:
    """Why the user rejected an action, if a text is a host's report of that: empty without a reason, None if
    it is not. Ask `reported_rejection` about a call."""
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
