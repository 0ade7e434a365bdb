"""Input and output of all commands: opening the memory, calling operations, results, errors, exit codes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from msgspec import convert

from ...ledger.access import find_task
from ...ledger.base import Base
from ...ledger.host_session import host_session
from ...model import rules
from ...model.capabilities import LOCAL, access_refused
from ...model.errors import Conflict, InvalidInput, NotAllowed, NotFound, RingboltError
from ...model.settings import Settings
from ...model.types import Pattern, Written, as_json
from ...opening import Opening

EXIT_CODES: dict[type[RingboltError], int] = {NotFound: 3, Conflict: 4, InvalidInput: 5, NotAllowed: 6}
FAILED, USAGE, INTERRUPTED = 1, 2, 130
# Limit for one text from standard input; the memory has stricter limits of its own.
MOST_INPUT = 64 << 20

Room = TypeVar("Room", bound=Base)

_NARROW = 10  # no column of a table becomes narrower
_READABLE = 24  # a column that is cut to less is hard to read
_MOST_NAMED = 1000  # tasks, the newest first, among which one is found by its name

_common: dict[str, Any] = {}


class WrongUsage(Exception):
    """Options that cannot be combined."""


def common_values() -> dict[str, Any]:
    """The common options of this call, wherever on the line they were."""
    return _common


def apply_common_options() -> None:
    """Let those common options take effect that concern this whole process and the ones that it starts."""
    if common_values().get("keep_secrets"):
        require_user("--keep-secrets")
        os.environ["RINGBOLT_KEEP_SECRETS"] = "on"


# --- calling operations -----------------------------------------------------------------------------


def open_memory(
    room: type[Room],
    *,
    create: bool = False,
    settings: Settings | None = None,
    clock: Callable[[], float] = time.time,
) -> Room:
    """Open the memory with the operations of one room, which loads faster than all of TaskMemory."""
    common = common_values()
    opened: Any = room if issubclass(room, Opening) else type(room.__name__, (Opening, room), {})
    is_user = speaks_as_user()
    memory = opened.open(
        common.get("store"),
        workspace=None if common.get("everywhere") else common.get("workspace", ""),
        session=common.get("session"),
        agent=common.get("agent"),
        channel="user" if is_user else "agent",
        settings=settings,
        create=create,
        clock=clock,
    )
    if not is_user:  # what removes or replaces records needs the user
        memory.grant = LOCAL.limited_to("write")
    if not memory.origin.session and (session := host_session(memory.store)):
        return memory.acting_as(session=session)
    return memory


def speaks_as_user() -> bool:
    """Whether a person runs this command, or a program says that it does so for one."""
    return bool(common_values().get("as_user")) or is_terminal(sys.stdin)


def require_user(command: str) -> None:
    """Raise unless the user runs this command."""
    if not speaks_as_user():
        raise access_refused(LOCAL.limited_to("write"), f"ringbolt {command}", "admin")


def call(
    room: type[Base],
    operation: str,
    arguments: Mapping[str, Any],
    *,
    create: bool = False,
    before: Callable[[Base, Mapping[str, Any]], None] | None = None,
    progress: str = "",
) -> Any:
    """Call an operation and return its result as JSON data; None arguments are left out.

    `before` is called first, with the memory and the arguments. `progress` is the title of a progress bar.
    """
    wanted = {key: value for key, value in arguments.items() if value is not None}
    opened = (
        opened_with_progress(room, progress, create=create) if progress else open_memory(room, create=create)
    )
    with opened as memory:
        if isinstance(task := wanted.get("task_id"), str):
            wanted["task_id"] = named_task(memory, task)
        if before is not None:
            before(memory, wanted)
        result = getattr(memory, operation)(**wanted)
        data = as_json(result)
        if isinstance(result, Written) and not wants_json():
            from .receipts import receipt  # which needs this module

            data["receipt"] = receipt(memory, data)
        return data


def task_option(positional: str | None = None) -> dict[str, Any]:
    """The argument `task_id`, from --task or a positional argument."""
    option = common_values().get("task")
    if positional and option and positional != option:
        raise WrongUsage("The task is named twice.")
    return {"task_id": positional or option}


def named_task(memory: Base, name: str) -> str:
    """The id of the task with an id, a prefix of it, or words of its name; open tasks first."""
    try:
        return memory.store.read(lambda tx: find_task(memory, tx, name))["task_id"]
    except NotFound as error:
        words = name.casefold().split()
        if error.code != "task_not_found" or not words:
            raise
        for statuses in (rules.OPEN, rules.ENDED):
            rows = memory.store.read(
                lambda tx, wanted=statuses: tx.cards(wanted, _MOST_NAMED, workspace=memory.workspace)
            )
            found = [row for row in rows if all(word in row["name"].casefold() for word in words)]
            if len(found) == 1:
                return found[0]["task_id"]
            if found:
                names = ", ".join(f"{row['task_id']} ({row['name'][:40]})" for row in found[:5])
                raise Conflict(
                    "ambiguous_task",
                    f"{len(found)} tasks have {name!r} in their name: {names}.",
                    "Use an id, or more words.",
                    candidates=[row["task_id"] for row in found],
                ) from None
        raise


def every_workspace(arguments: dict[str, Any]) -> None:
    """Pass --everywhere to an operation that has an argument `workspace`."""
    if common_values().get("everywhere"):
        arguments["workspace"] = None


# --- input ------------------------------------------------------------------------------------------


def text_of(value: str | None) -> str | None:
    """A text of the command line; `-` reads standard input, without its last newline."""
    if value != "-":
        return value
    content = sys.stdin.buffer.read(MOST_INPUT + 1)
    if not content.strip():
        raise InvalidInput(
            "invalid_argument", "Standard input is empty: nothing was recorded.", "Send a text."
        )
    if len(content) > MOST_INPUT:
        raise InvalidInput("too_large", "Standard input has more than 64 MB.", "Send less.")
    try:
        return content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "invalid_text",
            f"Standard input is not UTF-8: {error.reason} at byte {error.start}.",
            "Convert it.",
        ) from None


def json_of(name: str, value: str | None) -> Any:
    """A JSON value of the command line; `-` reads standard input."""
    if value is None:
        return None
    from ...packet.encode import read_json  # slow to load: many patterns

    try:
        return read_json(text_of(value) or "")
    except ValueError as error:
        raise InvalidInput(
            "invalid_json", f"{name} is not valid JSON: {error}.", "Put texts in quotation marks."
        ) from None


def moment(value: str | None) -> str | int | None:
    """A point in a task's history: the number of an event, or a time."""
    return int(value) if value and value.isascii() and value.isdecimal() else value


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


