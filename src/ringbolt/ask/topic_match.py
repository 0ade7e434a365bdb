# ruff: noqa: E501 - tables and patterns
"""Whether a text is about the subject of a question: how many of the subject's own words it has.

Words count by their stems. A word is also covered by a synonym, by an abbreviation, by its translation, and, in
languages without spaces, by the letters themselves. Synonyms and translations come from the thesaurus of reports
(`signals/reports/trade_words.txt`): two words of one of its concepts, in whatever languages, may stand for each
other, and count for a little less than the word itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, cached_property, lru_cache
from typing import NamedTuple, TypeVar

from ..model.lazy_regex import lazy_regex
from ..signals.reports.trade_words import concept_words, concepts, unspaced_words
from ..signals.words import COMMON_WORDS, HUMP, stem
from .question_lexicon import CJK, folded, glossary
from .question_words import language_of

Thing = TypeVar("Thing")

FITS = 0.6
# What a word of the same concept is worth, if the word itself is worth 1: in the same language, and in another.
SAME_CONCEPT, TRANSLATED = 0.5, 0.9
_SYNONYM = 0.95  # what a synonym is worth: the word itself comes first
_HEAD = 0.4  # what a missing head costs beside its own worth
_CHARACTERS = 1500  # of each text
_MOST = 2000  # candidates that are compared
_TOKEN = lazy_regex(r"[a-z0-9]+(?:[._:/@+-]+[a-z0-9]+)*")
_PART = lazy_regex(r"[._:/@+-]+")
_DIGIT = lazy_regex(r"\d")
_NUMBERED_NAME = lazy_regex(r"[a-z]+\d+s")
_HUMPED = lazy_regex(r"\b\w*[a-z][A-Z]\w*\b|\b[A-Z]+_[A-Z_\d]+\b")
_FOREIGN = lazy_regex(
    r"\b(?:der|die|das|den|und|ist|sind|im|von|mit|le|la|les|des|du|est|une?|dans|el|los|las|del|en|con|es|il|lo|di|che|per|non"
    r"|o|os|as|um|uma|da|do|no|na|em|het|een|de|op|van|voor|zijn)\b"
)
_ENGLISH = lazy_regex(r"\b(?:the|is|are|was|of|to|and|for|with|has|not|by|it)\b")
# Words of which each stands for the others, beside those of the thesaurus.
_SYNONYMS = """
mail email e-mail message
delete remove erase wipe purge rm
approve sign signed confirm agree accept authorise approval sign-off
grant give gave allow unlock permission
review check inspect proofread
send sent mail post dispatch deliver go
pay paid transfer
cost price worth expensive dear euro euros dollar dollars fee
db database
repo repository
config configuration settings
prod production
docs doc documentation
spend spent cost budget
big large size tb gb mb
space disk storage tb gb used use
own owner responsible
teach teacher instructor
test tests suite spec specs
lint linter biome eslint ruff
typecheck types tsc mypy pyright
picture image photo
phone telephone
confirmation reference
people person participants
begin start
leftover left remaining rest
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
freeze frozen freezing
size pool
switch off stop shut
answer reply respond response
windy wind
"""
_LIGHT = frozenset(
    "help run start begin get make take put keep give show need hold work look come time way kind type sort name called thing"
    " stuff part one bit lot use good whole exactly currently present respect regard detail general data other own number id".split()
)
_TRIVIAL = frozenset(
    "only project job story like please thing things stuff mean means regarding concerning total".split()
)


_COMPARES = frozenset(
    "cheaper dearer bigger larger smaller faster slower newer older better worse longer shorter earlier final finally".split()
)
_UNIT = lazy_regex(r"[a-z]")  # "24 h"
# Abbreviations that are the beginning of a word.
_SHORT = frozenset(
    "cert config repo prod admin info auth param dept temp perm perms stat stats calc dep deps infra lang pref prefs sync"
    " subs reg spec specs env doc docs ref refs lib libs vol max min avg approx org dev app pic mgmt conf".split()
)
_OFTEN = frozenset("hourly daily weekly monthly quarterly yearly family supply reply assembly early".split())
_VAGUE = _LIGHT | COMMON_WORDS  # words whose concepts say nothing: almost everything is done or got


class Forms(NamedTuple):
    """What a word of a subject may be called in a text: stems (or letters without spaces), stems of synonyms, and
    concepts."""

    stems: frozenset[str]
    synonyms: frozenset[str]
    concepts: frozenset[str]


class Words:
    """The words of a text: its stems with those of the parts of its names and of English words for foreign ones, and
    its language."""

    def __init__(self, text: str) -> None:
        plain = folded(text)
        english = _ENGLISH.search(plain) or (text.isascii() and not _FOREIGN.search(plain))
        self.language = "en" if english else language_of(plain)
        self._plain = plain
        self._parts = [part for token in _TOKEN.findall(plain) for part in _split(token)]
        stems = {form for part in self._parts for form in _stems(part)}
        if self.language != "en":
            known = glossary(self.language)
            words = [word for word in known if word in plain] if self._is_unspaced else self._parts
            stems |= {_stem(one) for word in words for one in known.get(word, ())}
        for name in _HUMPED.findall(text):
            stems |= {_stem(part.lower()) for part in HUMP.findall(name)}
        self.stems = frozenset(stems)

    @property
    def _is_unspaced(self) -> bool:
        return self.language in ("zh", "ja")

    @cached_property
    def concepts(self) -> dict[str, set[str]]:
        """For each concept of the thesaurus the words of the text that have it."""
        found: dict[str, set[str]] = {}
        for word, names in unspaced_words(self.language) if self._is_unspaced else ():
            if len(word) > 1 and word in self._plain:
                for name in names:
                    found.setdefault(name, set()).add(word)
        language = "en" if self._is_unspaced else self.language
        for part in self._parts:
            for name in concepts(part, language) if part not in _VAGUE else ():
                found.setdefault(name, set()).add(_stem(part))
        return found


class Subject:
    """The subject of a question, compared with texts."""

    def __init__(
        self,
        words: Iterable[str],
        soft: Iterable[str] = (),
        language: str = "en",
        known: str = "",
        absent: Iterable[str] = (),
        head: str = "",
    ) -> None:
        """`known` is what every text of the task is about, such as its name: its words count for little. So do
        `absent` words, of another language, that we cannot translate and that no record has: they may be
        anything, also a verb. A text without the `head`, the sort of thing that is asked for, fits worse."""
        self._head = head
        self.words = [
            word
            for word in dict.fromkeys(words)
            if folded(word) not in _TRIVIAL and not _UNIT.fullmatch(word)
        ]
        self.language = language
        about = text_words(known).stems if known else frozenset[str]()
        nowhere = frozenset(absent)
        self._wanted = [
            (forms, 0.4 if forms.stems & about else _worth(word) * (0.25 if word in nowhere else 1.0))
            for word, forms in ((word, _forms(word, language)) for word in self.words)
        ]
        self._soft = [_forms(word, language) for word in dict.fromkeys(soft)]
        self._marks = _marks(tuple(forms for forms, _ in self._wanted), tuple(self._soft), language)

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
        exact = [_match(forms, has, text) for forms, _ in self._wanted]
        used = set(filter(None, exact))  # a word of the text stands for one word of the subject
        if not used and has.language == self.language:
            return 0.0  # words of the same concepts alone are too little
        whole = got = 0.0
        alike = 0
        named = True  # whether the text has the word before: a bare number belongs to it ("board 3")
        for word, (forms, worth), match in zip(self.words, self._wanted, exact, strict=True):
            whole += worth
            stray = word.isdecimal() and not named
            named = bool(match) or word.isdecimal()
            if match and not stray:
                got += worth * (_SYNONYM if match in forms.synonyms else 1.0)
            elif like := _alike(forms, has, used):
                got += worth * (SAME_CONCEPT if self.language == has.language else TRANSLATED)
                used.add(like)
                alike += 1
            elif word == self._head:
                whole += _HEAD
            elif _DIGIT.search(word):  # another number or version is another thing
                whole += worth
        if alike == len(used) < 2:
            return 0.0  # one word of the same concept may mean something else
        extra = 0.4 * self.beside(text)
        return (got + extra) / (whole + extra) if got else 0.0

    def beside(self, text: str) -> int:
        """How many of the words beside the subject a text has."""
        has = text_words(text[:_CHARACTERS])
        return sum(bool(_match(forms, has, text)) for forms in self._soft)

    def missing(self, text: str) -> list[str]:
        """The words that a text does not have."""
        has = text_words(text[:_CHARACTERS])
        return [
            word
            for word, (forms, _) in zip(self.words, self._wanted, strict=True)
            if not _match(forms, has, text) and not _alike(forms, has, set())
        ]


def _match(forms: Forms, has: Words, text: str) -> str:
    """The word of a text that is a word of the subject, or short for it."""
    for wanted in (forms.stems, forms.synonyms):
        found = [form for form in wanted if form in has.stems or (not form.isascii() and form in text)]
        if found:
            return min(found)  # the same one in every run
    for form in forms.stems:
        short = form in _SHORT  # "cert" is short for "certificate"
        cognate = len(form) > 6 and has.language != "en"  # "inspectora" is an inspector
        if short or cognate:
            longer = [
                one for one in has.stems if one.startswith(form[:7]) and (cognate or len(one) > len(form) + 1)
            ]
            if longer:
                return min(longer)
    return ""


def _alike(forms: Forms, has: Words, used: set[str]) -> str:
    """A word of a text that shares a concept with a word of the subject, and stands for no other one."""
    free = {word for name in forms.concepts for word in has.concepts.get(name, ())} - used
    return min(free, default="")


def untranslated(words: Iterable[str], language: str) -> list[str]:
    """The words of another language that we cannot translate; names are the same in every language."""
    return [
        word
        for word in words
        if language not in ("en", "zh", "ja") and word.isalpha() and word[:1].islower()
        and folded(word) not in glossary(language) and not concepts(folded(word), language)
    ]  # fmt: skip


def translations(word: str, language: str) -> list[str]:
    """What else a word of a subject may be called in the records: its English words."""
    if language == "en":
        return []
    return [
        *glossary(language).get(folded(word), ()),
        *(name[1:] for name in _concepts(folded(word), language)),
    ]


@lru_cache(1 << 8)
def _marks(wanted: tuple[Forms, ...], soft: tuple[Forms, ...], language: str) -> tuple[str, ...]:
    """The beginnings of all words that may stand for one of the subject: in the same language its own words,
    of which a text needs at least one, in others all words of its concepts."""
    found = [form[:5] for forms in (*wanted, *soft) for form in (*forms.stems, *forms.synonyms)]
    found += [
        folded(word)[:5]
        for forms in wanted
        for name in forms.concepts
        for word in concept_words(name, language)
    ]
    shortest_first = sorted(set(found), key=len)
    kept: list[str] = []
    for mark in shortest_first:
        if not any(mark.startswith(one) for one in kept):
            kept.append(mark)
    return tuple(kept)


def _worth(word: str) -> float:
    if re.search(r"\d|_|[./]\w", word):
        return 1.5
    plain = folded(word)
    if plain.endswith("ly") and len(plain) > 4 and plain not in _OFTEN:
        return 0.25  # an adverb says how, not what
    if plain in _COMPARES:
        return 0.25  # "the cheaper one" is one of those that are named
    light = plain in _LIGHT or (_stem(plain) in _light_stems() and not plain.endswith(("er", "ers")))
    return 0.4 if light else 1.0


@cache
def _light_stems() -> frozenset[str]:
    return frozenset(map(_stem, _LIGHT))


@lru_cache(1 << 12)
def _forms(word: str, language: str) -> Forms:
    plain = folded(word).lstrip("#@")
    if CJK.search(plain):
        pairs = {plain[at : at + 2] for at in range(len(plain) - 1)} if len(plain) > 3 else set[str]()
        english = glossary(language).get(plain, ()) if language != "en" else ()
        forms = frozenset({plain, *pairs, *map(_stem, english)})
        return Forms(forms, frozenset(), _concepts(plain, language))
    names = [plain, *(glossary(language).get(plain, ()) if language != "en" else ())]
    if _NUMBERED_NAME.fullmatch(plain):
        names.append(plain[:-1])  # two U9s
    again, dash, rest = plain.partition("-")
    if dash and again in ("re", "pre", "un") and len(rest) > 3:
        names.append(rest)  # re-signed
    found = frozenset(form for name in names for form in _stems(name))
    synonyms = frozenset(one for name in names for one in _synonyms().get(_stem(name), ()))
    return Forms(found, synonyms - found, _concepts(plain, language))


def _concepts(plain: str, language: str) -> frozenset[str]:
    if CJK.search(plain):
        return frozenset(name for word, names in unspaced_words(language) if word in plain for name in names)
    return concepts(plain, language)


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _SYNONYMS.strip().splitlines():
        stems = {_stem(word) for word in line.split()}
        for one in stems:
            found.setdefault(one, set()).update(stems)
    return {word: frozenset(stems) for word, stems in found.items()}


@lru_cache(1 << 11)
def text_words(text: str) -> Words:
    """The words of a text."""
    return Words(text)


def _split(token: str) -> list[str]:
    parts = [part for part in _PART.split(token) if part]
    return [token, *parts] if len(parts) > 1 else [token]


@lru_cache(1 << 13)
def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 5 and word.endswith(("er", "ers")):
        return word.removesuffix("s")  # a mover is not a move
    root = stem(f"{word[:-3]}y" if len(word) > 4 and word.endswith("ies") else word)
    return root[:-1] if len(root) > 4 and root.endswith("y") else root


def _stems(word: str) -> tuple[str, ...]:
    """The stem of a word, and of the verb that it is a noun of: rotation, rotate."""
    root = _stem(word)
    if word.endswith("ation") and len(word) > 7:
        return root, stem(f"{word[:-3]}e")
    return (root, _stem(word[:-2])) if word in _OFTEN and word.endswith("ly") and len(word) > 6 else (root,)


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


def fitting(
    subject: Subject, things: Iterable[Thing], text: Callable[[Thing], str], least: float = FITS
) -> list[Thing]:
    """The candidates that fit a subject about as well as the best one, in their order."""
    if not subject:
        return []
    candidates = list(things)[-_MOST:]
    scores = [subject.coverage(text(thing)) for thing in candidates]
    best = max(scores, default=0.0)
    if best < least:
        return []
    least = max(least, 0.9 * best)
    return [thing for thing, score in zip(candidates, scores, strict=True) if score >= least]
