"""Whether a machine made a value: its length, its mix of letters and digits, its entropy."""

from __future__ import annotations

from math import log2

from . import rules
from .matching import pattern

_SAMPLE = 160  # as many characters of a value say whether it is random


def entropy(text: str) -> float:
    """The entropy of a text in bits per character."""
    text = text[:_SAMPLE]
    counts: dict[str, int] = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1
    return -sum(count / len(text) * log2(count / len(text)) for count in counts.values())


def is_random(value: str, least: int) -> bool:
    """Whether a value looks made by a machine: long enough, mixed, and not repetitive."""
    if len(value) < least:
        return False
    value = value[:_SAMPLE]
    letters = any(map(str.isalpha, value))
    figures = any(map(str.isdecimal, value))
    if not letters or (not figures and not _has_mixed_case(value) and not _is_gibberish(value)):
        return False
    if is_wordy(value) or "abcdefgh" in value.lower():
        return False
    if least >= 20 and value.count("-") + value.count("_") + value.count("/") > len(value) // 6:
        return False
    return entropy(value) >= (3.0 if least >= 20 else 2.5)


def is_strongly_random(code: str) -> bool:
    """Whether a code has letters and digits, all mixed, beyond what a name, a digest or a path has."""
    code = code[:_SAMPLE]
    kinds = [letter.isdecimal() + 2 * letter.isupper() for letter in code]
    changes = sum(kinds[place] != kinds[place + 1] for place in range(len(kinds) - 1))
    if len(set(kinds)) < 3:  # in one case: longer, and not the letters of a digest
        long = len(code) >= 28 and code.isalnum() and code in (code.lower(), code.upper())
        mixed = long and changes > 0.28 * len(kinds) and pattern(rules.HEX).match(code) is None
    else:
        mixed = changes > 0.4 * len(kinds)
    return mixed and is_random(code, 20) and entropy(code) >= 3.8


def is_wordy(value: str) -> bool:
    """Whether a value is made of words and numbers: `shop-db-v2`, `X509PrivateKeys`, `PKCS1_V15`."""
    if pattern(rules.IDENTIFIER).match(value) is None:
        return False
    if value.isupper() and "_" in value:
        return True  # a constant
    pieces = [
        piece
        for piece in pattern(rules.LETTERS).findall(value)
        if len(piece) > 5 or not piece.isupper()  # no acronyms
    ]
    letters = sum(map(len, pieces))
    if letters >= max(3 * len(pieces), len(value) / 2) and _known_pairs(pieces) >= 0.75:
        return True
    parts = pattern(rules.PART).findall(value)
    words = sum(map(_is_word, parts))
    small = sum(len(part) <= 4 for part in parts if not _is_word(part))
    return len(parts) > 1 and words > 0 and words + small == len(parts)


def _known_pairs(pieces: list[str]) -> float:
    """The share of the pairs of letters that words often have: most in words, a third in random letters."""
    pairs = [piece[place : place + 2].lower() for piece in pieces for place in range(len(piece) - 1)]
    return sum(map(rules.LETTER_PAIRS.__contains__, pairs)) / len(pairs) if pairs else 0.0


def _is_gibberish(value: str) -> bool:
    """Whether a value of letters in one case has no words."""
    in_one_case = value.isascii() and value.isalpha() and value in (value.lower(), value.upper())
    return in_one_case and len(value) >= 16 and _known_pairs([value]) <= 0.5


def _is_word(part: str) -> bool:
    """Whether a part is a word in one case or capitalised, or a term such as `sha256`, `Oauth2`, `v4auth`."""
    letters = part.rstrip("0123456789")
    if len(part) - len(letters) > 3 or (letters != part and len(letters) < 3):
        return False
    if letters[1:2].isdecimal():
        letters = letters[:1] + letters[2:]
    return letters.isalpha() and (letters.islower() or letters.isupper() or letters[1:].islower())


def _has_mixed_case(value: str) -> bool:
    """Whether cases change as in a random code, not as in `camelCase` or `Some-Words`."""
    if len(value) < 16 or value in (value.lower(), value.upper()):
        return False
    changes = sum(
        value[place : place + 2].isalpha() and value[place].isupper() != value[place + 1].isupper()
        for place in range(len(value) - 1)
    )
    words = _known_pairs(pattern(rules.LETTERS).findall(value)) >= 0.65
    return changes >= 5 and not words