# --- output -----------------------------------------------------------------------------------------


def echo(text: str, *, err: bool = False) -> None:
    """Print a line at once."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None:
        stream.write(f"{text}\n")
        stream.flush()


def wants_json() -> bool:
    """Whether the caller passed --json."""
    return bool(common_values().get("json"))


def emit(data: Any) -> None:
    """Print a result for programs: one line, in plain ASCII."""
    echo(json.dumps({"schema_version": 1, "data": data}))


def answer(data: Any, show: Callable[[Any], None]) -> None:
    """Print a result: as JSON, or with `show` for people."""
    if wants_json():
        emit(data)
    else:
        show(data)


def say(text: str, *, err: bool = False) -> None:
    """Print a text of several lines; control characters are shown by number."""
    echo("\n".join(map(line, text.split("\n"))), err=err)


def line(text: object) -> str:
    """Any text as part of one line of output."""
    text = str(text)
    if text.isascii() and text.isprintable():
        return text
    from ...packet.encode import terminal  # slow to load: many patterns

    return terminal(text).replace("\n", "\\n")


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], optional: Sequence[str] = ()) -> None:
    """Print a table in plain columns.

    On a terminal, long cells are cut so that each row fits on a line. On a narrow one, the `optional` columns
    are left out first, in their order, as long as others would become hard to read.
    """
    cells = [[line(cell) for cell in row] for row in (headings, *rows)]
    widths = _widths(cells)
    drawn = is_terminal(sys.stdout)
    if drawn:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
        for heading in optional:
            if sum(min(width, _READABLE) + 2 for width in widths) - 2 > columns:
                place = cells[0].index(heading)
                cells = [[cell for at, cell in enumerate(row) if at != place] for row in cells]
                widths = _widths(cells)
        room = columns - 2 * (len(widths) - 1)
        while sum(widths) > room and max(widths) > _NARROW:
            widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(cells):
        fitted = (
            f"{cell if len(cell) <= width else cell[: width - 1] + '…':{width}}"
            for cell, width in zip(row, widths, strict=True)
        )
        text = "  ".join(fitted).rstrip()
        is_bold = drawn and number == 0 and not os.environ.get("NO_COLOR")
        echo(f"\x1b[1m{text}\x1b[0m" if is_bold else text)


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def written(data: Mapping[str, Any]) -> None:
    """Print the result of a write: what was recorded, and where the task stands now."""
    for text in data["receipt"]:
        echo(text)
    for move in data["moved"]:
        echo(f"step {move['number']} is {move['status']}: {line(move['title'])}")
    for question in data["asks"]:
        warn(question)
    if data["token"] is not None:
        until = f" until {data['expires_at']}" if data["expires_at"] else ""
        echo(f"token {data['token']}{until}")
    for warning in data["warnings"]:
        warn(warning)
    for pattern in data["patterns"]:
        warn(str(convert(pattern, Pattern)))
    if data["answer"]:
        say(data["answer"]["text"])


def warn(text: str) -> None:
    """Print a remark on standard error."""
    say(f"ringbolt: {_in_commands(text)}", err=True)


def _in_commands(text: str) -> str:
    """A text of an operation in the words of the command line."""
    if "_" not in text:
        return text
    from .hints import in_commands  # needed only for an error or a remark

    return in_commands(text)


@contextmanager
def progress_bar(title: str) -> Generator[Callable[[int, int], None] | None]:
    """A function to report progress with the count and the total; None unless standard error is a
    terminal."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from .rich_console import draw_bar  # rich is slow to load

    with draw_bar(title) as report:
        yield report


