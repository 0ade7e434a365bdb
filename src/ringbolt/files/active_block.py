"""The blocks about active tasks for a prompt: live tasks, stale tasks, and task hygiene.

The blocks share one budget of tokens. They repeat recorded text; every row names its source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model import validate
from ..model.lazy_regex import lazy_regex
from ..model.results import ActiveRow, Projection
from ..packet import encode, tokens
from .active_tasks import Selection, newest_first, real_next, select

Count = Callable[[str], int]

RESERVED = 0.25  # of the budget, for the hygiene block on a heartbeat
_MOST_LABEL = 80
_MOST_STATUS = 40
_MOST_TITLE = 160
_MOST_NEXT = 240
_WORDS = lazy_regex(r"\w+")
_PREFIX = 24
_SOURCES = {"u": "user", "a": "agent", "t": "tool", "w": "web", "i": "import", "s": "system", "?": "unknown"}
_CONSIDER = (
    "Consider: close finished work with active_tasks_complete; if work continues, active_task_checkpoint"
    " marks it as fresh; active_task_propose_goal proposes to the user to make a goal of it."
)


# What only we write in a row: `(active, u)` says who its text is from, and `- [` begins the next one.
_FORGED = lazy_regex(r"\((?=[^()]{0,80},\s?[a-z?]\))|(?<=-\s)\[|(?<=-)\[")


def inject(
    rows: Sequence[ActiveRow],
    *,
    projection: Projection | None = None,
    user_text: str = "",
    session: str = "",
    budget: int = 500,
    max_tasks: int = 0,
    threshold_minutes: int = 1440,
    heartbeat: bool = False,
    file: str = "",
    now: float,
    count: Count = tokens.estimate,
) -> tuple[str, Selection, int]:
    """The blocks about active tasks within a token budget, the selected rows, and the number of rows shown.

    `file` is the name of the file that lists them, if there is one.
    """
    projection = projection or Projection()
    selection = select(rows, projection.replace(max_rows=0))
    most = max_tasks or projection.max_rows or len(rows)
    asked = _Asked(user_text, session)
    live = sorted(selection.active, key=lambda row: (-asked.relevance(row), *newest_first(row)))
    gone = sorted(selection.stale, key=newest_first)
    hygiene = _hygiene(rows, selection.collapsed, len(selection.suppressed), gone) if heartbeat else ""
    kept = int(budget * RESERVED) if hygiene else 0
    heading = f"In-progress tasks from {file}:" if file else "In-progress tasks of this workspace:"
    active, shown = _fitted(live, most, budget - kept, count, "active-tasks", heading, _live_lines)
    heading = f"No update for more than {_period(threshold_minutes * 60)}:"
    stale, warned = _fitted(
        gone, most, budget - kept - count(active), count, "stale-tasks", heading,
        lambda row: _stale_lines(row, now), _CONSIDER,
    )  # fmt: skip
    text = active + stale
    if count(text) > budget:  # a tokenizer may count more for the whole than for its parts
        text, warned = active, 0
    if hygiene and count(text + hygiene) <= budget:
        text += hygiene
    return text, selection, shown + warned


# --- order ------------------------------------------------------------------------------------------


class _Asked:
    """The user's message, prepared for comparison with rows."""

    def __init__(self, text: str, session: str) -> None:
        self._text = text.casefold()
        self._words = set(_WORDS.findall(self._text))
        self._session = session

    def relevance(self, row: ActiveRow) -> int:
        """How relevant a row is to the user's message and the session."""
        label, title = row.label.casefold().strip(), row.title.casefold().strip()
        points = 4 if self._session and self._session in (row.subagent, row.session) else 0
        if not self._text:
            return points
        if len(label) > 1 and label in self._text:
            points += 3
        prefix = title[:_PREFIX].rstrip()
        if len(prefix) > 3 and prefix in self._text:
            points += 2
        if any(len(word) > 2 and word in self._words for word in _WORDS.findall(label.replace("_", " "))):
            points += 1
        return points


