"""Whether a value looks like a secret, given the kind that its name suggests; and what is innocent."""

from __future__ import annotations

from . import rules
from .markers import MARK
from .matching import pattern
from .names import secret_kind
from .randomness import entropy, is_random, is_strongly_random

MOST_VALUE = 4000


def is_secret(kind: str, name: str, value: str, *, quoted: bool, strict: bool = False) -> bool:
    """Whether the value of a field with a secret name is a real secret, not a placeholder or code.

    `quoted` if it stands in quotes, so that it is not code; `strict` where a sentence would look the same.
    """
    if not 4 <= len(value) <= MOST_VALUE or MARK in value or is_placeholder(value):
        return False
    if not quoted and (
        pattern(rules.CODE).match(value)
        or (not name.isupper() and pattern(rules.CODE_WITHIN).search(value, 0, 200))
    ):
        return False
    if (
        not quoted
        and not name.isupper()
        and value.isidentifier()
        and not value.islower()
        and secret_kind(value)
    ):
        return False  # another variable: `token: k8sToken`
    if value in rules.SENTENCE_WORDS:
        return False  # `--password requires …`
    if "certificate" in name.lower() or value.startswith("ENC[") or pattern(rules.NO_VALUE).match(value):
        return False  # public, encrypted, or a pattern
    plain = value.replace("_", "").replace("-", "").replace(".", "")
    numbered = plain[:-1] if kind != "password" and plain[-1:].isdecimal() else plain
    if value.lower() in name.lower() or numbered.lower() == name.replace("_", "").lower():
        return False  # `#define TXT_PSK "PSK"`, `access_key=accessKey1`
    word = plain if quoted else plain.rstrip("0123456789")  # `token2`, a variable
    in_environment = name.isupper() and value.islower() and value.isalpha()
    if (
        word.isalpha()
        and not in_environment
        and any(part in value.lower() for part in ("passw", "token", "secret", "api", "cred"))
    ):
        return False  # the name of another field, or a sentence's word
    if any(map(str.isspace, value)):
        may_be = kind in ("password", "secret") and name.lower() not in ("pass", "pw")
        return may_be and quoted and not strict and _is_passphrase(value)
    if not value.isascii() and any(end in value for end in rules.PASSWORD_ENDS):
        return False  # a message: `密码无效`
    if kind == "password":
        return _is_password(name, value, plain, quoted, strict)
    if kind == "guess":
        return is_mixed(value) or is_random(value, 20)
    if kind == "lone":
        return len(value) >= 20 and is_strongly_random(value)
    if "${" in value or (value[0] in "/~." and entropy(value) < 4.3):
        return False  # a template, a path
    if kind == "secret" and not strict and plain.isalpha():
        return name.isupper() and len(value) >= 8
    return is_random(value, 20 if kind == "code" else 8) or (
        kind == "secret" and not strict and is_mixed(value)
    )


def _is_password(name: str, value: str, plain: str, quoted: bool, strict: bool) -> bool:
    if name.lower().endswith("pwd") and value.startswith(("/", "~", ".")):
        return False  # the folder of a shell
    if strict:
        return (
            len(value) >= 8
            and not _is_ordinary(value)
            and (is_mixed(value) or ("/" not in value and is_random(value, 8)))
        )
    if not quoted and "/" in value and _is_ordinary(value):
        return False  # a path
    if value.isdecimal():
        return len(value) >= 4 and secret_kind(pattern(rules.WORD).findall(name)[-1]) == "password"
    # Any word can be a password. In code it would be quoted; an unquoted plain word is a name or a type,
    # except in the environment.
    return quoted or not plain.isalpha() or name.isupper() or is_joined_words(value)


def _is_passphrase(value: str) -> bool:
    words = [word.strip(".,:;!?") for word in value.lower().split()]
    return (
        len(words) >= 3
        and value.isascii()
        and rules.SENTENCE_WORDS.isdisjoint(words)
        and not any(end in word for word in words for end in rules.PASSWORD_ENDS)
        and not words[0].endswith("ed")
    )


