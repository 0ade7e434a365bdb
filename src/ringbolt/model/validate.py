"""Validate arguments: each function returns a clean value, or raises an error whose hint says how to fix
it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from .errors import InvalidInput, shown
from .settings import Settings
from .types import is_dict, is_list

try:  # the same function, without loading OpenSSL, which costs 4 ms
    from _blake2 import blake2b as blake2b
except ImportError:
    from hashlib import blake2b as blake2b


_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=True
).encode


def text(what: str, value: Any, limit: int) -> str:
    """A text that every engine can store, of at most `limit` bytes."""
    if not isinstance(value, str):
        raise InvalidInput(
            "invalid_argument", f"{what} must be a text, not {type(value).__name__}.", "Pass a string."
        )
    # Encoding detects lone surrogates and measures the size; ASCII, the common case, does not need it.
    if value.isascii():
        size = len(value)
    else:
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise InvalidInput(
                "invalid_text",
                f"{what} has a lone surrogate at character {error.start}.",
                'Decode it with errors="replace" before you store it.',
            ) from None
    if "\0" in value:
        raise InvalidInput(
            "invalid_text",
            f"{what} has a NUL at character {value.index(chr(0))}.",
            "Remove NUL characters, or store binary data as a file and remember its path.",
        )
    if size > limit:
        raise InvalidInput(
            "too_large",
            f"{what} has {size:,} bytes; the limit is {limit:,}.",
            "Store it as a file and remember its path, or raise the limit in the settings.",
            limit=limit,
            size=size,
        )
    return value


def line(what: str, value: Any, limit: int = 500) -> str:
    """A text that is not blank, stripped: names, titles, keys."""
    found = text(what, value, limit).strip()
    if not found:
        raise InvalidInput("invalid_argument", f"{what} is empty.", "Use a few words.")
    return found


def nonempty(what: str, value: Any, limit: int) -> str:
    """A text that is not blank, unchanged: contents, outputs."""
    if not text(what, value, limit).strip():
        raise InvalidInput("invalid_argument", f"{what} is empty.", "Pass some text.")
    return value


def optional(what: str, value: Any, limit: int) -> str | None:
    """A text, or None."""
    return None if value is None else text(what, value, limit)


def choice(what: str, value: Any, allowed: Iterable[str]) -> str:
    """One of the allowed words."""
    if isinstance(value, str) and (plain := value.strip().lower()) in allowed:
        return plain
    choices = list(allowed)
    raise InvalidInput(
        "unknown_word",
        f"{shown(value)} is not a valid {what}.",
        f"Use one of: {', '.join(choices)}.",
        allowed=choices,
    )


def number(what: str, value: Any, least: float, most: float) -> float:
    """A number within bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise InvalidInput(
            "invalid_argument",
            f"{what} must be a number from {least:g} to {most:g}, not {shown(value)}.",
            "Use a number within these bounds.",
        )
    return value


def whole(what: str, value: Any, least: int, most: int) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(
            "invalid_argument", f"{what} must be a whole number, not {shown(value)}.", "Use only digits."
        )
    number(what, value, least, most)
    return value


def text_list(what: str, value: Any, limit: int = 100, most: int = 200) -> list[str]:
    """A short list of short texts, in order, without repeats; a single text is a list of one."""
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not is_list(value):
        raise InvalidInput(
            "invalid_argument", f"{what} must be a list of texts.", 'For example ["one", "two"].'
        )
    if len(value) > most:
        raise InvalidInput(
            "too_large",
            f"{what} has {len(value)} entries; the limit is {most}.",
            "Keep the most important ones.",
            limit=most,
        )
    return list(dict.fromkeys(line(f"an entry of {what}", part, limit) for part in value))


