"""Redaction: secrets in what hosts report are replaced before anything is written. Pure, and in linear time.

A secret becomes `[redacted type length hash8]`. The hash is keyed, so that the same secret is recognised
within one store, and says nothing to anyone without the key.

The capture hook carries this module inside its one compiled file, without the imports below and with
ready-compiled patterns (hosts/hook_build.py). So import only names that the hook has stand-ins for, and
list every pattern in `pattern_sources`; a test checks both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import log2
from typing import Any

from .types import is_dict, is_list
from .validate import blake2b

# How many characters of a very long text are kept and searched, at its beginning and at its end.
LOOKED_AT = 60_000
DEPTH = 40
_LEFT_OUT = "characters left out"

# Vendor, the beginnings of its tokens in lower case, and the pattern of a token.
_MAKERS: tuple[tuple[str, str, str], ...] = (
    ("aws", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Z])"),
    ("github", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?:gh[pousr]_|github_pat_)\w{20,255}"),
    ("gitlab", "glpat- gldt- glrt- glptt-", r"gl(?:pat|dt|rt|ptt)-[\w-]{16,100}"),
    ("slack", "xox xapp-", r"(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,300}"),
    ("anthropic", "sk-ant-", r"sk-ant-[\w-]{16,300}"),
    ("openai", "sk-", r"sk-(?:(?:proj|svcacct|admin)-[\w-]{16,300}|(?:or-v1-)?[A-Za-z0-9]{20,200})"),
    ("stripe", "sk_ rk_ whsec_", r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{10,200}"),
    ("google", "aiza ya29. gocspx-", r"(?:AIza[\w-]{35}|ya29\.[\w-]{20,500}|GOCSPX-[\w-]{20,100})"),
    ("npm", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi", "pypi-", r"pypi-[\w-]{40,400}"),
    ("docker", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,100}"),
    ("huggingface", "hf_", r"hf_[A-Za-z0-9]{30,100}"),
    ("sendgrid", "sg.", r"SG\.[\w-]{16,64}\.[\w-]{16,64}"),
    ("mailgun", "key-", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    ("digitalocean", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    ("shopify", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("databricks", "dapi", r"dapi[0-9a-f]{32}"),
    ("vault", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,300}"),
    ("grafana", "glsa_ glc_", r"gl(?:sa|c)_[\w-]{20,300}"),
    ("atlassian", "atatt3", r"ATATT3[\w=-]{20,300}"),
    ("linear", "lin_api_", r"lin_api_[A-Za-z0-9]{20,100}"),
    ("groq", "gsk_", r"gsk_[A-Za-z0-9]{20,100}"),
    ("xai", "xai-", r"xai-[A-Za-z0-9]{20,200}"),
    ("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{20,100}"),
    ("replicate", "r8_", r"r8_[A-Za-z0-9]{30,60}"),
    ("newrelic", "nrak-", r"NRAK-[A-Z0-9]{20,60}"),
    ("sentry", "sntry", r"sntry[su]_[\w=+/-]{20,400}"),
    ("rubygems", "rubygems_", r"rubygems_[0-9a-f]{40,60}"),
    ("postman", "pmak-", r"PMAK-[0-9a-f]{20,40}-[0-9a-f]{20,50}"),
    ("figma", "figd_ figo_", r"fig[do]_[\w-]{20,100}"),
    ("age", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{50,70}"),
    ("telegram", ":aa", r"(?:bot)?[0-9]{8,10}:AA[\w-]{32,36}"),
    ("jwt", "eyj", r"eyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{0,2000}"),
)
# Names whose values are secrets.
_WORDS = (
    "password passwd passphrase passcode pwd secret token apikey api_key access_key private_key auth_key"
    " signing_key encryption_key account_key master_key session_key credential credentials cookie"
).split()
_NAME = "|".join(word.replace("_", "[_-]?") for word in sorted(_WORDS, key=len, reverse=True))
# The end of the name is possessive (`+`): what follows cannot be part of a name, so trying shorter names
# would be wasted time.
_ASSIGNED = (
    rf"(?i)(?P<option>--(?:[a-z]{{1,20}}+-){{0,3}})?(?P<name>(?:{_NAME})s?(?:[_-][A-Za-z0-9]{{1,20}}+){{0,3}}+)"
    r"(?:(?P<flag>[ \t]{1,3})|(?P<open>\\?[\"']?)\s{0,3}(?:=>|:=|[=:])\s{0,3})(?P<quote>\\?[\"'`]?)"
    r"(?P<value>[^\s\"'`,;\\<>]{4,500})"
)
_HINTS = "passw pwd passp passc secret token apikey _key -key credential cookie".split()
_HARMLESS_NAME = (
    r"(?i)[_-](?:files?|path|names?|count|limit|type|url|uri|ids?|fields?|length|policy|ttl|budget|expir\w*|env|var"
    r"|header|len|size|index|usage|used|total|max|min|per|version|arn|ref)$|^tokens$"
)
# A value that is a placeholder or code.
_HARMLESS_VALUE = (
    r"(?i)(?:\$|%\w+%|\{\{|\[redacted|<|\*{3}|x{4,}$|\.{3}|none\b|null\b|true\b|false\b|undefined|string|str\b|text"
    r"|your[_-]|example|changeme$|placeholder|required|optional|env[.:(]|os\.|process\.|self\.|this\.|config\."
    r"|settings\.|args\.|request\.|bytes\b|int\b|any\b)"
)
_DOTTED = r"[A-Za-z_]+(?:\.[A-Za-z_]+){1,6}$"
_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----[\s\S]*?(?:-----END[^\n]{0,60}-----|\Z)"
)
_URL_PASSWORD = r"(?<=://)([^\s/:@\"']{0,100}):([^\s/@\"']{1,200})@"  # noqa: S105 - a pattern
_WEBHOOK = r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)([\w/-]{20,200})"
_HEADER = (
    r"(?i)\b(bearer|basic|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?token)(\s{1,3})([\w.~+/=-]{12,4000})"
)
_LOGIN = r"(\s(?:-u|--user)[ =]['\"]?[\w.@-]{1,80}:|sshpass -p ?['\"]?)(?!\[redacted)([^\s'\"$]{4,200})"
# A vendor's token must not follow a character that could be part of it: long codes contain such
# beginnings by chance.
_APART = "(?<![A-Za-z0-9+/_-])"


def pattern_sources() -> list[str]:
    """Every pattern of this module, for the build of the capture hook."""
    makers = [_APART + source for _, _, source in _MAKERS]
    others = [_PRIVATE_KEY, _URL_PASSWORD, _WEBHOOK, _HEADER, _LOGIN, _ASSIGNED]
    return [*makers, *others, _HARMLESS_NAME, _HARMLESS_VALUE, _DOTTED]


class Redactor:
    """Replaces the secrets of texts and of JSON values."""

    def __init__(self, key: bytes | Callable[[], bytes]) -> None:
        """`key` is the key of the hashes, or a function that returns it, called for the first secret."""
        self._key = key

    def text(self, text: str) -> str:
        """A text without its secrets. Passes whose hints do not occur in it are skipped."""
        if len(text) < 4:
            return text
        lowered = text.lower()
        for hints, passing in _PASSES:
            if any(hint in lowered for hint in hints):
                text = passing(self, text)
        return text

    def value(self, value: Any, clip: Callable[[str], str], depth: int = 0, name: str = "") -> Any:
        """A JSON value without its secrets, storable, with each of its texts clipped."""
        if isinstance(value, str):
            if name and is_secret_name(name) and is_secret(name, value, quoted=True):
                return self.replaced("value", value)
            return clip(self.text(bounded(storable(value))))
        if depth > DEPTH:
            return None if is_dict(value) or is_list(value) else value
        if is_dict(value):
            return {
                storable(str(key))[:500]: self.value(one, clip, depth + 1, str(key))
                for key, one in value.items()
            }
        if is_list(value):
            return [self.value(one, clip, depth + 1, name) for one in value]
        return value

    def replaced(self, kind: str, secret: str) -> str:
        """The marker that replaces a secret."""
        if not isinstance(self._key, bytes):
            self._key = self._key()
        digest = blake2b(secret.encode("utf-8", "replace"), digest_size=4, key=self._key[:64]).hexdigest()
        return f"[redacted {kind} {len(secret)} {digest}]"


def storable(text: str) -> str:
    """A text without characters that no engine can store: NUL and lone surrogates."""
    if text.isascii():
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def bounded(text: str) -> str:
    """A text without its middle if it is very long, so that the time to search it is bounded."""
    if len(text) <= 2 * LOOKED_AT:
        return text
    gap = f"\n… {len(text) - 2 * LOOKED_AT:,} {_LEFT_OUT} …\n"
    return f"{text[:LOOKED_AT]}{gap}{text[-LOOKED_AT:]}"


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is likely a secret."""
    plain = name.lower().replace("-", "_")
    return (
        len(name) <= 80
        and any(word in plain for word in _WORDS)
        and not _pattern(_HARMLESS_NAME).search(name)
    )


