"""A question as marks: what each of its words stands for, which words are its subject, and its language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..signals.reports.trade_words import unspaced_words
from .question_lexicon import CJK, CJK_OR_OTHER, LANGUAGES, folded, glossary, misspellings, phrases, unspaced

_TOKEN = lazy_regex(r"https?://\S*\w|\w+@[\w.]*\w|[#@]?\w[\w./:+-]*\w(?:'\w+)*|\w+(?:'\w+)*|%")
_KANA = lazy_regex("[\u3040-\u30ff]")
SUBJECT, NUMBER = "X", "N"
# Concepts whose words may also belong to the subject: they help to find it, but it need not have them.
_SOFT = frozenset(
    "ask change problem result pass value wait new old commit file question plan rule block learn say try"
    " fail fix open own verify status drop decide goal names report reject risk fallback reason effect phase"
    " user".split()
)
# Auxiliary words alone do not show that a question is in a language: others have the same.
_WEAK = frozenset(("the", "also", "go", "be", "we"))


class Marks(Value, frozen=True, kw_only=True):
    """The marks of a question in order, its subject as written, and words that may belong to it."""

    marks: tuple[str, ...]
    subject: tuple[str, ...]
    soft: tuple[str, ...] = ()
    language: str = "en"
    head: str = ""  # of "which languages …": what sort of thing is asked for


def read_marks(text: str, original: str = "", language: str | None = None, names: str = "") -> Marks:
    """The marks of a question; `text` may lack some words of the original, such as those of times.

    `names` are folded texts with names of things: "current" belongs to the subject if "sleep current" is one.
    """
    spelled = {folded(token): token for token in _TOKEN.findall(original or text)}
    plain = folded(text)
    language = language or language_of(plain)
    tokens = _with_names(list(_tokens(plain, language)), names)
    marks: list[str] = []
    subject: list[str] = []
    soft: list[str] = []
    head = ""
    for word, concept in tokens:
        if concept in (SUBJECT, NUMBER):
            if marks and marks[-1] == "what" and concept == SUBJECT:
                head = head or spelled.get(word, word)
            subject.append(spelled.get(word, word))
            if marks and marks[-1] == concept:
                continue
        elif concept in _SOFT:
            soft += word.split()
        elif (
            concept == "many"
            and word.startswith("how ")
            and word not in ("how many", "how much", "how often")
        ):
            soft += word.split()[1:]  # how wide
        marks.append(concept)
    return Marks(marks=tuple(marks), subject=tuple(subject), soft=tuple(soft), language=language, head=head)


# Concepts whose words are also parts of names, such as "sleep current" or "open day".
_IN_NAMES = frozenset("now next last open old new value phase long report goal".split())


def _with_names(tokens: list[tuple[str, str]], names: str) -> list[tuple[str, str]]:
    """Tokens; a word that forms a name with the word of a subject beside it belongs to the subject, and so
    does what is counted: "how many tickets"."""
    found = list(tokens)
    kinds = [kind for _, kind in tokens]
    for at, (word, concept) in enumerate(tokens):
        counted = "many" in kinds and (SUBJECT not in kinds or kinds[at - 1 : at] == ["many"])
        if concept == "names" and counted:
            found[at] = (word, SUBJECT)
        if not names or concept not in _IN_NAMES:
            continue
        before = [f"{one} {word}" for one, kind in tokens[max(0, at - 1) : at] if kind == SUBJECT]
        after = [f"{word} {one}" for one, kind in tokens[at + 1 : at + 2] if kind == SUBJECT]
        if any(re.search(rf"\b{re.escape(name)}\b", names) for name in (*before, *after)):
            found[at] = (word, SUBJECT)
    return found


def language_of(plain: str) -> str:
    """The language of a folded text, by its words of questions."""
    if CJK.search(plain):
        return "ja" if _KANA.search(plain) else "zh"
    words = [part for token in _TOKEN.findall(plain) for part in (token, *token.split("'"))]
    best, most = "en", 0.0
    for language in LANGUAGES[:7]:
        known = phrases(language)
        score = 0.0
        for word in dict.fromkeys(words):
            rows = known.get(word, ())
            if any(not rest for rest, _ in rows):
                score += 0.6 if all(concept in _WEAK for _, concept in rows) else 1.0
            elif rows:
                score += 0.3
        score += 0.2 * (language == "en")
        if score > most:
            best, most = language, score
    return best


def _tokens(plain: str, language: str) -> Iterator[tuple[str, str]]:
    """The words of a text with their marks."""
    if language in ("zh", "ja"):
        for run in CJK_OR_OTHER.findall(plain):
            if CJK.match(run):
                yield from _unspaced_tokens(run, language)
            else:
                yield from _spaced_tokens(run, "en")
        return
    yield from _spaced_tokens(plain, language)


def _spaced_tokens(plain: str, language: str) -> Iterator[tuple[str, str]]:
    known = phrases(language)
    words = list(_words(plain, language, known))
    at = 0
    while at < len(words):
        word = words[at]
        for rest, concept in known.get(word, ()):
            end = at + 1 + len(rest)
            if not rest or tuple(words[at + 1 : end]) == rest:
                yield " ".join(words[at:end]), concept
                at = end
                break
        else:
            yield word, NUMBER if word.replace(",", "").replace(".", "").isdecimal() else SUBJECT
            at += 1


def _words(
    plain: str, language: str, known: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
) -> Iterator[str]:
    """The words of a text; contractions are split, and slips of English words of questions are corrected."""
    for token in _TOKEN.findall(plain):
        if token in known:
            yield token
        elif "'" in token:
            head, _, tail = token.partition("'")
            if language == "en" and tail == "t" and head.endswith("n"):
                yield from (head[:-1] if head != "can" else "can", "not")
            elif language == "en":
                yield head
                yield {"s": "is", "re": "are", "m": "am", "ve": "have", "ll": "will", "d": "would"}.get(
                    tail, tail
                )
            else:
                for part in token.split("'"):
                    yield from (piece for piece in ([part] if part in known else part.split("-")) if piece)
        elif "-" in token and language == "fr" and (head := token.split("-")[0]) in known:
            yield head
            yield from (part for part in token.split("-")[1:] if len(part) > 1)
        elif language == "en":
            slip: str = misspellings().get(token) or token
            yield from _ENGLISH.get(token) or (slip,)
        else:
            yield token


_ENGLISH: dict[str, tuple[str, ...]] = {
    "whats": ("what", "is"), "wheres": ("where", "is"), "whos": ("who", "is"), "hows": ("how", "is"),
    "dont": ("do", "not"), "didnt": ("did", "not"), "doesnt": ("does", "not"), "havent": ("have", "not"),
    "hasnt": ("has", "not"), "isnt": ("is", "not"), "arent": ("are", "not"), "wasnt": ("was", "not"),
    "cant": ("can", "not"), "shouldnt": ("should", "not"), "im": ("i", "am"), "weve": ("we", "have"),
    "nxt": ("next",), "stauts": ("status",), "statsu": ("status",), "desicion": ("decision",),
    "desicions": ("decisions",), "wat": ("what",), "plz": ("please",), "tho": ("but",), "u": ("you",),
    "r": ("are",), "w/o": ("without",), "comits": ("commits",), "tl;dr": ("tldr",), "orginal": ("original",),
}  # fmt: skip


@cache
def _known_words(language: str) -> dict[str, list[tuple[str, str]]]:
    """For each letter, the words of a language without spaces that begin with it and their concepts, the
    longest first; of two equally long, what questions are made of precedes a name."""
    names = {*glossary(language), *(word for word, _ in unspaced_words(language))}
    rows = [*unspaced(language), *((name, SUBJECT) for name in sorted(names) if len(name) > 1)]
    found: dict[str, list[tuple[str, str]]] = {}
    for word, concept in sorted(rows, key=lambda row: -len(row[0])):
        found.setdefault(word[0], []).append((word, concept))
    return found


def _unspaced_tokens(run: str, language: str) -> Iterator[tuple[str, str]]:
    """The words of a text without spaces: the longest known one at each place; the rest is the subject."""
    table = _known_words(language)
    at, pending = 0, ""
    while at < len(run):
        known = (row for row in table.get(run[at], ()) if run.startswith(row[0], at))
        word, concept = next(known, ("", ""))
        if not word:
            pending += run[at]
            at += 1
            continue
        if len(pending) > 1:  # a single letter between two words is hardly a word
            yield pending, SUBJECT
        pending = ""
        yield word, concept
        at += len(word)
    if len(pending) > 1:
        yield pending, SUBJECT
