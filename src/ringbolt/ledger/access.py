# pyright: reportPrivateUsage=false
"""What code outside the operation classes needs of a memory: finding a task, appending, committing, the time.

The methods behind these functions start with an underscore because every public method of `TaskMemory` is an
operation. Jobs, hosts and surfaces use these functions instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from ..model.types import Written
from ..store.tx import Row, Tx
from .drafts import Draft

if TYPE_CHECKING:  # `base` imports modules that import this one
    from .base import Base

Result = TypeVar("Result")


def find_task(memory: Base, tx: Tx, task_id: str | None, *, lock: bool = False) -> Row:
    """A task's row: by id, by unambiguous prefix, or the current one of workspace and session."""
    return memory._find(tx, task_id, lock)


def new_task_id(memory: Base, tx: Tx) -> str:
    """An id that no task has."""
    return memory._new_id(tx)


def check_steps(memory: Base, steps: list[dict[str, Any]], present: int = 0) -> None:
    """Raise unless a plan that has `present` steps may get these."""
    memory._check_steps(steps, present)


def append_event(memory: Base, tx: Tx, head: Row, draft: Draft, now: str, operation: str) -> Written:
    """Append a drafted event to a locked task, in the memory's name."""
    return memory._append(tx, head, draft, now, operation)


def commit(
    memory: Base,
    work: Callable[[Tx], Result],
    *,
    settles: bool = False,
    tasks: Callable[[Any], Iterable[str]],
) -> Result:
    """Write to the store, then tell the mirrors which `tasks` of the result changed."""
    return memory._commit(work, settles=settles, tasks=tasks)


def seconds_now(memory: Base) -> float:
    """The time by the memory's clock, in seconds since 1970."""
    return memory._clock()


def time_now(memory: Base) -> str:
    """The time by the memory's clock, as events have it."""
    return memory._now()