def is_secret(name: str, value: str, *, quoted: bool) -> bool:
    """Whether the value of a secret's name is the secret itself, and not a placeholder or a piece of code."""
    if not 4 <= len(value) <= 500 or _pattern(_HARMLESS_VALUE).match(value) or _pattern(_DOTTED).match(value):
        return False
    if "(" in value and not quoted:
        return False  # a call
    if any(letter.isspace() for letter in value):
        return False
    if "pass" in name.lower() or "pwd" in name.lower():
        # Any word can be a password. In code it would be quoted; an unquoted plain word is a name or type.
        return quoted or not value.isalpha()
    mixed = any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
    return len(value) >= 8 and (mixed or len(value) >= 20) and entropy(value) >= 2.5


def entropy(text: str) -> float:
    """The entropy of a text in bits per character."""
    counts: dict[str, int] = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1
    return -sum(count / len(text) * log2(count / len(text)) for count in counts.values())


# --- passes -----------------------------------------------------------------------------------------
# Each pattern is compiled when a text first contains one of its hints: a hook that meets none pays nothing.

_compiled: dict[str, re.Pattern[str]] = {}


def _pattern(source: str) -> re.Pattern[str]:
    if (found := _compiled.get(source)) is None:
        found = _compiled[source] = re.compile(source)
    return found


