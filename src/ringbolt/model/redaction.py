"""Redaction: replaces the secrets in a text or a JSON value by a marker. Pure, and in linear time.

A secret becomes `[redacted password]`: what it was, and nothing that could be taken for a name, a commit or a
value. Three kinds of rules find secrets: codes that a vendor marks with a prefix; places that hold a secret
by their structure (a URL's userinfo, a header, a private key, an argument of a program); and values whose
*name* says that they are secret, if they look like one. Entropy is asked only in the last case.

What stands in `<private>…</private>` is replaced too, also where the operator keeps secrets: its author said
that it must not be stored.

The capture hook carries this module and `secret_rules` inside its one compiled file, without the imports
below and with ready-compiled patterns (hosts/hook_build.py). So import only names that the hook has stand-ins
for, and list every pattern in `pattern_sources`; a test checks both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import log2
from typing import Any

from . import secret_rules as rules
from .types import is_dict, is_list

MARK = "[redacted "
# A very long text is cut to this many characters at its beginning and at its end.
_KEPT_AT_EACH_END = 60_000
_MAX_DEPTH = 40
_LEFT_OUT = "characters left out"
# After so many places in one text that could be a secret, the rest is redacted without a closer look: that
# keeps the time bounded, and nothing gets through.
_MOST_LOOKS = 600
_MOST_FURTHER = 250  # names whose values are looked for further on
_MOST_COOKIES = 100  # of one header; the same holds for more
_MOST_VALUE = 4000
_SHORTEST_CODE = 15
_SAMPLE = 160  # as many characters of a value say whether it is random
_MOST_UNQUOTED = 600

# A name and the closest ways to bind a value to it: `password=`, `"apiKey": "`, `pw: String = "`,
# `<password>`, `--token `. The end of the name is possessive (`+`): the separator cannot be part of a name.
_NAMED = (
    rf"(?i)(?P<stem>{rules.NAME_STEMS})(?P<rest>(?<![{rules.IDEOGRAPHS}])[\w.-]{{0,40}}+|)"
    r"(?:"
    r"(?P<open>\\{0,3}[\"'`]?\]?\)?)[ \t]{0,8}"
    r"(?P<sign>:[ \t]{0,3}[A-Za-z&*][\w&<>\[\]|?.]{0,40}[ \t]{0,3}=(?![=>])"
    r"|=>|:=|\+=|={1,3}|!==?|:|%3[DAda]|\\u003[dD])"
    r"[ \t]{0,8}"
    r"(?P<block>[|>][+-]?[ \t]*\r?\n[ \t]{1,40}|\\?\n[ \t]{1,40}(?=[^\s:=]{8,500}\s*$))?"
    r"|(?P<close>[\"']?[ \t]{0,2}>\s{0,40})(?=[^<>\s]{4,500}+\s{0,40}</)"
    r"|(?P<gap>[ \t]{1,40}+(?:\\\n[ \t]{0,20})?)"
    r"|(?P<other>)"
    r")(?P<quote>(?:\\{0,3}[\"'`]|&quot;|%22)?)"
)
# What follows a name whose value is not bound to it as closely, piece by piece.
_PIECE = (
    r"(?P<line>\r?\n|\\r?\\n)"
    r"|(?<!\w)\\{0,3}[\"'`](?P<quoted>[^\"'`\n\\]{1,300}+)\\{0,3}[\"'`]"
    r"|(?P<sign>:=|=>|->|→|=|[:：](?![^\s\"'\\]))"
    r"|(?P<edge>[,;(){}\[\]<>|│])"
    rf"|(?P<word>[^\s\"'`=,;(){{}}<>|│\\{rules.IDEOGRAPHS}]{{1,300}}+)"
    rf"|(?P<ideographs>[{rules.IDEOGRAPHS}]{{1,40}}+)"
)
_REACH = 200  # as far as that
_MOST_PIECES = 20
_MOST_ROWS = 20
_LONGEST_ROW = 400
# The same names with anything after a sign: what is used once a text has too many places to look at each.
_COARSE = (
    rf"(?i)((?:{rules.NAME_STEMS})[\w.-]{{0,40}}+\\{{0,3}}[\"'`]?\]?[ \t]{{0,2}}[=:][ \t]{{0,2}}"
    r"\\{0,3}[\"'`]?)"
    r"[^\s\"'`]{4,600}+"
)
# `<private>`, `</private>`, `<private/>`: in a JSON text, `<` and line breaks may be escaped. `<private key>`
# is a placeholder, not a tag.
_PRIVATE_TAG = (
    r"(?i)(?:<|\\u003c) ?(?P<closes>/?) ?private"
    r"(?:(?:\s|\\[nrt]){1,10}[\w-]{1,40}=\\?[\"']?[^\s\"'<>]{0,80}\\?[\"']?){0,4}"
    r"(?:\s|\\[nrt]){0,10}(?P<empty>/?)(?:>|\\u003e)"
)
_PRIVATE_HINTS = ("<private", "< private")
_WORD = r"[A-Z]+(?![a-z])|[A-ZÀ-Þ]?[a-zß-ž]+|[0-9]+|[^\W\d_a-zA-ZÀ-ž]+"
_PART = r"[^\W_]+"
_UNQUOTED = r"[^\s\"'`<]{1,600}+"
# Where a value without quotes ends before the next space: at the next field.
_NEXT_FIELD = (
    r"[&,;|](?=[\w.-]{1,60}(?:=|:|%3D))|&(?=\w|$)|;(?=$|[A-Z][a-z])|\\[nrt\"']|%26|\\u0026|&(?:amp|quot);"
)


def pattern_sources() -> list[str]:
    """Every pattern of this module, for the build of the capture hook."""
    own = (_PRIVATE_TAG, _NAMED, _PIECE, _COARSE, _WORD, _PART, _UNQUOTED, _NEXT_FIELD)
    vendors = [source for _, _, source in rules.VENDORS]
    others = [value for name, value in vars(rules).items() if name.isupper() and isinstance(value, str)]
    return [*vendors, *others, *own]


class Redactor:
    """Replaces secrets and private parts in texts and JSON values; with `keep` (setting `keep_secrets`) it
    leaves the secrets."""

    def __init__(self, *, keep: bool = False) -> None:
        self.keeps = keep

    def text(self, text: str) -> str:
        """Redact a text. Passes whose hints do not occur in it are skipped."""
        text = without_private(text)
        if len(text) < 6 or self.keeps:
            return text
        lowered = _folded(text)
        for sign, hints, redact in _PASSES:
            if sign in lowered and any(map(lowered.__contains__, hints)):
                text = redact(text)
        return text

    def value(self, value: Any, clip: Callable[[str], str], depth: int = 0, name: str = "") -> Any:
        """Redact a JSON value, make it storable, and clip each of its texts."""

        def cleaned(text: str) -> str:
            return clip(self.text(bounded(storable(text))))

        def cleaned_key(key: Any) -> str:
            return without_private(storable(str(key)))[:500]

        return self._walked(value, name, cleaned, cleaned_key, _MAX_DEPTH - depth)

    def whole(self, value: Any, name: str = "") -> Any:
        """Redact a JSON value and leave everything else as it is, whatever its size."""
        return self._walked(value, name, self.text, _public_key, None)

    def _walked(
        self,
        value: Any,
        name: str,
        clean: Callable[[str], str],
        clean_key: Callable[[Any], Any],
        levels: int | None,
    ) -> Any:
        """The value with its texts cleaned; what lies deeper than so many levels is left out."""
        if isinstance(value, str):
            kind = secret_kind(name) if name and not self.keeps else ""
            return marker(kind) if kind and is_secret(kind, name, value, quoted=True) else clean(value)
        if not is_dict(value) and not is_list(value):
            return value
        if levels is not None:
            levels -= 1
            if levels < -1:
                return None
        if is_dict(value):
            named = _named_by_sibling(value)
            names = (named if named and str(key).lower() in _VALUE_FIELDS else str(key) for key in value)
            return {
                clean_key(key): self._walked(inner, own, clean, clean_key, levels)
                for (key, inner), own in zip(value.items(), names, strict=True)
            }
        blocks = without_private_blocks(list(value))
        return [
            self._walked(inner, flag or name, clean, clean_key, levels)
            for inner, flag in zip(blocks, _flags_before(blocks), strict=True)
        ]


def _public_key(key: Any) -> Any:
    return without_private(key) if isinstance(key, str) else key


def without_private(text: str) -> str:
    """Replace what stands in `<private>…</private>`. Tags nest; without an end, all the rest goes."""
    return _without_private(text, 0)[0] if "private" in text.lower() else text


def without_private_blocks(values: list[Any]) -> list[Any]:
    """The same in a message that a host reports as several blocks: a tag may end in a later one."""
    texts = [
        value["text"] if is_dict(value) and isinstance(value.get("text"), str) else "" for value in values
    ]
    if not any("private" in text.lower() for text in texts):
        return values
    depth, left = 0, list[Any]()
    for value, text in zip(values, texts, strict=True):
        if text:
            text, depth = _without_private(text, depth)
            value = {**value, "text": text}
        left.append(value)
    return left


def _without_private(text: str, depth: int) -> tuple[str, int]:
    """A text that begins within `depth` tags without its private parts, and the depth at its end."""
    parts: list[str] = []
    done = 0
    for tag in _pattern(_PRIVATE_TAG).finditer(text):
        if tag["empty"]:
            continue
        if not tag["closes"]:
            if not depth:
                parts += text[done : tag.start()], marker("private")
            depth += 1
        elif depth:
            depth -= 1
            done = tag.end()
    return "".join(parts) + ("" if depth else text[done:]), depth


def marker(kind: str) -> str:
    """The marker that replaces a secret."""
    return f"{MARK}{kind}]"


def is_marked(text: str) -> bool:
    """Whether a text contains the marker of a redaction: such a value is no name, variable or quotation."""
    return MARK in text


def _folded(text: str) -> str:
    """A text in lower case and of the same length: only this one letter becomes longer."""
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


def storable(text: str) -> str:
    """Replace the characters that no engine can store: NUL and lone surrogates."""
    if text.isascii():
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def bounded(text: str) -> str:
    """Cut the middle out of a very long text, so that the time to search it is bounded."""
    if len(text) <= 2 * _KEPT_AT_EACH_END:
        return text
    text = without_private(text)  # before the cut parts the tags
    if len(text) <= 2 * _KEPT_AT_EACH_END:
        return text
    gap = f"\n… {len(text) - 2 * _KEPT_AT_EACH_END:,} {_LEFT_OUT} …\n"
    return f"{text[:_KEPT_AT_EACH_END]}{gap}{text[-_KEPT_AT_EACH_END:]}"


# Words before a name and a value without a sign between them.
_SETTERS = frozenset(("set", "env", "setx", "add", "put", "config:set"))

# --- names ------------------------------------------------------------------------------------------

_VALUE_FIELDS = ("value", "parametervalue", "secretstring", "secret_string")
_NAME_FIELDS = ("name", "key", "Name", "Key", "ParameterKey", "parameter")


def secret_kind(name: str, *, in_query: bool = False) -> str:
    """What a field of this name holds: `password`, `token`, `key` or `code` (only a random one); empty if it
    holds no secret."""
    if len(name) > 100:
        return ""
    words = [word.lower() for word in _pattern(_WORD).findall(name)]
    while len(words) > 1 and words[-1] in rules.NAME_TAILS:
        words.pop()
    if not words or (words[-1] in rules.HARMLESS_WORDS):
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
        return "key" if before in rules.KEY_WORDS else "code" if before or in_query else ""
    if last in ("auth", "pin") or (last == "pat" and before):
        return "code"
    if last in ("sig", "signature") and in_query:
        return "token"
    # `passwordOld`, `token_github`: the word that decides is not the last one.
    if any(word.endswith(rules.PASSWORD_ENDS) for word in words[-3:]):
        return "password"
    return "code" if any(word.endswith(("secret", "token", "apikey")) for word in words[-3:]) else ""


def _named_by_sibling(fields: dict[str, Any]) -> str:
    """The name of what `value` holds in fields like `{"name": "DB_PASSWORD", "value": …}`."""
    if len(fields) > 12:
        return ""
    names = (fields.get(field) for field in _NAME_FIELDS)
    return next((name for name in names if isinstance(name, str) and secret_kind(name)), "")


def _flags_before(values: list[Any]) -> list[str]:
    """For each value of a list the flag before it, if that takes a secret: `["--password", "x"]`."""
    flags = [""]
    for value in values:
        is_flag = isinstance(value, str) and value.startswith("-") and "=" not in value
        flags.append(value.lstrip("-") if is_flag and secret_kind(value.lstrip("-")) else "")
    return flags[: len(values)]


# --- values -----------------------------------------------------------------------------------------


def is_secret(kind: str, name: str, value: str, *, quoted: bool, strict: bool = False) -> bool:
    """Whether the value of a field with a secret name is a real secret, not a placeholder or code.

    `quoted` if it stands in quotes, so that it is not code; `strict` where a sentence would look the same.
    """
    if not 4 <= len(value) <= _MOST_VALUE or MARK in value or _pattern(rules.PLACEHOLDER).match(value):
        return False
    if not quoted and _pattern(rules.CODE).match(value):
        return False
    # A certificate is public, and what SOPS has encrypted can be shown.
    if "certificate" in name.lower() or value.startswith("ENC["):
        return False
    plain = value.replace("_", "").replace("-", "").replace(".", "")
    in_environment = name.isupper() and value.islower() and value.isalpha()
    if (
        plain.isalpha()
        and not in_environment
        and any(word in value.lower() for word in ("passw", "token", "secret", "api", "cred"))
    ):
        return False  # the name of another field, or a sentence's word
    if any(letter.isspace() for letter in value):
        may_be = kind in ("password", "secret") and name.lower() not in ("pass", "pw")
        return may_be and quoted and not strict and _is_passphrase(value)
    if kind == "password":
        return _is_password(name, value, plain, quoted, strict)
    if value[0] in "/~." and entropy(value) < 4.3:
        return False  # a path
    if kind == "secret" and not strict and plain.isalpha():
        return name.isupper() and len(value) >= 8
    return _is_random(value, 20 if kind == "code" else 8)


def _is_password(name: str, value: str, plain: str, quoted: bool, strict: bool) -> bool:
    if name.lower().endswith("pwd") and value.startswith(("/", "~", ".")):
        return False  # the folder of a shell
    if strict:
        return len(value) >= 8 and _is_random(value, 8) and "/" not in value
    if value.isdecimal():
        return len(value) >= 4
    # Any word can be a password. In code it would be quoted; an unquoted plain word is a name or a type,
    # except in the environment.
    return quoted or not plain.isalpha() or name.isupper()


def _is_passphrase(value: str) -> bool:
    words = value.lower().split()
    return len(words) >= 2 and not any(word.strip(".,:;!?") in rules.SENTENCE_WORDS for word in words)


def _is_random(value: str, least: int) -> bool:
    """Whether a value looks made by a machine: long enough, mixed, and not repetitive."""
    if len(value) < least:
        return False
    value = value[:_SAMPLE]
    letters = sum(letter.isalpha() for letter in value)
    figures = sum(letter.isdigit() for letter in value)
    if not letters or (not figures and not _has_mixed_case(value)):
        return False
    if _is_wordy(value) or "abcdefgh" in value.lower():
        return False
    if least >= 20 and value.count("-") + value.count("_") + value.count("/") > len(value) // 6:
        return False
    return entropy(value) >= (3.0 if least >= 20 else 2.5)


def _is_wordy(value: str) -> bool:
    """Whether a value is made of words and small numbers: `shop-db-v2`, `jackson-0.11.2`."""
    if (
        not value.replace("-", "")
        .replace("_", "")
        .replace(".", "")
        .replace("/", "")
        .replace(":", "")
        .isalnum()
    ):
        return False
    parts = _pattern(_PART).findall(value)
    words = sum(part.isalpha() for part in parts)
    small = sum(len(part) <= 4 for part in parts if not part.isalpha())
    return len(parts) > 1 and words > 0 and words + small == len(parts) and all(map(_is_word, parts))


def _is_word(part: str) -> bool:
    return not part.isalpha() or part.islower() or part.isupper() or part[1:].islower()


def _has_mixed_case(value: str) -> bool:
    """Whether cases change as in a random code, not as in `camelCase` or `Some-Words`."""
    changes = sum(value[place].islower() and value[place + 1].isupper() for place in range(len(value) - 1))
    return changes >= 4 and len(value) >= 20


def entropy(text: str) -> float:
    """The entropy of a text in bits per character."""
    text = text[:_SAMPLE]
    counts: dict[str, int] = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1
    return -sum(count / len(text) * log2(count / len(text)) for count in counts.values())


# --- passes -----------------------------------------------------------------------------------------
# A pattern is compiled when a text first contains one of its hints, so most hooks compile none.

_compiled: dict[str, re.Pattern[str]] = {}


def _pattern(source: str) -> re.Pattern[str]:
    if source not in _compiled:
        _compiled[source] = re.compile(source)
    return _compiled[source]


def _replaced(source: str, text: str, kind: str, keep: Callable[[str], bool] | None = None) -> str:
    """Replace the group `secret` (or else the first group, or all) of each match."""

    def redact(match: re.Match[str]) -> str:
        group = "secret" if "secret" in match.re.groupindex else 1 if match.re.groups else 0
        found = match[group]
        if MARK in found or (keep is not None and keep(found)):
            return match[0]
        begin = match.start(group) - match.start()
        return match[0][:begin] + marker(kind) + match[0][begin + len(found) :]

    return _pattern(source).sub(redact, text)


def _is_placeholder(value: str) -> bool:
    return _pattern(rules.PLACEHOLDER).match(value) is not None


def _is_plain(value: str) -> bool:
    """Whether a value is a placeholder or a word: nothing that a machine made."""
    return _is_placeholder(value) or not _is_random(value, 8)


def _is_no_password(value: str) -> bool:
    return _is_placeholder(value) or not _looks_chosen(value)


def _vendor_codes(text: str) -> str:
    # No code is shorter than a long word, and most messages have none.
    if len(text) < 2000 and max(map(len, text.split()), default=0) < _SHORTEST_CODE:
        return text
    if not any(map(text.__contains__, EXACT_HINTS)):
        return text
    for kind, hints, source in rules.VENDORS:
        if any(map(text.__contains__, hints)):
            text = _replaced(source, text, kind, _is_blank)
    return text


def _is_blank(code: str) -> bool:
    """Whether a vendor's code is a placeholder or a name: `ghp_xxxxxxxx`, `pypi-publish-to-our-own-index`."""
    lowered = code.lower()
    if any(map(lowered.__contains__, ("xxxxx", "example", "your_", "your-", "abcdefgh"))):
        return True
    return len(code) < 300 and (entropy(code) < 1.9 or _is_wordy(code))


