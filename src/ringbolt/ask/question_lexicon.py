"""The words that questions are made of, in nine languages.

They are in `question_lexicon.txt`: a line for each concept, with a column for each language. These words say
what is asked for; all others are the subject of a question. The glossary translates common words of subjects,
so that a question in one language finds a record in English. Accents are left out everywhere (`folded`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from unicodedata import combining, normalize

from ..model.data_files import data_text
from ..model.lazy_regex import lazy_regex

LANGUAGES: tuple[str, ...] = ("en", "de", "fr", "es", "pt", "it", "nl", "zh", "ja")

_CJK_LETTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
CJK = lazy_regex(f"[{_CJK_LETTERS}]+")
CJK_OR_OTHER = lazy_regex(f"[{_CJK_LETTERS}]+|[^{_CJK_LETTERS}]+")  # runs of letters of one sort


def folded(text: str) -> str:
    """A text in lower case without accents; the letters of Chinese and Japanese stay as they are."""
    text = text.lower().replace("’", "'").replace("ß", "ss")
    if text.isascii():
        return text
    if CJK.search(text):
        return "".join(run if CJK.match(run) else folded(run) for run in CJK_OR_OTHER.findall(text))
    return "".join(letter for letter in normalize("NFKD", text) if not combining(letter))


@cache
def _sections() -> dict[str, list[tuple[str, list[str]]]]:
    """The sections of the file: for each line its name and its columns."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    rows: list[tuple[str, list[str]]] = []
    for line in data_text(__file__, "question_lexicon.txt").splitlines():
        if line.startswith("["):
            rows = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            name, _, columns = line.partition(": ")
            rows.append((name, [column.strip() for column in columns.split("|")]))
    return found


def _words(language: str) -> Iterator[tuple[str, str]]:
    """The words and phrases of a language with their concepts."""
    place = LANGUAGES.index(language)
    for concept, columns in _sections()["concepts"]:
        for phrase in columns[place].split(",") if place < len(columns) else ():
            if phrase.strip():
                yield phrase.strip(), concept


@cache
def phrases(language: str) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """For each first word of a phrase, the rest of it and its concept, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, concept in _words(language):
        first, *rest = folded(phrase).split()
        found.setdefault(first, []).append((tuple(rest), concept))
    return {word: tuple(sorted(rows, key=lambda row: -len(row[0]))) for word, rows in found.items()}


@cache
def glossary(language: str) -> dict[str, tuple[str, ...]]:
    """The English words for words of another language."""
    found: dict[str, tuple[str, ...]] = {}
    place = LANGUAGES.index(language) - 1
    for english, columns in _sections()["glossary"]:
        column = columns[place]
        joined = any(word in ("de", "di", "delle", "des") for word in column.split())
        names = [column] if joined else column.split()
        names = [name for name in names if len(name) > 3 or not name.isascii()]
        for name in names:
            found.setdefault(name, tuple(english.split()))
    return found


@cache
def unspaced(language: str) -> tuple[tuple[str, str], ...]:
    """The words of a language without spaces and their concepts, the longest first."""
    return tuple(sorted(_words(language), key=lambda row: -len(row[0])))


@cache
def misspellings() -> dict[str, str]:
    """English words of the table with a letter left out or two letters swapped."""
    known = phrases("en")
    found: dict[str, str] = {}
    for word in known:
        if len(word) < 4 or not word.isalpha():
            continue
        for at in range(1, len(word)):
            missing = word[:at] + word[at + 1 :] if at < len(word) - 1 else ""  # a plural is not a typo
            swapped = word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
            for slip in (missing, swapped):
                if len(slip) > 3 and slip not in known:
                    found.setdefault(slip, word)
    for word in _REAL_WORDS:
        found.pop(word, None)
    return found


# Words of their own that only look like slips.
_REAL_WORDS = (
    "form trial trail sign quiet file files plane place part port parts lean clam stag sate fist last cost"
    " rest past test note rule tool code mode node road ride read star tare sore dive live give said side"
    " here were pass mist wait that what then when than tack want went rik sing"
).split()
