"""Cards: by them a hook sees without the store that the guard may have something to say about a call.

A card may mean too many calls: a hit is only a reason to ask the store. A session has a card, and so has its
repository, for what holds in all its sessions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import ValidationError, convert

from ..model.types import Value
from .names import session_digest
from .side_files import SideFiles, card_file

MOST_AGENTS = 20
MOST_HEADS = 100
MOST_DONE = 200
MOST_HINTS = 600
MOST_HINT = 80  # characters


class Card(Value, frozen=True, kw_only=True):
    """What a session or a repository has to be careful with.

    `heads` are programs that failed lately (`pytest`, `npm test`), `done` those that did something outside,
    each as `hosts/hook_parts/calls.py` names them. A hint is a kind of text (`c` command, `p` path, `a` any)
    and words that are all in it. `shared` names the card of the repository. A `stale` card means every call,
    until the next drain writes it again; that of a task with an approval mode stays so. `status` is the
    line that `ringbolt statusline` prints.
    """

    heads: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    hints: tuple[tuple[str, ...], ...] = ()
    agents: tuple[str, ...] = ()
    shared: str = ""
    stale: bool = False
    status: str = ""

    def text(self) -> str:
        """The content of the card's file."""
        return json.dumps({"v": 2, **{name: value for name, value in self.to_dict().items() if value}})


def read_card(files: SideFiles, digest: str) -> Card:
    """The card with a digest; an empty one if there is none."""
    try:
        return convert(json.loads(files.read(card_file(digest))), Card)
    except (ValueError, ValidationError):
        return Card()


def write_card(files: SideFiles, digest: str, card: Card) -> None:
    """Replace a card, unless it says the same already."""
    content = card.text() if card != Card() else None
    if files.read(card_file(digest)) != (content or ""):
        files.set(card_file(digest), content)


def bounded(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """The last different texts of some, at most `most`."""
    return tuple(dict.fromkeys(reversed([text[:MOST_HINT] for text in texts])))[:most][::-1]


def make_stale(files: SideFiles, session: str) -> None:
    """Let the hooks of a session ask the store about every call; a sub-agent shares its parent's card."""
    digest = session_digest(session.partition("/")[0])
    if not (card := read_card(files, digest)).stale:
        files.set(card_file(digest), card.replace(stale=True).text())
