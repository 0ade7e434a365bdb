"""The sentences of a message, their words, and the phrases of the lexicon among them.

`model` judges what a sentence does (decide, rule out, ask, report a blocker, …) by its `features`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, get_args

from msgspec import Struct

from ...model.lazy_regex import lazy_regex
from ..text_layout import Kind, Line, layout, sentences
from .lexicon import index, words_of

Function = Literal[
    "decision", "dead_end", "value", "constraint", "question", "blocker", "next", "cause", "done", "rejection"
]
FUNCTIONS: tuple[Function, ...] = get_args(Function)

MOST_SENTENCES = 400  # of one message
MOST_TOKENS = 80  # of one sentence

_TOKEN = lazy_regex(
    r"`[^`]*`?|\"[^\"]{12,}\"|“[^”]*”|[A-Za-z][\w+.-]*://\S+|\d+(?:[,:.]\d+)+\w*%?|[~\w-]*(?:[./_]+[\w~-]+)+|#\w+"
    r"|[^\W_]+(?:['’-][^\W_]+)*%?|--+|[^\w\s]"
)
_BOLD_LABEL = lazy_regex(r"\*\*[^*]{2,60}?:?\*\*:?")


class Sentence(Struct):
    """A sentence or line of a message, with where it stands."""

    text: str
    kind: Kind
    heading: str = ""
    label: bool = False  # begins with a bold label
    number: int | None = None  # of a numbered list
    first: bool = False  # of its message
    last: bool = False
    previous: str = ""  # the sentence before it
    line: int = 0  # number of its line among the lines that are read
    ticked: bool = False  # a checkbox that is ticked
    among: int = 1  # how many sentences its message has


class Mark(Struct):
    """A phrase of the lexicon in a sentence: its class, and from which token to which."""

    name: str
    start: int
    end: int
    tense: str = ""


class Tokens:
    """The words of a sentence in lower case, where each stands in the text, and the phrases among them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        for found in _TOKEN.finditer(text):
            token = found[0].lower().replace("’", "'")
            head = token[0]
            if head == "`":
                words: tuple[str, ...] = ("<code>",)
            elif head in '"“' and len(token) > 1:
                words = ("<quote>",)
            else:
                words = words_of(token)
            for word in words:
                self.words.append(word)
                self.starts.append(found.start())
                self.ends.append(found.end())
            if len(self.words) >= MOST_TOKENS:
                break
        self.marks = list(self._marks())

    def _marks(self) -> Iterator[Mark]:
        phrases, words = index(), self.words
        for at, word in enumerate(words):
            for rest, name, tense in phrases.get(word, ()):
                end = at + 1 + len(rest)
                if not rest or tuple(words[at + 1 : end]) == rest:
                    yield Mark(name, at, end, tense)

    def has(self, *names: str) -> bool:
        """Whether the sentence has a phrase of one of these classes."""
        return any(mark.name in names for mark in self.marks)


def split(text: str, lines: Iterable[Line] | None = None) -> list[Sentence]:
    """The sentences of a message in order; a heading or a table row is one sentence."""
    found: list[Sentence] = []
    previous = ""
    for number, line in enumerate(layout(text) if lines is None else lines):
        if line.kind in ("blank", "code"):
            continue
        parts = [line.text] if line.kind in ("heading", "row") else sentences(line.text)
        for place, part in enumerate(parts):
            bold = not place and line.text.startswith("**") and _BOLD_LABEL.match(line.text) is not None
            found.append(
                Sentence(
                    part,
                    line.kind,
                    line.heading,
                    bold,
                    line.number,
                    not found,
                    False,
                    previous,
                    number,
                    line.box == "x",
                )
            )
            previous = part
        if len(found) >= MOST_SENTENCES:
            break
    if found:
        found[-1].last = True
    for one in found:
        one.among = len(found)
    return found


# --- what is not meant as it stands -----------------------------------------------------------------

_WISHES = frozenset("rather prefer like go say keep suggest love".split())
_ACT_MARKS = frozenset(("choose", "keep", "exclude", "use", "prefer", "work", "set", "abandon", "~decides"))
_MACHINES = frozenset(
    "it them those tests test suite typecheck build builds completion output results run runs job jobs ci"
    " install compilation server process command worker workers agents page readback pipeline".split()
)
_FAIL_MARKS = frozenset(("fail", "abandon", "~no effect", "~dead end", "~cannot"))


def is_unreal(function: Function, tokens: Tokens) -> bool:
    """Whether a sentence only supposes, proposes or reports from others what its words would otherwise do."""
    if function == "cause":
        return any(mark.name == "~hedge" for mark in tokens.marks)
    if function == "blocker":
        words = tokens.words
        freed = any(
            pair in (("no", "longer"), ("not", "blocked"), ("not", "blocking")) for pair in pairwise(words)
        )
        waits = next((at for at, word in enumerate(words) if word in ("waiting", "wait")), None)
        for_what = set(words[waits + 1 : waits + 8] if waits is not None else ())
        runs = waits is not None or "running" in words or "progress" in words
        if runs and (tokens.has("~machine") or for_what & _MACHINES) and not {"you", "your"} & set(words):
            return True  # it waits for a program, not for a person
        return (
            freed
            or "unblocked" in words
            or any(mark.name == "~if" or _hedges(tokens, mark) for mark in tokens.marks)
        )
    acts = {"decision": _ACT_MARKS, "dead_end": _FAIL_MARKS}.get(function)
    if acts is None:
        return False
    names = ("~if", "~others", "~past") if function == "decision" else ("~if", "~others")
    first = min((mark.start for mark in tokens.marks if mark.name in acts), default=len(tokens.words))
    if function == "dead_end" and first == len(tokens.words):
        return True
    if function == "decision" and _undecided(tokens.words):
        return True
    return any(mark.start <= first and (mark.name in names or _hedges(tokens, mark)) for mark in tokens.marks)


def _hedges(tokens: Tokens, mark: Mark) -> bool:
    """Whether a mark makes a sentence uncertain; "I would rather" does not."""
    if mark.name != "~hedge":
        return False
    following = tokens.words[mark.end : mark.end + 1]
    return not (tokens.words[mark.start] == "would" and following and following[0] in _WISHES)


def _undecided(words: Sequence[str]) -> bool:
    """ "I haven't decided to", "we didn't choose"."""
    return any(
        words[at] in ("not", "never")
        and any(
            word in ("decided", "chosen", "decide", "chose", "choose", "settled")
            for word in words[at + 1 : at + 3]
        )
        and words[at - 1] in ("have", "has", "did", "had", "am", "are", "is")
        for at in range(1, len(words))
    )
