"""Authorization headers and cookies."""

from __future__ import annotations

import re

from . import rules
from .markers import MARK, marker
from .matching import pattern
from .names import secret_kind
from .randomness import is_random
from .values import is_placeholder

_MOST_COOKIES = 100  # of one header; the same holds for more


def is_no_authorization(value: str) -> bool:
    """`Basic authentication`, `Bearer token`, `Authorization: Bearer $TOKEN`, `basic/auth.md`."""
    return is_placeholder(value) or not is_random(value.lstrip("+"), 12)


def cookie_values(text: str) -> str:
    def redact_cookie(match: re.Match[str]) -> str:
        value = match["value"]
        if MARK in value or is_placeholder(value):
            return match[0]
        named = match["name"].lower()
        if is_random(value, 16) or (len(value) >= 6 and ("sess" in named or secret_kind(named))):
            return f"{match['name']}={marker('cookie')}"
        return match[0]

    def redact(match: re.Match[str]) -> str:
        begin = match.start("cookies") - match.start()
        if match["cookies"].count("=") > _MOST_COOKIES:
            return match[0][:begin] + marker("cookie")
        return match[0][:begin] + pattern(rules.COOKIE).sub(redact_cookie, match["cookies"])

    text = pattern(rules.COOKIE_HEADER).sub(redact, text)
    return pattern(rules.COOKIE_FLAG).sub(redact, text)
