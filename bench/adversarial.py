"""Reading hostile text: each function that reads foreign text, on the worst of many repetitive strings.

    python bench/adversarial.py [--gate] [--only NAME …] [--write]

The functions are found by walking the modules: whatever takes one text (by the type and name of its only
required argument) is called; what needs more arguments is in ADAPTED. So a new reader cannot be forgotten,
only be left out on purpose, in SKIPPED, with a reason. The strings are the pieces below, and pieces made from
the patterns of the function's own module: prefixes of what a pattern matches, and the bodies of its
repetitions.

Each figure is the processor time for 100 kB, the best of three runs of what was slow once. With --gate the
exit code is 1 if a function takes more than 50 ms on any string. A fixed piece of work is timed before each
function; where the machine itself is slower than at its best, the limit is raised by the same factor, and the
table says so. --write puts the 40 slowest into docs/explanation/budgets.md (`make adversarial` does both).
"""

from __future__ import annotations

import argparse
import inspect
import os
import pkgutil
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import ringbolt
from ringbolt import RingboltError
from ringbolt.core import todo_sync
from ringbolt.extract.artifacts import made_by_command
from ringbolt.extract.attempts import attempt
from ringbolt.extract.decisions import decisions
from ringbolt.extract.values import stated_values
from ringbolt.files import tasks_file
from ringbolt.hosts import capture_hook
from ringbolt.hosts.hook_build import facts_of_host
from ringbolt.model.redaction import Redactor, pattern_sources, storable
from ringbolt.progress.plan_progress import Observation, Progress
from ringbolt.recall import snippets
from ringbolt.signals import terms
from ringbolt.signals.calls import commands, failures
from ringbolt.signals.effects import side_effects as effects
from ringbolt.signals.text_layout import layout

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "budgets.md"
MEASURED, ENDS = "<!-- measured by bench/adversarial.py -->", "<!-- end of measured -->"
SIZE = 100_000
MOST_MS = 50.0
MOST_PIECES = 80  # of one module, besides those below
PLAN = ["Add the Invoice model to billing.py", "Write tests for the tax calculator", "Commit and push"]
PIECES = [
    *'a \n"`*|#[(\t/0A.?_-1\\\'<&~=+:;,{@$%éß数ж中한้', "\0", "\x1b", "\x9b0", "\x9d", "\x9c", "\x90",
    "\x1bP", "\u200b", "\u200d", "\u0301", "\ue000", "\U0001f600", "\U0010ffff", "\u2028", "\r",
    "\r\n", "**", "| a ", "- ", "1. ", "(a", "- [ ] ", "- [x] a\n", "/a", "a/", "a\\", "\\a",
    "\\\\a ", "a.", ".a", ". A", "a: ", "aB", "0a", "a1", "A_", "A=", "a ", '" ', "> ", "~~~",
    "\x1b[", "\x1b]", "\x1b]8;;", "\x00\x1b[2J", "because ", "I'll use a instead of ", "error: ",
    "Error", "x.Error", "git commit ", "git -c a ", '-m "', "<<EOF\n", "https://a", "phase 1 ",
    "step 1, ", "not yet ", "what ", "last ", "user not ", "the root cause of a ", "waiting for ",
    "instead of a", "a/b\\", "1 of 2 ", "done and ", '{"a":', "[", "]", "{", "}", "<think>", "<a>",
    "<!--", "```", "```a\n", "2026-01-", "v1.2.", "a@a", "://", "://a:", "://a:@", "password=",
    "token=token", '"token": "', "key ", "bearer ", "cookie: a=", "-----BEGIN PRIVATE KEY-----",
    "eyJa.", "-eyJa", "mysql -pa ", "curl -u a:", "echo a | ", "a, ", "  ", "\n\n", "\t- ", "# a\n",
    "=====\n", "a" * 60 + " ", "0" * 40, "key: value\n", "- a: b\n", "'a' ", "\\\"", "\\n", "%20",
]  # fmt: skip
# Names of arguments that hold text. In rooms that act on the world, only those that are nothing else.
PLAIN = frozenset(
    "text output message prompt line content summary answer query question sentence raw reply prose markdown"
    " body title listed row plan heading".split()
)
TEXTS = PLAIN | frozenset(
    "command value word name piece plain error what part term names label sql tool tools token source reason"
    " url path folder host project key meaning".split()
)
COMPUTES = ("model", "signals", "extract", "progress", "requests", "packet", "recall", "llm", "ask", "ledger")
ACTS = ("files", "hosts", "waits", "core", "goals", "upkeep", "surfaces", "journal")
# Not called: a module or a function, with the reason.
SKIPPED = {
    "hosts.capture_hook": "arguments of its own process; `parse` and `cleaned` are adapted",
    "hosts.hook_parts": "parts of the same process; what reads texts is adapted, the rest acts on files",
    "hosts.install": "settings files of the user, who runs it",
    "surfaces.cli": "what its own user types",
    "surfaces.demo": "texts of our own",
    "surfaces.doctor": "texts of our own",
    "model.lazy_regex": "patterns of our own",
    "model.printing": "values of our own",
    "model.redaction.matching.pattern": "patterns of our own",
    "llm.prompts._words": "takes a list; a text would be a list of characters",
    "model.scope": "looks for a folder on disk",
}
# What a caller passes at most, where it is less than 100 kB; the caller is named.
BOUNDED: dict[str, tuple[int, str]] = {
    "ask.question_times.read_span": (4000, "ask.questions.understand"),
    "ask.question_words.read_marks": (4000, "ask.questions.understand"),
    "llm.complexity._wants_thought": (2000, "llm.complexity.is_complex"),
    "packet.selection._sentences": (1500, "packet.selection.sentences"),
    "signals.effects.outcomes._without_errors": (50_000, "signals.effects.outcomes.outcome"),
}


