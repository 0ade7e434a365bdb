"""Decisions in what an agent writes: under a heading that announces them, in a table, or in a sentence.

Questions, hypotheses, options that are only listed, quoted words and code do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..signals.phrases import DECIDED, MAY_DECIDE, UNDECIDED, is_question
from ..signals.text_layout import Line, cells, masked, plain, sentences

MOST_DECISIONS = 20  # of one text
MOST_CHOICE, MOST_REASON = 300, 600


class Decided(Value, frozen=True, kw_only=True):
    """A stated decision: the choice, its reason, what it was preferred to, and how sure the reading is."""

    choice: str
    reason: str = ""
    instead: str = ""
    title: str = ""
    confidence: float = 0.8


# --- headings, lists and tables ---------------------------------------------------------------------

_ANNOUNCES = lazy_regex(
    r"(?i)(?:\d+[.)] +)?(?:(?:key|main|design|architectur\w+|technical|implementation|important|other|final"
    r"|our|the|new|my|all|decided|notable)[ -]+){0,3}(?:decisions?|design choices|choices)(?:[ -]+(?:made"
    r"|log|taken|record|records|so far|summary|(?:and|&|with) (?:rationale|reasons?|reasoning|why)|here"
    r"|in this (?:phase|plan|session|step)|for this \w+)){0,2}\W*(?:\([^)]{0,60}\))?\W*$"
)
_OPEN = lazy_regex(
    r"(?i)\b(?:open|pending|needed|required|remaining|outstanding|future|unresolved|to make|points?)\b"
)
_NOTHING = lazy_regex(
    r"(?i)\W*(?:none|n/?a|nothing|no (?:new |major |key )?decisions?|tbd|not applicable|whether|if|how|what"
    r"|why|which|when|where|who)\b"
)
_EXPLICIT = lazy_regex(
    r"(?i)\W*(?:(?:final |our |key )?decision(?: \d{1,3})?|decided|chosen(?: approach"
    r"| option)?)\**\s*[:—–-]\**\s+(?=\S)"
)
_REASON_LABEL = lazy_regex(
    r"(?i)\W*(?:rationale|reason(?:ing|s)?|why|because|justification)\**\s*[:—–-]\**\s*(?=\S)"
)
_OTHER_LABEL = lazy_regex(
    r"(?i)\W*(?:options?|alternatives?|considered|context|consequences?|trade-?offs?|status|date|impact"
    r"|risks?|note|files?"
    r"|source|pros|cons|question|problem|phase|made by|outcome)\b[^:]{0,20}:")  # fmt: skip
_DECIDES = lazy_regex(r"(?i)\W*(?:(?:key |design )?decision|choice|chosen|we chose|selected|decided)\b")
_GIVES_REASON = lazy_regex(r"(?i)\W*(?:rationale|reason|why|because|justification)")
_ALTERNATIVES = lazy_regex(r"(?i)\W*(?:alternative|options?|instead of|rejected|considered)")
_TAGS = lazy_regex(r"(?:\[[^\]]{1,40}\]:?\s*)+")
_BOLD = lazy_regex(r"\*\*([^*]{2,300}?)\*\*(:?)\s*")

# Where a choice ends and its reason begins.
_BECAUSE = lazy_regex(
    r"(?i),? \(?(?:because(?: of)?|since|as (?:it|this|that|they|we)\b|so that|due to|given that)\s"
)
_DASH = lazy_regex(r"\s+(?:--|—|–|-)\s+|\s*;\s+|\s*—\s*")
_COLON = lazy_regex(r":\s+")
_AIM = lazy_regex(
    r"(?i),? (?:(?:in order )?to (?:avoid|prevent|keep|allow|ensure|enable|reduce|preserve|simplify|match"
    r"|make|minimi[sz]e|support|maintain|distinguish|handle|reach|get|stay|let)|for (?:its|the sake of"
    r"|\w{3,20} (?:reasons|safety|compatibility|simplicity|purposes))|(?:avoiding|preventing|enabling"
    r"|keeping|matching|allowing|following|ensuring|which|making) )"
)
_PARENTHESIS = lazy_regex(r"\s+\(([^()]{8,400})\)\W*$")
_INSTEAD = lazy_regex(r"(?i),? (?:instead of|rather than|in favou?r of not|over|not)\s+(?=\S)")
_SURE_INSTEAD = lazy_regex(r"(?i),? (?:instead of|rather than)\s+(?=\S)")


def decisions(lines: Iterable[Line]) -> list[Decided]:
    """The decisions that an agent states in a text, in order."""
    reader = _Reader()
    for line in lines:
        if line.kind not in ("blank", "code") and len(reader.found) < MOST_DECISIONS:
            reader.read(line)
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

    def settle(self) -> None:
        """Keep the decision that was pending."""
        if self._pending:
            self.found.append(self._pending)
            self._pending = None

    def read(self, line: Line) -> None:
        if line.kind != "row":
            self._header = None
        if line.kind in ("heading", "lead"):
            self._enter(line)
        elif line.kind == "row":
            self._header, decided = _row(line, self._header, bool(self._inside))
            self.found += [decided] if decided else []
        elif not self._reasons(line):
            self._decide(line)

    def _enter(self, line: Line) -> None:
        """A heading can begin or end a section about decisions, or state one itself."""
        self.settle()
        below = self._inside and (line.kind == "lead" or line.depth > self._inside)
        if _announces(line):
            self._inside = line.depth if line.kind == "heading" else 7
        elif not below:
            self._inside = 0
        explicit = _EXPLICIT.match(line.text)
        if line.kind == "heading" and (explicit or (below and not _OTHER_LABEL.match(line.text))):
            self._pending = _checked(line.text[explicit.end() if explicit else 0 :], 0.8)

    def _reasons(self, line: Line) -> bool:
        """Whether a line belongs to the decision before it, as its reason or a detail."""
        if not self._pending:
            return False
        if label := _REASON_LABEL.match(line.text):
            self._pending = self._pending.replace(reason=plain(line.text[label.end() :], MOST_REASON))
            self.settle()
            return True
        if (
            line.kind == "prose"
            and self._inside
            and not _is_listed(line)
            and not _OTHER_LABEL.match(line.text)
        ):
            if not self._pending.reason:
                self._pending = self._pending.replace(reason=plain(line.text, MOST_REASON))
            return True
        return line.depth > 0

    def _decide(self, line: Line) -> None:
        self.settle()
        if explicit := _EXPLICIT.match(masked(line.text)):
            self._pending = _checked(line.text[explicit.end() :], 0.9)
        elif self._inside and _is_listed(line):
            if line.depth < 4 and not _OTHER_LABEL.match(line.text):
                self._pending = _checked(line.text, 0.9)
        elif MAY_DECIDE.search(line.text):
            self.found += [one for sentence in sentences(line.text) if (one := _sentence(sentence))]


def _is_listed(line: Line) -> bool:
    return line.kind == "item" or bool(_BOLD.match(line.text))


def _announces(line: Line) -> bool:
    text = line.text.strip("*#: \t").lstrip("🔑📋✅⚖️🧭📝 ")
    return bool(_ANNOUNCES.match(text)) and not _OPEN.search(text)


def _checked(text: str, confidence: float) -> Decided | None:
    if _NOTHING.match(text) or is_question(text):
        return None
    return _split(text, confidence)


def _row(line: Line, header: list[str] | None, inside: bool) -> tuple[list[str] | None, Decided | None]:
    """The header of the row's table, and the decision in the row."""
    columns = cells(line.text)
    if header is None:
        return columns, None
    if all(not cell.strip(":- ") for cell in columns):
        return header, None
    choice = _column(header, _DECIDES)
    reason = _column(header, _GIVES_REASON)
    if choice is None or (reason is None and not inside) or len(columns) <= max(choice, reason or 0):
        return header, None
    before = columns[0] if choice else ""
    if _NOTHING.match(columns[choice]) or is_question(columns[choice]):
        return header, None
    found = Decided(
        choice=plain(columns[choice], MOST_CHOICE),
        reason=plain(columns[reason], MOST_REASON) if reason is not None else "",
        title="" if before.strip("# ").isdigit() else plain(before, 120),
        confidence=0.9,
    )
    other = _column(header, _ALTERNATIVES)
    if other is not None and other != choice and other < len(columns):
        found = found.replace(instead=plain(columns[other], 200))
    return header, found


