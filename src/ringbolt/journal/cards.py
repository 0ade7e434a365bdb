"""Cards: what a hook must know about a session before a tool is called, without opening the store.

A card names the calls that the guard may have something to say about. It may name too many: a hit is only a
reason to ask the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..model.types import Value, is_dict, is_list
from .names import call_digest, folded, session_digest
from .side_files import SideFiles, card_file

MOST_AGENTS = 20
_MOST_CALLS = 1000
_CUT = "…"  # ends a text that was too long to be kept whole


class Card(Value, frozen=True, kw_only=True):
    """Digests of calls, beginnings of calls too long to have one, and the sub-agents of the session."""

    calls: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def text(self) -> str:
        """The card as it is written."""
        return json.dumps({"v": 1, "calls": self.calls, "prefixes": self.prefixes, "agents": self.agents})

    def names(self, key: str) -> bool:
        """Whether a call is on the card."""
        return call_digest(key) in self.calls or any(key.startswith(prefix) for prefix in self.prefixes)


def read_card(files: SideFiles, digest: str) -> Card:
    """The card of the session with a digest; an empty one if there is none."""
    try:
        found = json.loads(files.read(card_file(digest)))
    except ValueError:
        return Card()
    return Card(**{name: _texts(found, name) for name in ("calls", "prefixes", "agents")})


def card_with(known: Iterable[Any], card: Card | None = None) -> Card:
    """A card that names these texts of calls, besides what another one names."""
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
    """Name more calls on the card of a session. A sub-agent's session shares the card of its parent."""
    digest = session_digest(session.partition("/")[0])
    before = read_card(files, digest)
    if (after := card_with(known, before)) != before:
        files.set(card_file(digest), after.text())


def _texts(found: Any, name: str) -> tuple[str, ...]:
    listed = found.get(name) if is_dict(found) else None
    return tuple(one for one in listed if isinstance(one, str)) if is_list(listed) else ()
