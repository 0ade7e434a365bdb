"""The health of a journal: how many events wait, for how long, and which were rejected for what reasons."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from ..model.types import Value
from .event_files import Journal, json_files

# Seconds after which an event should have been drained.
STALE_SECONDS = 600.0
_REASONS = 200  # rejected events whose reasons are read
_REASON_CHARACTERS = 200


class JournalHealth(Value, frozen=True, kw_only=True):
    """Counts of a journal. `oldest` is the age of the oldest event that waits, in seconds."""

    waiting: int
    rejected: int
    oldest: float
    slow: int  # events that take longer than a hook has, left to a drainer without a deadline
    reasons: Mapping[str, int]


def journal_health(journal: Journal) -> JournalHealth:
    """Count the events of a journal and read the reasons of rejected ones."""
    now, ages, rejected = time.time(), list[float](), 0
    reasons: Counter[str] = Counter()
    for base in journal.folders:
        for name in json_files(base, "new"):
            with suppress(OSError):  # drained meanwhile
                ages.append(now - os.lstat(os.path.join(base, "new", name)).st_mtime)
        names = json_files(base, "rejected")
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


def health_lines(journal: Journal, besides: int = 0) -> list[str]:
    """What a model should know about the journal; nothing while all is well.

    `besides`: waiting events that do not count, such as the one that a hook is answering.
    """
    health = journal_health(journal)
    waiting, rejected = health.waiting - besides, health.rejected
    lines: list[str] = []
    if waiting > 0:
        lines.append(f"{_events(waiting)} of the host not written to the store yet")
    if rejected:
        lines.append(f"{_events(rejected)} of the host could not be read; ringbolt doctor says why")
    return lines


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"


def _why(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_REASON_CHARACTERS).strip() or "no reason was kept"
    except OSError:
        return "no reason was kept"
