"""Cards: the calls of a session that the guard may have to warn about, for hooks that do not open the store.

A card may name too many calls: a hit is only a reason to ask the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import ValidationError, convert

from ..model.types import Value
from .names import call_digest, folded, session_digest
from .side_files import SideFiles, card_file

MOST_AGENTS = 20
_MOST_CALLS = 1000
_CUT = "…"  # ends a text that was too long to be kept whole


class Card(Value, frozen=True, kw_only=True):
    """Digests of calls, beginnings of calls that were cut off, and the sub-agents of the session."""

    calls: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def text(self) -> str:
        """The content of the card's file."""
        return json.dumps({"v": 1, "calls": self.calls, "prefixes": self.prefixes, "agents": self.agents})


def read_card(files: SideFiles, digest: str) -> Card:
    """The card of the session with a digest; an empty one if there is none."""
    try:
        return convert(json.loads(files.read(card_file(digest))), Card)
    except (ValueError, ValidationError):
        return Card()


def card_with(known: Iterable[Any], card: Card | None = None) -> Card:
    """A card with these calls added; `known` are their texts, and other values are ignored."""
    card = card or Card()
    calls, prefixes = dict.fromkeys(card.calls), dict.fromkeys(card.prefixes)
    for one in known:
        text = folded(one) if isinstance(one, str) else ""
        if text.endswith(_CUT):
            prefixes[text[: -len(_CUT)]] = None
        elif digest := call_digest(text):
            calls[digest] = None
    return Card(
        calls=tuple(calls)[-_MOST_CALLS:], prefixes=tuple(prefixes)[-_MOST_CALLS:], agents=card.agents
    )


def add_to_card(files: SideFiles, session: str, known: Iterable[Any]) -> None:
    """Add calls to the card of a session. A sub-agent's session shares the card of its parent."""
    digest = session_digest(session.partition("/")[0])
    before = read_card(files, digest)
    if (after := card_with(known, before)) != before:
        files.set(card_file(digest), after.text())
