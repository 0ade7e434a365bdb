"""Words of prose and of names: one splitter, one list of common words, and the stemmer for comparing texts.

The search index has another stemmer, Porter's, which comes with SQLite's tokenizer (`terms`). It joins words
that mean different steps of a plan (`migrate` and `migrations`), so it is worse at comparing a sentence with
titles: it read .690 of the plans in the benchmark exactly right, the one here .697.
"""

from __future__ import annotations

from functools import lru_cache

from ..model.lazy_regex import lazy_regex

# Words that questions are made of; they say nothing about what is looked for.
QUESTION_WORDS = (
    "a an the of to in on at for and or is are was were be been being do does did has have had what when"
    " where who whom which why how with by from as it its this that these those s t i you he she they we his"
    " her their our your my me him them us can could would should will may might about into than then there"
    " here not no"
)
# Words that say nothing about which step of a plan is meant. The ends of "it's" and "don't" are words for the
# index only.
COMMON_WORDS = frozenset(
    f"{QUESTION_WORDS} all any if so via use using up out new now let task step sure please".split()
) - {"s", "t"}
# Verbs of plans say little, since every second title has one.
_PLAN_VERBS = frozenset("add updat creat implement remov fix run writ mak chang ensur handl set".split())
_SUFFIXES = "ization ations ation ising izing ings ing ions ion ies ied ers er ed es s e".split()

_NAME = lazy_regex(r"\w[\w./-]*")
_NAME_PART = lazy_regex(r"[.-]")
# A word of prose, without numbers and names.
PROSE_WORD = lazy_regex(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# The parts of a camelCase or snake_case name.
HUMP = lazy_regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

WHOLE_NAME, PLAN_VERB, NAME_PART = 1.0, 0.4, 0.3  # what a word is worth in a comparison
_LONGEST_CACHED = 40  # characters of a name; longer ones hardly come twice


@lru_cache(maxsize=1 << 13)
def stem(word: str) -> str:
    """A lower-case word without its ending, so that `adding`, `added` and `adds` are one."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def weighted_words(text: str) -> dict[str, float]:
    """The stems of a text with what each is worth: whole names most, their parts and plan verbs less."""
    found: dict[str, float] = {}
    for name in _NAME.findall(text):
        parts = _parts(name) if len(name) <= _LONGEST_CACHED else _parts.__wrapped__(name)
        for word, worth in parts:
            if worth > found.get(word, 0.0):
                found[word] = worth
    return found


@lru_cache(maxsize=1 << 12)
def _parts(run: str) -> tuple[tuple[str, float], ...]:
    """The words of a run of letters and digits, which may be a name or a path."""
    found: list[tuple[str, float]] = []
    for name in (part.strip("._-") for part in run.split("/")):
        parts = HUMP.findall(name)
        if len(parts) > 1:
            wholes = {name, *_NAME_PART.split(name)}
            found += [(whole.lower(), WHOLE_NAME) for whole in wholes if len(HUMP.findall(whole)) > 1]
        for part in map(str.lower, parts):
            if len(part) > 1 and part not in COMMON_WORDS:
                root = stem(part)
                worth = NAME_PART if len(parts) > 1 else PLAN_VERB if root in _PLAN_VERBS else WHOLE_NAME
                found.append((root, worth))
    return tuple(found)
