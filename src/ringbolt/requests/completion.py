"""Whether an agent that stops reports that its work is complete, in any language that reports are read in."""

from __future__ import annotations

from ..signals import phrases
from ..signals.reports.clauses import read_clauses
from ..signals.reports.tokens import language_of
from ..signals.text_layout import sentences

_READ = 2000  # characters
_DONE = (phrases.DONE, phrases.ALL_DONE, phrases.IS_DONE, phrases.TICKED)
# What a report in another language must not say beside "done".
_OPEN = frozenset({"asked", "denied", "failed", "partly", "reopened"})


def says_done(message: str) -> bool:
    """Whether a message reports completion and does not end with a question."""
    message = message[:_READ]
    parts = sentences(message.replace("\n", ". "))
    if not parts or phrases.is_question(parts[-1]):
        return False
    if language_of(message) != "en":
        clauses = read_clauses(message)
        return any(one.plain_done for one in clauses) and not any(one.act in _OPEN for one in clauses)
    return any(
        any(pattern.search(part) for pattern in _DONE) and not phrases.NOT_DONE.search(part) for part in parts
    )
