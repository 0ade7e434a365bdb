# pyright: reportUnknownMemberType=false
"""Search terms: what a text is found by, the same on every engine.

SQLite's own tokenizer splits, folds and stems words. It does not see identifiers, the parts of camelCase
names, and words of languages written without spaces, so these are added as words of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import apsw

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..model.validate import blake2b
from .words import COMMON_WORDS, HUMP, QUESTION_WORDS

# Letters for the tokenizer that nobody can type, since they are removed from every text and query. MARK
# encloses the terms that filters look for, JOIN holds an identifier together.
MARK, JOIN = "\ue000", "\ue001"
TOKENIZER = ("unicode61", "remove_diacritics", "2")
MOST_TERMS_OF_A_TEXT = 20_000
MOST_BYTES_OF_A_TEXT = 900_000  # a tsvector holds a megabyte
LONGEST_TERM = 120
# Limits on the part of a query that is read.
QUERY_CHARACTERS = 8000
QUERY_TERMS = 96
PHRASES = 8

_PRIVATE = lazy_regex("[\ue000-\uf8ff\x00]")
_SEPARATORS = "./\\:@#_-"
_CHUNK = lazy_regex(r"[^\s\"'`()\[\]{}<>,;=|*&!?~$%^+]+")
_JOINED = str.maketrans(dict.fromkeys(_SEPARATORS, JOIN))
_UNSPACED = lazy_regex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_PHRASE = lazy_regex(r'"([^"]{1,500})"|“([^”]{1,500})”')
# Only at the start of a word: a long word without a star must not be tried from each of its letters.
_PREFIX = lazy_regex(r"(?<![\w./:@#-])[./:@#-]*(\w[\w./:@#-]*)\*")


class _Tokenizers(threading.local):
    """A tokenizer belongs to a connection, and a connection to one thread at a time."""

    def __init__(self) -> None:
        connection = apsw.Connection(":memory:")
        self.stem = connection.fts5_tokenizer("porter", list(TOKENIZER))
        self.split = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))


_tokenizers = _Tokenizers()


def _tokens(tokenizer: Any, text: str) -> list[str]:
    return tokenizer(
        text.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )


def stems(text: str) -> list[str]:
    """The words of a text, folded and stemmed."""
    return _tokens(_tokenizers.stem, text)


def words(text: str) -> list[str]:
    """The words of a text, folded but not stemmed."""
    return _tokens(_tokenizers.split, text)


def stem_places(text: str) -> list[tuple[int, int, str]]:
    """The stems of a text with the start and end of their words."""
    encoded = text.encode("utf-8", "replace")
    found: Any = _tokenizers.stem(encoded, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
    if len(encoded) == len(text):
        return [(start, end, stem) for start, end, stem in found]
    # The tokenizer counts bytes, we count characters.
    places: list[tuple[int, int, str]] = []
    at_byte = at = 0
    for start, end, stem in found:
        at += len(encoded[at_byte:start].decode("utf-8", "replace"))
        size = len(encoded[start:end].decode("utf-8", "replace"))
        places.append((at, at + size, stem))
        at_byte, at = end, at + size
    return places


@lru_cache(1 << 12)
def scope_term(kind: str, value: str) -> str:
    """The index term of a filter, which no word can be mistaken for."""
    return f"{MARK}{kind}{blake2b(value.encode(), digest_size=6).hexdigest()}{MARK}"


def searched(text: str) -> str:
    """A text with its extra terms appended as words, for the index of an engine that stems by itself."""
    if "\0" in text or not text.isascii():
        text = _PRIVATE.sub(" ", text)
    return f"{text} {_extras(text)}"


def terms_of(text: str) -> list[str]:
    """The terms of a text, each once."""
    found = dict.fromkeys(term for term in stems(searched(text)) if len(term) <= LONGEST_TERM)
    terms = list(found)[:MOST_TERMS_OF_A_TEXT]
    if 4 * sum(map(len, terms)) > MOST_BYTES_OF_A_TEXT:
        ends = accumulate(len(term.encode()) for term in terms)
        terms = [term for term, end in zip(terms, ends, strict=True) if end <= MOST_BYTES_OF_A_TEXT]
    return terms


def _extras(text: str) -> str:
    chunks = [chunk for chunk in set(text.split()) if not (chunk[1:].islower() and chunk.isalpha())]
    found = sorted([_pieces(chunk) for chunk in chunks if len(chunk) < 1000])
    if not text.isascii():
        for run in _UNSPACED.findall(text):
            found += dict.fromkeys(run)
            found += dict.fromkeys(map("".join, pairwise(run)))
    return " ".join(found)


@lru_cache(1 << 14)
def _pieces(chunk: str) -> str:
    """For `src/app/mainLoop.py`: the whole, the file, and main, Loop, py."""
    found: list[str] = []
    for part in _CHUNK.findall(chunk):
        part = part.strip(_SEPARATORS)
        if len(part) > LONGEST_TERM or part.isdecimal():
            continue
        if not part.isalnum():
            name = part[part.rfind("/") + 1 :]
            found.append(part.translate(_JOINED))
            if len(name) < len(part):
                found.append(name.translate(_JOINED))
            part = name
        if not (part.islower() or part.isupper() or part[1:].islower()):
            found += HUMP.findall(part)
    return " ".join(found)


# --- queries ----------------------------------------------------------------------------------------


class Term(Value, frozen=True, kw_only=True):
    """A term of a query: its stem, and the unstemmed word for engines that do their own stemming."""

    word: str
    stem: str
    prefix: bool = False


class Query(Value, frozen=True, kw_only=True):
    """What a query asks for: terms, and the phrases and prefixes that a text must have.

    Of each group in `must` a text must have one term. `exact` queries name identifiers, phrases or prefixes.
    """

    text: str
    terms: tuple[Term, ...]
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    must: tuple[tuple[Term, ...], ...] = ()
    exact: bool = False


def read_query(text: str) -> Query:
    """Any text as a query; the only syntax is quotation marks and a `*` after a word."""
    text = _PRIVATE.sub(" ", text[:QUERY_CHARACTERS])
    quoted = ((one or other).strip() for one, other in _PHRASE.findall(text))
    phrases = [phrase for phrase in quoted if phrase][:PHRASES]
    prefixes = [found.rstrip(_SEPARATORS) for found in _PREFIX.findall(text)]
    identifiers = _extras(text)
    every = _query_terms(f"{text} {identifiers}")
    wanted = [term for term in every if term.stem not in stop_terms()] or every
    begun = [Term(word=word, stem=word, prefix=True) for prefix in prefixes for word in words(prefix)[-1:]]
    begun = list({term.word: term for term in begun}.values())[:PHRASES]
    known = {term.word for term in begun}
    wanted = begun + [term for term in wanted if term.word not in known]
    within = _query_terms(" ".join(phrases))[: 2 * PHRASES]
    return Query(
        text=text,
        terms=tuple(wanted[:QUERY_TERMS]),
        phrases=tuple(phrases),
        prefixes=tuple(known),
        must=tuple((term,) for term in (*begun, *within)),
        exact=bool(phrases or begun) or JOIN in identifiers,
    )


def _query_terms(text: str) -> list[Term]:
    found: dict[str, Term] = {}
    for word in words(text):
        for stem in stems(word):
            if len(word) <= LONGEST_TERM:
                found.setdefault(stem, Term(word=word, stem=stem))
    return list(found.values())


def has_words(text: str, prefixes: Iterable[str]) -> bool:
    """Whether a text has a word for each of some prefixes."""
    found = words(searched(text))
    return all(any(word.startswith(prefix) for word in found) for prefix in prefixes)


@lru_cache(1)
def stop_terms() -> frozenset[str]:
    """The stems of question words, which say nothing about what is looked for."""
    return frozenset(stems(QUESTION_WORDS))


@lru_cache(1)
def _common_stems() -> frozenset[str]:
    return frozenset(stems(" ".join(COMMON_WORDS)))


def telling_stems(text: str) -> list[str]:
    """The stems of a text in order, without common words and numbers."""
    return [stem for stem in stems(text) if stem not in _common_stems() and not stem.isdecimal()]


def has_phrase(text: str, phrases: Iterable[str]) -> bool:
    """Whether a text contains all phrases, ignoring case and spacing."""
    plain = " ".join(text.lower().split())
    return all(" ".join(phrase.lower().split()) in plain for phrase in phrases)
