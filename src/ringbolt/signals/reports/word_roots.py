"""Roots: what is left of a word in any of its forms, so that "bought" and "buy", "gebucht" and "buchen" meet.

These are cruder than `words.stem`, which is English, and are only compared with each other.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from .act_tables import LANGUAGES, ActTable, table

# The columns of `trade_words`.
COLUMNS = LANGUAGES
SHORTEST = 3  # letters of a root
MOST_KNOWN = 1 << 13  # words whose forms are kept
_SEPARABLE = tuple(
    "zusammen zurück herunter wieder weiter nieder fest nach hoch über unter durch auf aus ein vor bei mit"
    " los weg hin her um an ab zu terug samen voor door over onder toe bij op af in uit aan mee na".split()
)


def plain(word: str) -> str:
    """A word in lower case without accents."""
    low = word.lower().replace("’", "'")
    if low.isascii():
        return low
    low = low.replace("ß", "ss")
    return "".join(one for one in unicodedata.normalize("NFKD", low) if not unicodedata.combining(one))


def _inflected(past: str, language: str) -> list[str]:
    """A past form with those of other genders and numbers: "puesto", "puesta", "puestos", "puestas"."""
    if language == "fr":
        return [past, f"{past}e", f"{past}s", f"{past}es"]
    if language in _INFLECTIONS and past.endswith("o"):
        return [past, *(past[:-1] + ending for ending in _INFLECTIONS[language])]
    return [past]


_INFLECTIONS = {"es": ("a", "os", "as"), "pt": ("a", "os", "as"), "it": ("a", "i", "e")}


class Forms:
    """The forms of one language, ready to be looked up."""

    def __init__(self, language: str) -> None:
        one: ActTable = table(language)
        self.language = language
        self._pasts: dict[str, bool] = {}
        bases = {
            form: base
            for past, _, base in (pair.partition(":") for pair in one.past_words.split())
            for form in _inflected(past, language)
        }
        self._past_words = frozenset(bases)  # with their accents: "rédige" is not past
        self.past_bases = {plain(form): plain(base) for form, base in bases.items()}
        self.endings = frozenset(plain(ending) for ending in one.endings.split())
        self.longest_ending = max(map(len, self.endings), default=0)
        # Accents matter here: "envoyé" is past, "envoye" is not.
        self.past_endings = tuple(one.past_endings.split())
        self.weak_past_endings = tuple(one.weak_past_endings.split())
        self.past_beginnings = tuple(one.past_beginnings.split())
        self.progress_endings = tuple(one.progress_endings.split())
        self.not_progress = frozenset(one.not_progress.split())
        self.not_past = frozenset(f"{one.not_past} {one.common}".split())
        self.shortest_past = one.shortest_past

    def is_past(self, word: str) -> bool:
        """Whether a lower-case word has the form of a past."""
        known = self._pasts.get(word)
        if known is None:
            if len(self._pasts) >= MOST_KNOWN:
                self._pasts.clear()
            known = self._pasts[word] = self._has_past_form(word)
        return known

    def _has_past_form(self, word: str) -> bool:
        if word in self.not_past:
            return False
        if word in self._past_words:
            return True
        if len(word) < self.shortest_past:
            return False
        if self.past_endings and word.endswith(self.past_endings):
            return True
        return bool(self.past_beginnings) and self._is_germanic_past(word)

    def _is_germanic_past(self, word: str) -> bool:
        """ "gebucht", "ausgecheckt", "bestellt"."""
        if not word.endswith(("t", "en", "d")):
            return False
        if word.startswith(self.past_beginnings):
            # Infinitives begin like this too, but not with "ge".
            return word.startswith("ge") or not word.endswith("en")
        for prefix in _SEPARABLE:
            if word.startswith(prefix) and word[len(prefix) :].startswith("ge"):
                return len(word) - len(prefix) >= 6
        return False

    def is_progressing(self, word: str) -> bool:
        """Whether a lower-case word has the form of something going on: "writing", "buscando"."""
        return (
            bool(self.progress_endings)
            and len(word) > 4
            and word.endswith(self.progress_endings)
            and word not in self.not_progress
        )

    def root(self, word: str) -> str:
        """The root of a word."""
        low = plain(word)
        base = self.past_bases.get(low)
        if base is None and self.past_beginnings and "ge" in low and self._is_germanic_past(low):
            base = _without_ge(low)
        low = base or low
        for _ in range(2):
            for size in range(min(self.longest_ending, len(low) - SHORTEST), 0, -1):
                if low[-size:] in self.endings:
                    low = low[:-size]
                    if len(low) > 3 and low[-1] == low[-2]:
                        low = low[:-1]
                    break
            else:
                break
        if low in ("going", "doing"):
            return low[:2]
        return low[:-1] if len(low) > 3 and low[-1] == low[-2] else low


def _without_ge(word: str) -> str:
    """A participle without its "ge": "gebucht" as "bucht", "ausgecheckt" as "auscheckt"."""
    if word.startswith("ge"):
        return word[2:]
    for prefix in _SEPARABLE:
        if word.startswith(f"{prefix}ge"):
            return prefix + word[len(prefix) + 2 :]
    return word


@cache
def forms(language: str) -> Forms:
    """The forms of a language."""
    return Forms(language)


@lru_cache(maxsize=1 << 14)
def root(word: str, language: str) -> str:
    """The root of a word; of a verb with a particle ("pick-up") that of the verb with the particle."""
    verb, dash, particle = word.partition("-")
    if dash and particle:
        return f"{forms(language).root(verb)}-{particle}"
    return forms(language).root(word)
