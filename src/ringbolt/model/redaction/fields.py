"""Values whose names say that they are secret: `password=`, `"apiKey": "…"`, `--token …`."""

from __future__ import annotations

import re

from . import rules
from .commands import MOST_LOOKS
from .markers import MARK, marker
from .matching import pattern
from .names import is_compound, kind_of_word, name_before, secret_kind
from .sentences import REACH, follows_copula, value_before, value_further_on
from .storable_text import folded
from .values import MOST_VALUE, is_cell, is_mixed, is_placeholder, is_secret

_MOST_FURTHER = 150  # names whose values are looked for further on
# Words before a name and a value without a sign between them.
_LONGEST_NAME = 60
_MOST_AFTERWARDS = 100  # names before which a value is looked for
_LOGIN_WORDS = frozenset(("user", "username", "login", "account", "benutzer", "utilisateur", "usuario"))
_SETTERS = frozenset(("set", "env", "setx", "add", "put", "config:set"))


def named_values(text: str) -> str:
    """Redact values whose names say that they are secret."""
    parts: list[str] = []
    done = place = looks = further = afterwards = 0
    begins, named = pattern(rules.NAME_BEGINS), pattern(rules.NAMED)
    lowered = folded(text)
    while found := begins.search(lowered, place):
        place = found.start() + 1
        match = named.match(text, found.start())
        if match is None:
            place = found.end()
            continue
        looks += match["other"] is None
        if looks > MOST_LOOKS:
            rest = pattern(rules.COARSE).sub(rf"\1{marker('value')}", text[found.start() :])
            return "".join(parts) + text[done : found.start()] + rest
        span = _named_value(text, match)
        if isinstance(span, str):
            further += 1
            span = value_further_on(text, match.end("rest"), span) if further <= _MOST_FURTHER else None
        if span is None and afterwards < _MOST_AFTERWARDS and follows_copula(text, found.start()):
            afterwards += 1
            if kind := kind_of_word(match):
                span = value_before(text, max(done, found.start() - REACH // 2), found.start(), kind)
        if span is None:
            place = match.end("rest")
            continue
        begin, end, kind = span
        parts += text[done:begin], marker(kind)
        done = place = end
    return "".join(parts) + text[done:] if parts else text


def _named_value(text: str, match: re.Match[str]) -> tuple[int, int, str] | str | None:
    """Where the secret after a name is, and its kind; only the kind if it may stand further on."""
    before = name_before(text, match.start(), f"{match['stem']}{match['rest']}")
    name = f"{before}{match['stem']}{match['rest']}"
    name_begin = match.start() - len(before)
    ahead = text[name_begin - 1] if name_begin else ""
    clause = match["stem"].lower().startswith("identified")
    kind = "password" if clause else secret_kind(name.strip("-$."), in_query=ahead in ("?", "&"))
    if text.startswith(MARK, max(0, name_begin - len(MARK))) or _is_part_of_code(
        text, name_begin, match.end("rest"), match["stem"]
    ):
        return None
    if text.startswith("@", match.end("rest")) or pattern(rules.FILE_LINE).match(text, match.end("stem")):
        return None  # `https://bob:password@…`, `auth/password.ts:14:…`
    if text.startswith(("ENC[", "ENC("), match.end()) or (
        match["sign"] == ":" and text.startswith(":", match.end())
    ):
        return None  # encrypted by SOPS or Jasypt; `test_password.py::test_hash`
    if not kind:  # `keyName`, `jwt.sign(`: only what is random beyond doubt
        tells = match["rest"] and pattern(rules.TELLING_STEM).match(match["stem"]) and "ublic" not in name
        return "" if tells else None
    if ahead == "{" and text[match.end() : match.end() + 1] in ("?", "-", "+"):
        begin = match.end() + 1  # `${DB_PASSWORD:?missing}`, `${DB_PASSWORD:-postgres}`
        value = text[begin : begin + REACH].partition("}")[0]
        return (begin, begin + len(value), kind) if kind == "password" and is_mixed(value) else None
    if match["other"] is None and (span := _close_value(text, match, name, before, kind)):
        return span
    if kind in ("guess", "lone"):
        return "" if kind == "guess" else None
    # `pass` is also a verb, `/etc/passwd` a file, and `password.encode("latin1")` a method.
    last = name.rpartition(".")[2]
    said = text.startswith((" is ", " ist "), match.end("rest"))
    if (
        ahead == "/"
        or (last.lower() == "pass" and not said)
        or not (clause or secret_kind(last, in_query=True))
    ):
        return None
    return kind


def _close_value(
    text: str, match: re.Match[str], name: str, before: str, kind: str
) -> tuple[int, int, str] | None:
    """The value directly after a name and a sign, a flag or a tag."""
    strict = beside = False
    quote = match["quote"]
    if match["gap"] is not None:
        # `--token x`, `password x` in a .netrc, `ENV TOKEN x`, `set api_key x`
        previous = text[max(0, match.start() - len(before) - 40) : match.start() - len(before)].split()
        sets = bool(previous) and not _SETTERS.isdisjoint(word.lower() for word in previous[-2:])
        login = len(previous) > 1 and previous[-2].lower() == "login"  # a .netrc
        beside = not _LOGIN_WORDS.isdisjoint(word.lower() for word in previous[-4:])
        strict = not (before.startswith("-") or login)
        kind = "code" if strict and not sets and kind != "password" else kind
        if quote:  # `storePassword 'x'`: one word and its value, not a sentence
            strict = strict and not is_compound(name)
        elif text.startswith("-", match.end()):
            return None  # the next option
    elif match["loose"]:
        strict = True  # `Password - …`
    elif name.lower() in ("pass", "pw"):
        # `--- PASS: TestTotals`, `ok ? 'pass' : 'fail-2'`
        if name == "PASS" and match["sign"] == ":":
            return None
        digits = any(letter.isdecimal() for letter in text[match.end() : match.end() + 20])
        strict = not digits or not (match["sign"] == "=" or (quote and match["open"]))
    begin = match.end()
    if quote in ('"', "'", "`") and _closes_string(text, match.start(), begin, quote):
        return None
    value = text[begin : _value_end(text, begin, quote)]
    if not quote and match["sign"] is not None:
        value = _cut_at_next_field(value)
    if match["close"] is not None:
        value = value.partition("<")[0]
    value = value if quote else value.rstrip(".,;:)]}>") or value
    quoted = bool(quote) or match["sign"] is None
    if (
        match["gap"] is not None
        and not quote
        and ("(" in value or ("=" in value[:-2] and value.partition("=")[0].isidentifier()))
    ):
        return None  # `api_token VARCHAR(64)`: a shell would not take it either; `key NAME=…`
    found = is_secret(kind, name, value, quoted=quoted, strict=strict)
    if strict and kind == "password" and match["gap"] and (beside or match["gap"] != " "):
        found = is_cell(kind, name, value)  # after a user, or in the next column
    if not quote and value.isdecimal() and len(value) < 6 and match["open"]:
        return None  # a number in JSON
    if not found and not _ends_line(text, begin, value, match, kind):
        return None
    return begin, begin + len(value), "value" if kind == "code" else kind


def _is_part_of_code(text: str, begin: int, end: int, stem: str) -> bool:
    """Whether a name is in a long code by chance, or in that of a resource: `…k/pw=`, `arn:…:secret:db`."""
    ahead, earlier = text[begin - 1 : begin], text[max(0, begin - 2) : begin - 1]
    if ahead in ("/", "+") and earlier.isalnum() and len(stem) <= 3:
        return True
    if end - begin >= 12 and text[end : end + 1] in ("+", "/") and text[begin:end].isalnum():
        return True
    if len(text) >= begin + _LONGEST_NAME and text[begin : begin + _LONGEST_NAME].isalnum():
        return True
    return ahead == ":" and "arn:" in text[max(0, begin - 100) : begin].rpartition(" ")[2]


def _closes_string(text: str, name_begin: int, begin: int, quote: str) -> bool:
    """Whether the quote before a place closes a string that the name is in: `print("Password: ", end="")`."""
    if text[begin : begin + 1] not in ("", " ", ",", ")", ";", "]", "}", "+", "\n"):
        return False
    line = text[max(0, name_begin - REACH) : name_begin].rpartition("\n")[2]
    return line.count(quote) % 2 == 1


def _value_end(text: str, begin: int, quote: str) -> int:
    if quote:
        end = text.find(quote, begin, begin + MOST_VALUE)
        while quote in ('"', "'") and end > begin and text[end - 1] == "\\" and text[end - 2] != "\\":
            end = text.find(quote, end + 1, begin + MOST_VALUE)
        if end >= 0:
            return end
    found = pattern(rules.UNQUOTED).match(text, begin)
    return found.end() if found else begin


def _cut_at_next_field(value: str) -> str:
    field = pattern(rules.NEXT_FIELD).search(value)
    value = value[: field.start()] if field else value
    # A bracket that the value does not open belongs to what is around it.
    for opening, closing in ("()", "[]", "{}"):
        if value.endswith(closing):
            extra = value.count(closing) - value.count(opening)
            kept = value.rstrip(closing)
            value = value[: max(len(kept), len(value) - extra)] if extra > 0 else value
    return value


def _ends_line(text: str, begin: int, value: str, match: re.Match[str], kind: str) -> bool:
    """Whether a plain word is the whole value of a line such as `password: letmein`."""
    if kind != "password" or match["sign"] not in (":", "=") or match["quote"] or not value.isalpha():
        return False
    after = text[begin + len(value) : begin + len(value) + 1]
    before = text[: match.start()].rpartition("\n")[2] if match.start() < 2000 else "?"
    plain = len(value) >= 6 and value.islower() and not is_placeholder(value)
    return (
        plain
        and after in ("", "\n", "\r")
        and not before.strip(" \t-#")
        and value not in rules.SENTENCE_WORDS
    )
