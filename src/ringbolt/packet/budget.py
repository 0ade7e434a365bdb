"""Filling a budget: rows in several lengths, taken by priority, set in the order of their parts.

A row may have a short form and longer ones. Forms are taken in the order of their priority as long as they
fit, so that what matters most is there at any budget and grows with it. What a part could not show is counted
in its heading.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Count = Callable[[str], int]

Form = Callable[[], str]


# After so many forms in a row that did not fit, the rest will not either.
GIVE_UP_AFTER = 60
# So few tokens hold no row.
SMALLEST = 4


class Row:
    """One thing to show: `forms` from short to long, each with the priority at which it is wanted."""

    __slots__ = ("forms", "part", "taken", "text")

    def __init__(self, *forms: tuple[float, Form]) -> None:
        self.forms = forms
        self.part: Part | None = None
        self.taken = -1
        self.text = ""


class Part:
    """Rows under a heading. `total` counts what there is; `heading(shown, total)` says so.

    `glue` stands between two rows: they have lines of their own, or share one.
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
        """The rows that were taken, in order."""
        return [row.text for row in self.rows if row.taken >= 0]

    def left_out(self) -> int:
        """How many there are beyond those."""
        return self.total - len(self.shown())

    def text(self) -> str:
        """The part as it is set: nothing if no row was taken."""
        taken = self.shown()
        if not taken:
            return ""
        heading = f"{self.heading(len(taken), self.total)}\n" if self.heading else ""
        return f"{heading}{self.glue.join(taken)}\n"


def fill(parts: Sequence[Part], budget: int, count: Count) -> str:
    """The text of all parts within a budget of tokens.

    Lines are counted one by one, each with its line end: together they never have more tokens than their sum.
    """
    wanted = [
        (priority, level, row)
        for part in parts
        for row in part.rows
        for level, (priority, _) in enumerate(row.forms)
    ]
    wanted.sort(key=lambda form: form[0])  # stable: equals stay in the order of the parts and rows
    costs: dict[int, int] = {}
    opened: set[int] = set()
    left, misses = budget, 0
    for _, level, row in wanted:
        part = row.part
        if part is None or row.taken < level - 1:
            continue
        text = row.forms[level][1]()
        if not text:  # it has nothing to say beside what is there already
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
