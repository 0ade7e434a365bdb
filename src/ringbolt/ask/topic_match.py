# ruff: noqa: E501 - tables and patterns
"""Whether a text is about the subject of a question: how many of the subject's own words it has.

Words count by their stems. A word is also covered by a synonym of the trade, by its translation, and, in
languages without spaces, by the letters themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TypeVar

from ..model.lazy_regex import lazy_regex
from ..signals.words import HUMP, stem
from .question_lexicon import LANGUAGES, folded, glossary

Thing = TypeVar("Thing")

FITS = 0.6
_CHARACTERS = 1500  # of each text
_MOST = 2000  # candidates that are compared
_TOKEN = lazy_regex(r"[a-z0-9]+(?:[._:/@+-]+[a-z0-9]+)*")
_PART = lazy_regex(r"[._:/@+-]+")
_CJK = lazy_regex("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_DIGIT = lazy_regex(r"\d")
_HUMPED = lazy_regex(r"\b\w*[a-z][A-Z]\w*\b|\b[A-Z]+_[A-Z_\d]+\b")
# Words of which each stands for the others.
_SYNONYMS = """
mail email e-mail message
delete remove erase wipe purge rm
approve sign signed confirm agree accept authorise approval sign-off
grant give gave allow unlock permission
review check inspect proofread
buy bought purchase
order ordered
send sent mail post dispatch deliver go
pay paid transfer
cost price worth expensive dear euro euros dollar dollars fee
spend spent cost budget
budget spend
big large size tb gb mb
space disk storage tb gb used use
own owner responsible
teach teacher instructor
db database
repo repository
config configuration settings
prod production
docs doc documentation
test tests suite spec specs
lint linter biome eslint ruff
typecheck types tsc mypy pyright
picture image photo
phone telephone
confirmation reference
people person participants
article paper
bug defect
begin start
stop halt
show display appear
write wrote written writing draft
make create created
error message
meeting event conference
date dates day
deadline due
hash sha commit
folder directory
compare comparison match identical agree
checksum checksums
cancel cancelled
freeze frozen freezing
size pool
switch off stop shut
answer reply respond response
booking book booked reserve reserved
windy wind
"""
_LIGHT = frozenset(
    "run start begin get make take put keep give show need hold work look come time way kind type sort name called thing"
    " stuff part one bit lot use good whole exactly currently present respect regard detail general".split()
)
_TRIVIAL = frozenset(
    "project job story like please thing things stuff mean means regarding concerning total".split()
)


class Subject:
    """The subject of a question, compared with texts."""

    def __init__(
        self,
        words: Iterable[str],
        soft: Iterable[str] = (),
        language: str = "en",
        known: str = "",
        absent: Iterable[str] = (),
    ) -> None:
        """`known` is what every text of the task is about, such as its name: its words count for little. So do
        `absent` words, of another language, that we cannot translate and that no record has: they may be
        anything, also a verb."""
        self.words = [word for word in dict.fromkeys(words) if folded(word) not in _TRIVIAL]
        about = text_words(known) if known else frozenset[str]()
        nowhere = frozenset(absent)
        self._wanted = [
            (forms, 0.4 if forms & about else _worth(word) * (0.25 if word in nowhere else 1.0))
            for word, forms in ((word, _forms(word, language)) for word in self.words)
        ]
        self._soft = [_forms(word, language) for word in dict.fromkeys(soft)]
        self._marks = [
            form[:5] for forms in (*(forms for forms, _ in self._wanted), *self._soft) for form in forms
        ]

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def may_fit(self, text: str) -> bool:
        """A cheap test: whether a text (in lower case) may have one of the words."""
        return not text.isascii() or any(mark in text for mark in self._marks)

    def coverage(self, text: str) -> float:
        """The share of the subject that a text has, 0 to 1; words beside the subject can help, not harm."""
        if not self._wanted:
            return 0.0
        has = text_words(text[:_CHARACTERS])
        whole = got = 0.0
        for word, (forms, worth) in zip(self.words, self._wanted, strict=True):
            whole += worth
            if any(_in(form, has, text) for form in forms):
                got += worth
            elif _DIGIT.search(word):  # another number or version is another thing
                whole += worth
        extra = 0.4 * self.beside(text)
        return (got + extra) / (whole + extra) if got else 0.0

    def beside(self, text: str) -> int:
        """How many of the words beside the subject a text has."""
        has = text_words(text[:_CHARACTERS])
        return sum(any(_in(form, has, text) for form in forms) for forms in self._soft)

    def missing(self, text: str) -> list[str]:
        """The words that a text does not have."""
        has = text_words(text[:_CHARACTERS])
        return [
            word
            for word, (forms, _) in zip(self.words, self._wanted, strict=True)
            if not any(_in(form, has, text) for form in forms)
        ]


def untranslated(words: Iterable[str], language: str) -> list[str]:
    """The words of another language that we cannot translate; names are the same in every language."""
    return [
        word
        for word in words
        if language not in ("en", "zh", "ja") and word.isalpha() and word[:1].islower()
        and folded(word) not in glossary(language)
    ]  # fmt: skip


def _in(form: str, has: frozenset[str], text: str) -> bool:
    return form in has or (not form.isascii() and form in text)


def _worth(word: str) -> float:
    if re.search(r"\d|_|[./]\w", word):
        return 1.5
    return 0.4 if _stem(folded(word)) in _light_stems() else 1.0


@cache
def _light_stems() -> frozenset[str]:
    return frozenset(map(_stem, _LIGHT))


@lru_cache(1 << 12)
def _forms(word: str, language: str) -> frozenset[str]:
    """What a word of a subject may be called in a text: stems, or letters without spaces."""
    plain = folded(word)
    found = {plain} if _CJK.search(plain) else {_stem(part) for part in _split(plain)[:1] or [plain]}
    english = [plain]
    for one in (language,) if language != "en" else ():
        english += glossary(one).get(plain, ())
    found |= {form for part in english for form in _stems(part)}
    for part in english:
        found |= _synonyms().get(_stem(part), frozenset())
    if _CJK.search(plain) and len(plain) > 3:
        found |= {plain[at : at + 2] for at in range(len(plain) - 1)}
    return frozenset(found)


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _SYNONYMS.strip().splitlines():
        stems = {_stem(word) for word in line.split()}
        for one in stems:
            found.setdefault(one, set()).update(stems)
    return {word: frozenset(stems) for word, stems in found.items()}


@cache
def _foreign() -> tuple[dict[str, frozenset[str]], list[tuple[str, frozenset[str]]]]:
    """English stems for words of all other languages: of those with spaces, and of those without."""
    spaced: dict[str, set[str]] = {}
    unspaced: dict[str, set[str]] = {}
    for language in LANGUAGES[1:]:
        for word, english in glossary(language).items():
            target = unspaced if _CJK.search(word) else spaced
            target.setdefault(word, set()).update(_stem(one) for one in english)
    return (
        {word: frozenset(stems) for word, stems in spaced.items()},
        [(word, frozenset(stems)) for word, stems in unspaced.items()],
    )


@lru_cache(1 << 11)
def text_words(text: str) -> frozenset[str]:
    """The stems of a text, of the parts of its names, and of English words for its foreign ones."""
    plain = folded(text)
    found: set[str] = set()
    spaced, unspaced = _foreign()
    for token in _TOKEN.findall(plain):
        for part in _split(token):
            found.update(_stems(part))
            if part in spaced:
                found |= spaced[part]
    for name in _HUMPED.findall(text):
        found |= {_stem(part.lower()) for part in HUMP.findall(name)}
    if not plain.isascii() and _CJK.search(plain):
        for word, stems in unspaced:
            if word in plain:
                found |= stems
    return frozenset(found)


def _split(token: str) -> list[str]:
    parts = [part for part in _PART.split(token) if part]
    return [token, *parts] if len(parts) > 1 else [token]


@lru_cache(1 << 13)
def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    root = stem(word)
    return root[:-1] if len(root) > 4 and root.endswith("y") else root


def _stems(word: str) -> tuple[str, ...]:
    """The stem of a word, and of the verb that it is a noun of: rotation, rotate."""
    root = _stem(word)
    return (root, stem(f"{word[:-3]}e")) if word.endswith("ation") and len(word) > 7 else (root,)


_IRREGULAR = {
    past: stem(verb)
    for verb, pasts in {
        "build": "built", "send": "sent", "write": "wrote written", "buy": "bought", "pay": "paid", "find": "found",
        "choose": "chose chosen", "give": "gave given", "run": "ran", "make": "made", "break": "broke broken",
        "freeze": "frozen froze", "teach": "taught", "speak": "spoke spoken", "drive": "drove driven",
        "hold": "held", "lay": "laid", "keep": "kept", "sell": "sold", "leave": "left", "meet": "met", "spend": "spent",
        "sign": "signs", "copy": "copies copied", "reply": "replies replied", "apply": "applies applied",
        "cancel": "cancelled canceled", "plan": "planned", "ship": "shipped", "commit": "committed",
        "approval": "approves approved approve approving", "analysis": "analyse analysed analyses analyzed",
        "recruit": "recruited", "delete": "deletion deleted deletes deleting", "publish": "published publication",
        "reproduce": "reproduced", "interview": "interviewed interviews", "divide": "split",
    }.items()
    for past in pasts.split()
} | {"approve": stem("approval"), "deletion": stem("delete")}  # fmt: skip


def fitting(subject: Subject, things: Iterable[Thing], text: Callable[[Thing], str]) -> list[Thing]:
    """The candidates that fit a subject about as well as the best one, in their order."""
    if not subject:
        return []
    candidates = list(things)[-_MOST:]
    scores = [subject.coverage(text(thing)) for thing in candidates]
    best = max(scores, default=0.0)
    if best < FITS:
        return []
    least = max(FITS, 0.9 * best)
    return [thing for thing, score in zip(candidates, scores, strict=True) if score >= least]
