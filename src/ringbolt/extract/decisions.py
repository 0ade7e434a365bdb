"""Decisions that the layout of a text announces: under a heading, after a label, or in a table.

What sentences decide is read by `message_reader`. Questions, options that are only listed, quoted words and
code do not count, and neither do labels of other things ("Scope:", "Concurrency:").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..signals.phrases import is_question
from ..signals.text_layout import Line, cells, masked, plain
from .slots import MOST_CHOICE, MOST_REASON, split_choice

MOST_DECISIONS = 20  # of one text


class Decided(Value, frozen=True, kw_only=True):
    """A stated decision: the choice, its reason, what it was preferred to, and how sure the reading is."""

    choice: str
    reason: str = ""
    instead: str = ""
    title: str = ""
    confidence: float = 0.8
    line: int = 0  # number of the line it is in


_LABEL = lazy_regex(r"\W*([A-Za-z][\w /&'-]{1,40}?)\**\s*[:—–-]\**\s+(?=\S)")
_BOLD = lazy_regex(r"\*\*([^*]{2,300}?)\*\*(:?)\s*")
_TAGS = lazy_regex(r"(?:\[[^\]]{1,40}\]:?\s*)+")
_BRACKET = lazy_regex(r"\([^)]{0,60}\)|(?<!\d)\d{1,6}[.)] ")

# The words of headings. A heading announces decisions if its words are of these lists only and one decides.
_DECIDE = frozenset("decision decisions choices decided".split())
_BESIDE = frozenset(
    "key main design architectural architecture technical implementation important other final our the new my"
    " all notable made log taken record records so far summary and with rationale reasons reason reasoning"
    " why here in this phase plan session step for & user".split()
)
_OPEN = frozenset(
    "open pending needed required remaining outstanding future unresolved make point points".split()
)
_NOTHING = frozenset("none n/a na nothing tbd whether if how what why which when where who".split())
_SAYS_CHOICE = frozenset("decision decided chosen choice".split())
_SAYS_REASON = frozenset("rationale reason reasons reasoning why because justification".split())
_OTHER = frozenset(
    "option options alternative alternatives considered context consequence consequences trade-off trade-offs"
    " tradeoff tradeoffs status date impact risk risks note notes file files source pros cons question"
    " problem phase outcome made scope concurrency tests".split()
)
_ALTERNATIVES = frozenset("alternative alternatives option options instead rejected considered".split())


def decisions(lines: Iterable[Line]) -> list[Decided]:
    """The decisions that the layout of a text announces, in order."""
    reader = _Reader()
    for number, line in enumerate(lines):
        if line.kind not in ("blank", "code") and len(reader.found) < MOST_DECISIONS:
            reader.read(line, number)
    reader.settle()
    found = {one.choice: one for one in reversed(reader.found) if len(one.choice) >= 4}
    return list(reversed(found.values()))[:MOST_DECISIONS]


class _Reader:
    """Reads a text line by line, keeping track of the section and of a decision whose reason may follow."""

    def __init__(self) -> None:
        self.found: list[Decided] = []
        self._inside = 0  # level of the heading that announced decisions, 0 outside
        self._pending: Decided | None = None  # a decision whose reason may follow
        self._header: list[str] | None = None  # of the current table
        self._number = 0

    def settle(self) -> None:
        """Keep the decision that was pending."""
        if self._pending:
            self.found.append(self._pending)
            self._pending = None

    def read(self, line: Line, number: int) -> None:
        self._number = number
        if line.kind != "row":
            self._header = None
        if line.kind in ("heading", "lead"):
            self._enter(line)
        elif line.kind == "row":
            self._header, decided = _row(line, self._header, bool(self._inside))
            self.found += [decided.replace(line=number)] if decided else []
        elif not self._reasons(line):
            self._decide(line)

    def _enter(self, line: Line) -> None:
        """A heading can begin or end a section about decisions, or state one itself."""
        self.settle()
        below = self._inside and (line.kind == "lead" or line.depth > self._inside)
        if announces_decisions(line.text):
            self._inside = line.depth if line.kind == "heading" else 7
            return
        if not below:
            self._inside = 0
        label, rest = _labelled(line.text)
        explicit = _SAYS_CHOICE.intersection(label)
        if line.kind == "heading" and (
            explicit or (below and not _OTHER.intersection(label or _words(line.text)[:1]))
        ):
            self._pending = self._checked(rest if explicit else line.text, 0.8)

    def _reasons(self, line: Line) -> bool:
        """Whether a line belongs to the decision before it, as its reason or a detail."""
        if not self._pending:
            return False
        label, rest = _labelled(line.text)
        if _SAYS_REASON.intersection(label):
            self._pending = self._pending.replace(reason=plain(rest, MOST_REASON))
            self.settle()
            return True
        if line.kind == "prose" and self._inside and not _is_listed(line) and not _OTHER.intersection(label):
            if not self._pending.reason:
                self._pending = self._pending.replace(reason=plain(line.text, MOST_REASON))
            return True
        return line.depth > 0

    def _decide(self, line: Line) -> None:
        self.settle()
        label, rest = _labelled(line.text)
        if _SAYS_CHOICE.intersection(label):
            self._pending = self._checked(rest, 0.9)
        elif self._inside and _is_listed(line) and line.depth < 4 and not _OTHER.intersection(label[:1]):
            self._pending = self._checked(line.text, 0.9)

    def _checked(self, text: str, confidence: float) -> Decided | None:
        if is_question(text) or _says_nothing(_words(text)):
            return None
        text = _TAGS.sub("", text, count=1) if text.startswith("[") else text
        bold = _BOLD.match(text)
        if bold and len(rest := text[bold.end() :].lstrip(" :—–-.")) > 3:
            choice, reason, instead = plain(bold[1], MOST_CHOICE), plain(rest, MOST_REASON), ""
        else:
            split = split_choice(text)
            choice, reason, instead = split.choice, split.reason, split.instead
        return Decided(
            choice=choice.rstrip(".:;,- "),
            reason=reason,
            instead=instead,
            confidence=confidence,
            line=self._number,
        )


def _says_nothing(words: Sequence[str]) -> bool:
    """Whether a text says that there is no decision: "None", "no decisions yet"; "no new table" is one."""
    first, following = words[:1], words[1:3]
    return bool(_NOTHING.intersection(first)) or (
        bool({"no", "not"}.intersection(first))
        and (
            len(words) < 3 or bool((_DECIDE | _OPEN | {"yet", "major", "applicable"}).intersection(following))
        )
    )


def announces_decisions(heading: str) -> bool:
    """Whether a heading says that decisions follow: "Key decisions", "Decisions made in this phase"."""
    words = _words(_BRACKET.sub(" ", heading))
    return (
        bool(_DECIDE.intersection(words))
        and not _OPEN.intersection(words)
        and all(word in _DECIDE or word in _BESIDE or word.isdecimal() for word in words)
    )


def _words(text: str) -> list[str]:
    return [
        word
        for raw in text.lower().replace("key-", "key ").split()
        if (word := raw.strip("*#_:.,;—–-()[]🔑📋✅⚖️🧭📝"))
    ]


def _labelled(text: str) -> tuple[list[str], str]:
    """The words of the label that a line begins with, and the text after it; code and quotations have
    none."""
    found = _LABEL.match(masked(text))
    return (_words(found[1]), text[found.end() :]) if found else ([], text)


def _is_listed(line: Line) -> bool:
    return line.kind == "item" or _BOLD.match(line.text) is not None


def _row(line: Line, header: list[str] | None, inside: bool) -> tuple[list[str] | None, Decided | None]:
    """The header of the row's table, and the decision in the row."""
    columns = cells(line.text)
    if header is None:
        return columns, None
    if all(not cell.strip(":- ") for cell in columns):
        return header, None
    choice = _column(header, _SAYS_CHOICE | {"selected"})
    reason = _column(header, _SAYS_REASON)
    if choice is None or (reason is None and not inside) or len(columns) <= max(choice, reason or 0):
        return header, None
    before = columns[0] if choice else ""
    if _says_nothing(_words(columns[choice])) or is_question(columns[choice]):
        return header, None
    found = Decided(
        choice=plain(columns[choice], MOST_CHOICE),
        reason=plain(columns[reason], MOST_REASON) if reason is not None else "",
        title="" if before.strip("# ").isdecimal() else plain(before, 120),
        confidence=0.9,
    )
    other = _column(header, _ALTERNATIVES)
    if other is not None and other != choice and other < len(columns):
        found = found.replace(instead=plain(columns[other], 200))
    return header, found


def _column(header: Sequence[str], wanted: frozenset[str]) -> int | None:
    return next((at for at, name in enumerate(header) if wanted.intersection(_words(name)[:2])), None)