def _addresses(text: str) -> str:
    """Redact logins in URLs."""
    if "@" not in text:
        return text

    def login(match: re.Match[str]) -> str:
        user, secret = match[1], match[2]
        if len(user) >= 20 and _is_random(user, 20):
            user = marker("token")
        if not _is_placeholder(secret) and secret not in ("x-oauth-basic", "x-access-token"):
            secret = marker("password")
        return f"{user}:{secret}@"

    text = _pattern(rules.URL_LOGIN).sub(login, text)
    text = _replaced(rules.URL_SLASHED, text, "password", lambda value: "/" not in value or _is_port(value))
    return _replaced(rules.URL_TOKEN, text, "token", lambda value: not _is_random(value, 16))


def _is_port(value: str) -> bool:
    return value.partition("/")[0].isdecimal() or value.startswith("/")


def _is_no_authorization(value: str) -> bool:
    """`Basic authentication`, `Bearer token`, `Authorization: Bearer $TOKEN`, `basic/auth.md`."""
    return _is_placeholder(value) or not _is_random(value, 12)


def _cookies(text: str) -> str:
    def redact_cookie(match: re.Match[str]) -> str:
        value = match["value"]
        if MARK in value or _is_placeholder(value):
            return match[0]
        named = match["name"].lower()
        if _is_random(value, 16) or (len(value) >= 6 and ("sess" in named or secret_kind(named))):
            return f"{match['name']}={marker('cookie')}"
        return match[0]

    def redact(match: re.Match[str]) -> str:
        begin = match.start("cookies") - match.start()
        if match["cookies"].count("=") > _MOST_COOKIES:
            return match[0][:begin] + marker("cookie")
        return match[0][:begin] + _pattern(rules.COOKIE).sub(redact_cookie, match["cookies"])

    text = _pattern(rules.COOKIE_HEADER).sub(redact, text)
    return _pattern(rules.COOKIE_FLAG).sub(redact, text)