def progress(text: str) -> None:
    belief = Progress(PLAN)
    belief.observe(Observation(at=1, kind="agent", text=text))
    given = {"file_path": text, "old_string": text, "new_string": text}
    belief.observe(Observation(at=2, kind="action", tool="Edit", input=given, ok=True))
    run = {"command": text}
    belief.observe(Observation(at=3, kind="action", tool="Bash", input=run, ok=True, text=text))


def plan_sync(text: str) -> None:
    """A to-do list of 5,000 titles against the same list with other words."""
    titles = [f"{text[:20]} step {number}" for number in range(5000)]
    old = [
        {"item_id": f"s{number}", "title": f"{title} old", "detail": {}, "status": "pending"}
        for number, title in enumerate(titles)
    ]
    todo_sync.matched_rows([{"title": title, "status": "pending", "id": ""} for title in titles], old)


def active_tasks(text: str) -> None:
    tasks_file.parse(text)


def hook_event(text: str) -> None:
    event = {
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": {"command": text[:4000]},
        "tool_response": text,
    }
    capture_hook.cleaned(event, facts_of_host("claude-code"), Redactor(), storable)
    capture_hook.call_heads("Bash", {"command": text})


ADAPTED: dict[str, Callable[[str], Any]] = {
    "core.todo_sync: a list of 5,000": plan_sync,
    "extract.artifacts.made_by_command": lambda text: made_by_command(text, text),
    "extract.attempts.attempt": lambda text: attempt(1, "Bash", {"command": text}, None),
    "extract.decisions.decisions": lambda text: decisions(layout(text)),
    "progress.plan_progress.Progress": progress,
    "extract.values.stated_values": lambda text: stated_values(list(layout(text))),
    "files.tasks_file.parse": active_tasks,
    "hosts.capture_hook: an event": hook_event,
    "hosts.capture_hook.parse": lambda text: capture_hook.parse(text.encode("utf-8", "replace")),
    "model.redaction.redactor.Redactor.text": Redactor().text,
    "model.redaction.redactor.Redactor.whole": lambda text: Redactor().whole({"a": [text]}),
    "recall.snippets.snippet": lambda text: snippets.snippet(text, {"a", "数"}),
    "signals.calls.commands.commits": lambda text: commands.commits(text, text),
    "signals.effects.side_effects.side_effects": lambda text: effects.side_effects("Bash", {"command": text}),
    "signals.calls.failures.hides_failure": lambda text: failures.hides_failure("make", text),
    "signals.terms.has_phrase": lambda text: terms.has_phrase(text, ["a a"]),
}


