"""Parse a question about a task: its parts, and for each the intent, the subject, the step and the time.

Only part of a long question is read, and no pattern nests repeats: any text takes about a millisecond.
"""

from __future__ import annotations

import re

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..packet.encode import one_line
from .question_lexicon import folded
from .question_model import INTENTS, features, scores
from .question_times import Span, read_span
from .question_words import Marks, language_of, read_marks

CHARACTERS = 300  # of a question that are read
MOST_PARTS = 3


class Intent(Value, frozen=True, kw_only=True):
    """What one part of a question asks for (`about`), its subject, and limits on the answer.

    `soft` are words that may belong to the subject; `marks` what the other words stand for; `step` is the
    number of a step, `most` how many results are wanted, `span` the time that is named. `polar` questions
    want a yes or no; `head` is the sort of thing that is asked for ("which languages").
    """

    about: str
    subject: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    language: str = "en"
    step: int | None = None
    most: int | None = None
    span: Span | None = None
    polar: bool = False
    head: str = ""
    text: str = ""

    def has(self, *names: str) -> bool:
        """Whether the question has a word for one of these concepts."""
        return any(name in self.marks for name in names)


def understand(question: str, names: str = "") -> tuple[Intent, ...]:
    """The parts of a question, in order; at least one. `names` are texts with the names of things."""
    names = folded(names)
    asked = _relevant_part(question)
    language = language_of(folded(asked))
    parts = [_read(part, language, names) for part in _split(asked, language)][:MOST_PARTS]
    for place, part in enumerate(parts[1:], 1):
        if not part.subject and _AGAIN.search(folded(part.text)):  # "… and what did each of them say?"
            before = parts[place - 1]
            parts[place] = part.replace(subject=before.subject, soft=(*before.soft, *part.soft))
    if len(parts) > 1 and any(part.about == "none" for part in parts):
        parts = [_read(asked, language, names)]  # skip what cannot be understood by itself
    return tuple(parts)


_AGAIN = lazy_regex(
    r"\b(?:it|them|they|he|she|her|him|that|those|these|each|es|sie|er|ihn|davon|il|elle|ils|elles|lui|ella|ellos"
    r"|ele|ela|eles|lei|loro|het|zij|hij|hen)\b|它|他|她|それ"
)
_OF_WHAT = lazy_regex(r"^\W*what(?:'s| is| was| are| were) the ([a-z][a-z-]+) (?:of|for|to) ")


def _read(asked: str, language: str, names: str) -> Intent:
    span, rest = read_span(asked)
    marks = read_marks(rest, asked, language, names)
    step, most = _step(rest), _most(folded(rest))
    numbers = {str(number) for number in (step, most) if number is not None}
    if numbers:
        marks = marks.replace(subject=tuple(word for word in marks.subject if word not in numbers))
    if not marks.subject and not any(mark not in ("the", "also", "go", "X", "N") for mark in marks.marks):
        about = "history" if span else "where"
    else:
        ranked = scores(features(marks, time=span is not None, step=step is not None))
        fits = _sorts_of(marks.marks, marks.language in ("zh", "ja")) or (
            _HOW_PAST if marks.subject and _HOW.match(rest) else frozenset()
        )
        about = max((name for name in INTENTS if not fits or name in fits), key=lambda name: ranked[name])
    polar = _polar(marks, rest)
    if polar and step is not None and about in ("completed", "open", "current", "status", "plan", "next"):
        about = "did"
    return Intent(
        about=about, subject=marks.subject, soft=marks.soft, marks=marks.marks, language=marks.language,
        step=step, most=most, span=span, polar=polar, head=marks.head or _head(rest, marks),
        text=one_line(asked),
    )  # fmt: skip


def _head(rest: str, marks: Marks) -> str:
    """The thing that is asked for of another: "what is the password of the server?"."""
    found = _OF_WHAT.match(rest.lower())
    return found[1] if found and found[1] in marks.subject else ""


# What a question can ask for that begins with such a word, whatever else it says.
_SORTS = {
    "who": "people none effects", "when": "when history goal replan none",
    "why": "decision replan failed notes blocking request", "long": "duration value",
    "many": "value status completed open plan files commits duration questions none",
}  # fmt: skip


# How something came about is not how the task as a whole stands.
_HOW = lazy_regex(r"\W*how (?:did|was|were|do|does)\b")
_HOW_PAST = frozenset(INTENTS) - frozenset("where status completed open next current result".split())


def _sorts_of(marks: tuple[str, ...], unspaced: bool) -> frozenset[str]:
    """The intents that the first word of a question allows; none: all of them. In Chinese and Japanese the
    question word can stand anywhere."""
    asking = _SORTS if unspaced else [mark for mark in marks if mark not in ("the", "also", "go")][:1]
    first = next((mark for mark in marks if mark in asking), "")
    allowed = frozenset(_SORTS.get(first, "").split())
    if first == "when" and ("not" in marks or "forbid" in marks):
        return allowed | {"permission"}  # when must it not run?
    return allowed


_STATES = frozenset("done pass fail happen fix verify drop reject forbid open".split())


