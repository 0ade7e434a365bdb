"""The names and words that a sentence is about, for entries to which nobody gave tags."""

from __future__ import annotations

from ..model.lazy_regex import lazy_regex
from .words import COMMON_WORDS, stem

MOST = 4
LONGEST = 60

_WORD = lazy_regex(r"[^\W_][\w./:@+#-]*[^\W_]")
_NAMELIKE = lazy_regex(r"[\d./:@_+#-]|[a-z][A-Z]|^[A-Z]{2,}$")
# Words that stand in many sentences of any task and tell none of them apart.
_WEAK = frozenset(
    map(
        stem,
        "after again also always before because been but every first found full get gets got have instead"
        " into just last made make makes more most need needs never next only other over same some still"
        " such take than too under until very want was well when while work works".split(),
    )
)


def keywords(text: str, most: int = MOST) -> list[str]:
    """Up to `most` names and words of a text in lower case: names first, then in the order of the text."""
    found: dict[str, bool] = {}
    for word in _WORD.findall(text):
        lowered = word.lower()
        if len(word) > LONGEST or lowered in found:
            continue
        is_name = _NAMELIKE.search(word) is not None
        if is_name or (len(word) > 2 and lowered not in COMMON_WORDS and stem(lowered) not in _WEAK):
            found[lowered] = is_name
    return sorted(found, key=lambda word: not found[word])[:most]