# --- what is called ---------------------------------------------------------------------------------


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Every module of the package with its name below it."""
    for found in pkgutil.walk_packages(ringbolt.__path__, "ringbolt."):
        name = found.name.removeprefix("ringbolt.")
        if not name.endswith("__main__") and name.partition(".")[0] in (*COMPUTES, *ACTS):
            yield name, import_module(found.name)  # adapters need their frameworks


def readers() -> dict[str, Callable[[str], Any]]:
    """Every function that reads a text, by its name."""
    found = dict(ADAPTED)
    for name, module in modules():
        room = name.partition(".")[0]
        names = TEXTS if room in COMPUTES else PLAIN if room in ACTS else frozenset[str]()
        for own, function in vars(module).items():
            full = f"{name}.{own}"
            if not inspect.isfunction(function) or function.__module__ != module.__name__ or full in found:
                continue
            if any(full == one or full.startswith(f"{one}.") for one in SKIPPED):
                continue
            if takes_text(function, names):
                found[full] = function
    return found


def takes_text(function: Callable[..., Any], names: frozenset[str]) -> bool:
    given = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    if len(given) != 1 or given[0].kind in (given[0].VAR_POSITIONAL, given[0].VAR_KEYWORD):
        return False
    return given[0].name in names and given[0].annotation in ("str", str, "str | None", "object", "Any")


# --- strings ----------------------------------------------------------------------------------------


def own_pieces(module: ModuleType) -> list[str]:
    """Pieces that the patterns of a module are made for."""
    sources = [value.pattern for value in vars(module).values() if is_pattern(value)]
    if module.__name__.startswith("ringbolt.model.redaction"):
        sources = pattern_sources()
    found: dict[str, None] = {}
    for source in sources:
        found.update(dict.fromkeys(pieces_of(source)))
    usable = [piece for piece in found if piece and len(piece) <= 400]
    # Every so many of them: a module with a hundred patterns would take an hour otherwise.
    return usable[:: 1 + len(usable) // MOST_PIECES]


def is_pattern(value: Any) -> bool:
    return isinstance(value, re.Pattern) or type(value).__name__ == "_LazyPattern"


def pieces_of(source: str) -> Iterator[str]:
    """What a pattern matches, cut off after each of its parts: what it must give up on."""
    with suppress(re.error, RecursionError, OverflowError):
        parsed: Any = import_module("re._parser").parse(source)
        whole = ""
        for part in parsed:
            whole += sample([part])
            yield whole
            if str(part[0]).endswith("REPEAT"):
                yield sample(part[1][2])


def sample(parts: Any) -> str:
    """A short text that the parts of a pattern match."""
    made = ""
    for operator, value in parts:
        match str(operator):
            case "LITERAL":
                made += chr(value)
            case "NOT_LITERAL":
                made += "a" if value != ord("a") else "b"
            case "ANY":
                made += "a"
            case "IN":
                made += member(value)
            case "BRANCH":
                made += sample(value[1][0])
            case "SUBPATTERN":
                made += sample(value[3])
            case "ATOMIC_GROUP":
                made += sample(value)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                made += sample(value[2]) * max(1, min(value[0], 30))
            case _:  # assertions and references
                continue
    return made


def member(choices: Any) -> str:
    operator, value = choices[0]
    match str(operator):
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(value[0])
        case "CATEGORY":
            kind = str(value)
            return {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_NOT_WORD": "-"}.get(kind, "a")
        case _:  # everything but
            taken = {chr(one) for kind, one in choices[1:] if str(kind) == "LITERAL"}
            return next(letter for letter in "a0 -.Z" if letter not in taken)


# --- timing -----------------------------------------------------------------------------------------


class TooLong(BaseException):
    """No more needs to be known about a function."""


def milliseconds(function: Callable[[str], Any], text: str) -> float:
    """The processor time of one call; one that takes a hundred times too long is broken off."""

    def ring(number: int, frame: object) -> None:
        raise TooLong

    signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2.0)
    began = time.process_time()
    with suppress(
        TooLong, RingboltError, re.error, ValueError, KeyError, RecursionError, OverflowError, LookupError
    ):
        result = function(text)
        if inspect.isgenerator(result):
            for _ in result:
                pass
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return 1000 * (time.process_time() - began)


def fixed_work(text: str = "word and " * 60_000) -> None:
    re.findall(r"[a-z]+ (?=and)", text)


class Machine:
    """How much slower the machine is than at its best: what others do at the same time."""

    def __init__(self) -> None:
        self.best = min(milliseconds(lambda _: fixed_work(), "") for _ in range(10))

    def slowness(self) -> float:
        now = min(milliseconds(lambda _: fixed_work(), "") for _ in range(3))
        self.best = min(self.best, now)
        return max(1.0, now / max(self.best, 0.1))


def worst(name: str, function: Callable[[str], Any], pieces: list[str], most: float) -> tuple[float, str]:
    """The longest time of a function and the piece that takes it."""
    slowest, by = 0.0, ""
    size = BOUNDED.get(name, (SIZE, ""))[0]
    for piece in pieces:
        text = piece * max(1, size // len(piece.encode("utf-8", "replace")))
        took = milliseconds(function, text)
        if took > max(slowest, most / 2):
            took = min([took, *(milliseconds(function, text) for _ in range(2))])
        if took > slowest:
            slowest, by = took, piece
        if slowest > 20 * most:
            break
    return slowest, by


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--gate", action="store_true", help=f"fail above {MOST_MS:g} ms")
    arguments.add_argument(
        "--only", nargs="+", metavar="NAME", help="functions whose names contain one of these"
    )
    arguments.add_argument("--write", action="store_true", help=f"write the table of {PAGE.name}")
    chosen = arguments.parse_args()
    os.chdir(tempfile.mkdtemp())
    os.environ["HOME"] = os.getcwd()
    known = readers()
    names = [name for name in known if not chosen.only or any(part in name for part in chosen.only)]
    own = {f"ringbolt.{name}": own_pieces(module) for name, module in modules()}
    machine = Machine()
    rows: list[tuple[float, str, str, float]] = []
    for name in sorted(names):
        slowness = machine.slowness()
        module = "ringbolt." + name.partition(":")[0].rpartition(".")[0]
        module = module if module in own else module.rpartition(".")[0]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            took, piece = worst(name, known[name], [*PIECES, *own.get(module, ())], MOST_MS)
        rows.append((took, name, piece, slowness))
        if took > MOST_MS * slowness:
            print(f"SLOW  {name:58} {took:9.1f} ms  {piece[:60]!a}", flush=True)
        if os.environ.get("VERBOSE"):
            print(name, round(took, 1), file=sys.stderr, flush=True)
    rows.sort(reverse=True)
    slow = [row for row in rows if row[0] > MOST_MS * row[3]]
    noise = max(row[3] for row in rows)
    print(f"\n{'function':58}  {'ms per 100 kB':>13}  worst string")
    for took, name, piece, _ in rows[:60]:
        print(f"{name:58}  {took:13.1f}  {piece[:50]!a}")
    print(f"\n{len(rows)} functions; the machine was up to {noise:.1f} times slower than at its best")
    print(f"GATE  {len(slow)} above {MOST_MS:g} ms" if slow else "GATE  all met")
    if chosen.write:
        write_table(rows, noise)
    return int(chosen.gate and bool(slow))


def write_table(rows: list[tuple[float, str, str, float]], noise: float) -> None:
    """Put the slowest functions into the page."""
    lines = [
        f"The 40 slowest of {len(rows)}; the machine was up to {noise:.1f} times slower than at its best.\n",
        "| Function | Worst string, repeated to 100 kB | ms |",
        "| --- | --- | ---: |",
    ]
    for took, name, piece, _ in rows[:40]:
        shown = ascii(piece[:40]).replace("|", "\\|").replace("`", "'")
        size = f" ({BOUNDED[name][0]:,} bytes, from `{BOUNDED[name][1]}`)" if name in BOUNDED else ""
        lines.append(f"| `{name}`{size} | `{shown}` | {took:.1f} |")
    page = PAGE.read_text(encoding="utf-8")
    begin, _, rest = page.partition(MEASURED)
    PAGE.write_text(
        f"{begin}{MEASURED}\n" + "\n".join(lines) + f"\n{ENDS}{rest.partition(ENDS)[2]}", encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
