"""What a sink is, and what it reads of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..ledger.values import read_event, read_task
from ..model.errors import InvalidInput
from ..model.types import Event, Task, Value
from ..store import Store

Mark = Mapping[str, Any]
FORGOTTEN = "forgotten"  # the type of the event that records a forgetting (see `retention`)


class Ledger:
    """One task as the store has it now; each call reads it again."""

    def __init__(self, store: Store, task_id: str) -> None:
        self._store = store
        self.task_id = task_id

    def task(self) -> Task:
        """The task; LookupError if it was purged."""
        found = self._store.read(lambda tx: read_task(tx, self.task_id))
        if found is None:
            raise LookupError(f"task {self.task_id} is gone")
        return found

    def events(self, after: int, limit: int) -> list[Event]:
        """Its events after a number, in order."""
        rows = self._store.read(lambda tx: tx.events(self.task_id, after, limit))
        return [read_event(row) for row in rows]

    def is_rewritten(self, seq: int, check: str) -> bool:
        """Whether the events up to `seq` are no longer those of a copy with this check: some were forgotten
        since, or the store was restored."""
        if not seq:
            return False
        events = self.events(seq - 1, 1)
        if not events or events[0].hash[:8] != check:
            return True
        after = seq
        while later := self.events(after, 1000):
            if any(event.type == FORGOTTEN for event in later):
                return True
            after = later[-1].seq
        return False


class Lag(Value, frozen=True, kw_only=True):
    """How far a sink is behind: `behind` tasks wait; `newest` is the last position of the store."""

    newest: int
    behind: int
    at: str


class Reply(Value, frozen=True, kw_only=True):
    """What a person did to a copy: wrote a comment, or ticked the box of a `step`.

    `trusted`: it is known to come from an account that the operator named.
    """

    id: str
    text: str
    author: str = ""
    step: str | None = None
    trusted: bool = False


class Sink(Protocol):
    """A place to publish tasks to. A mark is what it keeps about a task between two publications."""

    name: str
    replies: float  # seconds between two looks for replies; 0: it has none

    def probe(self, lag: Lag) -> bool:
        """Reach the target and tell it the lag; False if it has lost what was published."""
        ...

    def collect(self, mark: Mark) -> tuple[list[Reply], Mark]:
        """What people did since the mark, and the new mark."""
        ...

    def publish(self, ledger: Ledger, mark: Mark) -> Mark:
        """Bring the copy of a task up to date; returns the new mark."""
        ...

    def remove(self, task_id: str, mark: Mark) -> None:
        """Remove the copy of a task that was purged."""
        ...


def names_in(setting: str) -> tuple[str, ...]:
    """The words of a setting that lists some, separated by commas."""
    return tuple(word.strip() for word in setting.split(",") if word.strip())


def not_installed(name: str, package: str) -> InvalidInput:
    """The error for a sink whose package is missing."""
    return InvalidInput(
        "sink_setup",
        f"Publishing to {name} needs the package {package}.",
        f"Install it: pip install 'ringbolt[{name}]'; or remove {name} from the setting publish.",
    )
