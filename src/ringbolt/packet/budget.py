"""Filling a token budget: rows in several lengths, chosen by priority, printed in the order of their parts.

A row has a short form and perhaps longer ones. Forms are taken in order of priority while they fit, so that
what matters most is there at any budget and grows with it. The heading of a part counts what it left out.

What must be there has a fixed priority. The bulk has a worth instead: how many tokens it deserves. The less
such a row costs for its worth, the sooner it is taken, and the first row of a part pays for the heading.

A row may name the words that it is there for: it is left out if the rows taken before it have them already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from ..model.lazy_regex import lazy_regex

Count = Callable[[str], int]

Form = Callable[[], str]

# If this many forms in a row did not fit, the rest will not either.
GIVE_UP_AFTER = 60
# No row fits into fewer tokens.
SMALLEST = 4
# The priority of a row with a worth that costs nothing; one that costs what it is worth comes 1 later.
MUSTS = 4.5


# Fewer characters can be in another row by chance.
SHORTEST_TOLD = 20
_NO_WORD = lazy_regex(r"\W+")


class Worth(float):
    """How many tokens a form deserves; its priority follows from what it costs."""

    def priority(self, cost: int) -> float:
        """The priority at a cost in tokens."""
        return MUSTS + cost / self if self > 0 else float("inf")


class Row:
    """One thing to show: `forms` from short to long, each with its priority (smaller is sooner) or worth.

    `tells` are the words without which it is not worth showing, if there are any.
    """

    __slots__ = ("forms", "part", "taken", "tells", "text")

    def __init__(self, *forms: tuple[float, Form], tells: str = "") -> None:
        self.forms = forms
        self.tells = tells
        self.part: Part | None = None
        self.taken = -1
        self.text = ""


class Part:
    """Rows under a heading. `total` counts all that exist, for `heading(shown, total)`.

    `glue` joins two rows, on lines of their own or on one line.
    """

    def __init__(
        self,
        name: str,
        heading: Callable[[int, int], str] | None,
        rows: Sequence[Row],
        total: int | None = None,
        glue: str = "\n",
    ) -> None:
        self.name = name
        self.heading = heading
        self.rows = rows
        self.total = len(rows) if total is None else total
        self.glue = glue
        for row in rows:
            row.part = self

    def shown(self) -> list[str]:
        """The texts of the chosen rows, in order."""
        return [row.text for row in self.rows if row.taken >= 0]

    def left_out(self) -> int:
        """How many rows are not shown."""
        return self.total - len(self.shown())

    def text(self) -> str:
        """The printed part; empty if no row was chosen."""
        taken = self.shown()
        if not taken:
            return ""
        heading = f"{self.heading(len(taken), self.total)}\n" if self.heading else ""
        return f"{heading}{self.glue.join(taken)}\n"


def fill(parts: Sequence[Part], budget: int, count: Count) -> str:
    """The text of all parts within a token budget.

    Lines are counted one by one, each with its line end: together they have no more tokens than the sum.
    """
    filling = _Filling(parts, budget, count)
    filling.run()
    return "".join(part.text() for part in parts)


class _Filling:
    """The rows that wait for room, the soonest first. Texts are made only when their turn comes.

    Longer forms replace shorter ones of the same row, so a form costs only what it adds. A row whose short
    form did not fit gets no longer one.
    """

    def __init__(self, parts: Sequence[Part], budget: int, count: Count) -> None:
        self._left, self._count = budget, count
        self._costs: dict[int, int] = {}  # by row
        self._opened: set[int] = set()  # parts whose heading is paid for
        self._texts: dict[tuple[int, int], tuple[str, int]] = {}
        self._told_rows: set[int] = set()
        self._told = ""  # all that the taken rows say, in plain words
        rows = [row for part in parts for row in part.rows]
        # The number keeps equals in the order of the parts and rows.
        self._waiting = [(_soonest(row, 0), number, 0, row) for number, row in enumerate(rows) if row.forms]
        heapify(self._waiting)

    def run(self) -> None:
        """Take forms until nothing more fits."""
        misses = 0
        while self._waiting and misses <= GIVE_UP_AFTER and self._left >= SMALLEST:
            priority, number, level, row = heappop(self._waiting)
            part = row.part
            if part is None or row.taken >= level or id(row) in self._told_rows:
                continue
            if not level and self._is_told(row):
                part.total -= 1  # it is not left out
                self._told_rows.add(id(row))  # it may wait more than once
                continue
            text, cost = self._form(row, level)
            if not text:  # nothing to add to what is shown already
                continue
            more = cost - self._costs.get(id(row), 0)
            if id(part) not in self._opened and part.heading:
                # With the counts at their longest.
                more += self._count(f"{part.heading(part.total, part.total + 1)}\n") + (part.glue != "\n")
            wanted = row.forms[level][0]
            if isinstance(wanted, Worth) and (now := wanted.priority(more)) > priority:
                heappush(self._waiting, (now, number, level, row))  # it costs more than was thought
                continue
            if more > self._left:
                misses += 1
                continue
            misses = 0
            self._take(row, level, text, cost, more, number)

    def _take(self, row: Row, level: int, text: str, cost: int, more: int, number: int) -> None:
        part = row.part
        self._left -= more
        self._costs[id(row)] = cost
        row.taken, row.text = level, text
        self._told += f" {_plain(text)}"
        if level + 1 < len(row.forms):
            heappush(self._waiting, (_soonest(row, level + 1), number, level + 1, row))
        if part is not None and id(part) not in self._opened:
            self._opened.add(id(part))
            # The others of this part were reckoned with the heading: look at them again.
            for place, other in enumerate(part.rows):
                if other.taken < 0 and other.forms and isinstance(other.forms[0][0], Worth):
                    first = number - part.rows.index(row)
                    heappush(self._waiting, (_soonest(other, 0), first + place, 0, other))

    def _is_told(self, row: Row) -> bool:
        words = _plain(row.tells)
        return len(words) >= SHORTEST_TOLD and words in self._told

    def _form(self, row: Row, level: int) -> tuple[str, int]:
        key = id(row), level
        if key not in self._texts:
            text = row.forms[level][1]()
            glue = row.part.glue if row.part else "\n"
            self._texts[key] = text, self._count(f"{text}\n" if glue == "\n" else f"{glue}{text}")
        return self._texts[key]


def _soonest(row: Row, level: int) -> float:
    wanted = row.forms[level][0]
    return wanted.priority(SMALLEST) if isinstance(wanted, Worth) else wanted


def _plain(text: str) -> str:
    """The words of a text, lower case, with one space between them."""
    return _NO_WORD.sub(" ", text.lower()).strip()
