"""Interruptions: why a turn broke off, and when the work can continue, according to the host.

Hosts put that time into the text of the error: `resets 3pm (Europe/Berlin)`, `try again in 2h 5m`,
`Try again at Nov 20th, 2026 3:04 PM`, `limit reached|1795000000`, or a time in ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from ...model.lazy_regex import lazy_regex
from ...model.validate import stamp
from ..transcripts.events import as_text, parse_time

BY_USER = "user"
_WORDS = "The user interrupted the turn."
_LONGEST = 500
# A limit that seems to end later was misread.
_FARTHEST = 62 * 86400.0
_EPOCH = lazy_regex(r"\|\s*(\d{10})(?:\d{3})?\b")
_ISO = lazy_regex(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?\s?(?:Z|UTC\b|[+-]\d\d:?\d\d)?")
# Words before the time at which a limit ends, or a request may be repeated.
_BEFORE = r"(?:resets?|try again|retry(?:ing)?|available(?: again)?|continues?)"
_AFTER = lazy_regex(
    rf"\b{_BEFORE}\W+(?:in|after)\W+((?:[\d.]{{1,8}}\s*[a-z]+(?:,?\s+(?:and\s+)?)?){{1,4}})", re.I
)
_PART = lazy_regex(r"([\d.]{1,8})\s*([a-z]+)", re.I)
_CLOCK = lazy_regex(
    rf"\b{_BEFORE}\W+(?:at\W+|on\W+)?"
    r"(?:(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, (?P<year>\d{4}))?,?(?: at)? )?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap]\.?m\b)?(?:\s*\((?P<zone>[\w/+-]{2,40})\))?",
    re.I,
)
_MONTHS: tuple[str, ...] = tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())
_UNITS = {
    "ms": 0.001, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60,
    "h": 3600, "hr": 3600, "hour": 3600, "d": 86400, "day": 86400,
}  # fmt: skip


def is_by_user(event: Mapping[str, Any]) -> bool:
    """Whether an event says that the user interrupted the turn."""
    return event["event"] == "Interrupt" or event.get("interrupted") is True


def interruption(event: Mapping[str, Any], at: float) -> dict[str, Any]:
    """The interruption of a turn from an event: kind, message, time, and if known the time it ends."""
    if event["event"] != "StopFailure":
        return {"kind": BY_USER, "message": _WORDS, "at": stamp(at)}
    words = [as_text(event.get(name)).strip() for name in ("message", "details")]
    text = ": ".join(dict.fromkeys(word for word in words if word))
    kind = as_text(event.get("error")).strip() or "unknown"
    found = {"kind": kind[:100], "message": (text or kind)[:_LONGEST], "at": stamp(at)}
    until = resume_time(text, at)
    return found if until is None else {**found, "until": stamp(until)}


def interruption_line(found: Mapping[str, Any]) -> str:
    """A line about an interruption for its task."""
    if found["kind"] == BY_USER:
        return found["message"]
    line = f"The turn broke off ({found['kind']}): {found['message'].rstrip('.')}."
    return f"{line} It may go on at {found['until']}." if "until" in found else line


def resume_time(text: str, now: float, zone: tzinfo | None = None) -> float | None:
    """The time when work can continue, in seconds since 1970; None if the text does not say.

    `zone` applies to a clock time without a zone; by default this machine's.
    """
    text = text[:5000]
    for read in (_epoch, _after, _iso, _clock):
        found = read(text, now, zone)
        if found is not None and now <= found <= now + _FARTHEST:
            return found
    return None


def _epoch(text: str, now: float, zone: tzinfo | None) -> float | None:
    found = _EPOCH.search(text)
    return float(found[1]) if found else None


def _after(text: str, now: float, zone: tzinfo | None) -> float | None:
    found = _AFTER.search(text)
    seconds = 0.0
    for number, unit in _PART.findall(found[1]) if found else ():
        unit = unit.lower()
        size = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if size is None or number.count(".") > 1 or number == ".":
            break
        seconds += float(number) * size
    return now + seconds if seconds else None


def _iso(text: str, now: float, zone: tzinfo | None) -> float | None:
    found = _ISO.search(text)
    if found is None:
        return None
    day, rest = found[0][:10], found[0][11:].replace("UTC", "Z").replace(" ", "")
    return parse_time(f"{day}T{rest}")


def _clock(text: str, now: float, zone: tzinfo | None) -> float | None:
    """A time of day, perhaps with a date; without a date, the next occurrence."""
    found = _CLOCK.search(text)
    if found is None or not (found["half"] or found["minute"]):
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if half := found["half"]:
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    here = datetime.fromtimestamp(now, UTC).astimezone(_zone(found["zone"]) or zone)
    try:
        then = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if found["month"]:
            month = _MONTHS.index(found["month"].lower()) + 1
            then = then.replace(year=int(found["year"] or here.year), month=month, day=int(found["day"]))
            if not found["year"] and then < here - timedelta(days=1):
                then = then.replace(year=here.year + 1)
        elif then <= here:
            then += timedelta(days=1)
    except ValueError:
        return None
    return then.timestamp()


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    from zoneinfo import ZoneInfo  # slow to load, and few events name a zone

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # a zone that this machine does not know
        return None