def _column(header: Iterable[str], wanted: re.Pattern[str]) -> int | None:
    return next((number for number, name in enumerate(header) if wanted.match(name)), None)


# --- choice and reason ------------------------------------------------------------------------------


def _split(text: str, confidence: float) -> Decided:
    """Split a stated decision into its choice, its reason and what it was preferred to."""
    text = _TAGS.sub("", text, count=1) if text.startswith("[") else text
    choice, reason = _halves(text)
    instead = ""
    if found := _SURE_INSTEAD.search(masked(choice)):
        instead = choice[found.end() :]
    return Decided(
        choice=plain(choice, MOST_CHOICE).rstrip(".:;,- "),
        reason=plain(reason, MOST_REASON),
        instead=plain(instead, 200).rstrip(".:;, "),
        confidence=confidence,
    )


def _halves(text: str) -> tuple[str, str]:
    bold = _BOLD.match(text)
    if bold and len(rest := text[bold.end() :].lstrip(" :—–-.")) > 3:
        return bold[1].rstrip(": "), rest
    hidden = masked(text)
    for pattern in (_DASH, _BECAUSE):
        if (found := pattern.search(hidden)) and found.start() >= 4:
            return text[: found.start()], text[found.end() :] if pattern is _DASH else text[
                found.start() :
            ].lstrip(" ,(")
    if (found := _COLON.search(hidden)) and 12 <= found.start() <= 120:
        return text[: found.start()], text[found.end() :]
    if found := _PARENTHESIS.search(text):
        return text[: found.start()], found[1]
    if (found := _AIM.search(hidden)) and found.start() >= 8:
        return text[: found.start()], text[found.start() :].lstrip(" ,")
    return text, ""