def _private_keys(redactor: Redactor, text: str) -> str:
    return _pattern(_PRIVATE_KEY).sub(lambda found: redactor.replaced("private-key", found[0]), text)


def _makers(redactor: Redactor, text: str) -> str:
    lowered = text.lower()
    for kind, hints, source in _MAKERS:
        if any(hint in lowered for hint in hints.split()):
            pattern = _pattern(_APART + source)
            text = pattern.sub(lambda found, kind=kind: redactor.replaced(kind, found[0]), text)
    return text


def _addresses(redactor: Redactor, text: str) -> str:
    """Passwords in URLs, and the secret part of addresses that are secrets themselves."""

    def keep_user(found: re.Match[str]) -> str:
        if _pattern(_HARMLESS_VALUE).match(found[2]):
            return found[0]
        return f"{found[1]}:{redactor.replaced('password', found[2])}@"

    text = _pattern(_URL_PASSWORD).sub(keep_user, text)
    return _pattern(_WEBHOOK).sub(lambda found: found[1] + redactor.replaced("webhook", found[2]), text)


def _headers(redactor: Redactor, text: str) -> str:
    def keep_scheme(found: re.Match[str]) -> str:
        if found[3].isalpha() and found[3].islower():
            return found[0]  # a word: "basic authentication"
        return found[1] + found[2] + redactor.replaced("authorization", found[3])

    return _pattern(_HEADER).sub(keep_scheme, text)


def _logins(redactor: Redactor, text: str) -> str:
    """Passwords in the arguments of programs."""
    return _pattern(_LOGIN).sub(lambda found: found[1] + redactor.replaced("password", found[2]), text)


def _assignments(redactor: Redactor, text: str) -> str:
    def judged(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if found["flag"] and not found["option"]:
            return found[0]  # words of a sentence
        quoted = bool(found["quote"] or found["flag"])
        if _pattern(_HARMLESS_NAME).search(name) or not is_secret(name, value, quoted=quoted):
            return found[0]
        kind = "password" if name.lower().startswith(("pass", "pwd")) else "value"
        return found[0][: found.start("value") - found.start()] + redactor.replaced(kind, value)

    return _pattern(_ASSIGNED).sub(judged, text)


_PASSES: tuple[tuple[tuple[str, ...], Callable[[Redactor, str], str]], ...] = (
    (("private key",), _private_keys),
    (tuple(hint for _, hints, _ in _MAKERS for hint in hints.split()), _makers),
    (("://",), _addresses),
    (("bearer", "basic", "authorization"), _headers),
    (("-u ", "--user", "sshpass"), _logins),
    (tuple(_HINTS), _assignments),
)
