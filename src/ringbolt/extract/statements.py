"""What an agent says about the work: discoveries, blockers, questions and next steps."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ..model.lazy_regex import lazy_regex
from ..signals.phrases import DONE, GUESSED, is_question
from ..signals.text_layout import Line, masked, plain, sentences

MOST_OF_A_KIND = 5
MOST_STEPS = 10

_CAUSE = (
    r"(?:root cause|real cause|underlying (?:issue|problem|cause)|culprit|actual (?:issue|problem|cause|bug))"
)
_FOUND = lazy_regex(
    rf"(?i)\b{_CAUSE}\**(?:\s+(?:is|was|here|of [^.:\n]{{2,60}}? (?:is|was))\b|\s*[:—–-])"
    r"|\b(?:it )?turns out\b|\bturned out (?:that|to be)\b|\b(?:found|identified|figured out|pinned down"
    r"|located) (?:the|a) (?:\w+ )?(?:issue|problem|bug|cause|culprit|reason)\b"
    r"|\bI (?:can )?(?:now )?see the (?:issue|problem|bug)\b|\b(?:the|this) (?:issue|problem|bug|failure"
    r"|reason|error) (?:is|was|here is|lies|comes)\b|\b(?:the )?key insight\b|\b(?:the )?reason is that\b"
)
_FOUND_HEADING = lazy_regex(
    rf"(?i)\W*(?:{_CAUSE}|(?:the )?(?:cause|findings?|key findings?|discover(?:y|ies)))(?: found"
    rf"| analysis)?\W*$"
)
_BARE = lazy_regex(
    r"(?i)^\W*(?:.{0,70}\b(?:issue|problem|bug|cause|culprit|insight)(?: is| was| now| clearly| here)*"
    r"|.{0,24})[.!:)*\s]*$"
)
_BLOCKED = lazy_regex(
    r"(?i)\b(?:I'm|I am|we're|we are|this is|work is|task is|currently|still|remains?) (?:currently |now "
    r"|still )?blocked\b|^\W*blocked(?: by| on|:)|\b(?:is|are) blocked (?:by|on)\b|\b(?:I'm |I am |we're "
    r"|we are |currently |still |now )waiting (?:for|on) (?:the user|you|your|approval|access|review"
    r"|credentials|the team)|^\W*waiting (?:for|on) (?:the user|you|your|approval|access|review|credentials)"
    r"|\bI need (?:you to|your (?:input|approval|decision|confirmation|help)|access to)\b|\b(?:can't|cannot"
    r"|can not|unable to) (?:proceed|continue|go on|finish)\b"
)
_ANNOUNCES = lazy_regex(
    r"(?i)\W*(?:let me|let's|looking at|I'll|I need|I should|now|here|checking|this is|that's)\b"
)
_NO_BLOCK = lazy_regex(
    r"(?i)\b(?:no longer|not|isn't|un)[ -]?blocked\b|\bwas blocked\b|\bno blockers?\b|\b(?:if|when|would"
    r"|could|gets?)\b"
)
_BLOCKERS = lazy_regex(
    r"(?i)\W*(?:current |known |open )?(?:blockers?|blocked(?: by| on)?)(?:/concerns?| and concerns?)?\W*$"
)
_BLOCKER_LABEL = lazy_regex(r"(?i)\W*blockers?\**:\**\s+(?=\S)")
_NEXT_HEADING = lazy_regex(
    r"(?i)\W*(?:\d+[.)] )?(?:next steps?|what'?s next|what is next|what'?s left|what remains|still to do"
    r"|to ?do|remaining(?: (?:work|tasks?|items?|steps?))?|up next|follow-?ups?|next up"
    r"|immediate next steps?|left to do|outstanding(?: work)?)\W*$"
)
_NEXT_LABEL = lazy_regex(r"(?i)\W*next(?: steps?| up)?\**:\**\s+(?=\S)")
_NEXT = lazy_regex(
    r"(?i)^(?:next(?:,| up,?)? (?:I'll|I will|I'm going to|we'll|we will|I need to|step is to|up is|is to)"
    r"|(?:the )?next step is(?: to)?|then I'll next|I'll next)\s+(?=\S)"
)
_NONE = lazy_regex(
    r"(?i)\W*(?:none|n/?a|nothing|no (?:known |current |open )?(?:blockers?|issues?|concerns?))\b"
)


class Statements(Struct):
    """What one message says: discoveries, blockers, next steps, and the question it ends with."""

    discoveries: list[str] = field(default_factory=list[str])
    blockers: list[str] = field(default_factory=list[str])
    steps: list[str] = field(default_factory=list[str])
    question: str = ""


def statements(lines: Iterable[Line]) -> Statements:
    """Read the discoveries, blockers, next steps and closing question of a message."""
    found = Statements()
    section = ""
    wanted = False  # a discovery was announced and its content is still to come
    for line in lines:
        if line.kind == "blank":
            continue
        if line.kind == "code":
            wanted = False
            continue
        if line.kind in ("heading", "lead"):
            section = _section(line)
            wanted = section == "found"
            found.question = ""
            if line.kind == "lead" and not section:
                wanted = _discover(found, line.text, wanted)
            continue
        found.question = ""
        if line.kind == "row":
            continue
        if section == "next" and line.kind == "item":
            _add(found.steps, line.text, MOST_STEPS, ended=bool(line.box == "x" or DONE.search(line.text)))
        elif section == "blocked" and line.kind in ("item", "prose"):
            _add(found.blockers, line.text, MOST_OF_A_KIND)
        else:
            wanted = _discover(found, line.text, wanted)
            _state(found, line.text)
    return found


def _section(line: Line) -> str:
    text = line.text.strip("*_: ")
    if _NEXT_HEADING.match(text):
        return "next"
    if _BLOCKERS.match(text):
        return "blocked"
    return "found" if _FOUND_HEADING.match(text) else ""


def _discover(found: Statements, text: str, wanted: bool) -> bool:
    """Take discoveries from a line; returns whether one is announced whose content follows."""
    if not wanted and not _FOUND.search(text):
        return False
    for sentence in sentences(text):
        hidden = masked(sentence)
        if not wanted and not _FOUND.search(hidden):
            continue
        if is_question(sentence) or (GUESSED.search(hidden) and not wanted):
            wanted = False
        elif _BARE.match(sentence) or (wanted and _ANNOUNCES.match(sentence)):
            wanted = True
        else:
            _add(found.discoveries, sentence, MOST_OF_A_KIND)
            wanted = False
    return wanted


def _state(found: Statements, text: str) -> None:
    """Take blockers, next steps and a closing question from a line of prose."""
    if label := _NEXT_LABEL.match(text):
        _add(found.steps, text[label.end() :], MOST_STEPS)
        return
    if label := _BLOCKER_LABEL.match(text):
        _add(found.blockers, text[label.end() :], MOST_OF_A_KIND)
        return
    for sentence in sentences(text):
        asks = is_question(sentence)
        found.question = plain(sentence) if asks else ""
        if asks:
            continue
        hidden = masked(sentence)
        if _BLOCKED.search(hidden) and not _NO_BLOCK.search(hidden):
            _add(found.blockers, sentence, MOST_OF_A_KIND)
        elif announced := _NEXT.match(hidden):
            _add(found.steps, sentence[announced.end() :], MOST_STEPS)


def _add(found: list[str], text: str, most: int, ended: bool = False) -> None:
    line = plain(text).rstrip(" :")
    if len(line) >= 4 and len(found) < most and not ended and not _NONE.match(line) and line not in found:
        found.append(line)
