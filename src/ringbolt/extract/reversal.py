"""Whether something that is said now takes back what was decided before, and whether it ends a blocker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..signals.speech.sentences import Tokens
from ..signals.words import COMMON_WORDS, stem

MOST_REMEMBERED = 16

# Words of decisions that do not say what they are about.
_VERBS = frozenset(
    stem(word)
    for word in (
        "keep leave use choose chose pick go stay stick drop skip remove make put take switch move stop add"
        " change revert undo roll back instead other one second first option approach way now actually again"
        " still let want prefer better rather decided keeping using leaving dropped kept used went"
        " going".split()
    )
)
_CHANGES = frozenset("actually longer anymore".split())
_GRANTS = frozenset(
    "granted approved renewed done fixed ready up available works working resolved unblocked provided set"
    " added here merged arrived confirmed unlocked restored back received solved have got".split()
)

# Characters of a message that say what it is about.
_MOST_READ = 10_000


def topic(text: str) -> list[str]:
    """The stems of the words that say what a text is about."""
    found: dict[str, None] = {}
    for word in Tokens(text[:_MOST_READ]).words:
        if (
            len(word) > 1
            and word[0].isalnum()
            and word not in COMMON_WORDS
            and (root := stem(word)) not in _VERBS
        ):
            found[root] = None
    return list(found)


_OBJECTS = frozenset("no nope nah actually wait stop rather undo revert".split())


def corrects(text: str) -> bool:
    """Whether a prompt contradicts what the agent has just decided: "no, use the other one"."""
    words = [word for word in Tokens(text[:500]).words if word[0].isalpha()]
    if not words:
        return False
    opening = words[1:2] if words[0] in ("hmm", "hm", "well", "but", "sorry", "ok", "okay") else words[:1]
    other = any(pair in (("other", "one"), ("other", "way"), ("other", "option")) for pair in pairwise(words))
    return bool(_OBJECTS.intersection(opening)) or other or words[-1] == "instead"


def overruled(
    choice: str, instead: str, text: str, by_user: bool, earlier: Sequence[Mapping[str, Any]]
) -> str | None:
    """The key of the earlier decision that a new one takes back; the newest if there are several.

    Each of the earlier ones has its `key`, its `topic`, whether the `user` made it, and whether it `keeps`
    something. What the user decided is only taken back by the user.
    """
    words, avoided = set(topic(choice)), set(topic(instead))
    tokens = Tokens(text)
    changes = tokens.has("~instead", "abandon") or bool(_CHANGES.intersection(tokens.words))
    for one in reversed(earlier):
        about = set(one["topic"])
        if (one["user"] and not by_user) or not about or about == words:
            continue
        if avoided and len(avoided & about) >= max(1, 0.6 * len(avoided)) and not about & (words - avoided):
            return one["key"]
        shared = about & words
        if changes and shared and len(shared) >= 0.5 * max(len(about), len(words)):
            return one["key"]
        if (
            shared
            and tokens.has("keep")
            and not one["keeps"]
            and len(shared) >= 0.5 * min(len(about), len(words))
        ):
            return one["key"]
    return None


_REMOVES = frozenset("remove delete drop kill undo revert ditch scrap skip disable".split())


def contradicted(text: str, earlier: Sequence[Mapping[str, Any]]) -> str | None:
    """The key of the agent's decision that an order of the user goes against: it keeps what the user wants
    removed ("the apps are gone, remove the old endpoint")."""
    tokens = Tokens(text[:500])
    if not _REMOVES.intersection(tokens.words) or tokens.words[-1:] == ["?"]:
        return None
    words = set(topic(text))
    for one in reversed(earlier):
        about = set(one["topic"])
        if one["keeps"] and not one["user"] and about and len(about & words) >= max(1, 0.5 * len(about)):
            return one["key"]
    return None


def abandoned(what: str, earlier: Sequence[Mapping[str, Any]]) -> str | None:
    """The key of the agent's decision that a dead end puts an end to: "reverted the bcrypt change"."""
    words = set(topic(what))
    for one in reversed(earlier):
        about = set(one["topic"])
        if not one["user"] and not one["keeps"] and about and words:
            shared = about & words
            if len(shared) >= max(1, 0.5 * min(len(about), len(words))) and len(shared) >= 0.3 * len(about):
                return one["key"]
    return None


def ends_blocker(blocker: str, message: str, by_user: bool, done: bool) -> bool:
    """Whether a message says or implies that a blocker is gone."""
    about = set(topic(blocker))
    tokens = Tokens(message)
    words = set(tokens.words)
    addressed = {"you", "your", "user"} & set(Tokens(blocker).words)
    shared = about & set(topic(message))
    if by_user:
        # What was asked of the user is answered by the next prompt, unless that is a question itself.
        return bool(addressed or shared or _GRANTS & words) and not message.rstrip().endswith("?")
    freed = {"unblocked", "longer", "granted", "arrived", "approved", "restored"} & words
    return (
        len(shared) >= min(2, len(about))
        and (bool(freed) or (done and bool(_GRANTS & words)))
        and "not" not in words
    )