# --- blocks -----------------------------------------------------------------------------------------


def _fitted(
    rows: Sequence[ActiveRow],
    most: int,
    budget: int,
    count: Count,
    tag: str,
    heading: str,
    describe: Callable[[ActiveRow], list[str]],
    closing: str = "",
) -> tuple[str, int]:
    """A block with as many rows as fit, in order, each in full or in one line; and the number of rows."""
    lines: list[str] = []
    shown: list[ActiveRow] = []
    text = ""
    for row in rows[:most]:
        described = describe(row)
        # The first line alone identifies the task; the rest can be looked up.
        for part in (described, described[:1]):
            left = len(rows) - len(shown) - 1
            tried = _block(tag, heading, [*shown, row], [*lines, *part], left, closing)
            if count(tried) <= budget:
                break
        else:
            break
        lines += part
        shown.append(row)
        text = tried
    return text, len(shown)


def _block(
    tag: str, heading: str, rows: Sequence[ActiveRow], lines: Sequence[str], left: int, closing: str
) -> str:
    letters = sorted({encode.CLASS[row.channel] for row in rows})
    sources = ", ".join(f"{letter} = {_SOURCES[letter]}" for letter in letters)
    parts = [f"<{tag}>", heading, f"(recorded text; source: {sources})", *lines]
    if left:
        parts.append(f"({left} more)")
    if closing:
        parts.append(closing)
    return "\n".join([*parts, f"</{tag}>", ""])


def _first_line(row: ActiveRow) -> str:
    label = _short(row.label, _MOST_LABEL).replace("]", "&#93;")
    status = _short(row.life or row.status, _MOST_STATUS)
    return f"- [{label}] {_short(row.title, _MOST_TITLE)} ({status}, {encode.CLASS[row.channel]})"


def _short(text: str, most: int) -> str:
    """A recorded text on one line that looks neither like the beginning of a row nor like the end of one."""
    plain = encode.prompt(encode.clip(encode.one_line(text), most))
    return _FORGED.sub(lambda found: f"&#{ord(found[0])};", plain)


def _live_lines(row: ActiveRow) -> list[str]:
    lines = [_first_line(row)]
    if following := real_next(row):
        lines.append(f"  Next: {_short(following, _MOST_NEXT)}")
    if row.unknown:
        lines.append(f"  Begun: {_short(row.unknown, _MOST_NEXT)}")
    if row.subagent:
        lines.append(f"  Subagent: {_short(row.subagent, _MOST_LABEL)}")
    return lines


def _stale_lines(row: ActiveRow, now: float) -> list[str]:
    return [f"{_first_line(row)}: {age(row.updated, now)}"]


def age(updated: str | None, now: float) -> str:
    """The approximate time since the last update."""
    if updated is None:
        return "last update unknown"
    seconds = now - validate.seconds_of(updated)
    return f"last update {_period(seconds) if seconds >= 3_600 else 'less than an hour'} ago"


def _period(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= 2 * length or (unit == "hour" and seconds >= length):
            number = int(seconds // length)
            return f"{number} {unit}s" if number > 1 else f"1 {unit}"
    return f"{int(seconds // 60)} minutes"


def _hygiene(rows: Sequence[ActiveRow], collapsed: int, suppressed: int, stale: Sequence[ActiveRow]) -> str:
    """The number of tasks that need tidying, by reason; empty if none do."""
    open_rows = [row for row in rows if not row.completed]
    reasons = {
        "stale": len(stale),
        "with an unknown time of update": sum(row.updated is None for row in open_rows),
        "without a next step": sum(real_next(row) is None for row in open_rows),
        "failed": sum(row.status.casefold() == "failed" for row in open_rows),
        "duplicates": collapsed,
        "placeholders": suppressed,
    }
    counts = ", ".join(f"{number} {what}" for what, number in reasons.items() if number)
    if not counts:
        return ""
    return f"<task-hygiene>\nOf {len(open_rows)} open tasks: {counts}.\n</task-hygiene>\n"
