"""The text of a terminal: a pane of tmux, with the history that tmux keeps."""

from __future__ import annotations

from ..system.commands import run
from ..system.os_calls import IS_WINDOWS

MOST_LINES = 2000
MOST_BYTES = 1 << 20
_FIELDS = "#{pane_pid} #{history_size} #{history_limit} #{cursor_y}"


def pane_lines(pane: str, seconds: float) -> tuple[list[str], list[int]]:
    """The lines of a pane since it was opened, and the end of its output: [process id, line number].

    Lines older than MOST_LINES are empty. Once the history of tmux is full, lines can no longer be counted;
    then only the visible lines are returned, as if the pane were new. OSError if the pane cannot be read.
    """
    numbers = _tmux(["display-message", "-p", "-t", pane, _FIELDS], seconds).split()
    if len(numbers) != 4 or not all(number.isdecimal() for number in numbers):
        raise OSError("no such pane in tmux")
    pid, above, most, cursor = map(int, numbers)
    if above >= most:
        return _lines(pane, 0, seconds), [pid, 0]
    kept = min(above, MOST_LINES)
    return [""] * (above - kept) + _lines(pane, kept, seconds), [pid, above + cursor]


def _lines(pane: str, above: int, seconds: float) -> list[str]:
    text = _tmux(["capture-pane", "-p", "-t", pane, "-S", f"-{above}"], seconds)
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _tmux(arguments: list[str], seconds: float) -> str:
    try:
        code, output = run(["tmux", *arguments], None, seconds, MOST_BYTES)
    except FileNotFoundError:
        there = "Windows has no tmux: run both in WSL" if IS_WINDOWS else "tmux is not installed"
        raise OSError(there) from None
    if code:
        raise OSError(f"tmux: {output[:100].decode('utf-8', 'replace').strip()}")
    return output.decode("utf-8", "replace")
