"""Compaction state: whether a session's context was compacted, and whether the packet was given to it since.

It is a small file for each such session in the journal: a hook finds out with one look that there is none.
Only hooks say that a packet is to be given; a drain clears the state when the session has gone on since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..journal.side_files import SideFiles, compaction_file, snapshot_file
from .host_table import Host
from .transcripts.facts import transcript_size, was_compacted

# About to be compacted: the packet is to be given after it.
PENDING = "pending"
# Compacted, and the packet is still to be given.
COMPACTED = "compacted"
# It was given; a host may ask again at once.
DELIVERED = "delivered"
# Gemini CLI looked whether it should compact, when its transcript was so long.
_LOOKED = "looked "
# Events that show that a session is at work again after a compaction.
GOES_ON = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")


class Mark:
    """The compaction state of one session."""

    def __init__(self, files: SideFiles, session: str) -> None:
        self._files = files
        self._name = compaction_file(session)

    def read(self) -> str:
        """The state, or nothing."""
        return self._files.read(self._name).partition(" ")[0]

    def wants_packet(self) -> bool:
        """Whether a packet is still to be given."""
        return self.read() in (PENDING, COMPACTED)

    def looked(self, told: Mapping[str, Any]) -> bool:
        """Whether a host only looks whether to compact; by the next event it is known what came of it."""
        marked, transcript = self._files.read(self._name), str(told.get("transcript") or "")
        if marked.startswith(_LOOKED):
            since = marked[len(_LOOKED) :]
            self.clear()
            marked = ""
            if was_compacted(transcript, int(since) if since.isdecimal() else 0):
                marked = COMPACTED
                self.set(marked)
        looks = told.get("event") == "PreCompact" and told.get("trigger") != "manual"
        if looks and not marked:
            self.set(f"{_LOOKED}{transcript_size(transcript)}")
        return looks

    def set(self, state: str, at: float | None = None) -> None:
        """Set the state, with the time at which it began."""
        self._files.set(self._name, state if at is None else f"{state} {at:.3f}")

    def clear(self) -> None:
        """There was no compaction, or all is done."""
        self._files.set(self._name, None)

    def went_on(self, at: float) -> None:
        """The session did something at a time: a packet given before that is not asked for again."""
        state, _, since = self._files.read(self._name).partition(" ")
        if state == DELIVERED and at > _number(since):
            self.clear()


def is_repeated(files: SideFiles, shape: Host, event: Mapping[str, Any]) -> bool:
    """Whether a host says again that it is about to compact: it may say so several times for one compaction.

    Called for each event of a session, in order.
    """
    name, file = event["event"], snapshot_file(str(event.get("session") or ""))
    if name == "PreCompact":
        if files.read(file):
            return True
        files.set(file, "taken")
        return False
    ends = name == "PostCompact" or name in delivers(shape) or event.get("source") == "compact"
    if ends and files.read(file):
        files.set(file, None)
    return False


def delivers(shape: Host) -> tuple[str, ...]:
    """The events on which a packet is given that was not asked for after a compaction."""
    if shape.only_looks:  # it compacts in the middle of a turn, and says nothing after it
        return ("UserPromptSubmit", "PostToolUse")
    return ("UserPromptSubmit",) if "UserPromptSubmit" in shape.injects else ("PostToolUse",)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
