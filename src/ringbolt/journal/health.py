"""How a journal is doing: how many events wait, since when, and what was given up for which reasons."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping

from ..model.types import Value
from .event_files import Journal

# Seconds after which somebody should have taken an event into the store.
STALE_SECONDS = 600.0
_REASONS = 200  # rejected events whose reasons are read
_REASON_CHARACTERS = 200


class JournalHealth(Value, frozen=True, kw_only=True):
    """Counts of a journal. `oldest` is the age of the oldest event that waits, in seconds."""

    waiting: int
    rejected: int
    oldest: float
    slow: int  # events that take longer than a hook may: a drainer without a deadline is to take them
    reasons: Mapping[str, int]


def journal_health(journal: Journal) -> JournalHealth:
    """Look at a journal."""
    now, ages, rejected = time.time(), list[float](), 0
    reasons: Counter[str] = Counter()
    for base in journal.folders:
        ages += [now - mtime for mtime in _mtimes(os.path.join(base, "new"))]
        names = _names(os.path.join(base, "rejected"))
        rejected += len(names)
        for name in names[:_REASONS]:
            reasons[_why(os.path.join(base, "rejected", f"{name}.why"))] += 1
    slow = sum(tries.slow for tries in journal.tries().values()) if ages else 0
    return JournalHealth(
        waiting=len(ages),
        rejected=rejected,
        oldest=max(ages, default=0.0),
        slow=slow,
        reasons=dict(reasons.most_common(3) if reasons else ()),
    )


def health_lines(journal: Journal) -> list[str]:
    """What a model should know about the journal; nothing while all is well."""
    if not any(os.path.isdir(folder) for folder in journal.folders):
        return []
    found = journal_health(journal)
    lines: list[str] = []
    if found.waiting:
        lines.append(f"{found.waiting} events of the host wait to be written")
    if found.rejected:
        lines.append(f"{found.rejected} events of the host could not be read; ringbolt doctor says why")
    return lines


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return []


def _mtimes(folder: str) -> list[float]:
    found: list[float] = []
    try:
        with os.scandir(folder) as entries:
            events = (entry for entry in entries if entry.name.endswith(".json"))
            found.extend(entry.stat(follow_symlinks=False).st_mtime for entry in events)
    except OSError:
        return found
    return found


def _why(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_REASON_CHARACTERS).strip() or "no reason was kept"
    except OSError:
        return "no reason was kept"
