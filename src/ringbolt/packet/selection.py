"""A request in less room than it needs: whole sentences are chosen, and what is left out leaves a `…`.

A cut at the end would lose the constraints, which people write last. Here each sentence, bullet or heading
has a worth; those with the most worth for their length are kept, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from . import encode

OPENING = 1500  # characters that are chosen from: what a long text is about is said at its beginning
LONG_SENTENCE = 400  # a longer one is cut, so that it cannot take all the room
GAP = " …"
# What a sentence is worth: the first says what it is about; what forbids or limits must not be lost.
FIRST, LIMITS, DEMANDS, PLAIN, HEADING, CODE = 8.0, 6.0, 1.6, 1.0, 0.8, 0.15
_FIXED = 12  # characters: so much a reader pays for every sentence, however short

_BREAK = lazy_regex(r"(?<=[.!?;:])[\"')\]*_`]{0,3}\s+(?=\S)")
_FENCE = lazy_regex(r"\s*(?:`{3,}|~{3,})")
_HEADING = lazy_regex(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|\|[\s:|-]+\|\s*$)")
# Lines that were pasted: logs, traces, JSON.
_PASTED = lazy_regex(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|at \S+ ?\("
    r"|File \"|[{}\[\]>]|\S+(?: \S+){0,3} \S+=\S+ \S+=)"
)
_LIMITS = lazy_regex(
    r"(?i)\b(?:must(?: not|n['’]t)?|never|do not|don['’]?t|no longer|only|unless|without|at (?:least|most)"
    r"|avoid|not (?:be|to|allowed|touch|change|more|less)|ensure|make sure|be careful|forbidden|no more than"
    r"|leave .{1,40} alone|keep .{1,60} (?:as|un\w+|intact|within|below|under)|before .{1,40} (?:ask|tell)"
    r"|(?:ask|tell) me (?:before|first))\b"
)
_DEMANDS = lazy_regex(
    r"(?i)^\W*(?:(?:please|then|also|and|now|next|first|finally|\d+[.)])\W+)*(?:add|build|change|check|clean|commit"
    r"|create|debug|delete|deploy|do|document|drop|explain|extract|find|fix|get|implement|improve|investigate"
    r"|let['’]?s|list|look|make|merge|migrate|move|open|push|read|refactor|release|remove|rename|replace|review"
    r"|rewrite|run|search|send|set|show|split|test|update|use|verify|wire|write|i(?:['’]d| want| need| would)"
    r"|can you|could you|we (?:need|should|want|have to))\b"
)


class Sentence(Value, frozen=True, kw_only=True):
    """A part of a text that is kept or left out as a whole: `line` is the number of its line."""

    text: str
    line: int
    worth: float


def sentences(text: str) -> list[Sentence]:
    """The sentences, bullets and headings of a text, in order, each with its worth."""
    return list(_sentences(encode.clip(text, OPENING)))


def _sentences(text: str) -> Iterator[Sentence]:
    first, in_code = True, False
    for number, line in enumerate(encode.clean(text).split("\n")):
        if ("```" in line or "~~~" in line) and _FENCE.match(line):
            in_code = not in_code
            continue
        for part in [line] if in_code else _BREAK.split(line):
            if not (said := part.strip() if not in_code else part.rstrip()):
                continue
            if in_code or _PASTED.match(said):
                worth = CODE
            elif _HEADING.match(said):
                worth = HEADING
            else:
                worth = LIMITS if _LIMITS.search(said) else DEMANDS if _DEMANDS.search(said) else PLAIN
                worth, first = (max(worth, FIRST), False) if first else (worth, False)
            yield Sentence(text=encode.clip(said, LONG_SENTENCE), line=number, worth=worth)


def select(text: str, most: int) -> str:
    """At most `most` characters of a text: its sentences with the most worth for their length, in order."""
    if len(text) <= most or most >= OPENING:
        return encode.clip(text, most)
    known = sentences(text)
    # What limits the work comes first, however long it is.
    order = sorted(range(len(known)), key=lambda place: (known[place].worth < LIMITS, _price(known[place])))
    chosen: set[int] = set()
    left = most - len(GAP)
    for place in order:
        size = len(known[place].text) + len(GAP) + 1
        if size <= left:
            chosen.add(place)
            left -= size
    if not chosen:
        return encode.clip(text, most)
    return _joined(known, chosen, whole=len(text) <= OPENING)


def room_for_limits(text: str) -> int:
    """How many characters `select` needs to keep the first sentence and all that limit the work."""
    wanted = [one for one in sentences(text) if one.worth >= LIMITS]
    return len(GAP) + sum(len(one.text) + len(GAP) + 1 for one in wanted)


def _price(one: Sentence) -> float:
    return (len(one.text) + _FIXED) / one.worth


def _joined(known: list[Sentence], chosen: set[int], whole: bool) -> str:
    found: list[str] = []
    for place in sorted(chosen):
        one, before = known[place], known[place - 1] if place else None
        gap = GAP if found and place - 1 not in chosen else ""
        if found and before is not None and before.line == one.line and not gap:
            found.append(f" {one.text}")
        else:
            found.append(f"{gap}\n{one.text}" if found else one.text)
    ends = whole and len(known) - 1 in chosen
    return "".join(found) + ("" if ends else GAP)
