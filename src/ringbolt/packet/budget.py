"""Filling a token budget: rows in several lengths, chosen by priority, printed in the order of their parts.

A row has a short form and perhaps longer ones. Forms are taken in order of priority while they fit, so that
what matters most is there at any budget and grows with it. The heading of a part counts what it left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Count = Callable[[str], int]

Form = Callable[[], str]

# If this many forms in a row did not fit, the rest will not either.
GIVE_UP_AFTER = 60
# No row fits into fewer tokens.
SMALLEST = 4


class Row:
    """One thing to show: `forms` from short to long, each with its priority (smaller is sooner)."""

    __slots__ = ("forms", "part", "taken", "text")

    def __init__(self, *forms: tuple[float, Form]) -> None:
        self.forms = forms
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
    wanted = [
        (priority, level, row)
        for part in parts
        for row in part.rows
        for level, (priority, _) in enumerate(row.forms)
    ]
    wanted.sort(key=lambda form: form[0])  # stable: equals stay in the order of the parts and rows
    # Longer forms replace shorter ones of the same row, so a form costs only what it adds (`more`). A row
    # whose short form did not fit gets no longer one. The first row of a part also pays for its heading, with
    # the counts at their longest.
    costs: dict[int, int] = {}
    opened: set[int] = set()
    left, misses = budget, 0
    for _, level, row in wanted:
        part = row.part
        if part is None or row.taken < level - 1:
            continue
        text = row.forms[level][1]()
        if not text:  # nothing to add to what is shown already
            continue
        if level and text == row.text:
            row.taken = level
            continue
        cost = count(f"{text}\n" if part.glue == "\n" else f"{part.glue}{text}")
        more = cost - costs.get(id(row), 0)
        if id(part) not in opened and part.heading:
            more += count(f"{part.heading(part.total, part.total + 1)}\n") + (part.glue != "\n")
        if more > left:
            misses += 1
            if misses > GIVE_UP_AFTER or left < SMALLEST:
                break
            continue
        misses = 0
        left -= more
        opened.add(id(part))
        costs[id(row)] = cost
        row.taken, row.text = level, text
    return "".join(part.text() for part in parts)