def _logins(text: str) -> str:
    """Redact passwords in the arguments of programs."""
    parts: list[str] = []
    done = 0
    for looks, match in enumerate(_pattern(rules.PROGRAM_FLAGS).finditer(text)):
        if looks > _MOST_LOOKS:
            break
        if match.start() < done:
            continue
        span = _flag_value(text, match)
        if span is not None:
            parts += text[done : span[0]], marker("password")
            done = span[1]
    return "".join(parts) + text[done:] if parts else text


def _beside_user(text: str) -> str:
    """Redact what looks like a password in a command that also has a user: `net use … /user:bob X`."""

    def redact(match: re.Match[str]) -> str:
        return _pattern(rules.ARGUMENT).sub(
            lambda one: (
                one[0][: one.start("secret") - one.start()] + marker("password")
                if _looks_typed(one["secret"])
                else one[0]
            ),
            match[0],
        )

    return _pattern(rules.USER_ARGUMENT).sub(redact, text)


def _way_of(flag: str, words: list[str]) -> str:
    """How a password follows this flag of the program among these words; empty if none does."""
    for program, way in rules.FLAG_PROGRAMS.get(flag, ()):
        if any(word.startswith(program) or word.endswith(program) for word in words):
            return way
    return ""


def _flag_value(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Where the password in a program's argument is; None if there is none."""
    flag, apart = match[1], bool(match[2])
    before = text[max(0, match.start() - 300) : match.start()].replace("\\\n", " ")
    for edge in ("\n", "|", ";", "&&", "$(", "`"):
        before = before[before.rfind(edge) + 1 :]
    words = [word.strip("\"',[](").rpartition("/")[2].lower() for word in before.split()]
    way = _way_of(flag, words)
    if not way:
        return None
    if (way == "attached" and apart) or (way == "apart" and not apart):
        return None
    begin = match.end()
    quote = text[begin] if text[begin : begin + 1] in ("'", '"') else ""
    begin += len(quote)
    end = text.find(quote, begin, begin + 300) if quote else -1
    if end < 0:
        found = _pattern(_UNQUOTED).match(text, begin)
        end = found.end() if found else begin
    if way in (":", ",", "%", "pass:"):
        place = text.find(way, begin, end)
        if place < 0:
            return None
        if place == end - 1 and way == ":" and _is_random(text[begin:place], 10):
            return begin, place  # a token in the place of a user
        begin = place + len(way)
        if (
            text[begin : begin + 1] in ("'", '"')
            and (close := text.find(text[begin], begin + 1, begin + 300)) > 0
        ):
            begin, end = begin + 1, close
    value = text[begin:end]
    if len(value) < 3 or MARK in text[begin : end + 12] or _is_placeholder(value):
        return None
    if way == ":" and value.isdecimal() and len(value) <= 5:
        return None  # a port or a group: `-u 1000:1000`
    return begin, end


# --- named values


def _named_values(text: str) -> str:
    """Redact values whose names say that they are secret."""
    parts: list[str] = []
    done = place = looks = further = 0
    begins, named = _pattern(rules.NAME_BEGINS), _pattern(_NAMED)
    lowered = _folded(text)
    while found := begins.search(lowered, place):
        place = found.start() + 1
        match = named.match(text, found.start())
        if match is None:
            place = found.end()
            continue
        looks += match["other"] is None
        if looks > _MOST_LOOKS:
            rest = _pattern(_COARSE).sub(rf"\1{marker('value')}", text[found.start() :])
            return "".join(parts) + text[done : found.start()] + rest
        span = _named_value(text, match)
        if isinstance(span, str):
            further += 1
            span = _value_further_on(text, match.end("rest"), span) if further <= _MOST_FURTHER else None
        if span is None:
            place = match.end("rest")
            continue
        begin, end, kind = span
        parts += text[done:begin], marker(kind)
        done = place = end
    return "".join(parts) + text[done:] if parts else text


def _named_value(text: str, match: re.Match[str]) -> tuple[int, int, str] | str | None:
    """Where the secret after a name is, and its kind; only the kind if it may stand further on."""
    before = _name_before(text, match.start(), f"{match['stem']}{match['rest']}")
    name = f"{before}{match['stem']}{match['rest']}"
    name_begin = match.start() - len(before)
    ahead = text[name_begin - 1] if name_begin else ""
    clause = match["stem"].lower().startswith("identified")
    kind = "password" if clause else secret_kind(name.strip("-$."), in_query=ahead in ("?", "&"))
    if text.startswith(MARK, max(0, name_begin - len(MARK))):
        return None
    if not kind:  # `keyName`, `jwt.sign(`: only what is random beyond doubt
        tells = match["rest"] and _pattern(rules.TELLING_STEM).match(match["stem"])
        return "" if tells else None
    if ahead == "{" and text.startswith("?", match.end()):
        return None  # `${DB_PASSWORD:?missing}`
    if match["other"] is None and (span := _close_value(text, match, name, before, kind)):
        return span
    # `pass` is also a verb, `/etc/passwd` a file, and `password.encode("latin1")` a method.
    last = name.rpartition(".")[2]
    if ahead == "/" or last.lower() == "pass" or not (clause or secret_kind(last, in_query=True)):
        return None
    return kind


def _close_value(
    text: str, match: re.Match[str], name: str, before: str, kind: str
) -> tuple[int, int, str] | None:
    """The value directly after a name and a sign, a flag or a tag."""
    strict = False
    quote = match["quote"]
    if match["gap"] is not None:
        # `--token x`, `password x` in a .netrc, `ENV TOKEN x`, `set api_key x`
        previous = text[max(0, match.start() - len(before) - 40) : match.start() - len(before)].split()
        sets = bool(previous) and not _SETTERS.isdisjoint(word.lower() for word in previous[-2:])
        login = len(previous) > 1 and previous[-2].lower() == "login"  # a .netrc
        strict = not (before.startswith("-") or login)
        kind = "code" if strict and not sets and kind != "password" else kind
        if quote:  # `storePassword 'x'`: what is written together is no sentence
            strict = strict and not _is_compound(name)
        elif text.startswith("-", match.end()):
            return None  # the next option
    elif name.lower() in ("pass", "pw"):
        # `--- PASS: TestTotals`, `ok ? 'pass' : 'fail-2'`
        if name.isupper() and match["sign"] == ":":
            return None
        strict = match["sign"] != "=" or not any(
            letter.isdigit() for letter in text[match.end() : match.end() + 20]
        )
    begin = match.end()
    value = text[begin : _value_end(text, begin, quote)]
    if not quote and match["sign"] is not None:
        value = _cut_at_next_field(value)
    if match["close"] is not None:
        value = value.partition("<")[0]
    value = value if quote else value.rstrip(".,;:)]}>") or value
    quoted = bool(quote) or match["sign"] is None
    if match["gap"] is not None and not quote and "(" in value:
        return None  # `api_token VARCHAR(64)`: a shell would not take it either
    found = is_secret(kind, name, value, quoted=quoted, strict=strict)
    if strict and kind == "password" and match["gap"] and match["gap"] != " ":
        found = _is_cell(kind, name, value)  # in the next column
    if not found and not _ends_line(text, begin, value, match, kind):
        return None
    return begin, begin + len(value), "value" if kind == "code" else kind


def _value_further_on(text: str, begin: int, kind: str) -> tuple[int, int, str] | None:
    """The value that a sentence, a call or a block binds to a name before it.

    `own` while the words still belong to the name; `bound` if what came last binds the next piece to the
    name; `other` if it binds it to another one. What is not bound must be random beyond doubt.
    """
    own, bound, other, seen, lines = True, True, False, 0, 0
    part: list[str] = []
    for pieces, piece in enumerate(_pattern(_PIECE).finditer(text, begin, begin + 3 * _REACH)):
        found = piece.lastgroup or ""
        if pieces > _MOST_PIECES or piece.start() > begin + _REACH:
            return None
        if found == "line":
            lines += 1
            own = bound = own and bound and seen > 0
            part = []
            if lines > 3:
                return None
        elif found == "sign":
            bound = own or (len(part) == 1 and part[0] in rules.NEUTRAL_NAMES)
            other = not bound
        elif found == "edge":
            if piece[0] in ")}]" and lines and not own:
                return None
            bound = own and not seen and piece[0] in ",("
            own, other, part = False, False, []
        elif found == "ideographs":
            bound, seen = own and piece[0].endswith(rules.IDEOGRAPHIC_COPULAS), seen + 1
        else:
            value = piece[found] if found == "quoted" else piece[0].rstrip(".,:?)")
            if other:
                other, bound = False, False
                continue
            if own and not seen and value.lower() in rules.DESCRIBING_WORDS:
                return None
            if lines and own and text[piece.end() : piece.end() + 1] not in ("", "\r", "\n", "\\"):
                own = bound = False  # not alone on its line
            if _is_bound_secret(kind, value, found == "quoted", bound, first=not seen, lines=lines):
                start = piece.start(found)
                return start, start + len(value), "value" if kind in ("", "code") else kind
            seen += 1
            part.append(value.lower())
            bound = own and value.lower() in rules.COPULAS
            if piece[0].endswith(":"):
                bound = own or (len(part) == 1 and part[0] in rules.NEUTRAL_NAMES)
                other = not bound
    return None


def _is_bound_secret(kind: str, value: str, quoted: bool, bound: bool, *, first: bool, lines: int) -> bool:
    if (
        len(value) < (6 if bound else 20)
        or MARK in value
        or _is_placeholder(value)
        or any(map(str.isspace, value))
    ):
        return False
    if not quoted and _pattern(rules.CODE).match(value):
        return False
    if not bound or not kind or (first and not quoted and not lines):
        return _is_strongly_random(value) and (quoted or bool(kind and not lines))
    if kind == "password":
        return _looks_chosen(value)
    return (
        _is_random(value, 20 if kind == "code" else 12)
        and not _is_ordinary(value)
        and _pattern(rules.CODE_LETTERS).match(value) is not None
    )


def _is_ordinary(value: str) -> bool:
    """Whether a value with digits is a path, a file, an address, a version, a date, an amount or a term."""
    return _pattern(rules.ORDINARY).match(value) is not None


def _looks_chosen(value: str) -> bool:
    """Whether a value looks like a password that a person chose: with digits, or both cases and a sign."""
    if not 6 <= len(value) <= 100 or not any(map(str.isalpha, value)) or _is_ordinary(value):
        return False
    if any(map(str.isdigit, value)):
        return True
    signs = any(sign in value for sign in "!#$%^&")
    return signs and len(value) >= 8 and value != value.lower() and value != value.upper()


def _looks_typed(value: str) -> bool:
    """Whether an argument of a command looks like a password rather than a name."""
    if len(value) < 8 or not _looks_chosen(value) or _is_placeholder(value):
        return False
    if any(sign in value for sign in "!#$%^&*~+?@") and any(map(str.isdigit, value)):
        return True
    return len(value) >= 12 and value.isalnum() and _is_random(value, 12) and value != value.lower()


def _columns(text: str) -> str:
    """Redact the cells of tables below a name: `| user | password |`, CSV, `(user, password) VALUES (…)`."""
    parts: list[str] = []
    done = rows = count = 0
    edge = ""
    wanted: list[tuple[int, str, str]] = []
    for line in _pattern(rules.SQL_ROW if "values" in _folded(text) else rules.ROW).finditer(text):
        row = line[0].rstrip(" \t\r,;")
        if edge and rows < _MOST_ROWS and row.count(edge) in (count, 0):
            rows += 1
            cells = row.split(edge)
            for column, name, kind in wanted if len(cells) > 1 else ():
                value = (
                    cells[column].rpartition("(")[2].strip(" \t\"')")
                    if edge == ","
                    else cells[column].strip()
                )
                if _is_cell(kind, name, value):
                    begin = (
                        line.start()
                        + sum(len(cell) + 1 for cell in cells[:column])
                        + cells[column].rindex(value)
                    )
                    parts += text[done:begin], marker(kind)
                    done = begin + len(value)
            continue
        edge = next((sign for sign in rules.ROW_EDGES if sign in row), "")
        names = [cell.rpartition("(")[2].strip(" \t\"'`") for cell in row.split(edge)] if edge else []
        kinds = [secret_kind(name) if _pattern(rules.COLUMN).match(name) else "" for name in names]
        wanted = [(at, names[at], kind) for at, kind in enumerate(kinds) if kind]
        edge, count, rows = edge if wanted else "", row.count(edge), 0
    return "".join(parts) + text[done:] if parts else text


def _is_cell(kind: str, name: str, value: str) -> bool:
    if (
        MARK in value
        or any(map(str.isspace, value))
        or _is_placeholder(value)
        or _pattern(rules.CODE).match(value)
    ):
        return False
    return _looks_chosen(value) if kind == "password" else is_secret(kind, name, value, quoted=True)


def _is_strongly_random(code: str) -> bool:
    """Whether a code has letters of both cases and digits, all mixed: no name, no digest, no path."""
    kinds = [letter.isdigit() + 2 * letter.isupper() for letter in code[:_SAMPLE]]
    changes = sum(kinds[place] != kinds[place + 1] for place in range(len(kinds) - 1))
    mixed = len(set(kinds)) == 3 and changes > 0.4 * len(kinds)
    return mixed and _is_random(code, 20) and entropy(code) >= 3.8


def _is_compound(name: str) -> bool:
    """Whether a name is written as programs write them: `storePassword`, `db_pass`."""
    return "_" in name.strip("_") or (any(letter.isupper() for letter in name[1:]) and not name.isupper())


def _name_before(text: str, place: int, name: str) -> str:
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


def _value_end(text: str, begin: int, quote: str) -> int:
    if quote:
        end = text.find(quote, begin, begin + _MOST_VALUE)
        while quote in ('"', "'") and end > begin and text[end - 1] == "\\" and text[end - 2] != "\\":
            end = text.find(quote, end + 1, begin + _MOST_VALUE)
        if end >= 0:
            return end
    found = _pattern(_UNQUOTED).match(text, begin)
    return found.end() if found else begin


def _cut_at_next_field(value: str) -> str:
    field = _pattern(_NEXT_FIELD).search(value)
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
    plain = len(value) >= 6 and value.islower() and not _is_placeholder(value)
    return (
        plain
        and after in ("", "\n", "\r")
        and not before.strip(" \t-#")
        and value not in rules.SENTENCE_WORDS
    )


def _rule(source: str, kind: str, keep: Callable[[str], bool] | None = None) -> Callable[[str], str]:
    return lambda text: _replaced(source, text, kind, keep)


# A sign and one of the hints that a text in lower case must contain, and the pass that looks for the secrets
# there. The order matters: a later pass could take a part of what an earlier one takes whole.
_PASSES: tuple[tuple[str, tuple[str, ...], Callable[[str], str]], ...] = (
    ("-----", ("private key",), _rule(rules.PRIVATE_KEY, "private-key")),
    ('"', ('kty"',), _rule(rules.WEB_KEY, "private-key")),
    ("-", ("private-lines",), _rule(rules.PUTTY_KEY, "private-key")),
    ("", ("",), _vendor_codes),
    ("/", rules.HOOK_HINTS, _rule(rules.WEBHOOKS, "webhook")),
    ("@", ("://",), _addresses),
    ("@", (":",), _rule(rules.BARE_LOGIN, "password", lambda value: not _is_random(value, 12))),
    ("", ("login ", "auth "), _rule(rules.LOGIN_CODE, "token", lambda value: not _is_random(value, 20))),
    (
        "",
        ("authorization", "bearer ", "basic ", "negotiate "),
        _rule(rules.AUTHORIZATION, "authorization", _is_no_authorization),
    ),
    ("=", ("response=", "signature="), _rule(rules.DIGEST_RESPONSE, "authorization", _is_no_authorization)),
    ("=", ("cookie:", "cookie=", "cookie2:", 'cookie"', "cookie'", " -b ", "--cookie"), _cookies),
    (
        "=",
        ("sessid", "sessionid=", "_session=", "connect.sid"),
        _rule(rules.SESSION_COOKIE, "cookie", _is_plain),
    ),
    (
        "",
        ("credential", "creds", "login", "zugangsdaten", "identif", "auth"),
        _rule(rules.SAID_LOGIN, "password", _is_no_password),
    ),
    ("", ("mnemonic", "phrase"), _rule(rules.SEED_PHRASE, "seed-phrase")),
    (":", (":5432:", ":*:"), _rule(rules.PGPASS, "password", _is_no_password)),
    ("", rules.NAME_HINTS, _named_values),
    ("\n", rules.NAME_HINTS, _columns),
    (") values", rules.NAME_HINTS, _columns),
    ("_", ("_user", "_password"), _rule(rules.USER_ADDED, "password", _is_plain)),
    ("|", ("sudo", "stdin", "with-token", "chpasswd"), _rule(rules.PIPED, "password", _is_placeholder)),
    ("-", ("htpasswd",), _rule(rules.HTPASSWD, "password", _is_placeholder)),
    ("@", ("jdbc:oracle", "sqlplus"), _rule(rules.JDBC_LOGIN, "password", _is_placeholder)),
    (" -", rules.FLAG_HINTS, _logins),
    (" ", ("-u ", "--user", "/u"), _beside_user),
)
# What every text with a secret contains: in lower case, and as it is.
HINTS = (*_PRIVATE_HINTS, *dict.fromkeys(hint for _, hints, _ in _PASSES for hint in hints if hint))
EXACT_HINTS = tuple(dict.fromkeys(hint for _, hints, _ in rules.VENDORS for hint in hints))
