"""What the name of a field says about its value: password, token, key, or nothing."""

from __future__ import annotations

import re
from typing import Any

from . import rules
from .matching import pattern

VALUE_FIELDS = ("value", "parametervalue", "secretstring", "secret_string")
_NAME_FIELDS = ("name", "key", "Name", "Key", "ParameterKey", "parameter")
# The same names occur again and again in a text.
_kinds: dict[tuple[str, bool], str] = {}
_MOST_KINDS = 500


def secret_kind(name: str, *, in_query: bool = False) -> str:
    """What a field of this name holds: `password`, `token`, `key` or `secret`; or, if the value has to prove
    it, `code` (by being random), `guess` (random or mixed), `lone` (strongly random); empty if no secret."""
    if len(name) > 100:
        return ""
    key = (name, in_query)
    if (kind := _kinds.get(key)) is None:
        if len(_kinds) >= _MOST_KINDS:
            _kinds.clear()
        kind = _kinds[key] = _kind_of(name, in_query)
    return kind


def _kind_of(name: str, in_query: bool) -> str:
    words = [word.lower() for word in pattern(rules.WORD).findall(name)]
    while len(words) > 1 and (words[-1] in rules.NAME_TAILS or words[-1].isdecimal()):
        words.pop()
    if not words or (words[-1] in rules.HARMLESS_WORDS and words[-3:] != ["access", "key", "id"]):
        return ""
    if "public" in words[-3:]:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in rules.PASSWORD_WORDS or last.endswith(rules.PASSWORD_ENDS):
        return "password"
    if (last == "passe" and before == "de") or (last in ("phrase", "code") and before in ("pass", "seed")):
        return "password"
    if last.endswith(rules.TOKEN_ENDS) or (last == "api" and before in ("clé", "cle", "d")):
        return "token"
    if last.endswith("token"):
        return "" if before in rules.PLAIN_TOKEN_WORDS else "token"
    if last.endswith("secret"):
        return "secret"
    if last in rules.SECRET_WORDS or last.endswith(rules.SECRET_ENDS):
        return "token"
    if last in ("key", "schlüssel"):
        if before in rules.PLAIN_KEY_WORDS:
            return ""
        if before in rules.CHOSEN_KEY_WORDS:
            return "secret"
        return "key" if before in rules.KEY_WORDS else "code" if before or in_query else "lone"
    if last in ("auth", "pin") or (last == "pat" and (before or name.isupper())):
        return "code"
    if last in ("salt", "jwt"):
        return "code"
    if last == "pepper" or (last == "appid" and in_query):
        return "key"
    if last in ("sig", "signature") and in_query:
        return "token"
    # `passwordOld`, `token_github`: the word that decides is not the last one.
    if any(word.endswith(rules.PASSWORD_ENDS) for word in words[-3:]):
        return "guess"
    if words[-3:] == ["access", "key", "id"]:
        return "code"
    if last == "material" and before == "key":
        return "password"
    return "code" if any(word.endswith(("secret", "token", "apikey")) for word in words[-3:]) else ""


def named_by_sibling(fields: dict[str, Any]) -> str:
    """The name of what `value` holds in fields like `{"name": "DB_PASSWORD", "value": …}`."""
    if len(fields) > 12:
        return ""
    names = (fields.get(field) for field in _NAME_FIELDS)
    return next((name for name in names if isinstance(name, str) and secret_kind(name)), "")


def flags_before(values: list[Any]) -> list[str]:
    """For each value of a list the flag before it, if that takes a secret: `["--password", "x"]`."""
    flags = [""]
    for value in values:
        is_flag = isinstance(value, str) and value.startswith("-") and "=" not in value
        flags.append(value.lstrip("-") if is_flag and secret_kind(value.lstrip("-")) else "")
    return flags[: len(values)]


def is_compound(name: str) -> bool:
    """Whether a name is written as programs write them: `storePassword`, `db_pass`."""
    return "_" in name.strip("_") or (any(letter.isupper() for letter in name[1:]) and not name.isupper())


def name_before(text: str, place: int, name: str) -> str:
    """The part of a name before the word that was found; if it is written apart, the word before it."""
    begin = place
    while begin > 0 and place - begin < 64 and (text[begin - 1].isalnum() or text[begin - 1] in "_.-$"):
        begin -= 1
    if begin < place or text[place - 1 : place] != " " or secret_kind(name) == "password":
        return text[begin:place]
    begin = place - 1
    while begin > 0 and place - begin < 14 and text[begin - 1].isalpha():
        begin -= 1
    apart = begin < place - 1 and (begin == 0 or text[begin - 1] in " \t\n\"'(,")
    return text[begin:place] if apart else ""


def kind_of_word(match: re.Match[str]) -> str:
    """The kind of a name that is a single word, as in a sentence; empty for others."""
    return "" if match["rest"].strip(".-") else secret_kind(match["stem"])
