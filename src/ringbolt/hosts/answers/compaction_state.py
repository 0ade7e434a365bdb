"""Compaction state: whether a session's context was compacted, and whether it has had its packet since.

It is a small file in the journal, which most sessions do not have. Hooks request a packet; a drain clears the
state when the session has continued. `capture_hook` also keeps `looked N` there while a host that checks
before every request whether to compact has not shown what it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...journal.side_files import SideFiles, compaction_file, full_file, snapshot_file, turn_file
from ...model.validate import blake2b
from ..host_table import Host

PENDING = "pending"  # about to be compacted: the packet follows
COMPACTED = "compacted"  # the packet is still missing
OFFERED = "offered"  # a new session saw the open tasks: its first prompt may take one over
DELIVERED = "delivered"  # a host may ask again at once
# Events that show that a session is at work again after a compaction.
GOES_ON = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")


class Mark:
    """The compaction state of one session."""

    def __init__(self, files: SideFiles, session: str) -> None:
        self.files = files
        self._name, self._turn = compaction_file(session), turn_file(session)
        self._full = full_file(session)

    def read(self) -> str:
        """The state, or nothing."""
        return self.files.read(self._name).partition(" ")[0]

    def wants_packet(self) -> bool:
        """Whether the session still has to get its packet, or may have to."""
        return self.read() in (PENDING, COMPACTED, OFFERED)

    def set(self, state: str, at: float | None = None) -> None:
        """Set the state, and the time at which it began."""
        if state == PENDING:
            self.files.set(self._full, None)  # the context will have room again
        self.files.set(self._name, state if at is None else f"{state} {at:.3f}")

    def clear(self) -> None:
        """Remove the state: there was no compaction, or all is done."""
        self.files.set(self._name, None)

    def is_nearly_full(self) -> bool:
        """Whether the context has passed 80 % since this was asked last."""
        state, _, window = self.files.read(self._full).partition(" ")
        if state != "due":
            return False
        self.files.set(self._full, f"done {window}")
        return True

    def is_new_block(self, text: str) -> bool:
        """Whether a block for a turn differs from the last one, which it then replaces."""
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        if self.files.read(self._turn) == digest:
            return False
        self.files.set(self._turn, digest)
        return True

    def went_on(self, at: float) -> None:
        """The session continued at a time: a packet delivered before that is not asked for again."""
        state, _, since = self.files.read(self._name).partition(" ")
        if state == DELIVERED and at > _seconds(since):
            self.clear()


def _seconds(text: str) -> float:
    """A time in the file; 0 if it is damaged, which must not hold up the session's events."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def is_repeated(files: SideFiles, shape: Host, event: Mapping[str, Any]) -> bool:
    """Whether a host announces the same compaction again. Call it for each event of a session, in order."""
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
    """The events that deliver a packet that the host did not ask for after a compaction."""
    return tuple(name for name in ("UserPromptSubmit", "PostToolUse") if name in shape.injects)
