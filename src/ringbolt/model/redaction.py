"""Redaction: replaces the secrets in a host's events before anything is written. Pure, and in linear time.

A secret becomes `[redacted type length hash8]`. The hash is keyed: within one store the same secret has the
same marker, and without the key the marker reveals nothing.

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

# A very long text is cut to this many characters at its beginning and at its end.
_KEPT_AT_EACH_END = 60_000
_MAX_DEPTH = 40
_LEFT_OUT = "characters left out"

# Each vendor with the prefixes of its tokens in lower case, and the pattern of a token.
_VENDORS: tuple[tuple[str, str, str], ...] = (
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
# The end of the name is possessive (`+`): the separator cannot be part of a name, so trying shorter names
# would waste time.
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
# A vendor's token must not follow a character that could be part of it: long codes contain these prefixes by
# chance.
_APART = "(?<![A-Za-z0-9+/_-])"


def pattern_sources() -> list[str]:
    """Every pattern of this module, for the build of the capture hook."""
    makers = [_APART + source for _, _, source in _VENDORS]
    others = [_PRIVATE_KEY, _URL_PASSWORD, _WEBHOOK, _HEADER, _LOGIN, _ASSIGNED]
    return [*makers, *others, _HARMLESS_NAME, _HARMLESS_VALUE, _DOTTED]


class Redactor:
    """Replaces the secrets in texts and JSON values."""

    def __init__(self, key: bytes | Callable[[], bytes]) -> None:
        """`key` is the key of the hashes, or a function that returns it, called at the first secret."""
        self._key = key

    def text(self, text: str) -> str:
        """Redact a text. Passes whose hints do not occur in it are skipped."""
        if len(text) < 4:
            return text
        lowered = text.lower()
        for hints, redact in _PASSES:
            if any(hint in lowered for hint in hints):
                text = redact(self, text)
        return text

    def value(self, value: Any, clip: Callable[[str], str], depth: int = 0, name: str = "") -> Any:
        """Redact a JSON value, make it storable, and clip each of its texts."""
        if isinstance(value, str):
            if name and is_secret_name(name) and is_secret(name, value, quoted=True):
                return self.marker("value", value)
            return clip(self.text(bounded(storable(value))))
        if depth > _MAX_DEPTH:
            return None if is_dict(value) or is_list(value) else value
        if is_dict(value):
            return {
                storable(str(key))[:500]: self.value(inner, clip, depth + 1, str(key))
                for key, inner in value.items()
            }
        if is_list(value):
            return [self.value(inner, clip, depth + 1, name) for inner in value]
        return value

    def marker(self, kind: str, secret: str) -> str:
        """The marker that replaces a secret."""
        if not isinstance(self._key, bytes):
            self._key = self._key()
        digest = blake2b(secret.encode("utf-8", "replace"), digest_size=4, key=self._key[:64]).hexdigest()
        return f"[redacted {kind} {len(secret)} {digest}]"


def storable(text: str) -> str:
    """Replace the characters that no engine can store: NUL and lone surrogates."""
    if text.isascii():
        return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def bounded(text: str) -> str:
    """Cut the middle out of a very long text, so that the time to search it is bounded."""
    if len(text) <= 2 * _KEPT_AT_EACH_END:
        return text
    gap = f"\n… {len(text) - 2 * _KEPT_AT_EACH_END:,} {_LEFT_OUT} …\n"
    return f"{text[:_KEPT_AT_EACH_END]}{gap}{text[-_KEPT_AT_EACH_END:]}"


def is_secret_name(name: str) -> bool:
    """Whether a field of this name probably holds a secret."""
    plain = name.lower().replace("-", "_")
    return (
        len(name) <= 80
        and any(word in plain for word in _WORDS)
        and not _pattern(_HARMLESS_NAME).search(name)
    )


def is_secret(name: str, value: str, *, quoted: bool) -> bool:
    """Whether the value of a field with a secret name is a real secret, not a placeholder or code."""
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
# A pattern is compiled when a text first contains one of its hints, so most hooks compile none.

_compiled: dict[str, re.Pattern[str]] = {}


def _pattern(source: str) -> re.Pattern[str]:
    if source not in _compiled:
        _compiled[source] = re.compile(source)
    return _compiled[source]


def _private_keys(redactor: Redactor, text: str) -> str:
    return _pattern(_PRIVATE_KEY).sub(lambda match: redactor.marker("private-key", match[0]), text)


def _vendor_tokens(redactor: Redactor, text: str) -> str:
    lowered = text.lower()
    for kind, hints, source in _VENDORS:
        if any(hint in lowered for hint in hints.split()):
            pattern = _pattern(_APART + source)
            text = pattern.sub(lambda match, kind=kind: redactor.marker(kind, match[0]), text)
    return text


def _addresses(redactor: Redactor, text: str) -> str:
    """Redact passwords in URLs, and the secret part of webhook URLs."""

    def keep_user(match: re.Match[str]) -> str:
        if _pattern(_HARMLESS_VALUE).match(match[2]):
            return match[0]
        return f"{match[1]}:{redactor.marker('password', match[2])}@"

    text = _pattern(_URL_PASSWORD).sub(keep_user, text)
    return _pattern(_WEBHOOK).sub(lambda match: match[1] + redactor.marker("webhook", match[2]), text)


def _headers(redactor: Redactor, text: str) -> str:
    def keep_scheme(match: re.Match[str]) -> str:
        if match[3].isalpha() and match[3].islower():
            return match[0]  # a word: "basic authentication"
        return match[1] + match[2] + redactor.marker("authorization", match[3])

    return _pattern(_HEADER).sub(keep_scheme, text)


def _logins(redactor: Redactor, text: str) -> str:
    """Redact passwords in the arguments of programs."""
    return _pattern(_LOGIN).sub(lambda match: match[1] + redactor.marker("password", match[2]), text)


def _assignments(redactor: Redactor, text: str) -> str:
    def redact(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if match["flag"] and not match["option"]:
            return match[0]  # words of a sentence
        quoted = bool(match["quote"] or match["flag"])
        if _pattern(_HARMLESS_NAME).search(name) or not is_secret(name, value, quoted=quoted):
            return match[0]
        kind = "password" if name.lower().startswith(("pass", "pwd")) else "value"
        return match[0][: match.start("value") - match.start()] + redactor.marker(kind, value)

    return _pattern(_ASSIGNED).sub(redact, text)


_PASSES: tuple[tuple[tuple[str, ...], Callable[[Redactor, str], str]], ...] = (
    (("private key",), _private_keys),
    (tuple(hint for _, hints, _ in _VENDORS for hint in hints.split()), _vendor_tokens),
    (("://",), _addresses),
    (("bearer", "basic", "authorization"), _headers),
    (("-u ", "--user", "sshpass"), _logins),
    (tuple(_HINTS), _assignments),
)
