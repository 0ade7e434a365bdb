# pyright: reportPrivateUsage=false
"""Access to a memory for code outside the operation classes: find a task, append, commit, tell the time.

The methods behind these functions start with an underscore because every public method of `TaskMemory` is an
operation. Jobs, hosts and surfaces use these functions instead.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..model.types import Written
from ..store.tx import Row, Tx
from .drafts import Draft

if TYPE_CHECKING:  # `base` imports modules that import this one
    from .base import Base

Result = TypeVar("Result")
Writer = TypeVar("Writer", bound="Base")


def find_task(memory: Base, tx: Tx, task_id: str | None, *, lock: bool = False) -> Row:
    """Find a task's row: by id, by unambiguous prefix, or the current one of workspace and session."""
    return memory._find(tx, task_id, lock)


def new_task_id(memory: Base, tx: Tx) -> str:
    """An id that no task has."""
    return memory._new_id(tx)


def check_steps(memory: Base, steps: list[dict[str, Any]], present: int = 0) -> None:
    """Raise unless these steps may be added to a plan that has `present` steps."""
    memory._check_steps(steps, present)


def append_event(memory: Base, tx: Tx, head: Row, draft: Draft, now: str, operation: str) -> Written:
    """Append a drafted event to a locked task, with the memory's origin."""
    return memory._append(tx, head, draft, now, operation)


def with_rights(memory: Writer, channel: str) -> Writer:
    """The same memory with the rights of another channel, for code that moves content between tasks: what it
    ends on one task stays valid, with its author, on the other."""
    same = memory.acting_as()
    same._authority = channel
    return same


def commit(
    memory: Base,
    work: Callable[[Tx], Result],
    *,
    settles: bool = False,
    tasks: Callable[[Any], Iterable[str]],
) -> Result:
    """Write to the store, then notify the mirrors of the changed `tasks` of the result."""
    return memory._commit(work, settles=settles, tasks=tasks)


def seconds_now(memory: Base) -> float:
    """The time of the memory's clock, in seconds since 1970."""
    return memory._clock()


def time_now(memory: Base) -> str:
    """The time of the memory's clock, in the format of events."""
    return memory._now()


@contextmanager
def grouped(correlation: str, *memories: Base) -> Generator[None]:
    """Whatever these memories write inside the block has this correlation id, unless they have one already.

    For memories that only the current thread uses.
    """
    alone = [memory for memory in memories if not memory._correlation]
    for memory in alone:
        memory._correlation = correlation[:200]
    try:
        yield
    finally:
        for memory in alone:
            memory._correlation = ""
