"""Passwords and codes in the arguments of programs."""

from __future__ import annotations

import re

from . import rules
from .markers import MARK, marker
from .matching import pattern
from .randomness import is_random, is_strongly_random
from .storable_text import folded
from .values import is_no_password, is_placeholder, looks_typed

# After so many places in one text that could be a secret, the rest is redacted without a closer look: that
# keeps the time bounded, and nothing gets through.
MOST_LOOKS = 400
_MOST_COMMAND = 200  # characters of a command before its argument


def program_logins(text: str) -> str:
    """Redact passwords in the arguments of programs."""
    parts: list[str] = []
    done = 0
    for looks, match in enumerate(pattern(rules.PROGRAM_FLAGS).finditer(text)):
        if looks > MOST_LOOKS:
            break
        if match.start() < done:
            continue
        span = _flag_value(text, match)
        if span is not None:
            parts += text[done : span[0]], marker("password")
            done = span[1]
    return "".join(parts) + text[done:] if parts else text


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
        found = pattern(rules.UNQUOTED).match(text, begin)
        end = found.end() if found else begin
    if way in (":", ",", "%", "pass:"):
        place = text.find(way, begin, end)
        if place < 0:
            return None
        if place == end - 1 and way == ":" and is_random(text[begin:place], 10):
            return begin, place  # a token in the place of a user
        begin = place + len(way)
        if (
            text[begin : begin + 1] in ("'", '"')
            and (close := text.find(text[begin], begin + 1, begin + 300)) > 0
        ):
            begin, end = begin + 1, close
    value = text[begin:end]
    if len(value) < 3 or MARK in text[begin : end + 12] or is_placeholder(value):
        return None
    if way == ":" and value.isdecimal() and len(value) <= 5:
        return None  # a port or a group: `-u 1000:1000`
    return begin, end


def beside_user(text: str) -> str:
    """Redact what looks like a password in a command that also has a user: `net use … /user:bob X`."""

    def redact(match: re.Match[str]) -> str:
        return pattern(rules.ARGUMENT).sub(
            lambda one: (
                one[0][: one.start("secret") - one.start()] + marker("password")
                if looks_typed(one["secret"])
                else one[0]
            ),
            match[0],
        )

    return pattern(rules.USER_ARGUMENT).sub(redact, text)


def beside_login(text: str) -> str:
    """Redact codes among the arguments of commands that log in: `mc alias set store https://… KEY CODE`."""

    def redact_code(match: re.Match[str]) -> str:
        code = match["secret"]
        if len(code) < 24 or MARK in code or not is_strongly_random(code):
            return match[0]
        return match[0][: match.start("secret") - match.start()] + marker("token")

    def redact(match: re.Match[str]) -> str:
        return pattern(rules.ARGUMENT).sub(redact_code, match[0])

    return pattern(rules.LOGIN_COMMAND).sub(redact, text)


def stored_arguments(text: str) -> str:
    """Redact what a command stores as a secret: `gh secret set NAME --body …`."""
    lowered = folded(text)

    def redact(match: re.Match[str]) -> str:
        value, end = match["secret"], match.start()
        begin = max(0, end - _MOST_COMMAND, lowered.rfind("\n", max(0, end - _MOST_COMMAND), end))
        stores = any(lowered.find(word, begin, end) >= 0 for word in rules.STORING_WORDS)
        if not stores or MARK in value or is_no_password(value):
            return match[0]
        return match[0][: match.start("secret") - end] + marker("secret")

    return pattern(rules.STORED_ARGUMENT).sub(redact, text)
