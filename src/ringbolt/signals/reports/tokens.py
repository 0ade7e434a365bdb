"""The words of a report with their marks: the phrases of an act table that they belong to."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache, lru_cache

from msgspec import Struct

from ...model.lazy_regex import lazy_regex
from .act_tables import LANGUAGES, ActTable, table
from .trade_words import base_words, concepts
from .word_roots import Forms, forms

# A quoted title, as a private character for its place.
TITLE = "\ue000"
_TOKEN = lazy_regex(
    r"\ue000\d+|\[[ xX]\]|[^\W_]+(?:(?:['’_./@:-]|(?<=\d)[,–](?=\d))+[^\W_]+)*'?|\.{2,}|…|!(?=\s|$)"
    r"|[.?;:,()\n–—#&+%✓✔✅☑✗✘❌？！。；，、]"
    r"|(?<=\s)-(?=\s)|\"|“|”"
)
_ELIDED = lazy_regex(r"(?:l|d|qu|s|m|t|dell|all|nell|sull|un|dall)['’](?=\w)")
_KANA = lazy_regex(r"[\u3040-\u30ff]")
_HAN = lazy_regex(r"[\u3400-\u9fff]")
UNSPACED = ("zh", "ja")
COLON = ":"
COPULAS = frozenset("is are was were ist sind war est sont es son está están é são è sono zijn".split())
# The marks in the order of precedence for a phrase that stands under several.
_MARKS = (
    "going_on",
    "harmless", "reopened", "skipped", "unfinished", "failed", "partly", "begun", "state", "done", "guessed",
    "deferred",
    "planned", "condition", "says", "negation",
)  # fmt: skip


class Lookup:
    """A table with its phrases by their first word."""

    def __init__(self, one: ActTable) -> None:
        self.table = one
        self.forms: Forms = forms(one.language)
        self.common = frozenset(one.common.split())
        self.phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for mark in reversed(_MARKS):
            for phrase in split_phrases(getattr(one, mark)):
                self._add(phrase, mark)
        for found in self.phrases.values():
            found.sort(key=lambda pair: -len(pair[0]))
        self.all = [tuple(phrase.split()) for phrase in split_phrases(one.all)]
        self.all_firsts = frozenset(phrase[0] for phrase in self.all)
        self.also = frozenset(split_phrases(one.also))
        self.still = frozenset(split_phrases(one.still))
        self.repairs = frozenset(split_phrases(one.repairs))
        self.steps = frozenset(split_phrases(one.steps))
        self.ordinals = {word: place for place, word in enumerate(split_phrases(one.ordinals), 1)}
        self.numbers = {word: place for place, word in enumerate(split_phrases(one.numbers), 1)}
        self.last = frozenset(split_phrases(one.last))
        self.joins = frozenset(split_phrases(one.joins))
        self.contrasts = frozenset(phrase for phrase in split_phrases(one.contrasts) if " " not in phrase)
        self.into = frozenset(split_phrases(one.into))
        self.self_words = frozenset(split_phrases(one.self_words))
        self.asks = frozenset(split_phrases(one.asks))
        self.hypothesis = frozenset(split_phrases(one.hypothesis))
        self.of = frozenset(split_phrases(one.of))
        self.maybe_past = frozenset(one.maybe_past.split())
        self.helpers = frozenset(one.helpers.split())
        known = {phrase.split()[0] for mark in _MARKS for phrase in split_phrases(getattr(one, mark))}
        # By these words the language is recognised.
        pasts = {pair.partition(":")[0] for pair in one.past_words.split()}
        self.known = (
            self.common
            | base_words(one.language)
            | pasts
            | {word for word in known if word.isalpha()}
            | self.steps
        )

    def _add(self, phrase: str, mark: str) -> None:
        words = tuple(phrase.split())
        found = self.phrases.setdefault(words[0], [])
        found[:] = [pair for pair in found if pair[0] != words]
        found.append((words, mark))


def split_phrases(phrases: str) -> list[str]:
    return [phrase for one in phrases.split(",") if (phrase := one.strip())]


@cache
def lookup_for(language: str) -> Lookup:
    return Lookup(table(language))


def language_of(text: str, default: str = "en") -> str:
    """The language of a text: by its script, or by its most frequent words; `default` in doubt."""
    if not text.isascii():
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "ja" if default == "ja" else "zh"
    words = [found.lower().replace("’", "'") for found in _TOKEN.findall(text[:600]) if found[0].isalpha()]
    if default == "en" and text.isascii() and _is_english(words):
        return "en"
    best, most = default, 0.0
    for language in LANGUAGES:
        if language in UNSPACED:
            continue
        lookup = lookup_for(language)
        hits = sum(word in lookup.known for word in words) + 0.5 * (language == default)
        if hits > most + (0.25 if language != default else 0.0):
            best, most = language, hits
    return best


# Frequent words of the other languages that are not English words.
_FOREIGN = frozenset(
    "der die das und ist nicht ich le les est et une des pas el los las y es con il gli di che non sono het"
    " een en niet ik van zijn os um uma com para ao paso passo stap schritt".split()
)


def _is_english(words: Sequence[str]) -> bool:
    """Whether a text is plainly English, so that no other language need be tried, or even loaded."""
    known = lookup_for("en").known
    return not _FOREIGN.intersection(words) and 2 * sum(word in known for word in words) > len(words)


def common_words(language: str) -> frozenset[str]:
    """Words of a language that say nothing about a step."""
    return lookup_for(language).common


def ordinals(language: str) -> frozenset[str]:
    """First, second, … in a language."""
    return frozenset(lookup_for(language).ordinals)


_ARTICLES = frozenset(
    "a an the der die das ein eine le la les un une el los las o os as il lo i gli de het een".split()
)


class Token(Struct):
    text: str
    low: str
    mark: str = ""
    first: bool = False  # of a phrase with a mark


def read_tokens(line: str, lookup: Lookup) -> list[Token]:
    found: list[Token] = []
    for text in _TOKEN.findall(line):
        low = text.lower().replace("’", "'")
        if (
            lookup.table.language in ("fr", "it")
            and (elided := _ELIDED.match(low))
            and low not in lookup.phrases
        ):
            text, low = text[elided.end() :], low[elided.end() :]
        found.append(Token(text, low.removeprefix("re-") or low))
    if lookup.table.language == "en":
        found = _uncontracted(found)
    _mark(found, lookup)
    return found


def _uncontracted(tokens: list[Token]) -> list[Token]:
    """ "The map's here" as "the map is here"; "HR's share" stays."""
    found: list[Token] = []
    for place, token in enumerate(tokens):
        follows = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if (
            token.low.endswith("'s")
            and len(token.low) > 4
            and (follows in _PREDICATES or (follows.endswith("ing") and len(follows) > 5))
        ):
            found += [Token(token.text[:-2], token.low[:-2]), Token("is", "is")]
        else:
            found.append(token)
    return found


_PREDICATES = frozenset(
    "here there up out in off on done finished ready complete live online green fine ok over back gone with"
    " not still being now almost half nearly clear clean set".split()
)


def _mark(tokens: list[Token], lookup: Lookup) -> None:
    at = 0
    words = [one.low for one in tokens]
    while at < len(tokens):
        for phrase, mark in lookup.phrases.get(words[at], ()):
            size = len(phrase)
            if size == 1 or tuple(words[at : at + size]) == phrase:
                if at and tokens[at].text == "May":
                    break  # "14 to 18 May"
                for one in tokens[at : at + size]:
                    one.mark = mark
                tokens[at].first = True
                at += size - 1
                break
        at += 1


def is_past(token: Token, sentence: Sequence[Token], lookup: Lookup) -> bool:
    if token.mark not in ("", "harmless"):
        return False
    if not lookup.forms.is_past(token.low):
        weak = lookup.forms.weak_past_endings
        return bool(weak) and token.low.endswith(weak) and _names_action(token.low, lookup)
    if lookup.table.language != "en" and any(
        one is token and before.low in _ARTICLES for before, one in itertools.pairwise(sentence)
    ):
        return False  # "le spese", "la mise"
    if lookup.table.language != "en" and _names_thing(token.low, lookup.table.language):
        # "el suelo está puesto" and "Kbis reçu", but not "el puesto"
        return any(
            one is token
            and (before.low in COPULAS or (one is sentence[-1] and before.low not in lookup.common))
            for before, one in itertools.pairwise(sentence)
        )
    if token.low in lookup.maybe_past:
        for place, one in enumerate(sentence):
            if one is token:
                if place and sentence[place - 1].text[0].isdecimal():
                    return False  # "4 left"
                return (
                    place == 0
                    or place == len(sentence) - 1
                    or sentence[place - 1].low in lookup.helpers
                    or sentence[place - 1].low in lookup.joins
                )
    return True


@lru_cache(maxsize=1 << 12)
def _names_thing(word: str, language: str) -> bool:
    """Whether a word is a thing of the thesaurus and not an action: Italian "inviti" looks like a past."""
    known = concepts(word, language)
    return bool(known) and not any(one[0] == "#" for one in known)


def _names_action(word: str, lookup: Lookup) -> bool:
    known = concepts(word, lookup.table.language)
    return (
        word not in lookup.common
        and any(one[0] == "#" for one in known)
        and not any(one[0] == "=" for one in known)
    )


PARTICLES = frozenset("up out off over back down in through on together with for around away".split())


def with_particle(tokens: Sequence[Token], place: int) -> str:
    """A verb with the particle behind it: "picked up" as "picked-up"."""
    for one in tokens[place + 1 : place + 3]:
        if one.low in PARTICLES:
            return f"{tokens[place].low}-{one.low}"
        if one.low not in ("it", "them", "this", "that"):
            break
    return tokens[place].low


def plain_words(text: str, language: str) -> tuple[list[str], int]:
    """The words of a title, lower-case, particles joined to their verbs, common words left out; and how many
    of them stand before the first preposition."""
    lookup = lookup_for(language)
    tokens = [Token(found, found.lower().replace("’", "'")) for found in _TOKEN.findall(text)]
    if language in ("fr", "it"):
        for token in tokens:
            if elided := _ELIDED.match(token.low):
                token.low = token.low[elided.end() :]
    found: list[str] = []
    main: int | None = None
    for place, token in enumerate(tokens):
        if token.low in lookup.into and len(found) >= 2 and main is None:
            main = len(found)
        if token.low in lookup.numbers or not token.text[0].isalnum():
            continue
        if token.low not in lookup.common or (place == 0 and token.low not in _ARTICLES):
            found.append(with_particle(tokens, place))
    return found, len(found) if main is None else main
