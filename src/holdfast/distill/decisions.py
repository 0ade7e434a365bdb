"""Decisions in what an agent writes: under a heading that announces them, in a table, or in a sentence.

A question, a hypothesis, an option that is only listed, quoted words and code are no decisions.
"""

from __future__ import annotations

import re

from ..types import Record
from .lines import cells, layout, masked, plain, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .lines import Line

MOST_DECISIONS = 20  # of one text
MOST_CHOICE, MOST_REASON = 300, 600


class Decided(Record):
    """A decision as it was stated: what was chosen, why, instead of what; how sure that it is one."""

    choice: str
    reason: str = ""
    instead: str = ""
    title: str = ""
    confidence: float = 0.8


# --- headings, lists and tables ---------------------------------------------------------------------

_ANNOUNCES = re.compile(
    r"(?:\d+[.)] +)?(?:(?:key|main|design|architectur\w+|technical|implementation|important|other|final"
    r"|our|the|new"
    r"|my|all|decided|notable)[ -]+){0,3}(?:decisions?|design choices|choices)"
    r"(?:[ -]+(?:made|log|taken|record|records|so far|summary|(?:and|&|with) (?:rationale|reasons?"
    r"|reasoning|why)|here"
    r"|in this (?:phase|plan|session|step)|for this \w+)){0,2}\W*(?:\([^)]{0,60}\))?\W*$",
    re.I,
)
_OPEN = re.compile(
    r"\b(?:open|pending|needed|required|remaining|outstanding|future|unresolved|to make|points?)\b", re.I
)
_NOTHING = re.compile(
    r"\W*(?:none|n/?a|nothing|no (?:new |major |key )?decisions?|tbd|not applicable)\b", re.I
)
_EXPLICIT = re.compile(
    r"\W*(?:(?:final |our |key )?decision(?: \d{1,3})?|decided|chosen(?: approach"
    r"| option)?)\**\s*[:—–-]\**\s+(?=\S)",
    re.I,
)
_REASON_LABEL = re.compile(
    r"\W*(?:rationale|reason(?:ing|s)?|why|because|justification)\**\s*[:—–-]\**\s*(?=\S)", re.I
)
_OTHER_LABEL = re.compile(
    r"\W*(?:options?|alternatives?|considered|context|consequences?|trade-?offs?|status|date|impact"
    r"|risks?|note|files?"
    r"|source|pros|cons|question|problem|phase|made by|outcome)\b[^:]{0,20}:", re.I
)  # fmt: skip
_DECIDES = re.compile(r"\W*(?:(?:key |design )?decision|choice|chosen|we chose|selected|decided)\b", re.I)
_GIVES_REASON = re.compile(r"\W*(?:rationale|reason|why|because|justification)", re.I)
_ALTERNATIVES = re.compile(r"\W*(?:alternative|options?|instead of|rejected|considered)", re.I)
_TAGS = re.compile(r"(?:\[[^\]]{1,40}\]:?\s*)+")
_BOLD = re.compile(r"\*\*([^*]{2,300}?)\*\*(:?)\s*")

# Where a choice ends and its reason begins, best first.
_BECAUSE = re.compile(
    r",? \(?(?:because(?: of)?|since|as (?:it|this|that|they|we)\b|so that|due to|given that)\s", re.I
)
_DASH = re.compile(r"\s+(?:--|—|–|-)\s+|\s*;\s+|\s*—\s*")
_COLON = re.compile(r":\s+")
_AIM = re.compile(
    r",? (?:(?:in order )?to (?:avoid|prevent|keep|allow|ensure|enable|reduce|preserve|simplify|match"
    r"|make|minimi[sz]e"
    r"|support|maintain|distinguish|handle|reach|get|stay|let)"
    r"|for (?:its|the sake of|\w{3,20} (?:reasons|safety|compatibility|simplicity|purposes))"
    r"|(?:avoiding|preventing|enabling|keeping|matching|allowing|following|ensuring|which|making) )",
    re.I,
)
_PARENTHESIS = re.compile(r"\s+\(([^()]{8,400})\)\W*$")
_INSTEAD = re.compile(r",? (?:instead of|rather than|in favou?r of not|over|not)\s+(?=\S)", re.I)
_SURE_INSTEAD = re.compile(r",? (?:instead of|rather than)\s+(?=\S)", re.I)


def decisions(text: str) -> list[Decided]:
    """The decisions that a text of the agent states, in order."""
    found: list[Decided] = []
    for one in _decided(text):
        if len(one.choice) >= 4 and all(one.choice != other.choice for other in found):
            found.append(one)
            if len(found) == MOST_DECISIONS:
                break
    return found


