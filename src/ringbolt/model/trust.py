"""Channels of trust: who may overrule whom.

One rule holds for every event: it may close, replace, undo, forget or hide only what came through its own
channel or a less trusted one. `store/overruling.py` applies it where events are appended. A caller that may
not do something proposes it instead, and the user accepts the proposal or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import Conflict, rebuild
from .types import Channel

# From the most to the least trusted. Ringbolt's own upkeep writes through `system`, which counts as an agent
# here: it may tidy up after agents, and never hides the user's words.
_RANKS = {"user": 4, "agent": 3, "system": 3, "tool": 2, "web": 1, "import": 0}

# The order of trust in a text; one of unknown origin (None) is trusted least.
TRUST: tuple[Channel | None, ...] = ("user", "system", "agent", "tool", "web", "import", None)

# Statuses of a record after which views no longer show it as valid, by its type; for all other types, only
# an undo (`invalidated`) hides it. The end of a wait or a side effect is a report, except for cancelling.
_ENTRY_ENDS = frozenset(("superseded", "resolved", "invalidated"))
_HIDING = {"wait": frozenset(("cancelled", "invalidated"))}
_ENTRY_TYPES = frozenset(
    "decision error tool_result user_instruction discovery artifact context exclusion variable question"
    " snapshot fact".split()
)
HIDING_STATUSES = frozenset((*_ENTRY_ENDS, "cancelled"))


def may_overrule(channel: str, author: str | None) -> bool:
    """Whether a channel may close, replace or hide what came through another one; an unknown author is
    trusted least."""
    return author is None or _RANKS[channel] >= _RANKS.get(author, 0)


def hides(record_type: str | None, status: str) -> bool:
    """Whether a record of this type is no longer shown as valid once it has this status."""
    if record_type in _ENTRY_TYPES:
        return status in _ENTRY_ENDS
    return status in _HIDING.get(record_type or "", ("invalidated",))


def least_trusted(channels: Iterable[Channel | None]) -> Channel | None:
    """The least trusted of several channels: how far a text that quotes all of them can be trusted."""
    return max(channels, key=TRUST.index, default=None)


def is_users(channel: str | None) -> bool:
    """Whether a text came from the user: only the channel says so, never the type of an entry."""
    return channel == "user"


def key_of(channel: str, key: str) -> str:
    """An idempotency key in the space of its channel, so that no channel can use up the key of another."""
    return f"{channel}\n{key}"


class Overruled(Conflict):
    """A call would hide something of a more trusted channel; nothing of it was written.

    `whole` is false if only texts are concerned that can be left out of the event: `texts` names them by
    table and column, `steps` by step and column.
    """

    def __init__(
        self,
        task_id: str,
        what: str,
        *,
        author: Channel | str = "user",
        whole: bool = True,
        texts: Iterable[tuple[str, str]] = (),
        steps: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__(
            "needs_user",
            f"{what[:1].upper()}{what[1:]} of task {task_id}: only the {author} may change that.",
            "Ask the user to do it.",
            task=task_id,
        )
        self.task_id = task_id
        self.what = what
        self.author = author
        self.whole = whole
        self.texts = tuple(texts)
        self.steps = tuple(steps)
        self.proposed = False
        # The name, stored key and fingerprint of the call.
        self.call: tuple[str, str | None, str] = ("proposal", None, "")

    def __reduce__(self):
        return rebuild, (Conflict, self.code, self.message, self.hint, self.details)

    def recorded_as(self, seq: int) -> Overruled:
        """The same error for a caller whose call was recorded as a proposal."""
        self.proposed = True
        self.hint = f"It is proposed to the user as #{seq}; `ringbolt accept {seq}` does it."
        self.details = {**self.details, "proposal": seq}
        return self
