"""A thesaurus of work: the actions of many trades with their results, and the things they are done to.

It is in `trade_words.txt`. Words of one concept can stand for each other in a report: "the merge request is
up" is "Open the MR", "bought" is "Buy". A word may have several concepts. Forms are left to `word_roots`.
"""

from __future__ import annotations

from functools import cache, lru_cache

from ...model.data_files import data_text
from .word_roots import COLUMNS, forms, plain, root

_SIGNS = (("#", "actions"), ("=", "things"))  # how the concepts of a section begin


@cache
def _sections() -> dict[str, list[tuple[str, list[str]]]]:
    found: dict[str, list[tuple[str, list[str]]]] = {}
    rows: list[tuple[str, list[str]]] = []
    for line in data_text(__file__, "trade_words.txt").splitlines():
        if line.startswith("["):
            rows = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            concept, _, columns = line.partition(":")
            rows.append((concept, [column.strip() for column in columns.split("|")]))
    return found


def _rows(section: str) -> list[tuple[str, list[str]]]:
    """The lines of a section: a concept, and its words by column."""
    return _sections()[section]


@cache
def _words(language: str) -> dict[str, set[str]]:
    """The concepts of each word as it stands there: "#buy" of actions, "=ticket" of things."""
    place = COLUMNS.index(language)
    found: dict[str, set[str]] = {}
    for sign, section in _SIGNS:
        for concept, columns in _rows(section):
            words = columns[place].split() if place < len(columns) else []
            if language == "en" and concept.isalpha():
                words.append(concept)
            for word in words:
                found.setdefault(plain(word), set()).add(f"{sign}{concept}")
    return found


@cache
def _by_letter(language: str) -> dict[str, list[str]]:
    """The words by the first letter of their roots: a short message needs the roots of few of them."""
    known = forms(language)
    found: dict[str, list[str]] = {}
    for word in _words(language):
        # Only an irregular past or a participle with "ge" begins with another letter than its root.
        base = root(word, language) if known.past_beginnings else known.past_bases.get(word, word)
        found.setdefault(base[:1], []).append(word)
    return found


@cache
def _by_root(language: str, letter: str) -> dict[str, frozenset[str]]:
    """The concepts of the words whose root begins with a letter, by the root."""
    found: dict[str, set[str]] = {}
    for word in _by_letter(language).get(letter, ()):
        found.setdefault(root(word, language), set()).update(_words(language)[word])
    return {word: frozenset(concepts) for word, concepts in found.items()}


@lru_cache(maxsize=1 << 13)
def concepts(word: str, language: str) -> frozenset[str]:
    """The concepts of a word in a language; English words are used in all of them."""
    for one in (language, "en") if language != "en" else ("en",):
        if known := _words(one).get(plain(word)):
            return frozenset(known)
        base = root(word, one)
        if concepts_of_root := _by_root(one, base[:1]).get(base):
            return concepts_of_root
    return frozenset()


@cache
def concept_words(concept: str, language: str) -> frozenset[str]:
    """The words of a concept ("#buy") in all languages but one."""
    section = dict(_rows("actions" if concept[0] == "#" else "things"))
    columns = zip(COLUMNS, section.get(concept[1:], []), strict=False)
    return frozenset(word for one, column in columns if one != language for word in column.split())


@cache
def _results(of_verbs: bool) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for words, actions in _rows("result verbs" if of_verbs else "states"):
        for word in words.split():
            found.setdefault(root(word, "en") if of_verbs else word, set()).update(
                action if action[0] == "=" else f"#{action}" for action in actions[0].split()
            )
    return {word: frozenset(actions) for word, actions in found.items()}


def result_actions(word: str, of_verbs: bool = False) -> frozenset[str]:
    """The actions that a state of a thing ("up") or a verb ("arrived") may be the result of."""
    return _results(of_verbs).get(word, frozenset())


@cache
def base_words(language: str) -> frozenset[str]:
    """The words of the thesaurus in one language, as they stand there."""
    place = COLUMNS.index(language)
    rows = [row for _, section in _SIGNS for row in _rows(section)]
    return frozenset(word for _, columns in rows if place < len(columns) for word in columns[place].split())


@cache
def unspaced_words(language: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """For Chinese and Japanese: the words of the thesaurus with their concepts, longest first."""
    place = COLUMNS.index(language)
    found: dict[str, set[str]] = {}
    for sign, section in _SIGNS:
        for concept, columns in _rows(section):
            for word in columns[place].split() if place < len(columns) else ():
                found.setdefault(word, set()).add(f"{sign}{concept}")
    return tuple((word, frozenset(found[word])) for word in sorted(found, key=len, reverse=True))
