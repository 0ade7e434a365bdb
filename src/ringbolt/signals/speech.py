"""What a sentence does: decide, rule out, state a value, constrain, ask, report a blocker, plan, explain, and
so on.

A linear model over features from the lexicon (`speech_lexicon`), the layout of the message and who speaks.
Its weights are a table, `speech_weights.json`, written by `bench/speech_training.py` from labelled sentences.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from ..model.lazy_regex import lazy_regex
from .speech_lexicon import headings, index, words_of
from .text_layout import Kind, Line, layout, sentences

Function = Literal[
    "decision", "dead_end", "value", "constraint", "question", "blocker", "next", "cause", "done", "rejection"
]
FUNCTIONS: tuple[Function, ...] = get_args(Function)

MOST_SENTENCES = 400  # of one message
MOST_TOKENS = 80  # of one sentence

_TOKEN = lazy_regex(
    r"`[^`]*`?|\"[^\"]{12,}\"|“[^”]*”|https?://\S+|\d+(?:[,:.]\d+)+\w*%?|[~\w-]*(?:[./_]+[\w~-]+)+|#\w+"
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
            elif "'" in token or token in (
                "cannot",
                "gonna",
                "dont",
                "lets",
                "doesnt",
                "didnt",
                "cant",
                "wont",
            ):
                words = words_of(token)
            else:
                words = (token,)
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
    """The sentences of a message in order: headings and table rows as they are, other lines cut at full
    stops."""
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
    return found


# --- features ---------------------------------------------------------------------------------------

_SUBJECTS = {
    "i": "I", "we": "I", "you": "you", "it": "it", "this": "it", "that": "it", "they": "they", "he": "they",
    "she": "they", "us": "lets", "which": "it", "who": "they",
}  # fmt: skip
_MODALS = {
    "will": "will", "going": "will", "would": "would", "could": "would", "might": "would", "may": "may",
    "should": "should", "must": "must", "can": "can", "have": "have", "has": "have", "had": "have", "to":
    "to", "be": "be", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be", "let": "let", "did":
    "did", "does": "did", "do": "did", "am": "be", "me": "me",
}  # fmt: skip
_SKIPPED = frozenset(
    "not also now just then therefore finally deliberately still already instead again never only simply"
    " first"
    " really ever all both please rather next always".split()
)
_BREAKS = frozenset(".,;:!?()[]–—->")
_FIRST = frozenset(
    "no nope not yes ok okay let i we you it this that the a if when should shall which what who how why"
    " where can could"
    " would do does is are may now next then after before since because given although for in so but and or"
    " please"
    " here there all never always only actually wait hmm one two both also instead rather to without until"
    " there perhaps maybe still".split()
)
# What the speaker does, by the class of the verb: takes a way, works, gives something up.
_ACTS = {
    "choose": "takes", "keep": "takes", "exclude": "takes", "use": "takes", "prefer": "takes", "work":
    "works", "set": "works", "abandon": "gives up",
}  # fmt: skip
_UNREAL = ("would", "can", "may", "should", "to")
# What makes an act a decision, or none.
_BESIDE = (
    "~because", "~instead", "~instead^", "~hedge", "~if", "ends?", "~or", "~others", "~past", "~cannot",
    "~only", "~next", "~first", "~decides", "~better", "~not", "number", "~done", "~must", "~so", "~way",
    "~agree", "~reject",
)  # fmt: skip
# How a clause begins that gives a reason without saying so: "we'll stick with Redis, it is already there".
_CLAUSE = frozenset(
    "it this that they the there he she nobody nothing we i too otherwise as our its two both all".split()
)


def features(sentence: Sentence, tokens: Tokens, user: bool, after_failure: bool = False) -> set[str]:
    """The features of a sentence: what the model knows about it."""
    words = tokens.words
    found: set[str] = {"bias", f"kind:{sentence.kind}"}
    add = found.add
    first = words[0] if words else ""
    for mark in tokens.marks:
        name = mark.name
        add(name)
        if not mark.tense:
            if mark.start == 0:
                add(f"{name}^")
            continue
        subject, modal, negated = _subject(words, mark.start)
        add(f"{name}.{mark.tense}")
        add(f"{name}@{subject}")
        if modal:
            add(f"{name}+{modal}")
        if negated:
            add(f"{name}.not")
        if subject == "I" or subject == "start":
            add(f"{name}.{mark.tense}@{subject}")
        if mark.start == 0:
            add(f"^{mark.tense}")
        group = _ACTS.get(name)
        if group and subject in ("I", "lets", "start", "clause") and modal not in _UNREAL:
            add(f"not {group}" if negated else group)
            if mark.start <= 4:
                add(f"{group}^")
    if first in _FIRST:
        add(f"first:{first}")
    size = len(words)
    add(
        "size:1"
        if size <= 3
        else "size:2"
        if size <= 8
        else "size:3"
        if size <= 18
        else "size:4"
        if size <= 35
        else "size:5"
    )
    last = words[-1] if words else ""
    text = sentence.text.rstrip("\"'*_) ")
    if text.endswith("?"):
        add("ends?")
    elif last == ":":
        add("ends:")
    elif last == "!":
        add("ends!")
    inner = words[:-1]
    for sign, name in ((":", "colon"), (";", "semicolon"), ("(", "bracket"), (",", "comma"), ("=", "equals")):
        if sign in inner:
            add(name)
    if "—" in inner or "–" in inner or "-" in inner or "--" in inner:
        add("dash")
    if "→" in inner:
        add("arrow")
    if any(map(_has_digit, words)):
        add("number")
    if "<code>" in words:
        add("code")
        if first == "<code>":
            add("code^")
        if all(word == "<code>" or not word[0].isalpha() for word in words):
            add("only code")
    if "<quote>" in words or (first in '"“«' and first):
        add("quote")
    if text[:2] in ("//", "# ", "--", "$ "):
        add("comment")
    if sentence.label:
        add("label")
    if sentence.number is not None:
        add("numbered")
    if sentence.first:
        add("opens")
    if sentence.last:
        add("closes")
    if after_failure:
        add("after failure")
    if sentence.heading:
        nouns = headings()
        for word in sentence.heading.lower().split():
            for name in nouns.get(word.strip(":*_.,()#"), ()):
                add(f"under:{name}")
    if sentence.previous.endswith("?"):
        add("after?")
    elif sentence.previous.endswith(":"):
        add("after:")
    acts = [name for name in ("takes", "works", "gives up", "not takes") if name in found]
    for name in acts:
        found |= {f"{name}&{other}" for other in _BESIDE if other in found}
        if _reasoned(words):
            add(f"{name}&reason")
    if user:
        found |= {f"u:{name}" for name in found if name[0] != "u" or name[:6] != "under:"}
    return found


def _has_digit(word: str) -> bool:
    return word[0].isdigit() or word[-1].isdigit() or (len(word) > 1 and word[1].isdigit())


def _reasoned(words: Sequence[str]) -> bool:
    """Whether a second clause follows that may give a reason: after a dash, a colon or a comma with its own
    subject."""
    for at in range(3, len(words) - 2):
        word = words[at]
        if word in ("because", "since", "—", "–", "--", ";", ":", "so"):
            return True
        if word == "," and words[at + 1] in _CLAUSE:
            return True
    return False


def _subject(words: Sequence[str], at: int) -> tuple[str, str, bool]:
    """Who does what the verb at a place says, its modal verb, and whether it is negated."""
    modal, negated = "", False
    for place in range(at - 1, max(-1, at - 7), -1):
        word = words[place]
        if word in _SUBJECTS:
            return _SUBJECTS[word], modal, negated
        if word in _MODALS:
            modal = modal or _MODALS[word]
        elif word in _BREAKS or word in ("and", "but", "so", "then", "or"):
            return ("start" if place == at - 1 else "clause"), modal, negated
        elif word not in _SKIPPED and not word.endswith("ly"):
            return "other", modal, negated
        if word in ("not", "never"):
            negated = True
    return ("start" if at == 0 else "clause"), modal, negated


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
        if (tokens.has("~machine") or for_what & _MACHINES) and not {"you", "your"} & set(words):
            return True  # it waits for a program, not for somebody
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


# --- the model --------------------------------------------------------------------------------------


class Model(Struct):
    """The weights of each feature for each function, and the scores above which a function is sure or
    possible."""

    weights: dict[str, list[float]]  # of a feature, in the order of FUNCTIONS
    sure: list[float]
    possible: list[float]
    slope: list[float]  # by which a score becomes a probability
    offset: list[float]


@cache
def model() -> Model:
    """The table that the training wrote."""
    path = Path(__file__).with_name("speech_weights.json")
    return Model(**json.loads(path.read_text(encoding="utf-8")))


def scores(found: Iterable[str], table: Model | None = None) -> list[float]:
    """The score of each function, in the order of FUNCTIONS."""
    table = table or model()
    total = [0.0] * len(FUNCTIONS)
    weights = table.weights
    for name in found:
        row = weights.get(name)
        if row is not None:
            total = list(map(float.__add__, total, row))
    return total


def confidence(score: float, place: int, table: Model | None = None) -> float:
    """A score as the share of such sentences that have the function."""
    table = table or model()
    return 1 / (1 + exp(-max(-30.0, min(30.0, table.slope[place] * score + table.offset[place]))))