def json_value(what: str, value: Any, settings: Settings) -> str:
    """A value as compact JSON, within the limits of size and depth."""
    try:
        _depth(value, settings.max_json_depth)
        encoded = _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidInput(
            "invalid_json",
            f"{what} is not plain JSON: {reason}.",
            "Use only texts, finite numbers, booleans, null, lists and mappings with text keys, "
            f"at most {settings.max_json_depth} levels deep.",
        ) from None
    return text(what, encoded, settings.max_json_bytes)


def _depth(value: Any, left: int) -> None:
    if is_dict(value):
        if left == 0:
            raise RecursionError
        for key, inner in value.items():
            _plain_text(key)
            _depth(inner, left - 1)
    elif is_list(value):
        if left == 0:
            raise RecursionError
        for inner in value:
            _depth(inner, left - 1)
    elif isinstance(value, str):
        _plain_text(value)


def _plain_text(value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"the key {value!r:.40} is not a text")
    # JSON would escape a NUL, and a reader or another engine would fail on it later.
    if "\0" in value:
        raise ValueError("a text in it has a NUL")


def check_storable(value: Any) -> None:
    """Raise unless a value from decoded JSON can be stored by every engine."""
    _depth(value, 500)


def path(what: str, value: Any) -> str:
    """An absolute path; `~` is the user's home folder, symlinks are followed."""
    found = value if isinstance(value, str) else getattr(value, "__fspath__", lambda: None)()
    if not isinstance(found, str) or not found.strip():
        raise InvalidInput(
            "invalid_argument", f"{what} cannot be {shown(value)}.", "Pass the path of a file."
        )
    if len(text(what, found, 1 << 20).encode()) > 4000:
        raise InvalidInput(
            "invalid_argument", f"{what} has {len(found)} characters.", "Use a path of at most 4,000 bytes."
        )
    return os.path.realpath(os.path.expanduser(found))


def dumps(value: Any) -> str:
    """Compact JSON of a value that is known to be valid."""
    return _encode(value)


# --- times ------------------------------------------------------------------------------------------


_second: tuple[int, str] = (0, "1970-01-01T00:00:00")


def stamp(epoch: float) -> str:
    """A moment as UTC ISO-8601 with milliseconds, of fixed width, so that texts sort by time."""
    global _second
    second, millis = divmod(round(epoch * 1000), 1000)
    known, shown = _second
    if second != known:  # many stamps fall into one second
        shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        _second = second, shown
    return f"{shown}.{millis:03d}Z"


def moment(what: str, value: Any) -> str:
    """A time given as ISO-8601 or seconds since 1970, in the form of `stamp`; without a zone it is UTC."""
    hint = "Use ISO-8601, for example 2026-03-01T14:30:00Z, or seconds since 1970 with a decimal point."
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 <= value < 4_102_444_800:
            hint = "This is outside 1970 to 2100. Are these milliseconds? Divide them by 1,000."
            raise InvalidInput("invalid_time", f"{what} {shown(value)} is out of range.", hint)
        return stamp(value)
    try:
        found = datetime.fromisoformat(value if isinstance(value, str) else "")
    except (TypeError, ValueError):
        raise InvalidInput("invalid_time", f"{what} {shown(value)} is not a time.", hint) from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    if not 1970 <= found.year <= 9998 or found.timestamp() < 0:
        raise InvalidInput("invalid_time", f"{what} {shown(value)} is out of range.", hint)
    return stamp(found.timestamp())


def seconds_of(moment_text: str) -> float:
    """Seconds since 1970 of a `stamp` (by hand, because importing `strptime` costs 5 ms)."""
    year, month, day = int(moment_text[:4]), int(moment_text[5:7]), int(moment_text[8:10])
    # If years begin in March, a leap day is the last day of its year.
    year, month = (year - 1, month + 9) if month <= 2 else (year, month - 3)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 719_469
    hour, minute, second = int(moment_text[11:13]), int(moment_text[14:16]), int(moment_text[17:19])
    return days * 86_400 + hour * 3_600 + minute * 60 + second + int(moment_text[20:23]) / 1000