def _decided(text: str) -> Iterator[Decided]:
    inside = 0  # the level of the heading that announced decisions
    pending: Decided | None = None  # a decision whose reason may follow
    header: list[str] | None = None
    for line in layout(text):
        if line.kind == "blank" or line.kind == "code":
            continue
        if line.kind != "row":
            header = None
        if line.kind in ("heading", "lead"):
            announced = _announces(line)
            below = inside and not announced and (line.kind == "lead" or line.depth > inside)
            if pending:
                yield pending
                pending = None
            if announced:
                inside = line.depth if line.kind == "heading" else 7
            elif not below:
                inside = 0
            if line.kind == "heading" and (
                _EXPLICIT.match(line.text) or (below and not _OTHER_LABEL.match(line.text))
            ):
                pending = _checked(_EXPLICIT.sub("", line.text, count=1), 0.8)
            continue
        if pending and (label := _REASON_LABEL.match(line.text)):
            yield pending.replace(reason=plain(line.text[label.end() :], MOST_REASON))
            pending = None
            continue
        if (
            pending
            and line.kind == "prose"
            and not pending.reason
            and inside
            and not _OTHER_LABEL.match(line.text)
        ):
            pending = pending.replace(reason=plain(line.text, MOST_REASON))
            continue
        if line.kind == "row":
            header, row = _row(line, header, bool(inside))
            if row:
                yield row
            continue
        if pending and line.depth:
            continue
        if pending:
            yield pending
            pending = None
        if explicit := _EXPLICIT.match(masked(line.text)):
            pending = _checked(line.text[explicit.end() :], 0.9)
        elif inside and line.kind == "item":
            if line.depth < 4 and not _OTHER_LABEL.match(line.text):
                pending = _checked(line.text, 0.9)
        else:
            yield from _in_sentences(line.text)
    if pending:
        yield pending


def _announces(line: Line) -> bool:
    text = line.text.strip("*#: \t").lstrip("🔑📋✅⚖️🧭📝 ")
    return bool(_ANNOUNCES.match(text)) and not _OPEN.search(text)


def _checked(text: str, confidence: float) -> Decided | None:
    if _NOTHING.match(text) or text.rstrip("* ").endswith("?"):
        return None
    return _split(text, confidence)


def _row(line: Line, header: list[str] | None, inside: bool) -> tuple[list[str] | None, Decided | None]:
    """The header of the table that a row belongs to, and the decision in the row."""
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
    if _NOTHING.match(columns[choice]) or columns[choice].endswith("?"):
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
    """A stated decision as choice, reason and what it was preferred to."""
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

_HINT = re.compile(
    r"\b(?:decided|chose|opted|settled|picked|went with|going with|go with|stick(?:ing)? with|instead of"
    r"|rather than"
    r"|because|since|switched|elected)\b",
    re.I,
)
_SAYS = re.compile(
    r"(?:^|[,;:] |\b(?:so|and|then|therefore) )(?:I|we)(?:'ve| have|'d)? (?:(?:also|finally|therefore"
    r"|deliberately|then) )?"
    r"(?:decided (?:to|on|against|that|not to)|chose|opted (?:to|for|against)|settled on|picked|went with"
    r"|elected to)\s",
    re.I,
)
_WILL = re.compile(
    r"(?:^|[,;:] |\b(?:so|and|then|therefore) )(?:(?:I|we)(?:'ll| will|'m going to| am going to|'re going to)"
    r"|let's|let us|I'm|we're|(?:decision|choice) is to) (?:(?:now|just|also|instead|therefore) )?"
    r"(?!(?:start|begin|invoke|check|look|read|run|leave|investigate|see|try|verify|test|explore|search|find"
    r"|need|wait|continue|proceed|first|going)\b)\w{2,15}\b",
    re.I,
)
_SUBJECT = re.compile(
    r"(?:(?:so|and|then|therefore),? )?(?:I|we|let's|let us)(?:'ll| will|'m| am|'re| are|'ve"
    r"| have)?\s+(?:going to )?"
    r"(?:(?:have )?(?:decided|chose|opted|elected) to )?",
    re.I,
)
_DID = re.compile(
    r"(?:^|^[-*] )(?:used|kept|chose|picked|switched to|switched from|opted for|went with|selected"
    r"|preferred|dropped"
    r"|adopted|avoided|deferred)\s",
    re.I,
)
_HEDGES = re.compile(
    r"\b(?:could|might|would|may|maybe|perhaps|whether|if (?:we|you|I|it|the)|should (?:we|I)"
    r"|option [A-D1-9]\b|alternatively"
    r"|consider|considering|not (?:yet )?decided|haven't|hasn't|didn't (?:choose|decide)|undecided|unless"
    r"|either|do you"
    r"|want me to|they|he|she|the (?:user|author|doc|docs|page|article|issue|README)|previously"
    r"|originally)\b|n't (?:decided"
    r"|chosen|opted|settled)",
    re.I,
)


def _in_sentences(text: str) -> Iterator[Decided]:
    if not _HINT.search(text):
        return
    for sentence in sentences(text):
        if one := _sentence(sentence):
            yield one


def _sentence(sentence: str) -> Decided | None:
    if not _HINT.search(sentence) or sentence.rstrip(" *_)\"'").endswith("?"):
        return None
    hidden = masked(sentence)
    said = _SAYS.search(hidden)
    found = said or _DID.match(hidden) or _WILL.search(hidden)
    if not found:
        return None
    choice = sentence[found.start() :].lstrip(" ,;:")
    because = _BECAUSE.search(hidden, found.end()) or _DASH.search(hidden, found.end())
    instead = _SURE_INSTEAD.search(hidden, found.end()) or (
        _INSTEAD.search(hidden, found.end()) if said else None
    )
    end = min(one.start() for one in (because, instead) if one) if because or instead else len(sentence)
    # Hedges before the choice or in it; what follows may well be about what would have been.
    if _HEDGES.search(hidden[: found.start()]) or _HEDGES.search(
        hidden, found.start(), max(end, found.end())
    ):
        return None
    if not said and not (
        because and (instead or hidden[because.start() :].lstrip(" ,(").lower().startswith(_REASONS))
    ):
        return None
    one = _split(_SUBJECT.sub("", choice, count=1), 0.75 if said else 0.6)
    if not one.reason and not one.instead and not said:
        return None
    return one


_REASONS = ("because", "since", "so that", "due to", "given that", "as ")
