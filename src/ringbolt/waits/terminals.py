"""What stands in a terminal: the panes of tmux, which keeps what they have shown."""

from __future__ import annotations

from ..system.commands import run

MOST_LINES = 2000
MOST_BYTES = 1 << 20
_ASKED = "#{pane_pid} #{history_size} #{history_limit} #{cursor_y}"


def seen(pane: str, seconds: float) -> tuple[list[str], list[int]]:
    """The lines of a pane from the first that it had on, and where its output ends: the number of its
    process, and that of the line.

    What tmux does not keep any more are empty lines. Once it forgets lines there is no telling how many, and
    only what the pane shows now is there, as new. An OSError says why nothing is to be seen.
    """
    numbers = _tmux(["display-message", "-p", "-t", pane, _ASKED], seconds).split()
    if len(numbers) != 4 or not all(number.isdecimal() for number in numbers):
        raise OSError("tmux has no such pane")
    pid, above, most, cursor = map(int, numbers)
    if above >= most:
        return _lines(pane, 0, seconds), [pid, 0]
    kept = min(above, MOST_LINES)
    return [""] * (above - kept) + _lines(pane, kept, seconds), [pid, above + cursor]


def _lines(pane: str, above: int, seconds: float) -> list[str]:
    text = _tmux(["capture-pane", "-p", "-t", pane, "-S", f"-{above}"], seconds)
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _tmux(words: list[str], seconds: float) -> str:
    try:
        code, output = run(["tmux", *words], None, seconds, MOST_BYTES)
    except FileNotFoundError:
        raise OSError("tmux is not installed") from None
    if code:
        raise OSError(f"tmux: {output[:100].decode('utf-8', 'replace').strip()}")
    return output.decode("utf-8", "replace")