def _polar(marks: Marks, rest: str) -> bool:
    """Whether a question wants a yes or a no: it begins with a verb, or says so at its end."""
    if marks.language == "zh":
        return bool(re.search(r"吗|是不是|有没有|能不能|可不可以|能否", rest))
    if marks.language == "ja":
        return not any(
            mark in ("what", "who", "when", "where", "why", "how", "many", "long") for mark in marks.marks
        )
    asks = {"what", "who", "when", "where", "why", "how", "many", "long", "percent"}
    strong = [mark for mark in marks.marks if mark not in ("also", "the")]
    return (
        bool(strong)
        and not asks & set(marks.marks)
        and (
            strong[0] in ("be", "may", "must", "not", "we")
            or "be" in strong[:4]
            or "may" in strong
            or not _STATES.isdisjoint(strong)
        )
    )


# --- the part of a text that asks, and its parts ----------------------------------------------------

_SENTENCE = lazy_regex(r"(?<=[.!?。!?;])\s+|(?<=[。!?])|\n+")
_ASKS = lazy_regex(
    r"(?i)[??吗]\s*$|^\W*(?:what|which|who|when|where|why|how|did|do|does|is|are|was|were|can|may|must|has|have|list"
    r"|show|tell|was|wer|wann|wo|warum|wie|darf|que|quel|qui|quand|pourquoi|combien|cual|quien|cuando|qual|quem"
    r"|quando|chi|cosa|perche|wat|wie|waarom|hoe)\b"
)
_CONJUNCTION = lazy_regex(
    r"(?i)\s*(?:[,;??]\s*(?:and |und |et |y |e |en |but |aber |so |then )?|\s(?:and|und|et|y|e|en|以及|和)\s)"
    r"(?=(?:(?:what|who|when|where|why|how)'?s|what|which|who|when|where|why|how|is|are|do|does|shall|should|did|has|have|was|were|can|may|must|welche\w*|wer|wann|wo|warum"
    r"|wie|ist|sind|darf|qu'|que|quel\w*|qui|quand|pourquoi|cual\w*|cuál\w*|quien|quién|cuando|cuándo|qué|qual\w*"
    r"|quem|quando|che|cosa|chi|perch[eé]|wat|welke?|wanneer|waarom|hoe|还|接下来|什么)\b|還|接下来|什么|还)"
)


_STOPS = " ,;?\uff1f"


def _relevant_part(question: str) -> str:
    """The question within a text: all of a short one, the last sentences that ask of a long one."""
    text = one_line(question[-4000:] if len(question) > 4000 else question)
    if len(text) <= CHARACTERS:
        return text
    sentences = [part for part in _SENTENCE.split(text[-2000:]) if part.strip()]
    asking = [part for part in sentences if _ASKS.search(part)]
    return (asking or sentences or [text])[-1][:CHARACTERS]


_BEGINS = frozenset("be may must what who when where why how many long".split())


def _split(asked: str, language: str) -> list[str]:
    """The questions within a question, if it has several."""
    pieces = [piece.strip(_STOPS) for piece in _CONJUNCTION.split(asked)]
    parts: list[str] = []
    for piece in pieces:
        found = read_marks(piece, language=language)
        strong = [mark for mark in found.marks if mark not in ("the", "also", "be", "go", "we")]
        if parts and len(strong) < 2 and not (found.subject and found.marks[0] in _BEGINS):
            parts[-1] = f"{parts[-1]}, {piece}"  # "… and why?" asks for more of the same
        elif piece:
            parts.append(piece)
    return parts or [asked]


# --- numbers ----------------------------------------------------------------------------------------

_STEP = lazy_regex(
    r"\b(?:step|item|task|todo|schritt|etape|paso|passo|etapa|passaggio|stap)s?"
    r" (?:number |no |nr |n° )?#?(\d{1,4})\b"
    r"|第(\d{1,4})步|ステップ(\d{1,4})"
)
_PLACES: tuple[str, ...] = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
_PLACED = lazy_regex(rf"\b({'|'.join(_PLACES)}) (?:step|item)\b")
_COUNTED = "one|two couple|three few|four|five|six|seven|eight|nine|ten"
_COUNTS = {word: number for number, words in enumerate(_COUNTED.split("|"), 1) for word in words.split()}
_SOME = lazy_regex(
    r"\b(?:last|latest|recent|newest|past|top) (?:(\d{1,3})|(" + "|".join(_COUNTS) + r"))\b"
    r"|\b(?:(\d{1,3})|(" + "|".join(_COUNTS) + r")) (?:last|latest|most recent|newest)\b"
)
_LAST_ONE = lazy_regex(
    r"\b(?:last|latest|newest|most recent) (?:decision|commit|error|failure|question|instruction|request)\b"
)


def _step(plain: str) -> int | None:
    if found := _STEP.search(plain):
        return int(next(group for group in found.groups() if group))
    return _PLACES.index(found[1]) + 1 if (found := _PLACED.search(plain)) else None


def _most(plain: str) -> int | None:
    if found := _SOME.search(plain):
        digits, word = found[1] or found[3], found[2] or found[4]
        return max(1, int(digits)) if digits else _COUNTS[word]
    return 1 if _LAST_ONE.search(plain) else None