# --- sentences --------------------------------------------------------------------------------------

_START = r"(?:^|[,;:] |\b(?:so|and|then|therefore|but) |^instead of [^,]{2,80}?,? )"
_SAYS = lazy_regex(
    rf"(?i){_START}(?:I|we)(?:'ve| have|'d)? (?:(?:also|finally|therefore|deliberately|then) )?"
    rf"(?:{DECIDED})\s"
)
_WILL = lazy_regex(
    rf"(?i){_START}(?:(?:I|we)(?:'ll| will|'m going to| am going to|'re going to)|let's|let us|I'm|we're"
    r"|(?:decision|choice) is to) (?:(?:now|just|also|instead|therefore) )?"
    r"(?!(?:start|begin|invoke|check|look|read|run|leave|investigate|see|try|verify|test|explore|search|find"
    r"|need|wait|continue|proceed|first|going)\b)\w{2,15}\b"
)
_DID = lazy_regex(
    r"(?i)(?:used|using|kept|chose|picked|selected|preferred|dropped|adopted|avoided|deferred|opted for"
    r"|went with|(?:going|sticking) with|switch(?:ed|ing) (?:to|from))\s"
)
_SUBJECT = lazy_regex(
    r"(?i)(?:(?:so|and|then|therefore|but),? )?(?:I|we|let's|let us)(?:'ll| will|'m| am|'re| are|'ve"
    r"| have)?\s+(?:going to )?(?:(?:decided|chose|opted|elected) to )?"
)
_BEFORE = lazy_regex(r"(?i)\W*((?:since|because|given that|as) [^,]{3,200}), ")
_STATED = lazy_regex(r"(?i)[ ,(]*(?:because|since|so that|due to|given that|as )")


def _sentence(sentence: str) -> Decided | None:
    """The decision in a sentence; it must have a verb of deciding, or a reason, or an alternative."""
    if not MAY_DECIDE.search(sentence) or is_question(sentence):
        return None
    hidden = masked(sentence)
    said, done = _SAYS.search(hidden), _DID.match(hidden)
    found = said or done or _WILL.search(hidden)
    if not found:
        return None
    start, end = found.span()
    because = _BECAUSE.search(hidden, end) or _DASH.search(hidden, end)
    instead = _SURE_INSTEAD.search(hidden, end)
    if said or done:
        because = because or _COLON.search(hidden, end)
        instead = instead or _INSTEAD.search(hidden, end)
    # Only hedges before or inside the choice count: what follows may describe what would have happened.
    stop = min((one.start() for one in (because, instead) if one), default=len(sentence))
    if UNDECIDED.search(hidden[:start]) or UNDECIDED.search(hidden, start, max(stop, end)):
        return None
    before = _BEFORE.match(hidden)
    if before and before.end() > start + 2:
        before = None
    reasoned = because and (done or instead or _STATED.match(hidden, because.start()))
    if not (said or reasoned or (instead and before)):
        return None  # only an announcement
    choice = sentence[start:].lstrip(" ,;:")
    subject = _SUBJECT.match(choice)
    one = _split(choice[subject.end() if subject else 0 :], 0.75 if said else 0.6)
    if before and not one.reason:
        one = one.replace(reason=plain(before[1], MOST_REASON))
    return one
