"""Logins in URLs."""

from __future__ import annotations

import re

from . import rules
from .markers import marker
from .matching import pattern, replaced
from .randomness import is_random
from .values import is_placeholder

_SHORTEST_PASSWORD = 4


def url_logins(text: str) -> str:
    """Redact logins in URLs."""
    if "@" not in text:
        return text

    def login(match: re.Match[str]) -> str:
        user, secret = match[1], match[2]
        if (len(secret) < _SHORTEST_PASSWORD and secret.isalnum()) or (secret == user and secret.isalpha()):
            return match[0]  # `https://a:b@example.com` in documentation, and defaults such as `guest:guest`
        if len(user) >= 20 and is_random(user, 20):
            user = marker("token")
        if not is_placeholder(secret) and secret not in ("x-oauth-basic", "x-access-token"):
            secret = marker("password")
        return f"{user}:{secret}@"

    text = pattern(rules.URL_LOGIN).sub(login, text)
    text = replaced(rules.URL_SLASHED, text, "password", lambda value: "/" not in value or _is_port(value))
    return replaced(rules.URL_TOKEN, text, "token", lambda value: not is_random(value, 16))


def _is_port(value: str) -> bool:
    return value.partition("/")[0].isdecimal() or value.startswith("/")
