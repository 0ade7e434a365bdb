"""The features of a sentence that say what it does: phrases of the lexicon with their tense and subject, the
form and place of the sentence, its words and pairs of words, and the sentence before it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Container, Sequence
from itertools import pairwise

from .lexicon import headings
from .sentences import Sentence, Tokens

_SIZES = (4, 9, 19, 36)  # words of a sentence, from which on it is longer
_AMONG = (2, 5, 13)  # sentences of a message
MOST_PAIRED = 40  # words of a sentence whose pairs are read

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
    " first really ever all both please rather next always".split()
)
_BREAKS = frozenset(".,;:!?()[]–—->")
_FIRST = frozenset(
    "no nope not yes ok okay let i we you it this that the a if when should shall which what who how why"
    " where can could would do does is are may now next then after before since because given although for"
    " in so but and or please here there all never always only actually wait hmm one two both also instead"
    " rather to without until there perhaps maybe still".split()
)
# What the speaker does, by the class of the verb: takes a way, works, gives something up.
_ACTS = {
    "choose": "takes", "keep": "takes", "exclude": "takes", "use": "takes", "prefer": "takes", "work":
    "works", "set": "works", "abandon": "gives up",
}  # fmt: skip
_UNREAL = ("would", "can", "may", "should", "to")
# What makes an act a decision, or rules that out.
_BESIDE = (
    "~because", "~instead", "~instead^", "~hedge", "~if", "ends?", "~or", "~others", "~past", "~cannot",
    "~only", "~next", "~first", "~decides", "~better", "~not", "number", "~done", "~must", "~so", "~way",
    "~agree", "~reject",
)  # fmt: skip
# How a clause begins that gives a reason without saying so: "we'll stick with Redis, it is already there".
_CLAUSE = frozenset(
    "it this that they the there he she nobody nothing we i too otherwise as our its two both all".split()
)


def features(
    sentence: Sentence,
    tokens: Tokens,
    user: bool,
    after_failure: bool = False,
    vocabulary: Container[str] = frozenset(),
) -> set[str]:
    """The features of a sentence: what the model knows about it.

    Words and pairs of words are features too; those outside the vocabulary count by their form only.
    """
    words = tokens.words
    found = _of_the_lexicon(tokens)
    found |= _of_the_form(sentence, tokens, after_failure)
    acts = [name for name in ("takes", "works", "gives up", "not takes") if name in found]
    for name in acts:
        found |= {f"{name}&{other}" for other in _BESIDE if other in found}
        if _reasoned(words):
            found.add(f"{name}&reason")
    if user:
        found |= {f"u:{name}" for name in found if name[0] != "u" or name[:6] != "under:"}
    found |= _word_pairs(words, vocabulary, user)
    if sentence.previous:
        found |= _before(sentence.previous, vocabulary)
    return found


def _of_the_lexicon(tokens: Tokens) -> set[str]:
    """Which classes of verbs and markers occur, in which tense, with whom as the subject."""
    words = tokens.words
    found: set[str] = {"bias"}
    add = found.add
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
    return found


def _of_the_form(sentence: Sentence, tokens: Tokens, after_failure: bool) -> set[str]:
    """How the sentence begins, ends, is laid out, and where it stands in its message."""
    words = tokens.words
    found: set[str] = {f"kind:{sentence.kind}"}
    add = found.add
    first = words[0] if words else ""
    if first in _FIRST:
        add(f"first:{first}")
    add(f"size:{bisect(_SIZES, len(words)) + 1}")
    add(f"among:{bisect(_AMONG, sentence.among) + 1}")
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
    if sentence.last and not sentence.first:
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
    return found


def _has_digit(word: str) -> bool:
    return word[0].isdecimal() or word[-1].isdecimal() or (len(word) > 1 and word[1].isdecimal())


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


# --- words and pairs of words -----------------------------------------------------------------------

# What the sentence before may say that matters for the one after it.
_CARRIED = frozenset(
    ("~reveals", "~cause", "~agree", "~done", "choose", "keep", "~reject", "~question", "~defect", "fail")
)


def form_of(word: str, vocabulary: Container[str]) -> str:
    """A word of the vocabulary as it is; of any other word only its form, so that a name of one project says
    the same as that of another."""
    if word in vocabulary or not word[0].isalnum():
        return word
    if any(map(str.isdecimal, word)):
        return "#"
    if any(sign in word for sign in "./_"):
        return "<code>"
    return "+ing" if word.endswith("ing") else "+ed" if word.endswith("ed") else "+"


def _word_pairs(words: Sequence[str], vocabulary: Container[str], user: bool) -> set[str]:
    forms = [form_of(word, vocabulary) for word in words[:MOST_PAIRED]]
    found = {f"w:{word}" for word in forms}
    found |= {f"{one} {other}" for one, other in pairwise(("^", *forms, "$"))}
    if user and forms:
        found |= {f"u:w:{word}" for word in forms}
        found.add(f"u:^ {forms[0]}")
    return found


def _before(previous: str, vocabulary: Container[str]) -> set[str]:
    tokens = Tokens(previous)
    found = {f"p:{mark.name}" for mark in tokens.marks if mark.name in _CARRIED}
    if tokens.words:
        found.add(f"p:{form_of(tokens.words[0], vocabulary)}")
    return found