def is_bound_secret(kind: str, value: str, quoted: bool, bound: bool, *, first: bool, lines: int) -> bool:
    if (
        len(value) < (6 if bound else 20)
        or MARK in value
        or is_placeholder(value)
        or any(map(str.isspace, value))
        or pattern(rules.NO_VALUE).match(value)
    ):
        return False
    if not quoted and pattern(rules.CODE).match(value):
        return False
    if is_name(value):
        return False  # `"password1", "password2"`
    if not bound or not kind or (first and not quoted and not lines):
        return is_strongly_random(value) and (quoted or bool(kind and not lines))
    if kind == "password":
        return looks_chosen(value)
    return (
        is_random(value, 20 if kind == "code" else 12)
        and not _is_ordinary(value)
        and (quoted or pattern(rules.CODE_LETTERS).match(value) is not None)
    )


def is_name(value: str) -> bool:
    """Whether a value is the name of a field with a secret, with one digit at most: `new_password1`."""
    name = value[:-1] if value[-1:].isdecimal() else value
    plain = name.isalpha() or (name.islower() and "_" in name and name.replace("_", "").isalnum())
    return plain and secret_kind(name) == "password"


def is_cell(kind: str, name: str, value: str) -> bool:
    if (
        MARK in value
        or any(map(str.isspace, value))
        or is_placeholder(value)
        or pattern(rules.CODE).match(value)
    ):
        return False
    return looks_chosen(value) if kind == "password" else is_secret(kind, name, value, quoted=True)


def is_placeholder(value: str) -> bool:
    return pattern(rules.PLACEHOLDER).match(value) is not None or "xxxx" in value.lower()


def is_template(value: str) -> bool:
    return is_placeholder(value) or "{{" in value


def is_plain(value: str) -> bool:
    """Whether a value is a placeholder or a word: nothing that a machine made."""
    return is_placeholder(value) or not is_random(value, 8)


def is_sentence(value: str) -> bool:
    return not _is_passphrase(value.replace("-", " "))


def is_no_password(value: str) -> bool:
    return is_placeholder(value) or not looks_chosen(value)


def is_not_mixed(value: str) -> bool:
    return (
        is_placeholder(value)
        or not is_mixed(value)
        or pattern(rules.CODE_WITHIN).search(value, 0, 200) is not None
    )


def is_unlike_password(value: str) -> bool:
    return is_placeholder(value) or _is_ordinary(value) or not (is_random(value, 8) or is_mixed(value))


def _is_ordinary(value: str) -> bool:
    """Whether a value with digits is a path, a file, an address, a version, a date, an amount or a term."""
    return pattern(rules.ORDINARY).match(value) is not None


def looks_chosen(value: str) -> bool:
    """Whether a value looks like a password that a person chose: with digits, or both cases and a sign."""
    if not 6 <= len(value) <= 100 or not any(map(str.isalpha, value)) or _is_ordinary(value):
        return False
    if (value.isupper() and "_" in value) or "abcdefgh" in value.lower():
        return False  # a constant, an alphabet
    if any(map(str.isdecimal, value)) or is_joined_words(value):
        return True
    signs = any(sign in value for sign in "!#$%^&")
    return signs and len(value) >= 8 and value != value.lower() and value != value.upper()


def is_joined_words(value: str) -> bool:
    """Whether a value is a passphrase such as `sunny-otter-lane`, and not a term such as `end-to-end`."""
    words = value.lower().replace(".", "-").split("-")
    return (
        3 <= len(words) <= 8
        and all(word.isalpha() and 3 <= len(word) <= 12 for word in words)
        and rules.SENTENCE_WORDS.isdisjoint(words)
        and rules.TERM_WORDS.isdisjoint(words)
    )


def is_mixed(value: str) -> bool:
    """Whether a value looks chosen and has small and capital letters and a digit."""
    cased = value != value.lower() and value != value.upper()
    return cased and any(map(str.isdecimal, value)) and looks_chosen(value)


def looks_typed(value: str) -> bool:
    """Whether an argument of a command looks like a password rather than a name."""
    if len(value) < 8 or not looks_chosen(value) or is_placeholder(value):
        return False
    if any(sign in value for sign in "!#$%^&*~+?@") and any(map(str.isdecimal, value)):
        return True
    return len(value) >= 12 and value.isalnum() and is_random(value, 12) and value != value.lower()