@contextmanager
def opened_with_progress(room: type[Room], title: str, *, create: bool = False) -> Generator[Room]:
    """Open the memory for long work, with a progress bar."""
    with open_memory(room, create=create) as memory, progress_bar(title) as memory.progress:
        yield memory


# --- errors -----------------------------------------------------------------------------------------


def run_to_end(run: Callable[[], int], *, plain: bool) -> NoReturn:
    """Run a command and end the process with its exit code; errors are printed, not raised."""
    _common.clear()
    _never_fail_to_print()
    try:
        code = _exit_code(run, plain)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe. Avoid the same error when Python closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    sys.exit(code)


def _exit_code(run: Callable[[], int], plain: bool) -> int:
    try:
        return run()
    except RingboltError as error:
        report_error(error.code, error.message, error.hint, error.details, plain=plain)
        return EXIT_CODES.get(type(error), FAILED)
    except WrongUsage as error:
        report_error("usage", str(error), "", {}, plain=plain)
        return USAGE
    except KeyboardInterrupt:
        echo("", err=True)
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))


def _never_fail_to_print() -> None:
    """Escape characters that the encoding of a stream lacks."""
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")


def report_error(code: str, message: str, hint: str, details: Mapping[str, object], *, plain: bool) -> None:
    """Print an error: two lines on standard error, or JSON on standard output if `plain`."""
    if plain:
        error = {"code": code, "message": message, "hint": hint, "details": details}
        echo(json.dumps({"schema_version": 1, "error": error}))
        return
    say(f"ringbolt: {message} [{code}]", err=True)
    if hint:
        say(f"  {_in_commands(hint)}", err=True)


def leave(code: int) -> NoReturn:
    """End with an exit code."""
    raise SystemExit(code)
